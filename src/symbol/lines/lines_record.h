/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the source lines and inlined functions of pieces of code, for a recording that carries them
 * (perfdata/symbols/symbol_lines.h). One thread.
 */
#ifndef RINGTAIL_SYMBOL_LINES_LINES_RECORD_H
#define RINGTAIL_SYMBOL_LINES_LINES_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbol/lines/lines.h"

struct lines_recorder;

/* Returns a recorder for lines_recorder_free(), or NULL when out of memory. */
struct lines_recorder *lines_recorder_new(void);
void lines_recorder_free(struct lines_recorder *r); /* accepts NULL */

/*
 * Takes what @l has for each address from @addr on, @bytes of them; ignores addresses before the
 * last one taken. It copies names. Returns 0 or -ENOMEM.
 */
int lines_record(struct lines_recorder *r, struct source_lines *l, uint64_t addr,
		 unsigned int bytes);

/* Appends what was taken, encoded; nothing if that is nothing. Returns 0 or -ENOMEM. */
int lines_recorder_encode(const struct lines_recorder *r, struct buf *b);

#endif
