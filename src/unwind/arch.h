/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of an architecture: as perf records them, and as DWARF numbers them.
 *
 * Sources: arch/ARCH/include/uapi/asm/perf_regs.h of Linux 6.1; the psABI of x86-64 (figure 3.36)
 * and i386 (table 2.14); "DWARF for the Arm 64-bit Architecture". All of these are little-endian.
 */
#ifndef RINGTAIL_UNWIND_ARCH_H
#define RINGTAIL_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Registers by DWARF number; one more, which DWARF does not number, is the frame's CFA. */
#define UNWIND_REGS 34
#define UNWIND_CFA  (UNWIND_REGS - 1)

struct unwind_arch {
	uint16_t machine;    /* e_machine of its ELF files */
	uint8_t word;	     /* bytes of an address */
	uint8_t nr;	     /* registers of DWARF that are followed: 0 to nr - 1 */
	uint8_t sp;	     /* DWARF's number */
	uint8_t pc;	     /* perf's number */
	uint8_t fp;	     /* DWARF's number; 0: what it leads to tells no stack pointer */
	const uint8_t *perf; /* perf's numbers, by DWARF's */
	uint64_t mask;	     /* bits of a code address that are address (not its signature) */
};

/* Values at one point of a call chain. */
struct unwind_regs {
	uint64_t v[UNWIND_REGS];
	uint64_t known; /* bit N: v[N] holds */
};

/*
 * The registers of tasks with the ABI @abi (PERF_SAMPLE_REGS_ABI_*) in a recording of the machine
 * @name (as uname -m says; NULL: like this one). NULL: not known.
 */
const struct unwind_arch *unwind_arch_find(const char *name, uint64_t abi);

/* Whether any ABI of that machine is known. */
bool unwind_arch_known(const char *name);

/*
 * Takes over what a sample recorded: one word at @words for each bit of @mask. Returns whether
 * program counter and stack pointer are there; the former is *@ret_pc.
 */
bool unwind_arch_regs(const struct unwind_arch *arch, uint64_t mask, const uint64_t *words,
		      struct unwind_regs *ret, uint64_t *ret_pc);

#endif
