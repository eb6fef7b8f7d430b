/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as JSON, with jansson.
 *
 * Names are escaped as in text, so that every string is UTF-8. Periods are integers as recorded;
 * jansson's integers have 64 bits with sign, so larger ones become reals. The caller owns what a
 * function returns. One thread.
 */
#ifndef RINGTAIL_RENDER_JSON_H
#define RINGTAIL_RENDER_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "render/table.h"

/* Returns a string of a recording, escaped; NULL when memory is short. */
json_t *json_name(const char *s);

/* Returns an unsigned number; NULL when memory is short. */
json_t *json_count(uint64_t n);

/* Returns the number of a CPU or a task; null for UINT32_MAX, which stands for none. */
json_t *json_number_or_null(uint32_t n);

/*
 * Add @value, which they take over, to an object or an array. Without memory for any of the three,
 * *@object or *@array is freed and NULL afterwards, and later calls do nothing.
 */
void json_put(json_t **object, const char *key, json_t *value);
void json_push(json_t **array, json_t *value);

/* Returns counts and losses, {"records", "samples", "lost", "events": [...]}; NULL: no memory. */
json_t *json_stats(const struct trace *t);

/* Returns the verdict on the samples of event @index; NULL: no memory. */
json_t *json_verdict(const struct report *r, size_t index);

/* Returns what is not known of waits; NULL: no memory. */
json_t *waits_counts_json(const struct waits_counts *counts);

/* Returns the branches of a call tree, as in reports; NULL: no memory. */
json_t *json_callgraph(const struct callgraph *g, uint32_t root);

/*
 * Writes @header (may be NULL; it is taken over), counts, and a table for each event. Only one row
 * at a time is in memory. Returns 0, -ENOMEM or -EIO; on failure the JSON ends in the middle.
 */
int json_report(FILE *out, struct report *r, json_t *header, const struct table_opts *opts);

/* Writes and frees @doc; NULL gives -ENOMEM. Returns 0, -ENOMEM or -EIO. */
int json_write(FILE *out, json_t *doc);

#endif
