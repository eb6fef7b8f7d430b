/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines: the source line and the inlined functions of an address, by DWARF 4 and 5.
 *
 * It reads the program itself, or its separate debug file as the resolver finds it, with what that
 * file refers to: a supplementary file (dwz), and .dwo files (split DWARF). Units are read when an
 * address in them is first asked for, and kept; in the user's cache, too, for files with a build-id
 * (unit_index.h).
 *
 * Any thread may ask; a lock lets one in at a time. Strings live as long as their struct
 * source_lines. A damaged file loses names; it costs neither the process nor memory beyond its own
 * size times a constant.
 */
#ifndef RINGTAIL_SYMBOL_LINES_LINES_H
#define RINGTAIL_SYMBOL_LINES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/resolve/resolver.h"

struct buf;
struct source_lines;
struct elf_image;

/* A function that covers an address, and the place in it. */
struct line_frame {
	const char *function; /* demangled linkage name; NULL: unknown */
	const char *file; /* path, absolute if the compiler recorded its folder; NULL: unknown */
	uint32_t line;	  /* 0: unknown */
	bool inlined;	  /* into the function of the next frame */
};

/*
 * Opens the debug information of @dso (DSO_ELF or DSO_KERNEL). What the recording has of it itself
 * comes first; files are opened for other addresses only. Addresses are those of struct
 * location. Returns 0 with *@ret for lines_free(), -ENOENT if none was found, or a negative errno.
 */
int lines_open(const struct resolver *r, const struct dso *dso, bool demangle,
	       struct source_lines **ret);

/*
 * As lines_open(), of this machine alone. @kept are the contents of a DSO_ELF's file, which may be
 * gone; NULL: read the file.
 */
int lines_open_kept(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		    bool demangle, struct source_lines **ret);

/*
 * Opens the debug information in @img, which it takes over, also on failure. Addresses are as
 * linked. @cache is cache_base(), which must outlive *@ret, or NULL for no index. Returns as
 * lines_open() does.
 */
int lines_open_image(struct elf_image *img, bool demangle, const char *cache,
		     struct source_lines **ret);

/* Frees @l with all strings; accepts NULL. */
void lines_free(struct source_lines *l);

/*
 * Finds the functions at @addr: first the innermost inlined one, last the one that has the code.
 * The place in the first is that of @addr, in the others that of the call. Returns their number, at
 * most @max; 0: nothing is known.
 */
size_t lines_find(struct source_lines *l, uint64_t addr, struct line_frame *ret, size_t max);

/* Returns whether the recording has lines itself. Then equal names may have several pointers. */
bool lines_are_recorded(const struct source_lines *l);

#endif
