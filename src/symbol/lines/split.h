/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split units: the functions of a unit are in a .dwo file, or in a package of these (dwp.h). One
 * thread. Internal to symbol/lines and symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_LINES_SPLIT_H
#define RINGTAIL_SYMBOL_LINES_SPLIT_H

#include <elfutils/libdw.h>
#include <limits.h>
#include <stdbool.h>

#include "symbol/lines/dwp.h"

/* Where the split units of a program are. */
struct split_files {
	const struct elf_image *program; /* with the skeletons; borrowed */
	char file[PATH_MAX];		 /* its name; "": not known */
	char folder[PATH_MAX];		 /* of the file, where libdw looks for .dwo files */
	bool is_asked;			 /* for the package */
	struct dwp package;		 /* not open: none */
};

/* @file is "" if the name of @program is not known. */
void split_files_init(struct split_files *s, const struct elf_image *program, const char *file);
void split_files_release(struct split_files *s);

struct split_unit {
	Dwarf_Die die;		/* that has the functions */
	struct dwp_unit packed; /* its owner, if it is of a package */
};

/*
 * Finds the functions of a unit whose DIE is @die: that DIE itself, or that of a package or .dwo
 * file. Returns 0 with *@ret for split_unit_close(); -ENOENT: they are missing, or are in a .dwo
 * file that is no regular one, because libdw would open any, or is too large; or -ENOMEM.
 */
int split_unit_open(struct split_files *s, Dwarf_Die *die, struct split_unit *ret);
void split_unit_close(struct split_unit *u);

#endif
