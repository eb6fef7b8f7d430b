/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files (symbol/lines/source_texts.h) for the field srccode: a line that a thread
 * had last is not shown again. One thread uses a struct source_reader.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_SOURCE_READER_H
#define RINGTAIL_REPORT_SCRIPT_SOURCE_READER_H

#include <stddef.h>
#include <stdint.h>

struct source_reader;

/* Returns 0 with *@ret for source_reader_free(), or -ENOMEM. */
int source_reader_new(struct source_reader **ret);
void source_reader_free(struct source_reader *s); /* accepts NULL */

/* As source_texts_line(); NULL, too, if it is the line that thread @tid had last. */
const char *source_reader_next(struct source_reader *s, uint32_t tid, const char *path,
			       unsigned int line, size_t *ret_len);

#endif
