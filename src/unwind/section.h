/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections .eh_frame and .debug_frame: find the entry for an address and read it. Sources: DWARF 5,
 * 6.4; Linux Standard Base 5.0, Core, 10.6 (.eh_frame).
 *
 * libdw is no alternative: it allocates as much memory as a number in the file demands, and it
 * caches what it reads, so that it needs a lock. A loaded section is read-only: any thread may use
 * it.
 */
#ifndef RINGTAIL_UNWIND_SECTION_H
#define RINGTAIL_UNWIND_SECTION_H

#include "symbol/elf/elf_image.h"
#include "unwind/row.h"

/* An all-zero struct is a section without entries. */
struct cfi_section {
	struct buf data;
	uint64_t addr; /* of its first byte, as linked */
	bool eh;       /* .eh_frame, else .debug_frame */
	uint8_t word;  /* bytes of an address */
	/* How to find an entry: by an own index, or the linker's (.eh_frame_hdr), if that has @nr.
	 */
	struct cfi_fde *fde; /* ascending by start */
	size_t nr, cap;
	struct buf search; /* the linker's index */
	uint64_t search_addr;
	size_t search_nr;
};

/*
 * Loads section @name of @img. This may change @img (it unpacks the section); the caller may close
 * @img afterwards. Entries that cannot be read are left out. Returns 0, -ENOENT (no such section),
 * -EBADMSG or -ENOMEM; call cfi_section_release() also after failure.
 */
int cfi_section_load(struct cfi_section *s, const struct elf_image *img, const char *name);
void cfi_section_release(struct cfi_section *s);

/* Bytes of memory held. */
size_t cfi_section_memory(const struct cfi_section *s);

/*
 * Finds the row for @addr, as linked. Returns 0 with *@ret for free(), -ENOENT if no entry covers
 * it, -EBADMSG if the entry cannot be followed, or -ENOMEM.
 */
int cfi_section_row(const struct cfi_section *s, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret);

#endif
