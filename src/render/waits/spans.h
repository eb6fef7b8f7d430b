/* SPDX-License-Identifier: Apache-2.0 */
/* How long spans took, as text and as JSON. One thread. */
#ifndef RINGTAIL_RENDER_WAITS_SPANS_H
#define RINGTAIL_RENDER_WAITS_SPANS_H

#include <jansson.h>
#include <stdio.h>

#include "report/spans/spans.h"

/*
 * Writes the distribution and the slowest spans. Branches of call graphs with less than @percent of
 * a span are left out. Returns 0 or -ENOMEM.
 */
int spans_render(FILE *out, struct spans *s, double percent);

/* Returns the same as JSON, with all branches; NULL: no memory. The caller owns it. */
json_t *spans_json(struct spans *s);

#endif
