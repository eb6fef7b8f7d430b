/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codec of source lines and inlined functions in a recording's own table of symbols.
 *
 * They are the part "lines" of an object (perfdata/symbols/symbols.h). Numbers are LEB128:
 *
 *   number of texts; texts, each with its length, which counts the NUL at its end
 *   number of chains; chains: number of frames, and of each frame: function and file (number of
 *                     the text plus one; 0: unknown), line (0: unknown), 1 if it is inlined
 *   runs up to the end: start (beyond the end of the one before), bytes, number of the chain
 *
 * The frames of a chain are those of an address, the innermost first (symbol/lines/lines.h).
 * Function names are not demangled. Decoders accept any bytes. Any thread.
 */
#ifndef RINGTAIL_PERFDATA_SYMBOL_LINES_H
#define RINGTAIL_PERFDATA_SYMBOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct pd_line_frame {
	uint32_t function, file; /* number of the text plus one; 0: unknown */
	uint32_t line;		 /* 0: unknown */
	bool inlined;
};

struct pd_line_chain {
	size_t first, nr; /* frames */
};

/* Addresses with the same frames; @end is exclusive. */
struct pd_line_run {
	uint64_t start, end;
	uint32_t chain;
};

/* All zero: empty. Its arrays are freed by pd_symbol_lines_release(), its texts are borrowed. */
struct pd_symbol_lines {
	const char **text;
	size_t nr_texts, texts_cap;
	struct pd_line_frame *frame;
	size_t nr_frames, frames_cap;
	struct pd_line_chain *chain;
	size_t nr_chains, chains_cap;
	struct pd_line_run *run; /* by start; they do not overlap */
	size_t nr_runs, runs_cap;
};

/* Frees the arrays; accepts zeroes. */
void pd_symbol_lines_release(struct pd_symbol_lines *l);

/* Appends @l. Returns 0 or -ENOMEM. */
int pd_symbol_lines_encode(const struct pd_symbol_lines *l, struct buf *b);

/*
 * Decodes @len bytes, to which @ret->text will point. Returns 0; -EBADMSG with the runs before the
 * damage; or -ENOMEM with nothing.
 */
int pd_symbol_lines_decode(const uint8_t *p, size_t len, struct pd_symbol_lines *ret);

/* Returns the run at @addr, or NULL. */
const struct pd_line_run *pd_symbol_lines_find(const struct pd_symbol_lines *l, uint64_t addr);

#endif
