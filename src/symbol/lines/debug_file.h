/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file with the debug information of a dso, and how its addresses are linked: the program
 * itself, its separate debug file, or the kernel's vmlinux.
 *
 * One thread opens; then any thread may ask for addresses. Internal to symbol/lines and
 * symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_LINES_DEBUG_FILE_H
#define RINGTAIL_SYMBOL_LINES_DEBUG_FILE_H

#include "symbol/elf/elf_image.h"
#include "symbol/resolve/resolver.h"

/* From addresses of struct location to linked ones. All zero: they are linked ones. */
struct debug_space {
	enum { DEBUG_MOVED, DEBUG_IN_FILE } form; /* in memory; offsets in the program file */
	uint64_t delta;				  /* DEBUG_MOVED: added to linked addresses */
	struct elf_space space;			  /* DEBUG_IN_FILE */
};

/*
 * Opens the file of @dso (DSO_ELF or DSO_KERNEL). @kept are the contents of a DSO_ELF's file, which
 * may be gone; NULL: read the file. Returns 0 with *@ret for elf_image_close() and *@ret_space for
 * debug_space_release(), -ENOENT if there is none, or a negative errno.
 */
int debug_file_open(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		    struct elf_image *ret, struct debug_space *ret_space);

/* Finds the linked address of @addr. Returns false if it has none. */
bool debug_space_linked(const struct debug_space *s, uint64_t addr, uint64_t *ret);

/* Finds the address of @linked, as debug_space_linked() takes it. Returns false if it has none. */
bool debug_space_of_linked(const struct debug_space *s, uint64_t linked, uint64_t *ret);

/* Frees what it holds; accepts zeroes. */
void debug_space_release(struct debug_space *s);

#endif
