/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls of a function took, as text and as JSON. One thread. */
#ifndef RINGTAIL_RENDER_LATENCY_LATENCY_H
#define RINGTAIL_RENDER_LATENCY_LATENCY_H

#include <jansson.h>
#include <stdio.h>

#include "report/latency/latency.h"

/*
 * Writes the distributions and the slowest calls. Callees with less than @percent of a slow call
 * are summed. Returns 0 or -ENOMEM.
 */
int latency_render(FILE *out, struct call_latency *l, double percent);

/* Returns the same as JSON, callees of all lengths; NULL: no memory. The caller owns it. */
json_t *latency_json(struct call_latency *l);

#endif
