// SPDX-License-Identifier: Apache-2.0
#include "render/table_fit.h"

#include <stdint.h>

#define LEAST_NAME 18 /* "[.] " and two words */

enum fit_kind fit_kind_of(const struct sort_key *key)
{
	return sort_key_is_name(key) ? FIT_NAME : FIT_PLACE;
}

/* Returns the columns of a line whose names are cut to @name. */
static size_t needed(const struct fit_column *c, size_t nr, size_t name)
{
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += FIT_GAP + (c[i].kind == FIT_NAME && c[i].width > name ? name : c[i].width);
	return sum;
}

/* Narrows the widest column of a kind by one. Returns whether one is wider than @least. */
static bool narrow(struct fit_column *c, size_t nr, enum fit_kind kind, size_t least)
{
	struct fit_column *widest = NULL;

	for (size_t i = 0; i < nr; i++)
		if (c[i].kind == kind && c[i].width > least &&
		    (!widest || c[i].width > widest->width))
			widest = &c[i];
	if (!widest)
		return false;
	widest->width--;
	return true;
}

/* Makes the last place a name if there is no name. */
static void choose_name(struct fit_column *c, size_t nr)
{
	struct fit_column *last = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (c[i].kind == FIT_NAME)
			return;
		if (c[i].kind == FIT_PLACE)
			last = &c[i];
	}
	if (last)
		last->kind = FIT_NAME;
}

bool fit_columns(struct fit_column *c, size_t nr, size_t room)
{
	/* How narrow places become so that a name keeps @name columns. */
	const struct {
		size_t place, name;
	} steps[] = {{12, room / 2}, {8, 32}, {4, LEAST_NAME}};

	choose_name(c, nr);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		while (needed(c, nr, steps[i].name) > room &&
		       narrow(c, nr, FIT_PLACE, steps[i].place))
			;
	while (needed(c, nr, SIZE_MAX) > room && narrow(c, nr, FIT_NAME, LEAST_NAME))
		;
	return needed(c, nr, SIZE_MAX) <= room;
}
