/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: escaped names, columns, widths.
 *
 * Recorded programs choose the names. Control characters, bytes that are not UTF-8, and Unicode
 * characters that change the direction of text become \xNN, so that no name can steer a terminal or
 * pass for another line. Any thread; a stream is written without its lock, so by one thread at a
 * time.
 */
#ifndef RINGTAIL_RENDER_TEXT_H
#define RINGTAIL_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/outbuf.h"

/* Returns whether the text is ASCII without controls: escaping would not change it. */
bool text_is_plain(const char *s, size_t len);

/* Appends @len bytes at @s, escaped. Returns 0 or -ENOMEM. */
int text_escape_len(struct buf *out, const char *s, size_t len);
/* As text_escape_len(), up to the NUL. */
int text_escape(struct buf *out, const char *s);

/*
 * As text_escape_len(), but keeps tabs: texts of code and of tracepoints contain them, and they do
 * no harm behind the beginning of a line.
 */
int text_escape_but_tabs(struct buf *out, const char *s, size_t len);

/* Returns the columns of escaped UTF-8: one for each code point. */
size_t text_columns(const char *s, size_t len);

/* Truncates the text in @b after offset @from to @columns. */
void text_truncate(struct buf *b, size_t from, size_t columns);

/* Writes @s escaped, padded to |@width| columns: right-aligned, or left-aligned if negative. */
void text_put(FILE *out, const char *s, int width);

/* As text_put(), to memory. */
void text_append(struct outbuf *out, const char *s, int width);

#define TEXT_COLOR_END "\033[m"
/* Returns the escape sequence of perf's color for a percentage: red from 5 on, green from 0.5. */
const char *text_share_color(double percent);

/* A part of a line that is colored. */
struct text_paint {
	size_t from, to; /* bytes of the line */
	const char *color;
};

/* Writes @line with the @nr parts in their colors; those behind its end are left out. */
void text_put_painted(FILE *out, const struct buf *line, const struct text_paint *paint, size_t nr);

/* Shortens a count as perf does: 12345 is 12 with unit 'K', 81 is 81 with unit ' '. */
uint64_t text_unit(uint64_t n, char *ret_unit);

#endif
