/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as JSON. Names are escaped as in text, so that every string is UTF-8.
 * Periods are integers as recorded; jansson's integers are signed 64 bit, larger ones become reals.
 */
#ifndef RINGTAIL_RENDER_JSON_H
#define RINGTAIL_RENDER_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "render/table.h"

/* A string of a recording; NULL when out of memory. */
json_t *json_name(const char *s);

/* An unsigned number. */
json_t *json_count(uint64_t n);

/* Counts and losses: {"records", "samples", "lost", "events": [...]}; NULL when out of memory. */
json_t *json_stats(const struct trace *t);

/*
 * Writes header (if not NULL; taken over), stats, and a table for each event, a row at a time, so
 * that memory is that of the longest row. Returns 0, -ENOMEM or -EIO; what is written then is still
 * JSON up to where it failed.
 */
int json_report(FILE *out, struct report *r, json_t *header, const struct table_opts *opts);

/* Writes and frees @doc (NULL is refused). Returns 0, -ENOMEM or -EIO. */
int json_write(FILE *out, json_t *doc);

#endif
