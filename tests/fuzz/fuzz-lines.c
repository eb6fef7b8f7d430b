// SPDX-License-Identifier: Apache-2.0
/*
 * Any file as debug information. It is asked for addresses all over its code, and what it finds
 * must be within the limits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/lines.h"

#define ADDRESSES 256
#define FRAMES	  64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct source_lines *l, uint64_t start, uint64_t size)
{
	struct line_frame frame[FRAMES];

	for (uint64_t i = 0; i < ADDRESSES; i++) {
		size_t nr = lines_find(l, start + size / ADDRESSES * i + i, frame, FRAMES);

		if (nr > FRAMES)
			abort();
		for (size_t k = 0; k < nr; k++)
			if ((frame[k].function && strlen(frame[k].function) > SIZE_MAX / 2) ||
			    (frame[k].file && strlen(frame[k].file) > SIZE_MAX / 2))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct source_lines *l;
	struct buf mem = {0};
	GElf_Phdr code = {0};
	size_t n = 0;

	elf_version(EV_CURRENT);
	if (buf_append(&mem, data, size) || elf_image_memory(&mem, &img, NULL))
		return 0;
	if (!elf_getphdrnum(img.elf, &n))
		for (size_t i = 0; i < n && i < 16; i++)
			if (gelf_getphdr(img.elf, (int)i, &code) && (code.p_flags & PF_X))
				break;
	if (lines_open_image(&img, true, NULL, &l))
		return 0;
	ask(l, code.p_vaddr, code.p_memsz < 4096 ? code.p_memsz : 4096);
	ask(l, code.p_vaddr, code.p_memsz);
	lines_free(l);
	return 0;
}
