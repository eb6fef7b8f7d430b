/* SPDX-License-Identifier: Apache-2.0 */
/* Strip: samples over time in one line of cells, and the span that a user marks there. Any thread.
 */
#ifndef RINGTAIL_VIEW_MODEL_STRIP_H
#define RINGTAIL_VIEW_MODEL_STRIP_H

#include <stddef.h>
#include <stdint.h>

#define STRIP_LEVELS 8

struct strip {
	uint64_t first, last;  /* ns, inclusive */
	const uint64_t *count; /* samples of @nr equal slices; borrowed */
	size_t nr;
};

/*
 * Fills the @width elements of @ret with levels from 0 (no sample) to STRIP_LEVELS (the fullest
 * cell).
 */
void strip_levels(const struct strip *s, unsigned int width, uint8_t *ret);

/* Fills @ret_first and @ret_last with the times of the cells @from to @to of @width, inclusive. */
void strip_span(const struct strip *s, unsigned int from, unsigned int to, unsigned int width,
		uint64_t *ret_first, uint64_t *ret_last);

#endif
