/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: where DWARF says that a variable is (DWARF 5, 2.6: location descriptions).
 *
 * Those of one or two operations, which compilers give nearly all variables. One thread. Internal
 * to symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_PLACE_H
#define RINGTAIL_SYMBOL_TYPES_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum var_place_kind {
	PLACE_UNKNOWN,
	PLACE_REGISTER, /* in @reg */
	PLACE_VALUE,	/* its value is @reg + @offset; it is nowhere */
	PLACE_MEMORY,	/* at @reg + @offset */
	PLACE_FRAME,	/* at the frame's base + @offset */
	PLACE_FIXED,	/* at the linked address @offset */
	PLACE_CFA,	/* of a frame's base: the canonical frame address */
};

struct var_place {
	enum var_place_kind kind;
	int reg; /* DWARF number */
	int64_t offset;
};

/* Reads the @nr operations @ops of the attribute @attr. */
struct var_place place_read(Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t nr);

#endif
