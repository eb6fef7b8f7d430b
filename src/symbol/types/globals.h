/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global variables: their types by address.
 *
 * A unit places the variables that it defines. Others it only declares: these are found by the name
 * that a symbol of the file gives to their address. One thread. Internal to symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_GLOBALS_H
#define RINGTAIL_SYMBOL_TYPES_GLOBALS_H

#include "symbol/elf/elf_image.h"
#include "symbol/types/type_name.h"

struct global {
	uint64_t addr;	  /* linked; UINT64_MAX: declared only */
	const char *name; /* linkage name; borrowed */
	Dwarf_Die type;
};

/* Of a unit. All zero: empty. */
struct globals {
	struct global *global;
	size_t nr, cap;
};

/* Data symbols of a file. All zero: empty. */
struct objects {
	struct object {
		uint64_t addr, size;
		const char *name; /* borrowed from the image */
	} * object;		  /* by address, once sorted */
	size_t nr, cap;
};

/* Reads the variables of a unit. Returns 0 or -ENOMEM; what is damaged is missing. */
int globals_read(Dwarf_Die *unit, struct globals *ret);
void globals_release(struct globals *g); /* accepts zeroes */

/* Adds the data symbols of @img. Returns 0 or -ENOMEM. */
int objects_read(const struct elf_image *img, struct objects *ret);
void objects_release(struct objects *o); /* accepts zeroes */

/* Finds the variable that has the byte at the linked address @addr. */
bool globals_find(const struct globals *g, const struct objects *o, uint64_t addr,
		  struct typed *ret);

#endif
