// SPDX-License-Identifier: Apache-2.0
#include "unwind/row.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/expr.h"

/* Bytes of all expressions of a row; those of the C library for signals have 60. */
#define EXPR_MAX 1024

/* A rule and its register. The bytes of expressions lie in the row. */
struct packed {
	uint8_t kind, reg, base;
	uint16_t len, at; /* of the expression */
	int32_t offset;
};

struct cfi_row {
	uint64_t lost;	   /* bit N: the caller's register N is not known */
	struct packed cfa; /* gives the CFA of the frame itself */
	uint8_t ra, nr;
	bool signal, sets_sp; /* @sets_sp: a rule gives the caller's stack pointer, not the CFA */
	bool saves_only;      /* words of 64 bits, all below or above the CFA, are all rules */
	uint64_t set;	      /* bit N: a rule gives register N */
	struct packed rule[]; /* @nr rules, then the bytes of expressions */
};

bool unwind_stack_read(const struct unwind_stack *s, uint64_t addr, unsigned int bytes,
		       uint64_t *ret)
{
	uint64_t v = 0, at = addr - s->start;

	if (addr < s->start || at > s->size || bytes > s->size - at)
		return false;
	/* Of a constant number of bytes the compiler makes one load; most words have this one. */
	if (bytes == sizeof(v))
		memcpy(&v, s->data + at, sizeof(v));
	else
		memcpy(&v, s->data + at, bytes);
	*ret = le64toh(v);
	return true;
}

static bool is_expr(const struct cfi_rule *r)
{
	return r->kind == CFI_EXPR_VALUE || r->kind == CFI_EXPR_MEMORY;
}

/*
 * Counts the rules to pack and the bytes of their expressions. Returns false if an offset is too
 * large for any frame.
 */
static bool measure(const struct cfi_rules *rules, const struct unwind_arch *arch, uint8_t *ret_nr,
		    size_t *ret_expr)
{
	for (unsigned int i = 0; i < UNWIND_REGS; i++) {
		const struct cfi_rule *r = &rules->rule[i];

		if (i >= arch->nr && i != UNWIND_CFA)
			continue;
		*ret_nr += i != UNWIND_CFA && r->kind > CFI_UNDEFINED;
		*ret_expr += is_expr(r) ? r->len : 0;
		if (!is_expr(r) && r->offset != (int32_t)r->offset)
			return false;
	}
	return true;
}

static struct packed pack(struct cfi_row *row, const struct cfi_rule *r, uint8_t reg,
			  uint16_t *expr_at)
{
	struct packed p = {.kind = r->kind, .reg = reg, .base = r->base};

	if (is_expr(r)) {
		p.len = r->len;
		p.at = *expr_at;
		memcpy((uint8_t *)&row->rule[row->nr] + p.at, r->expr, p.len);
		*expr_at = (uint16_t)(p.at + p.len);
	} else {
		p.offset = (int32_t)r->offset;
	}
	return p;
}

/*
 * Whether the rules lead to a caller. The machine's program counter with the rule "same" does not.
 */
static bool tells_caller(const struct cfi_rules *rules, const struct unwind_arch *arch)
{
	const struct cfi_rule *cfa = &rules->rule[UNWIND_CFA];

	if (rules->ra >= arch->nr || cfa->kind <= CFI_UNDEFINED)
		return false;
	return rules->rule[rules->ra].kind > CFI_UNDEFINED ||
	       (rules->rule[rules->ra].kind == CFI_SAME && arch->perf[rules->ra] != arch->pc);
}

/* Whether the rules are those of most code: callee-saved registers on the stack, nothing else. */
static bool saves_only(const struct cfi_row *row, const struct unwind_arch *arch)
{
	bool ret = arch->word == sizeof(uint64_t) && !row->sets_sp;

	for (uint8_t i = 0; i < row->nr; i++)
		ret &= row->rule[i].kind == CFI_MEMORY && row->rule[i].base == UNWIND_CFA;
	return ret;
}

int cfi_row_new(const struct cfi_rules *rules, const struct unwind_arch *arch, struct cfi_row **ret)
{
	struct cfi_row *row;
	size_t expr = 0;
	uint8_t nr = 0, n = 0;
	uint16_t at = 0;

	if (!measure(rules, arch, &nr, &expr) || !tells_caller(rules, arch) || expr > EXPR_MAX)
		return -EBADMSG;
	row = calloc(1, sizeof(*row) + nr * sizeof(row->rule[0]) + expr);
	if (!row)
		return -ENOMEM;
	row->nr = nr;
	row->ra = rules->ra;
	row->signal = rules->signal;
	row->sets_sp = rules->rule[arch->sp].kind > CFI_UNDEFINED;
	row->cfa = pack(row, &rules->rule[UNWIND_CFA], UNWIND_CFA, &at);
	for (uint8_t i = 0; i < arch->nr; i++) {
		if (rules->rule[i].kind > CFI_UNDEFINED) {
			row->rule[n++] = pack(row, &rules->rule[i], i, &at);
			row->set |= 1ull << i;
		} else if (rules->rule[i].kind == CFI_UNDEFINED)
			row->lost |= 1ull << i;
	}
	row->saves_only = saves_only(row, arch);
	*ret = row;
	return 0;
}

