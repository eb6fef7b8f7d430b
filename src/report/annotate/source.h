/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines of instructions: their places, by DWARF, and the text of the files.
 *
 * The debug information of a few files is open at a time. Texts take bounded memory. One thread
 * uses it. Places are valid until the next function is begun, texts until the next call.
 */
#ifndef RINGTAIL_REPORT_ANNOTATE_SOURCE_H
#define RINGTAIL_REPORT_ANNOTATE_SOURCE_H

#include "symbol/lines/lines.h"
#include "symbol/lines/source_texts.h"

struct source_opts {
	struct source_texts_opts texts;
	bool demangle;
};

struct source_files;

/* @r and @opts outlive the result. Returns 0 with *@ret for source_free(), or -ENOMEM. */
int source_new(const struct resolver *r, const struct source_opts *opts, struct source_files **ret);
void source_free(struct source_files *s); /* accepts NULL */

/*
 * Opens the debug information of @dso for source_place(). Returns 0, also if there is none, or
 * -ENOMEM.
 */
int source_begin(struct source_files *s, const struct dso *dso);

/* Finds the place of @addr, as in struct location. Returns false if it is not known. */
bool source_place(struct source_files *s, uint64_t addr, struct line_frame *ret);

/* As source_texts_line(). */
const char *source_text(struct source_files *s, const char *path, uint32_t line, size_t *ret_len);

#endif
