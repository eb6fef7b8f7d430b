/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files, as the files are on this machine now.
 *
 * Texts take bounded memory. One thread uses a struct source_texts.
 */
#ifndef RINGTAIL_SYMBOL_LINES_SOURCE_TEXTS_H
#define RINGTAIL_SYMBOL_LINES_SOURCE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct source_texts_opts {
	const char *dir;    /* look for files below it, too; NULL: none */
	const char *prefix; /* put before absolute paths; NULL: none */
	unsigned int strip; /* of these paths: leading folders to drop before */
};

struct source_texts;

/*
 * @opts' strings outlive the result; NULL: paths are taken as they are. Returns 0 with *@ret for
 * source_texts_free(), or -ENOMEM.
 */
int source_texts_new(const struct source_texts_opts *opts, struct source_texts **ret);
void source_texts_free(struct source_texts *s); /* accepts NULL */

/*
 * Returns line @line of the regular file @path, from 1, without its end and without NUL, with its
 * length in *@ret_len, valid until the next call; NULL if there is none.
 */
const char *source_texts_line(struct source_texts *s, const char *path, uint32_t line,
			      size_t *ret_len);

#endif
