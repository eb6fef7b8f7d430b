/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: of the data that the instruction at an address accesses.
 *
 * The operand in memory is looked up among the variables that DWARF places there, or in the
 * register that it starts from; where there is none, the register is followed back through the
 * function's code. Only x86-64 is known. Debug information is foreign: what is damaged costs types.
 *
 * Any thread may ask; a lock lets one in at a time. Results live as long as the struct data_types.
 */
#ifndef RINGTAIL_SYMBOL_TYPES_TYPES_H
#define RINGTAIL_SYMBOL_TYPES_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/resolve/resolver.h"

struct data_type {
	const char *name;  /* as C writes it: "struct page", "int[]" */
	const char *field; /* path of the member at @offset, "a.b"; NULL: the type has none */
	uint64_t offset;   /* of the access in the type, bytes */
	bool is_known;	   /* else @name says what is accessed: "(stack operation)" */
};

struct data_types;

/*
 * @r must outlive *@ret; @kernel is the kernel's own dso, NULL if there is none. Returns 0 with
 * *@ret for data_types_free(), or -ENOMEM.
 */
int data_types_new(const struct resolver *r, const struct dso *kernel, struct data_types **ret);
void data_types_free(struct data_types *t); /* accepts NULL */

/*
 * Returns the type that the instruction at @addr of @dso accesses, which is code of the symbol
 * @sym; never NULL.
 */
const struct data_type *data_types_find(struct data_types *t, const struct dso *dso,
					const struct symbol *sym, uint64_t addr);

#endif
