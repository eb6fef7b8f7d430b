// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/function.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define NEST_MAX      64		/* blocks in blocks */
#define VARIABLES_MAX ((size_t)1 << 18) /* of a kind, with all their places */
#define CODE_MAX      ((size_t)1 << 18) /* instructions */

/* Returns where variables of that place are kept; NULL: nobody asks for them. */
static struct variables *list_of(struct function_data *f, const struct var_place *p)
{
	switch (p->kind) {
	case PLACE_REGISTER:
	case PLACE_VALUE: return p->reg < ACCESS_REGS ? &f->held[p->reg] : NULL;
	case PLACE_MEMORY:
	case PLACE_FRAME:
	case PLACE_FIXED: return &f->placed;
	default: return NULL;
	}
}

static int add_variable(struct function_data *f, const struct variable *v)
{
	struct variables *list = list_of(f, &v->place);

	if (!list || v->start >= v->end || list->nr >= VARIABLES_MAX)
		return 0;
	if (array_grow(&list->variable, &list->cap, list->nr + 1, sizeof(*list->variable)) < 0)
		return -ENOMEM;
	list->variable[list->nr++] = *v;
	return 0;
}

/* Adds a variable that has one place wherever its block @scope has code. */
static int add_everywhere(struct function_data *f, Dwarf_Die *scope, struct variable *v)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && (at = dwarf_ranges(scope, at, &base, &start, &end)) > 0) {
		v->start = start;
		v->end = end;
		rc = add_variable(f, v);
	}
	return rc;
}

static int read_variable(struct function_data *f, Dwarf_Die *scope, uint32_t depth, Dwarf_Die *die)
{
	struct variable v = {.depth = depth};
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t nr;
	int rc = 0;

	if (!dwarf_attr(die, DW_AT_location, &attr) || !type_of(die, &v.type))
		return 0;
	while (!rc && (at = dwarf_getlocations(&attr, at, &base, &start, &end, &ops, &nr)) > 0) {
		v.place = place_read(&attr, ops, nr);
		v.start = start;
		v.end = end;
		if (!start && end == (Dwarf_Addr)-1)
			rc = add_everywhere(f, scope, &v);
		else
			rc = add_variable(f, &v);
	}
	return rc;
}

static int read_call(struct function_data *f, Dwarf_Die *die)
{
	struct returned r;
	Dwarf_Attribute attr;
	Dwarf_Die callee;
	bool at = dwarf_attr(die, DW_AT_call_return_pc, &attr) && !dwarf_formaddr(&attr, &r.at);

	if (!at && dwarf_lowpc(die, &r.at))
		return 0;
	if (!dwarf_attr(die, DW_AT_call_origin, &attr) &&
	    !dwarf_attr(die, DW_AT_abstract_origin, &attr))
		return 0;
	if (!dwarf_formref_die(&attr, &callee) || !type_of(&callee, &r.type) ||
	    f->nr_returned >= VARIABLES_MAX)
		return 0;
	if (array_grow(&f->returned, &f->cap_returned, f->nr_returned + 1, sizeof(r)) < 0)
		return -ENOMEM;
	f->returned[f->nr_returned++] = r;
	return 0;
}

static int read_block(struct function_data *f, Dwarf_Die *scope, uint32_t depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > NEST_MAX || dwarf_child(scope, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter: rc = read_variable(f, scope, depth, &die); break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_inlined_subroutine: rc = read_block(f, &die, depth + 1); break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site: rc = read_call(f, &die); break;
		}
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* Finds the function with the code at @addr: in the unit, or in namespaces. */
static bool find_function(Dwarf_Die *parent, uint64_t addr, int depth, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth > NEST_MAX || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram && dwarf_haspc(&die, addr) > 0) {
			*ret = die;
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		    find_function(&die, addr, depth + 1, ret))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

int function_read(Dwarf_Die *unit, uint64_t addr, struct function_data *ret)
{
	Dwarf_Die die;

	if (!find_function(unit, addr, 0, &die))
		return 0;
	ret->has_frame_base = dwarf_attr_integrate(&die, DW_AT_frame_base, &ret->frame_base);
	return read_block(ret, &die, 0);
}

int function_decode(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		    struct function_data *ret)
{
	for (size_t at = 0; at < len && ret->nr_code < CODE_MAX;) {
		if (array_grow(&ret->code, &ret->cap_code, ret->nr_code + 1, sizeof(*ret->code)))
			return -ENOMEM;
		disasm_access(d, code + at, len - at, addr + at, &ret->code[ret->nr_code]);
		at += ret->code[ret->nr_code++].size;
	}
	return 0;
}

void function_release(struct function_data *f)
{
	for (size_t i = 0; i < ACCESS_REGS; i++)
		free(f->held[i].variable);
	free(f->placed.variable);
	free(f->returned);
	free(f->code);
	*f = (struct function_data){0};
}

size_t function_at(const struct function_data *f, uint64_t addr)
{
	size_t low = 0, high = f->nr_code;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->code[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->nr_code && f->code[low].addr == addr ? low : SIZE_MAX;
}
