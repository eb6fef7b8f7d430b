/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of debug information that have code, and which addresses are whose.
 *
 * One thread makes a list; then any thread may look up. Internal to symbol/lines and symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_LINES_UNIT_LIST_H
#define RINGTAIL_SYMBOL_LINES_UNIT_LIST_H

#include "symbol/lines/debug.h"
#include "symbol/lines/ranges.h"

/* Entries of range lists, of which many may share one. */
#define RANGES_READ_MAX ((size_t)4 << 20)

struct unit_list {
	Dwarf_Die *die; /* of the unit, or of the skeleton of a split one */
	size_t nr, cap;
	struct range_set ranges; /* values: indices of @die */
	size_t ranges_read;
};

/*
 * Lists the units of @d, which is open. Partial units, which have no code, and units of types drop
 * out. Returns 0 or -ENOMEM; unit_list_release() follows in any case.
 */
int unit_list_make(const struct debug *d, struct unit_list *ret);
void unit_list_release(struct unit_list *list); /* accepts zeroes */

#endif
