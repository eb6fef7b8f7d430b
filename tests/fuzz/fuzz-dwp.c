// SPDX-License-Identifier: Apache-2.0
/*
 * Any two files as a program and its DWARF package: 4 bytes with the length of the program,
 * little-endian, the program, the package. All units are read.
 */
#include <string.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/debug.h"
#include "symbol/lines/dwp.h"
#include "symbol/lines/unit.h"

#define UNITS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_part(const uint8_t *data, size_t size, struct elf_image *ret)
{
	struct buf mem = {0};
	int rc = buf_append(&mem, data, size);

	return rc ? rc : elf_image_memory(&mem, ret, NULL);
}

static void read_units(struct debug *d)
{
	size_t text_left = 1 << 20;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	for (int i = 0; i < UNITS && !dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &die, NULL);
	     i++) {
		struct unit u = {.die = die};

		unit_read(&u, &d->split, &text_left);
		unit_release(&u);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debug d = {.image = ELF_IMAGE_INIT, .alt = ELF_IMAGE_INIT};
	struct elf_image img = ELF_IMAGE_INIT;
	uint32_t length;

	elf_version(EV_CURRENT);
	if (size < sizeof(length))
		return 0;
	memcpy(&length, data, sizeof(length));
	data += sizeof(length);
	size -= sizeof(length);
	if (length > size || open_part(data, length, &d.image))
		return 0;
	if (!debug_check(&d.image) && !debug_open(&d)) {
		d.split.is_asked = true;
		if (!open_part(data + length, size - length, &img))
			dwp_open_image(&img, &d.split.package);
		read_units(&d);
	}
	debug_close(&d);
	return 0;
}
