// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/follow.h"

#include <dwarf.h>
#include <stdlib.h>

#define WORK_MAX (1 << 20) /* instructions, and places of variables, that one access looks at */
#define NEST_MAX 16	   /* pointers to pointers */

static bool pointer_type(struct follow *f, size_t at, int reg, int depth, struct typed *ret);

static bool memory_type(struct follow *f, size_t at, const struct access_memory *m, int depth,
			struct typed *ret);

/* Returns the register and offset of the canonical frame address at @addr. */
static bool find_cfa(const struct follow *f, uint64_t addr, struct var_place *ret)
{
	for (size_t i = 0; i < 2; i++) {
		Dwarf_Frame *frame;
		Dwarf_Op *ops;
		size_t nr;

		if (!f->cfi[i] || dwarf_cfi_addrframe(f->cfi[i], addr, &frame))
			continue;
		*ret = (struct var_place){PLACE_UNKNOWN};
		if (!dwarf_frame_cfa(frame, &ops, &nr))
			*ret = place_read(NULL, ops, nr);
		free(frame);
		if (ret->kind == PLACE_MEMORY)
			return true;
	}
	return false;
}

/* Finds where the frame's base is at @addr: at a register plus an offset. */
static bool find_frame(const struct follow *f, uint64_t addr, struct var_place *ret)
{
	Dwarf_Attribute attr = f->function->frame_base;
	Dwarf_Op *ops;
	size_t nr;

	if (!f->function->has_frame_base || dwarf_getlocation_addr(&attr, addr, &ops, &nr, 1) != 1)
		return false;
	*ret = place_read(&attr, ops, nr);
	if (ret->kind == PLACE_CFA)
		return find_cfa(f, addr, ret);
	return ret->kind == PLACE_REGISTER || ret->kind == PLACE_MEMORY;
}

/* Finds the variable that lies at @reg + @offset. */
static bool find_placed(struct follow *f, uint64_t addr, int reg, int64_t offset, struct typed *ret)
{
	const struct variables *list = &f->function->placed;
	struct var_place frame = {PLACE_UNKNOWN};
	bool has_frame = list->nr && find_frame(f, addr, &frame), found = false;
	uint32_t depth = 0;

	f->work_left -= (int64_t)list->nr;
	for (size_t i = 0; i < list->nr; i++) {
		const struct variable *v = &list->variable[i];
		struct typed t = {v->type, offset - v->place.offset};
		int base = v->place.reg;

		if (addr < v->start || addr >= v->end || (found && v->depth < depth))
			continue;
		if (v->place.kind == PLACE_FRAME) {
			if (!has_frame)
				continue;
			base = frame.reg;
			t.offset -= frame.offset;
		} else if (v->place.kind == PLACE_FIXED) {
			base = ACCESS_FIXED;
		}
		if (base != reg || !typed_is_inside(&t))
			continue;
		*ret = t;
		depth = v->depth;
		found = true;
	}
	return found;
}

/* Finds what the variable in register @reg points to. */
static bool find_held(struct follow *f, uint64_t addr, int reg, struct typed *ret)
{
	const struct variables *list = &f->function->held[reg];
	uint32_t depth = 0;
	bool found = false;

	f->work_left -= (int64_t)list->nr;
	for (size_t i = 0; i < list->nr; i++) {
		const struct variable *v = &list->variable[i];
		Dwarf_Die type = v->type, to;

		if (addr < v->start || addr >= v->end || (found && v->depth < depth) ||
		    !type_pointed(&type, &to) || !type_size(&to))
			continue;
		*ret = (struct typed){to, -v->place.offset};
		depth = v->depth;
		found = true;
	}
	return found;
}

/* Returns the instruction before @at, or SIZE_MAX. */
static size_t before(struct follow *f, size_t at)
{
	const struct function_data *fn = f->function;

	f->work_left--;
	if (at && fn->code[at - 1].goes_on)
		return at - 1;
	return fn->jump[at] == UINT32_MAX ? SIZE_MAX : fn->jump[at];
}

