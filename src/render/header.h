/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a recording, in the words of perf report --header. One thread. */
#ifndef RINGTAIL_RENDER_HEADER_H
#define RINGTAIL_RENDER_HEADER_H

#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "report/trace/trace.h"

/*
 * Writes the description as comment lines, with the snapshots that pass 1 found, if it has run.
 *
 * @captured: time of the last write to the file. @full: also topology, caches and other long
 * tables.
 */
void header_render(FILE *out, const struct trace *t, time_t captured, bool full);

/* Returns the same as a JSON object, which the caller owns; NULL when memory is short. */
json_t *header_json(const struct trace *t, time_t captured);

/* Writes a few lines for each snapshot. In snapshots.c. */
void snapshots_render(FILE *out, const struct trace *t);
/* Returns the snapshots as an array, which the caller owns; NULL when memory is short. */
json_t *snapshots_json(const struct trace *t);

#endif
