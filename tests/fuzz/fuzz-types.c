// SPDX-License-Identifier: Apache-2.0
/*
 * Any file as debug information and code: the types of what its instructions access. A place in a
 * type must be inside of it.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "symbol/types/type_file.h"

#define CODE_MAX 2048 /* bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct typed *t)
{
	struct buf text = {0};

	if (!typed_is_inside(t))
		abort();
	type_put_name(&t->type, &text);
	type_put_members(&t->type, (uint64_t)t->offset, &text);
	buf_release(&text);
}

/* The code from offset @skip of the segment on is taken for a function. */
static void ask(struct type_file *f, const uint8_t *data, size_t size, const GElf_Phdr *code,
		uint64_t skip)
{
	uint64_t start = code->p_vaddr + skip, at = code->p_offset + skip;
	struct type_function *fn;
	struct typed typed;
	size_t len;

	if (at < skip || at >= size || skip >= code->p_filesz)
		return;
	len = size - at < CODE_MAX ? size - at : CODE_MAX;
	fn = type_file_read(f, start, start + len, data + at, len);
	for (size_t i = 0; i < len; i++)
		if (type_file_find(f, fn, start + i, &typed) == ACCESSED_TYPED)
			show(&typed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image debug = ELF_IMAGE_INIT, program = ELF_IMAGE_INIT;
	struct buf mem = {0}, copy = {0};
	struct type_file *f;
	GElf_Phdr code = {0};
	size_t n = 0;

	elf_version(EV_CURRENT);
	if (buf_append(&mem, data, size) || elf_image_memory(&mem, &debug, NULL))
		return 0;
	if (buf_append(&copy, data, size) || elf_image_memory(&copy, &program, NULL)) {
		elf_image_close(&debug);
		return 0;
	}
	if (!elf_getphdrnum(debug.elf, &n))
		for (size_t i = 0; i < n && i < 16; i++)
			if (gelf_getphdr(debug.elf, (int)i, &code) && (code.p_flags & PF_X))
				break;
	if (type_file_new(&debug, &program, &f))
		return 0;
	for (uint64_t i = 0; i < 8; i++)
		ask(f, data, size, &code, code.p_filesz / 8 * i);
	type_file_free(f);
	return 0;
}
