/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF packages: FILE.dwp, which holds the .dwo files of a program, found by an index.
 *
 * Formats: DWARF 5, section 7.3.5, and GNU's version 2 for DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP). libdw before 0.191 reads neither, so a unit is given to it as
 * a file of its own, with addresses and ranges of the program: an ordinary unit that is not split.
 * Only packages of this machine's byte order and of 32-bit DWARF are read; units of types are not.
 *
 * One thread at a time. Internal to symbol/lines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_DWP_H
#define RINGTAIL_SYMBOL_LINES_DWP_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"

struct dwp {
	struct elf_image image;
	bool is_compressed; /* some sections are */
	struct buf index;   /* .debug_cu_index */
	struct buf strings; /* .debug_str.dwo, with a NUL behind */
};

/* Opens the package @path. Returns 0 with *@ret for dwp_close(), or a negative errno: there is
 * none. */
int dwp_open(const char *path, struct dwp *ret);
/* As dwp_open(), for a file in memory. Takes over @img, also on failure. */
int dwp_open_image(struct elf_image *img, struct dwp *ret);
/* Closes @p; accepts one that is not open. */
void dwp_close(struct dwp *p);

/* A unit of a package. Released by dwp_unit_release(). */
struct dwp_unit {
	struct elf_image image;
	Dwarf *dwarf;
	Dwarf_Die die;
};

/*
 * Finds the unit of the skeleton @die, a unit of the program @program. Returns 0, -ENOENT if the
 * package has none, -EBADMSG, or -ENOMEM.
 */
int dwp_unit_open(struct dwp *p, const struct elf_image *program, Dwarf_Die *die,
		  struct dwp_unit *ret);
/* Accepts one whose image is not open. */
void dwp_unit_release(struct dwp_unit *u);

#endif
