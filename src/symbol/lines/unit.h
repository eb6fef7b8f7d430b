/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compilation unit: its functions and inlined calls by address, and its line table.
 *
 * A unit is read from debug information into a block (unit_table.h), or its block comes from an
 * index. One thread at a time uses a unit, and the Dwarf that it borrows. Internal to symbol/lines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_UNIT_H
#define RINGTAIL_SYMBOL_LINES_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/strpool.h"
#include "symbol/lines/lines.h"
#include "symbol/lines/split.h"
#include "symbol/lines/unit_table.h"

/* What units share. All borrowed. */
struct unit_names {
	struct strpool *pool; /* owns the names of functions */
	bool demangle;
};

struct unit {
	Dwarf_Die die;	   /* of the unit, or of the skeleton of a split one; addr NULL: none */
	bool is_open;	   /* the table is */
	bool is_partial;   /* its functions were not found */
	const void *block; /* NULL: not read yet */
	size_t block_size; /* bytes */
	struct buf own;	   /* the block, if it was read from debug information */
	struct unit_table table; /* empty if nothing could be read */
	const char **function;	 /* shown names by node; NULL: not asked for */
};

/*
 * Makes the block of @u, whose @die is set. *@text_left bounds the texts of all units. What cannot
 * be read is missing in the result. Returns 0 or -ENOMEM.
 */
int unit_read(struct unit *u, struct split_files *files, size_t *text_left);

/* Opens the table in @u->block. Returns 0 or -EBADMSG. */
int unit_open(struct unit *u);

/* As lines_find(), for an address in the unit, whose table is open. */
size_t unit_find(struct unit *u, const struct unit_names *names, uint64_t addr,
		 struct line_frame *ret, size_t max);

/* Frees the arrays; accepts zeroes. */
void unit_release(struct unit *u);

#endif
