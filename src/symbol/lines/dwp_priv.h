/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of units in DWARF packages, for the modules of dwp.h. */
#ifndef RINGTAIL_SYMBOL_LINES_DWP_PRIV_H
#define RINGTAIL_SYMBOL_LINES_DWP_PRIV_H

#include "symbol/lines/dwp.h"

/* Sections of which a unit has a part. */
enum dwp_part {
	DWP_INFO,
	DWP_ABBREV,
	DWP_LINE,
	DWP_STR_OFFSETS,
	DWP_RNGLISTS,
	DWP_PARTS,
};

/* What makes a unit: parts of the package, and what the program has. */
struct dwp_pieces {
	struct buf part[DWP_PARTS]; /* empty: none */
	struct buf strings;	    /* of this unit */
	struct buf addresses;	    /* of this unit, the last one that of its code */
	struct buf ranges;	    /* DWARF 4 */
	uint64_t signature;
	uint32_t nr_addresses;
	uint8_t address_size;
	uint16_t version;
};

/* Reads the parts of the unit @ret->signature. Returns as dwp_unit_open() does. */
int dwp_read_parts(struct dwp *p, struct dwp_pieces *ret);

/*
 * Replaces the offsets of strings by those into @u->strings, which get only the strings of this
 * unit. Returns 0, -EBADMSG or -ENOMEM.
 */
int dwp_take_strings(const struct dwp *p, struct dwp_pieces *u);

/*
 * Makes an ordinary unit of a split one: the 8 bytes of its signature become the attributes of its
 * lines and of the address of its code. Returns 0, -EBADMSG or -ENOMEM.
 */
int dwp_join(struct dwp_pieces *u);

/* Makes an ELF file of the pieces. Returns 0 or -ENOMEM. */
int dwp_make_file(const struct dwp_pieces *u, const struct elf_image *program, struct buf *out);

#endif
