// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/function.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/lines/unit_list.h"
#include "symbol/types/die_order.h"

#define NEST_MAX      64		/* blocks in blocks */
#define VARIABLES_MAX ((size_t)1 << 16) /* with all their places; also the calls */
#define CODE_MAX      ((size_t)1 << 18) /* instructions */

/* Reads a function: walks over its DIEs. */
struct function_reader {
	struct function_data *function;
	Dwarf_Off newest; /* for die_is_newer() */
	size_t variables;
	size_t places_read; /* of lists of ranges and of locations, of which many may share one */
};

/* Whether lists may be read on. */
static bool may_read(struct function_reader *r)
{
	return r->places_read++ < RANGES_READ_MAX;
}

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

static int add_variable(struct function_reader *r, const struct variable *v)
{
	struct variables *list = list_of(r->function, &v->place);

	if (!list || v->start >= v->end || r->variables >= VARIABLES_MAX)
		return 0;
	if (array_grow(&list->variable, &list->cap, list->nr + 1, sizeof(*list->variable)) < 0)
		return -ENOMEM;
	list->variable[list->nr++] = *v;
	r->variables++;
	return 0;
}

/* Adds a variable that has one place wherever its block @scope has code. */
static int add_everywhere(struct function_reader *r, Dwarf_Die *scope, struct variable *v)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && may_read(r) && (at = dwarf_ranges(scope, at, &base, &start, &end)) > 0) {
		v->start = start;
		v->end = end;
		rc = add_variable(r, v);
	}
	return rc;
}

static int read_variable(struct function_reader *r, Dwarf_Die *scope, uint32_t depth,
			 Dwarf_Die *die)
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
	while (!rc && may_read(r) &&
	       (at = dwarf_getlocations(&attr, at, &base, &start, &end, &ops, &nr)) > 0) {
		v.place = place_read(&attr, ops, nr);
		v.start = start;
		v.end = end;
		if (!start && end == (Dwarf_Addr)-1)
			rc = add_everywhere(r, scope, &v);
		else
			rc = add_variable(r, &v);
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

static int read_block(struct function_reader *r, Dwarf_Die *scope, uint32_t depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > NEST_MAX || dwarf_child(scope, &die))
		return 0;
	do {
		if (!die_is_newer(&die, &r->newest))
			return 0;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter: rc = read_variable(r, scope, depth, &die); break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_inlined_subroutine: rc = read_block(r, &die, depth + 1); break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site: rc = read_call(r->function, &die); break;
		}
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* As dwarf_haspc(). */
static bool has_code_at(struct function_reader *r, Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (may_read(r) && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (addr >= start && addr < end)
			return true;
	return false;
}

/* Finds the function with the code at @addr: in the unit, or in namespaces. */
static bool find_function(struct function_reader *r, Dwarf_Die *parent, uint64_t addr, int depth,
			  Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth > NEST_MAX || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (!die_is_newer(&die, &r->newest))
			return false;
		if (tag == DW_TAG_subprogram && has_code_at(r, &die, addr)) {
			*ret = die;
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		    find_function(r, &die, addr, depth + 1, ret))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

int function_read(Dwarf_Die *unit, uint64_t addr, struct function_data *ret)
{
	struct function_reader r = {.function = ret};
	Dwarf_Die die;

	if (!find_function(&r, unit, addr, 0, &die))
		return 0;
	ret->has_frame_base = dwarf_attr_integrate(&die, DW_AT_frame_base, &ret->frame_base);
	return read_block(&r, &die, 0);
}

/* Notes which instruction is the first to jump to each one. */
static int find_jumps(struct function_data *f)
{
	f->jump = malloc(f->nr_code * sizeof(*f->jump));
	if (!f->jump)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_code; i++)
		f->jump[i] = UINT32_MAX;
	for (size_t i = 0; i < f->nr_code; i++) {
		size_t to = SIZE_MAX;

		if (f->code[i].kind == DISASM_JUMP && f->code[i].target)
			to = function_at(f, f->code[i].target);
		if (to != SIZE_MAX && f->jump[to] == UINT32_MAX)
			f->jump[to] = (uint32_t)i;
	}
	return 0;
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
	return ret->nr_code ? find_jumps(ret) : 0;
}

void function_release(struct function_data *f)
{
	for (size_t i = 0; i < ACCESS_REGS; i++)
		free(f->held[i].variable);
	free(f->placed.variable);
	free(f->returned);
	free(f->code);
	free(f->jump);
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
