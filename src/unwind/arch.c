// SPDX-License-Identifier: Apache-2.0
#include "unwind/arch.h"

#include <elf.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/utsname.h>

/*
 * rax rdx rcx rbx rsi rdi rbp rsp r8-r15, and the return address, which is rip of the current frame
 */
static const uint8_t x86_64_perf[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

/* eax ecx edx ebx esp ebp esi edi eip */
static const uint8_t i386_perf[] = {0, 2, 3, 1, 7, 6, 4, 5, 8};

/* x0-x30, sp */
static const uint8_t aarch64_perf[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				       22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static const struct unwind_arch x86_64 = {
	.machine = EM_X86_64,
	.word = 8,
	.nr = sizeof(x86_64_perf),
	.sp = 7,
	.pc = 8,
	.fp = 6,
	.perf = x86_64_perf,
	.mask = UINT64_MAX,
};

static const struct unwind_arch i386 = {
	.machine = EM_386,
	.word = 4,
	.nr = sizeof(i386_perf),
	.sp = 4,
	.pc = 8,
	.fp = 5,
	.perf = i386_perf,
	.mask = UINT32_MAX,
};

/*
 * struct rt_sigframe: siginfo, then a ucontext whose sigcontext has x0-x30, sp and pc, and behind
 * them the head of the floating-point registers (FPSIMD_MAGIC). The vdso, to which handlers return,
 * has no call frame information.
 */
static const struct unwind_signal_layout aarch64_signal = {
	.regs = 312, .pc = 568, .magic_at = 592, .magic = 0x46508001};

static const struct unwind_arch aarch64 = {
	.machine = EM_AARCH64,
	.word = 8,
	.nr = sizeof(aarch64_perf),
	.sp = 31,
	.pc = 32,
	.link = 30,
	.perf = aarch64_perf,
	/* Return addresses may have a signature in the bits above those of user space. */
	.mask = (1ull << 48) - 1,
	.signal = &aarch64_signal,
};

static const struct {
	const char *machine; /* a pattern for the output of uname -m */
	uint64_t abi;
	const struct unwind_arch *arch;
} known[] = {
	{"x86_64", PERF_SAMPLE_REGS_ABI_64, &x86_64},
	{"x86_64", PERF_SAMPLE_REGS_ABI_32, &i386},
	{"i?86", PERF_SAMPLE_REGS_ABI_32, &i386},
	{"aarch64", PERF_SAMPLE_REGS_ABI_64, &aarch64},
};

#define NR_KNOWN (sizeof(known) / sizeof(known[0]))

static bool machine_is(const char *name, const char *pattern)
{
	struct utsname here;

	if (!name)
		name = uname(&here) ? "" : here.machine;
	return !fnmatch(pattern, name, 0);
}

const struct unwind_arch *unwind_arch_find(const char *name, uint64_t abi)
{
	for (size_t i = 0; i < NR_KNOWN; i++)
		if (known[i].abi == abi && machine_is(name, known[i].machine))
			return known[i].arch;
	return NULL;
}

bool unwind_arch_known(const char *name)
{
	for (size_t i = 0; i < NR_KNOWN; i++)
		if (machine_is(name, known[i].machine))
			return true;
	return false;
}

bool unwind_arch_regs(const struct unwind_arch *arch, uint64_t mask, const uint64_t *words,
		      struct unwind_regs *ret, uint64_t *ret_pc)
{
	uint64_t address = arch->word == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t by_perf[64]; /* words by perf's numbers, where the mask has them */

	for (uint64_t left = mask; left; left &= left - 1)
		by_perf[__builtin_ctzll(left)] = *words++;
	ret->known = 0;
	for (unsigned int i = 0; i < arch->nr; i++)
		if (mask >> arch->perf[i] & 1) {
			ret->v[i] = by_perf[arch->perf[i]] & address;
			ret->known |= 1ull << i;
		}
	if (!(ret->known >> arch->sp & 1) || !(mask >> arch->pc & 1))
		return false;
	*ret_pc = by_perf[arch->pc] & arch->mask;
	return true;
}
