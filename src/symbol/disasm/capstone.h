/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of Capstone that the disassembler uses. Internal to symbol/disasm. */
#ifndef RINGTAIL_SYMBOL_DISASM_CAPSTONE_H
#define RINGTAIL_SYMBOL_DISASM_CAPSTONE_H

#include <capstone/capstone.h>

#include "sys/io/library.h"

#define CAPSTONE_FUNCTIONS(X) \
	X(cs_open)            \
	X(cs_option)          \
	X(cs_malloc) X(cs_free) X(cs_close) X(cs_disasm_iter) X(cs_insn_group) X(cs_regs_access)

/* clang-format off */
struct capstone {
	CAPSTONE_FUNCTIONS(LIBRARY_POINTER)
};
/* clang-format on */

/* Returns 0, or -ELIBACC with @err filled: the library is not installed. Any thread. */
int capstone_load(struct capstone *ret, struct error *err);

#endif
