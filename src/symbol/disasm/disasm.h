/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembler: decodes machine code one instruction at a time, with Capstone.
 *
 * The machine is that of the code, whichever runs the program. Code is foreign: any bytes give
 * instructions that cover them all. One thread uses a disassembler.
 */
#ifndef RINGTAIL_SYMBOL_DISASM_DISASM_H
#define RINGTAIL_SYMBOL_DISASM_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum disasm_syntax {
	DISASM_DEFAULT, /* of the machine's assembler: AT&T for x86 */
	DISASM_ATT,
	DISASM_INTEL,
};

enum disasm_kind {
	DISASM_OTHER,
	DISASM_JUMP,
	DISASM_CALL,
	DISASM_RETURN,
};

struct disasm_machine {
	uint16_t machine; /* EM_* */
	bool is_64;	  /* ELFCLASS64 */
	bool big_endian;
};

struct disasm_insn {
	uint64_t addr;
	uint8_t size;	 /* bytes, at least 1 */
	bool known;	 /* false: @text is a directive with the bytes */
	bool has_target; /* a branch to the fixed address @target */
	bool has_data;	 /* it names memory at the fixed address @data relative to itself */
	enum disasm_kind kind;
	uint64_t target, data;
	char text[224]; /* plain ASCII */
};

struct disasm;

/*
 * Returns 0 with *@ret for disasm_free(), -ENOTSUP with @err filled where Capstone lacks the
 * machine, -ELIBACC with @err filled where it is not installed, or -ENOMEM.
 */
int disasm_new(const struct disasm_machine *m, enum disasm_syntax syntax, struct disasm **ret,
	       struct error *err);
void disasm_free(struct disasm *d); /* accepts NULL */

/* Decodes the instruction at @addr, whose code begins with @code; @len is at least 1. */
void disasm_next(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		 struct disasm_insn *ret);

/*
 * Returns the length of an x86 instruction of 64-bit code that has a VEX or EVEX prefix, or 0 if
 * there is none or it does not fit into @len bytes.
 */
size_t disasm_x86_vex_length(const uint8_t *code, size_t len);

/*
 * Writes the text of the aarch64 instruction @w if it is an atomic one of Armv8.1. Returns whether
 * it is.
 */
bool disasm_arm64_atomic(uint32_t w, char *text, size_t size);

#endif
