// SPDX-License-Identifier: Apache-2.0
/*
 * Any ELF file as the one that a frame is in. Input: 8 bytes that registers are made of, a byte
 * that says how much of the file's end is the stack too, then the file. Its call frame information
 * is asked for addresses around its entry, and each row is applied.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/section.h"

#define ADDRESSES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply(const struct cfi_row *row, const struct unwind_arch *arch,
		  const struct unwind_stack *stack, uint64_t seed)
{
	struct unwind_regs regs = {.known = (1ull << arch->nr) - 1};
	uint64_t pc;

	for (unsigned int i = 0; i < arch->nr; i++)
		regs.v[i] = stack->start + (seed >> (i % 8)) % 64;
	/* the same row again and again, as in a recursion */
	for (unsigned int i = 0; i < 16; i++)
		if (!cfi_row_apply(row, arch, stack, &regs, &pc))
			return;
}

static void ask(const struct elf_image *img, const char *name, const struct unwind_stack *stack,
		uint64_t seed)
{
	const struct unwind_arch *arch = unwind_arch_find(
		img->ehdr.e_machine == EM_AARCH64 ? "aarch64" : "x86_64",
		img->ehdr.e_machine == EM_386 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64);
	uint64_t start = img->ehdr.e_entry & ~0xffull, step = 1 + seed % 16;
	struct cfi_section s = {0};
	struct cfi_row *row;

	cfi_section_load(&s, img, name);
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		if (cfi_section_row(&s, arch, start + i * step, &row))
			continue;
		apply(row, arch, stack, seed);
		free(row);
	}
	cfi_section_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct unwind_stack stack;
	struct buf mem = {0};
	uint64_t seed;

	elf_version(EV_CURRENT);
	if (size < 9)
		return 0;
	memcpy(&seed, data, 8);
	stack = (struct unwind_stack){.start = 0x7fff0000, .size = data[8] * (size - 9) / 256};
	stack.data = data + size - stack.size;
	if (buf_append(&mem, data + 9, size - 9) || elf_image_memory(&mem, &img, NULL))
		return 0;
	ask(&img, ".eh_frame", &stack, seed);
	ask(&img, ".debug_frame", &stack, seed);
	elf_image_close(&img);
	return 0;
}
