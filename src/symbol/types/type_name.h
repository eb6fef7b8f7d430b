/* SPDX-License-Identifier: Apache-2.0 */
/* Types of DWARF: their names, sizes and members. One thread. Internal to symbol/types. */
#ifndef RINGTAIL_SYMBOL_TYPES_TYPE_NAME_H
#define RINGTAIL_SYMBOL_TYPES_TYPE_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A place in an object of a type. */
struct typed {
	Dwarf_Die type; /* without qualifiers */
	int64_t offset; /* bytes; of a pointer: what it is beyond the object's start */
};

/* Fills *@ret with the type of @die, a variable or type, without qualifiers. */
bool type_of(Dwarf_Die *die, Dwarf_Die *ret);

/* Fills *@ret with what the pointer or reference type @type points to; false if it is none. */
bool type_pointed(Dwarf_Die *type, Dwarf_Die *ret);

/* Returns the bytes of @type; 0: not known. */
uint64_t type_size(Dwarf_Die *type);

/* Returns whether @t->offset lies in the object. */
bool typed_is_inside(struct typed *t);

/* Goes down to the scalar or pointer at @t->offset, through members and arrays. */
bool typed_descend(struct typed *t);

/* Appends the name of @type. Returns 0 or -ENOMEM. */
int type_put_name(Dwarf_Die *type, struct buf *out);

/*
 * Appends the path of the members at @offset of @type; an array is its own last member. Appends
 * nothing if the type has no members. Returns 0 or -ENOMEM.
 */
int type_put_members(const Dwarf_Die *type, uint64_t offset, struct buf *out);

#endif
