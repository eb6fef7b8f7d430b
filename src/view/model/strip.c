// SPDX-License-Identifier: Apache-2.0
#include "view/model/strip.h"

/* Returns the samples of a cell. A slice belongs to the cells that it covers, by its part. */
static double cell_weight(const struct strip *s, unsigned int cell, unsigned int width)
{
	double per_cell = (double)s->nr / width;
	double from = cell * per_cell, to = from + per_cell, sum = 0;

	for (size_t i = (size_t)from; i < s->nr && (double)i < to; i++) {
		double a = (double)i > from ? (double)i : from;
		double b = (double)(i + 1) < to ? (double)(i + 1) : to;

		sum += (double)s->count[i] * (b - a);
	}
	return sum;
}

void strip_levels(const struct strip *s, unsigned int width, uint8_t *ret)
{
	double most = 0, w;

	for (unsigned int i = 0; i < width; i++) {
		w = cell_weight(s, i, width);
		most = w > most ? w : most;
	}
	for (unsigned int i = 0; i < width; i++) {
		w = cell_weight(s, i, width);
		ret[i] = w > 0 ? (uint8_t)(1 + w * (STRIP_LEVELS - 0.5) / most) : 0;
		ret[i] = ret[i] > STRIP_LEVELS ? STRIP_LEVELS : ret[i];
	}
}

void strip_span(const struct strip *s, unsigned int from, unsigned int to, unsigned int width,
		uint64_t *ret_first, uint64_t *ret_last)
{
	double cell = ((double)(s->last - s->first) + 1) / width;
	uint64_t first = s->first + (uint64_t)(from * cell);
	uint64_t last = to + 1 >= width ? s->last : s->first + (uint64_t)((to + 1) * cell);

	*ret_first = first;
	*ret_last = last > first && to + 1 < width ? last - 1 : last;
}
