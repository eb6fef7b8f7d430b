/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVX-512BW instructions, by the AVX2 instructions of the same name, which Capstone 4 knows.
 *
 * Both have the same opcodes and operands; only prefixes, numbers of registers and the scale of
 * short displacements differ. So an instruction is written with a VEX prefix and registers that
 * stand for others, disassembled, and their names are replaced. Pure functions; any thread.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, 2.3.5 and 2.7.
 * Internal to symbol/disasm.
 */
#ifndef RINGTAIL_SYMBOL_DISASM_X86_EVEX_H
#define RINGTAIL_SYMBOL_DISASM_X86_EVEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evex {
	uint8_t code[16]; /* the instruction with a VEX prefix */
	size_t len;
	unsigned int reg, vvvv, rm; /* registers that the operands 1, 2 and 3 stand for */
	unsigned int mask;	    /* of k0 to k7; 0: none */
	bool zeroing;
	char width; /* 'x', 'y' or 'z' */
};

/* Translates the instruction in @len bytes. Returns false if it is none of those. */
bool evex_to_vex(const uint8_t *code, size_t len, struct evex *ret);

/*
 * Writes the operands @vex, as disassembled, with the registers of @e. @intel: the destination is
 * the first operand, not the last.
 */
void evex_operands(const struct evex *e, const char *vex, bool intel, char *ret, size_t size);

/*
 * Corrects index registers in @operands of an instruction with EVEX prefix that is neither gather
 * nor scatter: where its second operand is above 15, Capstone 4 writes xmm registers.
 */
void evex_correct_index(char *operands);

#endif