bool cfi_row_is_signal(const struct cfi_row *row)
{
	return row->signal;
}

/* Evaluates a rule. Returns false if its value is not known. */
static bool rule_value(const struct cfi_row *row, const struct packed *r,
		       const struct unwind_arch *arch, const struct unwind_stack *stack,
		       const struct unwind_regs *regs, uint64_t *ret)
{
	uint64_t v;

	if (r->kind == CFI_VALUE || r->kind == CFI_MEMORY) {
		if (!(regs->known >> r->base & 1))
			return false;
		v = regs->v[r->base] + (uint64_t)(int64_t)r->offset;
	} else {
		const uint8_t *expr = (const uint8_t *)&row->rule[row->nr] + r->at;
		const struct expr_frame f = {.arch = arch, .regs = regs, .stack = stack};

		if (expr_eval(expr, r->len, &f, r->reg != UNWIND_CFA, &v))
			return false;
	}
	if (arch->word == 4)
		v = (uint32_t)v;
	if (r->kind == CFI_MEMORY || r->kind == CFI_EXPR_MEMORY)
		return unwind_stack_read(stack, v, arch->word, ret);
	*ret = v;
	return true;
}

/*
 * Whether the code has already restored the caller's value of register @r->reg. This is common at
 * the end of a function: the row still names the place where the value was saved, but that place is
 * now below the stack pointer, and no copy of a stack has it.
 */
static bool is_restored(const struct cfi_row *row, const struct packed *r,
			const struct unwind_arch *arch, const struct unwind_stack *stack,
			const struct unwind_regs *regs)
{
	uint64_t at = regs->v[r->base] + (uint64_t)(int64_t)r->offset;

	if (r->kind != CFI_MEMORY || r->reg == row->ra || regs->v[arch->sp] != stack->start ||
	    !(regs->known >> r->base & 1) || !(regs->known >> r->reg & 1))
		return false;
	return (arch->word == 4 ? (uint32_t)at : at) < stack->start;
}

/*
 * Reads the registers of a row with saves_only. Returns those that are lost: bit N for register N.
 */
static uint64_t read_saved(const struct cfi_row *row, const struct unwind_arch *arch,
			   const struct unwind_stack *stack, struct unwind_regs *regs)
{
	uint64_t cfa = regs->v[UNWIND_CFA] - stack->start, last = stack->size - sizeof(uint64_t);
	uint64_t lost = 0, word;

	for (const struct packed *r = row->rule; r < row->rule + row->nr; r++) {
		uint64_t at = cfa + (uint64_t)(int64_t)r->offset;

		if (at <= last) {
			memcpy(&word, stack->data + at, sizeof(word));
			regs->v[r->reg] = le64toh(word);
		} else if (!is_restored(row, r, arch, stack, regs)) {
			lost |= 1ull << r->reg;
		}
	}
	return lost;
}

/* The same for any row. */
static uint64_t read_rules(const struct cfi_row *row, const struct unwind_arch *arch,
			   const struct unwind_stack *stack, struct unwind_regs *regs)
{
	uint64_t v[UNWIND_REGS], lost = 0;

	/* Read all old values first: rules may refer to each other's registers. */
	for (uint8_t i = 0; i < row->nr; i++) {
		const struct packed *r = &row->rule[i];

		if (rule_value(row, r, arch, stack, regs, &v[i]))
			continue;
		v[i] = regs->v[r->reg];
		if (!is_restored(row, r, arch, stack, regs))
			lost |= 1ull << r->reg;
	}
	for (uint8_t i = 0; i < row->nr; i++)
		regs->v[row->rule[i].reg] = v[i];
	return lost;
}

/* Whether each address in the copy is a number that does not overflow, and there is a word. */
static bool is_sound(const struct unwind_stack *stack)
{
	return stack->size >= sizeof(uint64_t) && stack->start <= UINT64_MAX - stack->size;
}

bool cfi_row_apply(const struct cfi_row *row, const struct unwind_arch *arch,
		   const struct unwind_stack *stack, struct unwind_regs *regs, uint64_t *ret_pc)
{
	uint64_t lost, cfa;

	regs->known &= ~(1ull << UNWIND_CFA);
	if (!rule_value(row, &row->cfa, arch, stack, regs, &cfa))
		return false;
	regs->v[UNWIND_CFA] = cfa;
	regs->known |= 1ull << UNWIND_CFA;
	lost = row->saves_only && is_sound(stack) ? read_saved(row, arch, stack, regs)
						  : read_rules(row, arch, stack, regs);
	regs->known = (regs->known | row->set) & ~(lost | row->lost);
	if (!row->sets_sp) {
		regs->v[arch->sp] = cfa;
		regs->known |= 1ull << arch->sp;
	}
	if (!(regs->known >> row->ra & 1))
		return false;
	*ret_pc = regs->v[row->ra] & arch->mask;
	return true;
}
