// SPDX-License-Identifier: Apache-2.0
#include "unwind/expr.h"

#include <dwarf.h>
#include <errno.h>

#include "unwind/reader.h"

#define DEPTH_MAX 32

struct expr {
	const struct unwind_arch *arch;
	const struct unwind_regs *regs;
	const struct unwind_stack *stack;
	struct unwind_reader code;
	uint64_t v[DEPTH_MAX];
	unsigned int depth;
	bool bad; /* any error sets it; the result is then invalid */
};

static void push(struct expr *e, uint64_t v)
{
	if (e->depth == DEPTH_MAX)
		e->bad = true;
	else
		e->v[e->depth++] = e->arch->word == 4 ? (uint32_t)v : v;
}

static uint64_t pop(struct expr *e)
{
	if (e->depth)
		return e->v[--e->depth];
	e->bad = true;
	return 0;
}

/* Copies the @n-th value from the top to the top. */
static void pick(struct expr *e, uint64_t n)
{
	if (n < e->depth)
		push(e, e->v[e->depth - 1 - n]);
	else
		e->bad = true;
}

/* Moves the top below the next @n values. */
static void sink(struct expr *e, unsigned int n)
{
	uint64_t top = pop(e);

	if (e->depth < n) {
		e->bad = true;
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		e->v[e->depth - i] = e->v[e->depth - i - 1];
	e->v[e->depth - n] = top;
	e->depth++;
}

static void push_reg(struct expr *e, uint64_t reg, uint64_t offset)
{
	if (reg >= UNWIND_REGS || !(e->regs->known >> reg & 1))
		e->bad = true;
	else
		push(e, e->regs->v[reg] + offset);
}

static void deref(struct expr *e, uint64_t bytes)
{
	uint64_t v = 0;

	if (!bytes || bytes > 8 || !unwind_stack_read(e->stack, pop(e), (unsigned int)bytes, &v))
		e->bad = true;
	push(e, v);
}

/* Returns @v as a signed number of the machine's word. */
static int64_t number(const struct expr *e, uint64_t v)
{
	return e->arch->word == 4 ? (int32_t)v : (int64_t)v;
}

static uint64_t shift(const struct expr *e, uint8_t atom, uint64_t a, uint64_t by)
{
	unsigned int bits = 8u * e->arch->word;

	if (by >= bits)
		return atom == DW_OP_shra && number(e, a) < 0 ? UINT64_MAX : 0;
	if (atom == DW_OP_shl)
		return a << by;
	return atom == DW_OP_shr ? a >> by : (uint64_t)(number(e, a) >> by);
}

static bool compare(uint8_t atom, int64_t a, int64_t b)
{
	switch (atom) {
	case DW_OP_eq: return a == b;
	case DW_OP_ne: return a != b;
	case DW_OP_lt: return a < b;
	case DW_OP_le: return a <= b;
	case DW_OP_gt: return a > b;
	default: return a >= b; /* DW_OP_ge */
	}
}

/* Carries out an operation on the two topmost values. Returns false if @atom is another one. */
static bool binary(struct expr *e, uint8_t atom)
{
	uint64_t b = e->depth > 1 ? e->v[e->depth - 1] : 0;
	uint64_t a = e->depth > 1 ? e->v[e->depth - 2] : 0, v;

	switch (atom) {
	case DW_OP_plus: v = a + b; break;
	case DW_OP_minus: v = a - b; break;
	case DW_OP_mul: v = a * b; break;
	case DW_OP_and: v = a & b; break;
	case DW_OP_or: v = a | b; break;
	case DW_OP_xor: v = a ^ b; break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra: v = shift(e, atom, a, b); break;
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_lt:
	case DW_OP_le:
	case DW_OP_gt:
	case DW_OP_ge: v = compare(atom, number(e, a), number(e, b)); break;
	default: return false;
	}
	pop(e);
	pop(e);
	push(e, v);
	return true;
}

/*
 * Carries out an operation that only rearranges the stack. Returns false if @atom is another one.
 */
static bool reorder(struct expr *e, uint8_t atom)
{
	switch (atom) {
	case DW_OP_dup: pick(e, 0); return true;
	case DW_OP_over: pick(e, 1); return true;
	case DW_OP_pick: pick(e, reader_byte(&e->code)); return true;
	case DW_OP_swap: sink(e, 1); return true;
	case DW_OP_rot: sink(e, 2); return true;
	case DW_OP_drop: pop(e); return true;
	default: return false;
	}
}

/* Pushes a number from the code. Returns false if @atom is no such operation. */
static bool constant(struct expr *e, uint8_t atom)
{
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(e, atom - DW_OP_lit0);
		return true;
	}
	switch (atom) {
	case DW_OP_const1u: push(e, reader_word(&e->code, 1)); return true;
	case DW_OP_const1s: push(e, reader_signed(&e->code, 1)); return true;
	case DW_OP_const2u: push(e, reader_word(&e->code, 2)); return true;
	case DW_OP_const2s: push(e, reader_signed(&e->code, 2)); return true;
	case DW_OP_const4u: push(e, reader_word(&e->code, 4)); return true;
	case DW_OP_const4s: push(e, reader_signed(&e->code, 4)); return true;
	case DW_OP_const8u:
	case DW_OP_const8s: push(e, reader_word(&e->code, 8)); return true;
	case DW_OP_constu: push(e, reader_uleb(&e->code)); return true;
	case DW_OP_consts: push(e, reader_sleb(&e->code)); return true;
	default: return false;
	}
}

/*
 * Carries out an operation that reads the frame or changes the top. False if @atom is another one.
 */
static bool look(struct expr *e, uint8_t atom)
{
	uint64_t reg;

	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push_reg(e, atom - DW_OP_breg0, reader_sleb(&e->code));
		return true;
	}
	switch (atom) {
	case DW_OP_bregx:
		reg = reader_uleb(&e->code);
		push_reg(e, reg, reader_sleb(&e->code));
		return true;
	case DW_OP_plus_uconst: push(e, pop(e) + reader_uleb(&e->code)); return true;
	case DW_OP_neg: push(e, 0 - pop(e)); return true;
	case DW_OP_not: push(e, ~pop(e)); return true;
	case DW_OP_deref: deref(e, e->arch->word); return true;
	case DW_OP_deref_size: deref(e, reader_byte(&e->code)); return true;
	case DW_OP_nop: return true;
	default: return false;
	}
}

int expr_eval(const uint8_t *code, size_t len, const struct expr_frame *f, bool begin_with_cfa,
	      uint64_t *ret)
{
	struct expr e = {.arch = f->arch, .regs = f->regs, .stack = f->stack};

	e.code = (struct unwind_reader){.p = code, .end = code + len};
	if (begin_with_cfa)
		push_reg(&e, UNWIND_CFA, 0);
	while (reader_left(&e.code) && !e.code.bad && !e.bad) {
		uint8_t atom = reader_byte(&e.code);

		if (!constant(&e, atom) && !look(&e, atom) && !binary(&e, atom) &&
		    !reorder(&e, atom))
			return -EINVAL;
	}
	if (e.bad || e.code.bad || !e.depth)
		return -EINVAL;
	*ret = e.v[e.depth - 1];
	return 0;
}
