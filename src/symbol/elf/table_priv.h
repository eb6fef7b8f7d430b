/* SPDX-License-Identifier: Apache-2.0 */
/* What a symbol table consists of. Internal to symbol/elf. */
#ifndef RINGTAIL_SYMBOL_ELF_TABLE_PRIV_H
#define RINGTAIL_SYMBOL_ELF_TABLE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "symbol/elf/table.h"

#define NO_SYM ((uint32_t)-1)

enum {
	SYM_PLT = 1,
	SYM_UNSIZED = 2,
	SYM_BINDING = 4, /* times enum symtab_binding */
};

/* A symbol while the table is built. */
struct symtab_sym {
	uint64_t start;
	uint64_t end; /* SYM_UNSIZED: the limit */
	uint32_t name;
	uint32_t seq;  /* order of arrival; decides between equal ranks */
	uint32_t rank; /* of aliases the one with the greater rank is used; set by symtab_sort() */
	uint32_t flags;
};

/* Adds @s as it is. Returns 0 or -ENOMEM. */
int symtab_put(struct symtab_builder *b, const struct symtab_sym *s);

/* A symbol that callers hold. Its name follows, unless it is the table's own. */
struct made_sym {
	struct made_sym *next; /* made before it */
	struct symbol symbol;
};

/* A symbol of the finished table. */
struct packed_sym {
	uint64_t start, end;
	uint32_t name; /* offset in @text */
	uint32_t flags;
};

struct symtab {
	/*
	 * Segment i is [seg_start[i], seg_start[i + 1]); seg_sym[i] may be NO_SYM. Of an image,
	 * look-ups check that they stay inside the arrays.
	 */
	uint64_t *seg_start;
	uint32_t *seg_sym;
	size_t nsegs;
	struct packed_sym *syms;
	size_t nsyms;
	const char *text; /* of the names: in @names or @image */
	size_t text_len;
	struct buf names; /* empty for a table of an image */
	void *image;	  /* if not NULL, the arrays lie in this mapping */
	size_t image_size;
	uint64_t from, to; /* the first and last address that the table knows about */
	uint64_t delta;	   /* addresses that callers ask for, less those in the table */
	/*
	 * Symbols that callers hold, made on first use. Published with release, read with acquire;
	 * the lock guards the making.
	 */
	_Atomic(struct made_sym *) *made;
	struct made_sym *last_made; /* under the lock: the beginning of a list of all */
	pthread_mutex_t lock;
};

/* Prepares a table of zeroes. */
void symtab_init(struct symtab *t);

#endif
