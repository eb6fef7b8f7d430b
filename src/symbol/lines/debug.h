/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information: a file with DWARF, opened by libdw, with its supplementary file (dwz).
 *
 * One thread at a time. Internal to symbol/lines and symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_LINES_DEBUG_H
#define RINGTAIL_SYMBOL_LINES_DEBUG_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbol/elf/elf_image.h"
#include "symbol/lines/split.h"

struct debug {
	struct elf_image image; /* owned */
	struct elf_image alt;	/* supplementary file of dwz; owned */
	Dwarf *dwarf;		/* NULL: not open */
	Dwarf *alt_dwarf;	/* NULL: none */
	struct split_files split;
};

/* Returns whether the file has debug information. */
bool debug_is_in(const struct elf_image *img);

/* Returns the bytes of the sections that libdw would read. */
uint64_t debug_size(const struct elf_image *img);

/* Returns 0, -ENOENT if the file has no debug information, or -EFBIG if that is too large. */
int debug_check(const struct elf_image *img);

/*
 * Opens the debug information of @d->image, which debug_check() accepted; @d->alt is
 * ELF_IMAGE_INIT. Returns 0, -EBADMSG or another negative errno; debug_close() follows in any case.
 */
int debug_open(struct debug *d);

/* Returns whether the supplementary file was found, if there must be one. */
bool debug_is_whole(const struct debug *d);

/* Returns whether @addr is code: linkers leave ranges of dropped functions behind, mostly at 0. */
bool debug_is_code(const struct debug *d, uint64_t addr);

/* Closes the files; accepts one that is not open. */
void debug_close(struct debug *d);

#endif
