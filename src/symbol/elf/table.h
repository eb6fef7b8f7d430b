/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symbol table: built once, then asked by any number of threads.
 *
 * The builder collects symbols in any order, with or without a size. symtab_build() gives those
 * without one an end, drops aliases, and flattens what overlaps into disjoint segments, so that a
 * look-up is one binary search whatever the input was. Where several symbols cover an address, the
 * one that starts last wins; among equal starts perf's rules decide (not weak, global, fewer
 * leading underscores, longer name, first seen).
 *
 * Names stay as the file has them until they are asked for: most symbols never are, and demangling
 * is what costs.
 */
#ifndef RINGTAIL_SYMBOL_ELF_TABLE_H
#define RINGTAIL_SYMBOL_ELF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Addresses are those of the dso it belongs to. */
struct symbol {
	uint64_t start, end; /* end exclusive */
	const char *name;    /* demangled, unescaped */
};

enum symtab_binding { SYMTAB_LOCAL, SYMTAB_GLOBAL, SYMTAB_WEAK };

struct symtab_entry {
	uint64_t start;
	uint64_t size;	 /* 0: up to the next symbol, but not beyond @limit */
	uint64_t limit;	 /* exclusive; used for size 0 only */
	uint32_t name;	 /* offset that symtab_name() or symtab_blob() gave */
	uint8_t binding; /* enum symtab_binding */
	bool plt;	 /* the name gets "@plt" behind it */
};

/* All zero: empty. Released by symtab_build() or symtab_builder_release(). One thread. */
struct symtab_builder {
	struct symtab_sym *syms;
	size_t count, cap;
	struct buf names;
	bool last_wins; /* among equal starts, whatever the names */
};

/* Stores a name of @len bytes. Returns 0 with its offset, -ENOMEM, or -EFBIG beyond 4 GiB. */
int symtab_name(struct symtab_builder *b, const char *s, size_t len, uint32_t *ret_name);

/*
 * Stores a whole string table; a name in it is *@ret_base plus its offset there. The build drops
 * it again if copying the names in use takes less. Returns as symtab_name().
 */
int symtab_blob(struct symtab_builder *b, const void *data, size_t len, uint32_t *ret_base);

/* Adds a symbol; one with an empty name, or that wraps, is ignored. Returns 0 or -ENOMEM. */
int symtab_add(struct symtab_builder *b, const struct symtab_entry *e);

/* Sorts the symbols so far for symtab_name_at(), and returns their number. */
size_t symtab_sort(struct symtab_builder *b);

/*
 * Of the first @n symbols, which symtab_sort() has sorted: the name that the table will have for
 * those that start at @addr. Returns false if there is none.
 */
bool symtab_name_at(const struct symtab_builder *b, size_t n, uint64_t addr, uint32_t *ret_name);

/* Frees the symbols collected; an empty builder remains. symtab_build() does so, too. */
void symtab_builder_release(struct symtab_builder *b);

struct symtab;

/*
 * Empties @b and makes the table. Returns 0 with *@ret for symtab_free(), or -ENOMEM; @b is
 * released either way.
 */
int symtab_build(struct symtab_builder *b, struct symtab **ret);
void symtab_free(struct symtab *t); /* accepts NULL */

/* Number of symbols that cover at least one address. */
size_t symtab_count(const struct symtab *t);

/*
 * The symbol at @addr, or NULL; it lives as long as the table. Any thread; locks only the first
 * time that a symbol is asked for.
 */
const struct symbol *symtab_find(struct symtab *t, uint64_t addr, bool demangle);

#endif
