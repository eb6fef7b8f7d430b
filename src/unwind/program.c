// SPDX-License-Identifier: Apache-2.0
#include "unwind/program.h"

#include <dwarf.h>
#include <errno.h>

#define REMEMBER_MAX 16
#define STEPS_MAX    65536 /* of instructions in an entry; a very long function has thousands */

struct program {
	const struct cfi_entry *e;
	const struct unwind_arch *arch;
	struct cfi_rules rules, initial; /* @initial: after the common entry's instructions */
	struct cfi_rules remembered[REMEMBER_MAX];
	unsigned int depth;
	uint64_t loc, addr; /* start of the current row; the wanted address */
	bool bad;
};

uint64_t cfi_entry_address(const struct cfi_entry *e, struct unwind_reader *r, uint8_t encoding)
{
	uint64_t at = e->section_addr + (uint64_t)(r->p - e->section), v = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr: v = reader_word(r, e->word); break;
	case DW_EH_PE_uleb128: v = reader_uleb(r); break;
	case DW_EH_PE_udata2: v = reader_word(r, 2); break;
	case DW_EH_PE_udata4: v = reader_word(r, 4); break;
	case DW_EH_PE_udata8: v = reader_word(r, 8); break;
	case DW_EH_PE_sleb128: v = reader_sleb(r); break;
	case DW_EH_PE_sdata2: v = reader_signed(r, 2); break;
	case DW_EH_PE_sdata4: v = reader_signed(r, 4); break;
	case DW_EH_PE_sdata8: v = reader_word(r, 8); break;
	default: r->bad = true;
	}
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		v += at;
	else if (encoding & 0xf0)
		r->bad = true;
	return e->word == 4 ? (uint32_t)v : v;
}

/* Sets the rule of a register. Registers that are not followed are ignored. */
static void set(struct program *p, uint64_t reg, enum cfi_kind kind, uint64_t base, uint64_t offset)
{
	if (reg >= p->arch->nr && reg != UNWIND_CFA)
		return;
	if (base >= UNWIND_REGS) {
		p->bad = true;
		return;
	}
	p->rules.rule[reg] = (struct cfi_rule){
		.kind = (uint8_t)kind, .base = (uint8_t)base, .offset = (int64_t)offset};
}

static void set_expr(struct program *p, struct unwind_reader *r, uint64_t reg, enum cfi_kind kind)
{
	uint64_t len = reader_uleb(r);
	const uint8_t *expr = r->p;

	reader_skip(r, len);
	if (r->bad || len > UINT16_MAX) {
		p->bad = true;
		return;
	}
	set(p, reg, kind, 0, 0);
	if (reg < p->arch->nr || reg == UNWIND_CFA) {
		p->rules.rule[reg].expr = expr;
		p->rules.rule[reg].len = (uint16_t)len;
	}
}

static void restore(struct program *p, uint64_t reg)
{
	if (reg < p->arch->nr)
		p->rules.rule[reg] = p->initial.rule[reg];
}

static void remember(struct program *p)
{
	if (p->depth == REMEMBER_MAX)
		p->bad = true;
	else
		p->remembered[p->depth++] = p->rules;
}

static void recall(struct program *p)
{
	if (p->depth)
		p->rules = p->remembered[--p->depth];
	else
		p->bad = true;
}

/* Changes the register or the offset of the CFA's rule, which must be of that form. */
static void change_cfa(struct program *p, const uint64_t *base, const uint64_t *offset)
{
	struct cfi_rule *cfa = &p->rules.rule[UNWIND_CFA];

	if (cfa->kind != CFI_VALUE)
		p->bad = true;
	else
		set(p, UNWIND_CFA, CFI_VALUE, base ? *base : cfa->base,
		    offset ? *offset : (uint64_t)cfa->offset);
}

/* Carries out an instruction about the CFA. Returns false if @op is another one. */
static bool cfa_instruction(struct program *p, struct unwind_reader *r, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case DW_CFA_def_cfa:
		a = reader_uleb(r);
		set(p, UNWIND_CFA, CFI_VALUE, a, reader_uleb(r));
		return true;
	case DW_CFA_def_cfa_sf:
		a = reader_uleb(r);
		set(p, UNWIND_CFA, CFI_VALUE, a, reader_sleb(r) * p->e->data_align);
		return true;
	case DW_CFA_def_cfa_register:
		a = reader_uleb(r);
		change_cfa(p, &a, NULL);
		return true;
	case DW_CFA_def_cfa_offset:
		b = reader_uleb(r);
		change_cfa(p, NULL, &b);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		b = reader_sleb(r) * p->e->data_align;
		change_cfa(p, NULL, &b);
		return true;
	case DW_CFA_def_cfa_expression: set_expr(p, r, UNWIND_CFA, CFI_EXPR_VALUE); return true;
	default: return false;
	}
}

