/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses: what an instruction does with registers and memory, as far as who follows pointers
 * through code needs it.
 *
 * Registers have their DWARF numbers (System V ABI of x86-64, figure 3.36). Code of other machines
 * than x86-64 has no accesses.
 */
#ifndef RINGTAIL_SYMBOL_DISASM_ACCESS_H
#define RINGTAIL_SYMBOL_DISASM_ACCESS_H

#include "symbol/disasm/disasm.h"

enum {
	ACCESS_RAX = 0,
	ACCESS_RSP = 7,
	ACCESS_REGS = 16, /* general registers, 0 to 15 */
	ACCESS_NO_REG = -1,
	ACCESS_FIXED = -2, /* as a base: the address is @disp alone */
};

/* An operand in memory: *(@base + @index × scale + @disp). */
struct access_memory {
	int base, index; /* ACCESS_NO_REG: none */
	int64_t disp;	 /* bytes; with ACCESS_FIXED the linked address */
	bool segment;	 /* it is relative to fs or gs */
	uint8_t size;	 /* bytes */
};

enum access_move {
	ACCESS_OTHER,
	ACCESS_COPY,	/* @to = @from */
	ACCESS_LOAD,	/* @to = *@memory, all of a register's 8 bytes */
	ACCESS_ADDRESS, /* @to = the address of @memory: lea */
	ACCESS_ADD,	/* @to += @memory.disp */
	ACCESS_INDEX,	/* @to += @from */
};

struct access {
	uint64_t addr;
	uint64_t target;	     /* of a jump or call; 0: none is known */
	struct access_memory memory; /* the last operand in memory, if @has_memory */
	uint16_t writes;	     /* registers, one bit each */
	uint8_t size;		     /* bytes of the instruction */
	int to, from;
	enum access_move move;
	enum disasm_kind kind;
	bool has_memory;     /* it reads or writes memory that an operand names */
	bool is_stack;	     /* push, pop, call or return */
	bool is_canary;	     /* it names the guard of the stack: %fs:0x28, or %gs:0x28 in kernels */
	bool goes_on;	     /* the next instruction may follow it */
	bool is_compare;     /* a jump behind it may be fused with it */
	bool is_conditional; /* a jump */
};

/*
 * Decodes the instruction at @addr, as disasm_next(). Returns false, with the length alone, if it
 * is none, or none of x86-64.
 */
bool disasm_access(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		   struct access *ret);

#endif
