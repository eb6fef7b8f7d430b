/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the HTML page: data in <script> elements that are never run, as base64 of raw deflate
 * (RFC 4648, RFC 1951).
 *
 * Base64 has no character of markup, so no name in the data can end its element. A part holds text,
 * or a table (table.h). One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_PART_H
#define RINGTAIL_EXPORT_HTML_PART_H

#include <stddef.h>

#include "export/wire/out.h"

struct html_deflate;

/* All zero: no part has begun. Its failures are those of @out. */
struct html_part {
	struct out *out;
	struct html_deflate *deflate;
};

/* Begins the part @name, of letters. */
void html_part_begin(struct html_part *p, struct out *out, const char *name);
/* The same of a table, whose element has the number of its rows, too. */
void html_part_begin_table(struct html_part *p, struct out *out, const char *name, size_t rows);
/* Adds bytes. */
void html_part_put(struct html_part *p, const void *s, size_t n);
/* Ends the part, and frees what it holds; accepts one that has not begun. Returns out->rc. */
int html_part_end(struct html_part *p);

#endif