/* Instructions about a register, their first operand. Returns false if @op is another one. */
static bool register_instruction(struct program *p, struct unwind_reader *r, uint8_t op)
{
	const uint64_t align = p->e->data_align;
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op > DW_CFA_GNU_negative_offset_extended)
		return false;
	reg = reader_uleb(r);
	/* the file cannot name this register: DWARF has no number for it */
	if (reg == UNWIND_CFA)
		reg = UINT64_MAX;
	switch (op) {
	case DW_CFA_offset_extended:
		set(p, reg, CFI_MEMORY, UNWIND_CFA, reader_uleb(r) * align);
		return true;
	case DW_CFA_offset_extended_sf:
		set(p, reg, CFI_MEMORY, UNWIND_CFA, reader_sleb(r) * align);
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set(p, reg, CFI_MEMORY, UNWIND_CFA, 0 - reader_uleb(r) * align);
		return true;
	case DW_CFA_val_offset:
		set(p, reg, CFI_VALUE, UNWIND_CFA, reader_uleb(r) * align);
		return true;
	case DW_CFA_val_offset_sf:
		set(p, reg, CFI_VALUE, UNWIND_CFA, reader_sleb(r) * align);
		return true;
	case DW_CFA_register: set(p, reg, CFI_VALUE, reader_uleb(r), 0); return true;
	case DW_CFA_undefined: set(p, reg, CFI_UNDEFINED, 0, 0); return true;
	case DW_CFA_same_value: set(p, reg, CFI_SAME, 0, 0); return true;
	case DW_CFA_restore_extended: restore(p, reg); return true;
	case DW_CFA_expression: set_expr(p, r, reg, CFI_EXPR_MEMORY); return true;
	case DW_CFA_val_expression: set_expr(p, r, reg, CFI_EXPR_VALUE); return true;
	default: return false;
	}
}

/*
 * Instructions without effect on the rules, and those that save and restore all rules. Returns
 * false if @op is another one.
 */
static bool other_instruction(struct program *p, struct unwind_reader *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	/* On aarch64 DW_CFA_AARCH64_negate_ra_state: whether return addresses are signed. */
	case DW_CFA_GNU_window_save: return true;
	case DW_CFA_GNU_args_size: reader_uleb(r); return true;
	case DW_CFA_remember_state: remember(p); return true;
	case DW_CFA_restore_state: recall(p); return true;
	default: return false;
	}
}

/* Carries out an instruction that advances the address. Returns false if @op is another one. */
static bool advance(struct program *p, struct unwind_reader *r, uint8_t op)
{
	uint64_t by;

	if ((op & 0xc0) == DW_CFA_advance_loc)
		by = op & 0x3f;
	else if (op == DW_CFA_advance_loc1 || op == DW_CFA_advance_loc2)
		by = reader_word(r, op == DW_CFA_advance_loc1 ? 1 : 2);
	else if (op == DW_CFA_advance_loc4)
		by = reader_word(r, 4);
	else if (op == DW_CFA_set_loc) {
		p->loc = cfi_entry_address(p->e, r, p->e->encoding);
		return true;
	} else
		return false;
	p->loc += by * p->e->code_align;
	return true;
}

/* Runs until the row of the wanted address is complete. */
static void run(struct program *p, struct unwind_reader r)
{
	for (unsigned int n = 0; reader_left(&r) && !p->bad; n++) {
		uint8_t op = reader_byte(&r), low = op & 0x3f;

		if (advance(p, &r, op)) {
			if (p->loc > p->addr && !r.bad)
				return;
		} else if ((op & 0xc0) == DW_CFA_offset) {
			set(p, low == UNWIND_CFA ? UINT64_MAX : low, CFI_MEMORY, UNWIND_CFA,
			    reader_uleb(&r) * p->e->data_align);
		} else if ((op & 0xc0) == DW_CFA_restore) {
			restore(p, low);
		} else if (!other_instruction(p, &r, op) && !cfa_instruction(p, &r, op) &&
			   !register_instruction(p, &r, op)) {
			p->bad = true;
		}
		p->bad |= r.bad || n == STEPS_MAX;
	}
}

/* Leaves out @remembered: it is most of @p, and few programs use it. */
static void program_init(struct program *p, const struct cfi_entry *e,
			 const struct unwind_arch *arch, uint64_t addr)
{
	p->e = e;
	p->arch = arch;
	p->rules = (struct cfi_rules){.ra = (uint8_t)e->ra, .signal = e->signal};
	p->initial = (struct cfi_rules){0};
	p->depth = 0;
	p->loc = e->start;
	p->addr = addr;
	p->bad = false;
}

int cfi_program_run(const struct cfi_entry *e, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret)
{
	struct program p;

	if (e->ra >= arch->nr)
		return -EBADMSG;
	program_init(&p, e, arch, addr);
	run(&p, e->initial);
	p.initial = p.rules;
	p.loc = e->start;
	run(&p, e->instructions);
	return p.bad ? -EBADMSG : cfi_row_new(&p.rules, arch, ret);
}
