/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function: its instructions, and where its variables are at which of them. One thread. Internal
 * to symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_FUNCTION_H
#define RINGTAIL_SYMBOL_TYPES_FUNCTION_H

#include "symbol/disasm/access.h"
#include "symbol/types/place.h"
#include "symbol/types/type_name.h"

struct variable {
	uint64_t start, end; /* linked addresses of the code for which it holds; end exclusive */
	uint32_t depth;	     /* of its block: the innermost variable counts */
	struct var_place place;
	Dwarf_Die type;
};

struct variables {
	struct variable *variable;
	size_t nr, cap;
};

/* What a call returns. */
struct returned {
	uint64_t at; /* linked address behind the call */
	Dwarf_Die type;
};

struct function_data {
	struct variables held[ACCESS_REGS]; /* in a register, or its value plus a number */
	struct variables placed;	    /* in memory */
	struct returned *returned;
	size_t nr_returned, cap_returned;
	Dwarf_Attribute frame_base;
	bool has_frame_base;
	struct access *code; /* by address */
	size_t nr_code, cap_code;
	uint32_t *jump; /* of @code: index of the first jump there; UINT32_MAX: none */
};

/*
 * Reads the variables of the function that has the linked address @addr, in the unit @unit. Returns
 * 0, also if there is none, or -ENOMEM; function_release() follows in any case.
 */
int function_read(Dwarf_Die *unit, uint64_t addr, struct function_data *ret);

/* Decodes @len bytes of code at the linked address @addr. Returns 0 or -ENOMEM. */
int function_decode(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		    struct function_data *ret);
void function_release(struct function_data *f); /* accepts zeroes */

/* Returns the index of the instruction at @addr, or SIZE_MAX. */
size_t function_at(const struct function_data *f, uint64_t addr);

#endif
