/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: names from recordings made harmless, columns, widths.
 *
 * Names come from whoever was recorded. Control characters, bytes that are not UTF-8, and the
 * Unicode characters that turn text around are written as \xNN, so that no name can steer a
 * terminal or pass for another line.
 */
#ifndef RINGTAIL_RENDER_TEXT_H
#define RINGTAIL_RENDER_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

/* Appends @len bytes at @s, escaped. Returns 0 or -ENOMEM. */
int text_escape_len(struct buf *out, const char *s, size_t len);
int text_escape(struct buf *out, const char *s);

/* Columns that escaped UTF-8 takes: one a code point. */
size_t text_columns(const char *s, size_t len);

/* Cuts what was appended to @b since @from to @columns. */
void text_cut(struct buf *b, size_t from, size_t columns);

/* Writes @s escaped to @out, at least @width columns: right-aligned, or left-aligned if negative.
 */
void text_put(FILE *out, const char *s, int width);

/* perf's way to shorten a count: 12345 is 12 'K', 81 is 81 ' '. */
uint64_t text_unit(uint64_t n, char *ret_unit);

#endif
