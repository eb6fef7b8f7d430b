/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler did, as text and as JSON. One thread. */
#ifndef RINGTAIL_RENDER_WAITS_SCHED_H
#define RINGTAIL_RENDER_WAITS_SCHED_H

#include <jansson.h>
#include <stdio.h>

#include "report/waits/sched.h"

/* Writes a table of threads and one of CPUs. */
void sched_render(FILE *out, const struct sched_report *r);

/* Returns the same as JSON; NULL: no memory. The caller owns it. */
json_t *sched_json(const struct sched_report *r);

#endif