static bool returned_type(struct follow *f, const struct access *a, struct typed *ret)
{
	const struct function_data *fn = f->function;

	f->work_left -= (int64_t)fn->nr_returned;
	for (size_t i = 0; i < fn->nr_returned; i++) {
		Dwarf_Die type = fn->returned[i].type;

		if (fn->returned[i].at != a->addr + a->size)
			continue;
		ret->offset = 0;
		return type_pointed(&type, &ret->type) && type_size(&ret->type);
	}
	return false;
}

/* Registers that a call may change, by the System V ABI: rax, rdx, rcx, rsi, rdi, r8 to r11. */
static bool is_lost_in_call(int reg)
{
	return reg != 3 && reg != 6 && reg != ACCESS_RSP && reg < 12;
}

/* What the pointer that @m reads from memory points to. */
static bool loaded_type(struct follow *f, size_t at, const struct access_memory *m, int depth,
			struct typed *ret)
{
	Dwarf_Die to;

	if (!memory_type(f, at, m, depth, ret) || !typed_descend(ret) || ret->offset ||
	    !type_pointed(&ret->type, &to) || !type_size(&to))
		return false;
	*ret = (struct typed){to, 0};
	return true;
}

/* Finds what @reg points to behind instruction @at, which neither copies it nor adds a number. */
static bool defined_type(struct follow *f, size_t at, int reg, int depth, struct typed *ret)
{
	const struct access *a = &f->function->code[at];

	if (a->kind == DISASM_CALL)
		return reg == ACCESS_RAX && returned_type(f, a, ret);
	if (a->to != reg)
		return false;
	switch (a->move) {
	case ACCESS_LOAD: return loaded_type(f, at, &a->memory, depth, ret);
	case ACCESS_ADDRESS: return memory_type(f, at, &a->memory, depth, ret);
	case ACCESS_INDEX:
		return pointer_type(f, at, reg, depth, ret) ||
		       pointer_type(f, at, a->from, depth, ret);
	default: return false;
	}
}

static bool writes(const struct access *a, int reg)
{
	return a->writes & 1u << reg || (a->kind == DISASM_CALL && is_lost_in_call(reg));
}

/* Finds what @reg points to before instruction @at; with the offset from there. */
static bool pointer_type(struct follow *f, size_t at, int reg, int depth, struct typed *ret)
{
	const struct access *code = f->function->code;
	int64_t added = 0;
	bool found = false;

	while (!found && reg >= 0 && reg < ACCESS_REGS && depth < NEST_MAX && f->work_left > 0) {
		const struct access *a;

		found = find_held(f, code[at].addr, reg, ret);
		if (found)
			break;
		at = before(f, at);
		if (at == SIZE_MAX)
			return false;
		a = &code[at];
		if (!writes(a, reg))
			continue;
		if (a->move == ACCESS_COPY && a->to == reg) {
			reg = a->from;
		} else if (a->move == ACCESS_ADD && a->to == reg) {
			added += a->memory.disp;
		} else {
			found = defined_type(f, at, reg, depth + 1, ret);
			if (!found)
				return false;
		}
	}
	if (found)
		ret->offset += added;
	return found;
}

static bool memory_type(struct follow *f, size_t at, const struct access_memory *m, int depth,
			struct typed *ret)
{
	uint64_t addr = f->function->code[at].addr;

	if (m->segment)
		return false;
	if (m->base < 0)
		return find_placed(f, addr, ACCESS_FIXED, m->disp, ret) ||
		       globals_find(f->globals, f->objects, (uint64_t)m->disp, ret);
	if (find_placed(f, addr, m->base, m->disp, ret))
		return true;
	if (!pointer_type(f, at, m->base, depth, ret) &&
	    (m->index == ACCESS_NO_REG || !pointer_type(f, at, m->index, depth, ret)))
		return false;
	ret->offset += m->disp;
	return true;
}

bool follow_access(struct follow *f, size_t at, struct typed *ret)
{
	f->work_left = WORK_MAX;
	return memory_type(f, at, &f->function->code[at].memory, 0, ret) && typed_is_inside(ret);
}
