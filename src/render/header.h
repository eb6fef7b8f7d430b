/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording says about itself, in the words of perf report --header. */
#ifndef RINGTAIL_RENDER_HEADER_H
#define RINGTAIL_RENDER_HEADER_H

#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "report/trace/trace.h"

/*
 * Both of them also tell of snapshots that pass 1 has found, and of none before it.
 *
 * @captured: when the file was last written. @full: also topology, caches and other long tables.
 */
void header_render(FILE *out, const struct trace *t, time_t captured, bool full);

/* The same as a JSON object; NULL when out of memory. */
json_t *header_json(const struct trace *t, time_t captured);

/* A few lines for each snapshot; an array. Render/snapshots.c. */
void snapshots_render(FILE *out, const struct trace *t);
json_t *snapshots_json(const struct trace *t);

#endif
