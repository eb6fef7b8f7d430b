/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections .eh_frame and .debug_frame: which entry describes which code, and what it says.
 * Sources: DWARF 5, 6.4; Linux Standard Base 5.0, Core, 10.6 (.eh_frame).
 *
 * This is not left to libdw: it takes as much memory as a number in the file says, and keeps what
 * it was asked in caches, so that it wants a lock. Read-only once made: any thread.
 */
#ifndef RINGTAIL_UNWIND_SECTION_H
#define RINGTAIL_UNWIND_SECTION_H

#include "symbol/elf/elf_image.h"
#include "unwind/row.h"

/* An all-zero struct is a section without entries. */
struct cfi_section {
	struct buf data;
	uint64_t addr;	     /* of its first byte, as linked */
	bool eh;	     /* .eh_frame, else .debug_frame */
	uint8_t word;	     /* bytes of an address */
	struct cfi_fde *fde; /* by rising start */
	size_t nr, cap;
};

/*
 * Takes the section of that name out of @img, which may be changed (the section is unpacked) and
 * closed after that. Entries that cannot be read are left out. Returns 0, -ENOENT (no such
 * section), -EBADMSG or -ENOMEM; cfi_section_release() also after failure.
 */
int cfi_section_load(struct cfi_section *s, const struct elf_image *img, const char *name);
void cfi_section_release(struct cfi_section *s);

/* Bytes of memory held. */
size_t cfi_section_memory(const struct cfi_section *s);

/*
 * The row for @addr, as linked. Returns 0 with *@ret for free(), -ENOENT if no entry covers it,
 * -EBADMSG if what it says cannot be followed, or -ENOMEM.
 */
int cfi_section_row(const struct cfi_section *s, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret);

#endif
