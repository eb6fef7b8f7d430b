/* SPDX-License-Identifier: Apache-2.0 */
/* The order of DIEs, for walks over them. Internal to symbol/types. */
#ifndef RINGTAIL_SYMBOL_TYPES_DIE_ORDER_H
#define RINGTAIL_SYMBOL_TYPES_DIE_ORDER_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/*
 * Returns whether a walk that began with *@newest 0 goes on with @die, and notes it: in a sound
 * file each DIE is behind the one before. Damaged siblings that lead into what was read would be
 * read again and again.
 */
static inline bool die_is_newer(Dwarf_Die *die, Dwarf_Off *newest)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	if (at <= *newest)
		return false;
	*newest = at;
	return true;
}

#endif
