// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/unit_list.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

#define UNITS_MAX (1u << 20)

static int add_unit(const struct debug *d, struct unit_list *list, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	if (array_grow(&list->die, &list->cap, list->nr + 1, sizeof(*list->die)) < 0)
		return -ENOMEM;
	while (!rc && list->ranges_read < RANGES_READ_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct range r = {start, end, 0, (uint32_t)list->nr};

		list->ranges_read++;
		if (start < end && debug_is_code(d, start))
			rc = range_set_add(&list->ranges, &r);
	}
	list->die[list->nr++] = *die;
	return rc == -E2BIG ? 0 : rc;
}

int unit_list_make(const struct debug *d, struct unit_list *ret)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;

	while (!rc && ret->nr < UNITS_MAX &&
	       !dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (type == DW_UT_type || type == DW_UT_split_type || type == DW_UT_partial)
			continue;
		rc = add_unit(d, ret, &die);
	}
	return rc ? rc : range_set_build(&ret->ranges);
}

void unit_list_release(struct unit_list *list)
{
	free(list->die);
	range_set_release(&list->ranges);
	*list = (struct unit_list){0};
}
