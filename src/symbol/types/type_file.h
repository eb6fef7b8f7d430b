/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of a file: its debug information, and the functions that were last asked for.
 *
 * Addresses are linked ones. One thread at a time. Internal to symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_TYPE_FILE_H
#define RINGTAIL_SYMBOL_TYPES_TYPE_FILE_H

#include "symbol/elf/elf_image.h"
#include "symbol/types/type_name.h"

enum accessed {
	ACCESSED_UNKNOWN,
	ACCESSED_STACK,	 /* by push, pop, call or return */
	ACCESSED_CANARY, /* the guard of the stack */
	ACCESSED_TYPED,
};

struct type_file;
struct type_function;

/*
 * Opens the debug information in @debug, and the call frame information of @program; either may be
 * not open. Takes both over, also on failure. What is damaged is missing. Returns 0 with *@ret for
 * type_file_free(), or -ENOMEM.
 */
int type_file_new(struct elf_image *debug, struct elf_image *program, struct type_file **ret);
void type_file_free(struct type_file *f); /* accepts NULL */

/* Returns the function at [@start, @end) if it is kept, else NULL. */
struct type_function *type_file_kept(struct type_file *f, uint64_t start, uint64_t end);

/*
 * Reads that function, whose x86-64 code is @code; without code nothing is known of it. Returns it;
 * it lives until another is read.
 */
struct type_function *type_file_read(struct type_file *f, uint64_t start, uint64_t end,
				     const uint8_t *code, size_t len);

/* Finds what the instruction at @addr accesses: with ACCESSED_TYPED a place in *@ret. */
enum accessed type_file_find(struct type_file *f, const struct type_function *fn, uint64_t addr,
			     struct typed *ret);

#endif
