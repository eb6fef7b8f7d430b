/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the registers of a caller are found from those of the frame at hand, for one address of code:
 * a row of the table that call frame information (DWARF 5, 6.4) stands for.
 *
 * A row is a copy that depends on nothing, and read-only: any thread may apply it.
 */
#ifndef RINGTAIL_UNWIND_ROW_H
#define RINGTAIL_UNWIND_ROW_H

#include <stddef.h>

#include "unwind/arch.h"

/* The part of the stack that was recorded. */
struct unwind_stack {
	const uint8_t *data;
	uint64_t start; /* address of data[0] */
	uint64_t size;	/* bytes */
};

enum cfi_kind {
	CFI_SAME,	 /* the register keeps its value */
	CFI_UNDEFINED,	 /* its value cannot be known */
	CFI_VALUE,	 /* the value is base + offset */
	CFI_MEMORY,	 /* the value is stored there */
	CFI_EXPR_VALUE,	 /* the value is what an expression comes to */
	CFI_EXPR_MEMORY, /* the value is stored there */
};

struct cfi_rule {
	uint8_t kind;	     /* enum cfi_kind */
	uint8_t base;	     /* a register; UNWIND_CFA */
	uint16_t len;	     /* of the expression, bytes */
	int64_t offset;	     /* of base */
	const uint8_t *expr; /* borrowed */
};

/* All rules for an address; that of UNWIND_CFA is the frame's own. */
struct cfi_rules {
	struct cfi_rule rule[UNWIND_REGS];
	uint8_t ra;  /* the register that has the caller's address */
	bool signal; /* the frame is one that a signal makes */
};

struct cfi_row;

/*
 * Packs @rules. Returns 0 with *@ret for free(), -EBADMSG if they tell no caller or are longer than
 * anything in earnest, or -ENOMEM.
 */
int cfi_row_new(const struct cfi_rules *rules, const struct unwind_arch *arch,
		struct cfi_row **ret);

/* Whether the frame is one that a signal makes: its caller's address is no return address. */
bool cfi_row_is_signal(const struct cfi_row *row);

/*
 * Turns @regs into those of the caller, and *@ret_pc into its address. Returns false, with @regs
 * undefined, where that cannot be known, so at the outermost frame and where the stack was cut.
 */
bool cfi_row_apply(const struct cfi_row *row, const struct unwind_arch *arch,
		   const struct unwind_stack *stack, struct unwind_regs *regs, uint64_t *ret_pc);

/* Reads a word of the stack; false if it was not recorded. */
bool unwind_stack_read(const struct unwind_stack *s, uint64_t addr, unsigned int bytes,
		       uint64_t *ret);

#endif
