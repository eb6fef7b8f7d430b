/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of an architecture: numbers in perf's records and in DWARF.
 *
 * Sources: arch/ARCH/include/uapi/asm/perf_regs.h of Linux 6.1; the psABI of x86-64 (figure 3.36)
 * and i386 (table 2.14); "DWARF for the Arm 64-bit Architecture"; for signals
 * arch/arm64/include/uapi/asm/sigcontext.h. All of these are little-endian.
 */
#ifndef RINGTAIL_UNWIND_ARCH_H
#define RINGTAIL_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where the kernel's frame of a signal handler has the registers of the code that was interrupted:
 * offsets from the stack pointer to which the handler returns.
 */
struct unwind_signal_layout {
	uint16_t regs; /* words by DWARF number */
	uint16_t pc;
	uint16_t magic_at; /* 32 bits that are always there */
	uint32_t magic;
};

/* Registers by DWARF number. The last is the frame's CFA, which has no number in DWARF. */
#define UNWIND_REGS 34
#define UNWIND_CFA  (UNWIND_REGS - 1)

struct unwind_arch {
	uint16_t machine; /* e_machine of its ELF files */
	uint8_t word;	  /* bytes of an address */
	uint8_t nr;	  /* number of DWARF registers that are followed: 0 to nr - 1 */
	uint8_t sp;	  /* DWARF's number */
	uint8_t pc;	  /* perf's number */
	/* DWARF's number; 0: the frame pointer does not give the caller's stack pointer. */
	uint8_t fp;
	const uint8_t *perf; /* perf's numbers, by DWARF's */
	/* DWARF's number of what has a leaf's return address; 0: the stack has it. */
	uint8_t link;
	uint64_t mask; /* bits of a code address that hold the address, not its signature */
	/* NULL: the call frame information of what a handler returns to is enough. */
	const struct unwind_signal_layout *signal;
};

/* Values of the registers at one frame of a call chain. */
struct unwind_regs {
	uint64_t v[UNWIND_REGS];
	uint64_t known; /* bit N: v[N] is valid */
};

/*
 * Returns the registers of tasks with ABI @abi (PERF_SAMPLE_REGS_ABI_*) in a recording of machine
 * @name (as uname -m prints it; NULL: this machine's). Returns NULL if the pair is not supported.
 */
const struct unwind_arch *unwind_arch_find(const char *name, uint64_t abi);

/* Whether any ABI of that machine is supported. */
bool unwind_arch_known(const char *name);

/*
 * Fills @ret from a sample: @words has one word for each bit of @mask. Returns whether the sample
 * has the program counter, stored in *@ret_pc, and the stack pointer.
 */
bool unwind_arch_regs(const struct unwind_arch *arch, uint64_t mask, const uint64_t *words,
		      struct unwind_regs *ret, uint64_t *ret_pc);

#endif
