/* SPDX-License-Identifier: Apache-2.0 */
/* What a disassembler is. Internal to symbol/disasm. */
#ifndef RINGTAIL_SYMBOL_DISASM_DISASM_PRIV_H
#define RINGTAIL_SYMBOL_DISASM_DISASM_PRIV_H

#include "symbol/disasm/capstone.h"
#include "symbol/disasm/disasm.h"

struct disasm {
	struct capstone lib;
	csh cs;
	cs_insn *insn;
	bool is_x86, is_x86_64, is_arm64, intel;
	bool big_endian;
	size_t unit; /* bytes of the shortest instruction, and of undecoded code */
};

#endif
