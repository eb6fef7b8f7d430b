// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/follow.h"

#include <dwarf.h>
#include <stdlib.h>

#define STEPS_MAX 4096 /* instructions that are looked at for one access */
#define NEST_MAX  16   /* pointers to pointers */

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
static bool find_placed(const struct follow *f, uint64_t addr, int reg, int64_t offset,
			struct typed *ret)
{
	const struct variables *list = &f->function->placed;
	struct var_place frame = {PLACE_UNKNOWN};
	bool has_frame = list->nr && find_frame(f, addr, &frame), found = false;
	uint32_t depth = 0;

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
static bool find_held(const struct follow *f, uint64_t addr, int reg, struct typed *ret)
{
	const struct variables *list = &f->function->held[reg];
	uint32_t depth = 0;
	bool found = false;

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
static size_t before(const struct function_data *fn, size_t at)
{
	if (at && fn->code[at - 1].goes_on)
		return at - 1;
	for (size_t i = 0; i < fn->nr_code; i++)
		if (fn->code[i].kind == DISASM_JUMP && fn->code[i].target == fn->code[at].addr)
			return i;
	return SIZE_MAX;
}

static bool returned_type(const struct function_data *fn, const struct access *a, struct typed *ret)
{
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

/* Finds what @reg points to before instruction @at; with the offset from there. */
static bool pointer_type(struct follow *f, size_t at, int reg, int depth, struct typed *ret)
{
	const struct function_data *fn = f->function;
	int64_t added = 0;

	while (reg >= 0 && reg < ACCESS_REGS && depth < NEST_MAX && f->steps_left-- > 0) {
		const struct access *a;
		bool found = false;

		if (find_held(f, fn->code[at].addr, reg, ret)) {
			ret->offset += added;
			return true;
		}
		at = before(fn, at);
		if (at == SIZE_MAX)
			return false;
		a = &fn->code[at];
		if (a->kind == DISASM_CALL && is_lost_in_call(reg))
			found = reg == ACCESS_RAX && returned_type(fn, a, ret);
		else if (!(a->writes & 1u << reg))
			continue;
		else if (a->to != reg)
			return false;
		else if (a->move == ACCESS_COPY)
			reg = a->from;
		else if (a->move == ACCESS_ADD)
			added += a->memory.disp;
		else if (a->move == ACCESS_LOAD)
			found = loaded_type(f, at, &a->memory, depth + 1, ret);
		else if (a->move == ACCESS_ADDRESS)
			found = memory_type(f, at, &a->memory, depth + 1, ret);
		else if (a->move == ACCESS_INDEX)
			found = pointer_type(f, at, reg, depth + 1, ret) ||
				pointer_type(f, at, a->from, depth + 1, ret);
		else
			return false;
		if (found) {
			ret->offset += added;
			return true;
		}
		if (a->move != ACCESS_COPY && a->move != ACCESS_ADD)
			return false;
	}
	return false;
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
	f->steps_left = STEPS_MAX;
	return memory_type(f, at, &f->function->code[at].memory, 0, ret) && typed_is_inside(ret);
}
