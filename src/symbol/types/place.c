// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/place.h"

#include <dwarf.h>

static struct var_place of_register(enum var_place_kind kind, uint64_t reg, int64_t offset)
{
	if (reg > 255)
		return (struct var_place){PLACE_UNKNOWN};
	return (struct var_place){kind, (int)reg, offset};
}

/* The address may be an index into .debug_addr, which libdw looks up. */
static struct var_place of_address(Dwarf_Attribute *attr, const Dwarf_Op *op)
{
	Dwarf_Attribute found;
	Dwarf_Addr addr;

	if (op->atom == DW_OP_addr)
		return (struct var_place){PLACE_FIXED, 0, (int64_t)op->number};
	if (dwarf_getlocation_attr(attr, op, &found) || dwarf_formaddr(&found, &addr))
		return (struct var_place){PLACE_UNKNOWN};
	return (struct var_place){PLACE_FIXED, 0, (int64_t)addr};
}

struct var_place place_read(Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t nr)
{
	bool is_value = nr == 2 && ops[1].atom == DW_OP_stack_value;
	enum var_place_kind kind = is_value ? PLACE_VALUE : PLACE_MEMORY;
	unsigned int atom;

	if (nr != 1 && !is_value)
		return (struct var_place){PLACE_UNKNOWN};
	atom = ops[0].atom;
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return of_register(kind, atom - DW_OP_breg0, (int64_t)ops[0].number);
	if (atom == DW_OP_bregx)
		return of_register(kind, ops[0].number, (int64_t)ops[0].number2);
	if (is_value)
		return (struct var_place){PLACE_UNKNOWN};
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		return of_register(PLACE_REGISTER, atom - DW_OP_reg0, 0);
	switch (atom) {
	case DW_OP_regx: return of_register(PLACE_REGISTER, ops[0].number, 0);
	case DW_OP_fbreg: return (struct var_place){PLACE_FRAME, 0, (int64_t)ops[0].number};
	case DW_OP_call_frame_cfa: return (struct var_place){PLACE_CFA, 0, 0};
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index: return of_address(attr, &ops[0]);
	}
	return (struct var_place){PLACE_UNKNOWN};
}
