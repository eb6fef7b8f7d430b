/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compilation unit: its functions and inlined calls by address, and its line table.
 *
 * One thread at a time uses a unit, and the Dwarf that it borrows. Internal to symbol/lines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_UNIT_H
#define RINGTAIL_SYMBOL_LINES_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/strpool.h"
#include "symbol/lines/lines.h"
#include "symbol/lines/ranges.h"

/* What units share. All borrowed. */
struct unit_names {
	struct strpool *pool; /* owns the names of functions */
	bool demangle;
};

/* A function with code, or a call that was inlined. */
struct unit_node {
	Dwarf_Die die;
	const char *name; /* NULL: not read yet */
	uint32_t parent;  /* around an inlined call; RANGE_NONE */
	bool inlined;
};

/* Entries of range lists, of which many may share one. */
#define RANGES_READ_MAX ((size_t)4 << 20)

struct unit {
	const char *home; /* the folder of the file, where libdw looks for .dwo files; borrowed */
	size_t ranges_read;
	Dwarf_Die die;	/* of the unit, or of the skeleton of a split one */
	Dwarf_Die full; /* that has the functions */
	bool is_read;
	struct range_set ranges; /* of nodes */
	struct unit_node *nodes;
	size_t nr_nodes, cap_nodes;
	Dwarf_Lines *lines; /* NULL: none */
	size_t nr_lines;
	Dwarf_Files *files; /* that calls refer to; NULL: none */
	size_t nr_files;
};

/*
 * Reads the functions and lines of @u, whose @die is set. What cannot be read is missing in the
 * result. Returns 0 or -ENOMEM.
 */
int unit_read(struct unit *u);

/* As lines_find(), for an address in the unit. */
size_t unit_find(struct unit *u, const struct unit_names *names, uint64_t addr,
		 struct line_frame *ret, size_t max);

/* Frees the arrays; accepts zeroes. */
void unit_release(struct unit *u);

/*
 * Finds the functions of a unit whose DIE is @die: that DIE itself, or that of the .dwo file. Fails
 * if the file, which libdw looks for in the folder @home and in that of the DIE, is no regular one,
 * because libdw would open any, or is too large. Returns whether there are any.
 */
bool unit_open_split(Dwarf_Die *die, const char *home, Dwarf_Die *ret);

#endif
