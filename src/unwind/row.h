/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row of call frame information (DWARF 5, 6.4): rules that give a caller's registers at one address
 * of code, from the registers of its frame.
 *
 * A row is a read-only copy without references: any thread may apply it.
 */
#ifndef RINGTAIL_UNWIND_ROW_H
#define RINGTAIL_UNWIND_ROW_H

#include <stddef.h>

#include "unwind/arch.h"

/* The recorded part of a stack. */
struct unwind_stack {
	const uint8_t *data;
	uint64_t start; /* address of data[0] */
	uint64_t size;	/* bytes */
};

enum cfi_kind {
	CFI_SAME,	 /* the register keeps its value */
	CFI_UNDEFINED,	 /* its value is not known */
	CFI_VALUE,	 /* the value is base + offset */
	CFI_MEMORY,	 /* the value is stored at base + offset */
	CFI_EXPR_VALUE,	 /* the value is the result of an expression */
	CFI_EXPR_MEMORY, /* the value is stored at the result of an expression */
};

struct cfi_rule {
	uint8_t kind;	     /* enum cfi_kind */
	uint8_t base;	     /* a register or UNWIND_CFA */
	uint16_t len;	     /* of the expression, bytes */
	int64_t offset;	     /* of base */
	const uint8_t *expr; /* borrowed */
};

/* All rules for an address. The rule of UNWIND_CFA gives the CFA of the frame itself. */
struct cfi_rules {
	struct cfi_rule rule[UNWIND_REGS];
	uint8_t ra;  /* the register that holds the caller's address */
	bool signal; /* the kernel made the frame for a signal */
};

struct cfi_row;

/*
 * Packs @rules. Returns 0 with *@ret for free(), -EBADMSG if they lead to no caller or are longer
 * than any real ones, or -ENOMEM.
 */
int cfi_row_new(const struct cfi_rules *rules, const struct unwind_arch *arch,
		struct cfi_row **ret);

/* Whether the kernel made the frame for a signal: its caller's address is no return address. */
bool cfi_row_is_signal(const struct cfi_row *row);

/*
 * Turns @regs into the caller's, and *@ret_pc into its address. Returns false, with @regs
 * undefined, if they are not known: at the outermost frame, and where the copy of the stack ends.
 */
bool cfi_row_apply(const struct cfi_row *row, const struct unwind_arch *arch,
		   const struct unwind_stack *stack, struct unwind_regs *regs, uint64_t *ret_pc);

/* Reads a word of the stack; returns false if it was not recorded. */
bool unwind_stack_read(const struct unwind_stack *s, uint64_t addr, unsigned int bytes,
		       uint64_t *ret);

#endif
