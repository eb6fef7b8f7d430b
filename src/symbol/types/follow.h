/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows pointers back through the code of a function: to a variable that DWARF knows, to a member
 * that was read, to an address that was taken, or to what a call returned.
 *
 * From an instruction it goes to the one before; where that does not lead on, to the first jump to
 * it. So of several ways one is taken. One thread. Internal to symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_FOLLOW_H
#define RINGTAIL_SYMBOL_TYPES_FOLLOW_H

#include "symbol/types/function.h"
#include "symbol/types/globals.h"

/* What is followed in. All borrowed. */
struct follow {
	const struct function_data *function;
	const struct globals *globals;
	const struct objects *objects;
	Dwarf_CFI *cfi[2]; /* asked in this order; NULL: none */
	int64_t work_left; /* of this access */
};

/*
 * Finds the type of what instruction @at of the function accesses in memory. Returns false if it is
 * not known.
 */
bool follow_access(struct follow *f, size_t at, struct typed *ret);

#endif
