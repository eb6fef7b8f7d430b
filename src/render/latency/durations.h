/* SPDX-License-Identifier: Apache-2.0 */
/* Durations and their distribution, as text and as JSON. One thread. */
#ifndef RINGTAIL_RENDER_LATENCY_DURATIONS_H
#define RINGTAIL_RENDER_LATENCY_DURATIONS_H

#include <jansson.h>
#include <stdio.h>

#include "report/latency/distribution.h"

#define DURATION_SIZE 32
#define DURATION_COLS 10

/* Writes @ns with three digits, in the unit that suits. Returns @out. */
const char *duration_text(uint64_t ns, char out[DURATION_SIZE - 2]);

/*
 * As duration_text(); what is less than @from, the step of the times, is only known to be so. 0:
 * the step is not known, and neither is 0 ns. May return a constant.
 */
const char *duration_measured(uint64_t from, uint64_t ns, char out[DURATION_SIZE]);

/* Writes the percentiles; @step as above. */
void durations_percentiles(FILE *out, struct distribution *d, uint64_t step);

/* Writes a row for each power of two; @what: what is counted. */
void durations_histogram(FILE *out, const struct distribution *d, uint64_t step, const char *what);

/* Return the same as JSON; NULL: no memory. The caller owns it. */
json_t *durations_json(struct distribution *d);
json_t *durations_histogram_json(const struct distribution *d, const char *what);

#endif
