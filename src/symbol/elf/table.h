/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol table: built once, then searched by any number of threads.
 *
 * The builder collects symbols in any order, with or without a size. symtab_build() gives each
 * symbol an end, drops aliases, and turns overlaps into disjoint segments, so that a look-up is
 * always one binary search. Where several symbols cover an address, the one that starts last wins;
 * among equal starts perf's rules decide (not weak, global, fewer leading underscores, longer name,
 * first seen).
 *
 * A name is demangled when it is first asked for: demangling is expensive, and few names are
 * needed.
 */
#ifndef RINGTAIL_SYMBOL_ELF_TABLE_H
#define RINGTAIL_SYMBOL_ELF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Addresses are those of the symbol's dso. */
struct symbol {
	uint64_t start, end; /* end exclusive */
	const char *name;    /* demangled, unescaped */
};

enum symtab_binding { SYMTAB_LOCAL, SYMTAB_GLOBAL, SYMTAB_WEAK };

struct symtab_entry {
	uint64_t start;
	uint64_t size;	 /* 0: up to the next symbol, but not beyond @limit */
	uint64_t limit;	 /* exclusive; used for size 0 only */
	uint32_t name;	 /* offset from symtab_name() or symtab_blob() */
	uint8_t binding; /* enum symtab_binding */
	bool plt;	 /* append "@plt" to the name */
};

struct symtab_wanted;

/* All zero: empty. Released by symtab_build() or symtab_builder_release(). One thread. */
struct symtab_builder {
	struct symtab_sym *syms;
	size_t count, cap;
	struct buf names;
	size_t ranked;	/* of the symbols; symtab_sort() ranks the others */
	bool last_wins; /* among equal starts the last symbol wins, whatever its name */
	/* The table shall have what is at these addresses only (wanted.h); NULL: all. Borrowed. */
	const struct symtab_wanted *wanted;
};

/* Stores a name of @len bytes. Returns 0 with its offset, -ENOMEM, or -EFBIG beyond 4 GiB. */
int symtab_name(struct symtab_builder *b, const char *s, size_t len, uint32_t *ret_name);

/*
 * Stores a whole string table; a name in it is *@ret_base plus its offset there. symtab_build()
 * drops the table again if copies of the used names need less memory. Returns as symtab_name()
 * does.
 */
int symtab_blob(struct symtab_builder *b, const void *data, size_t len, uint32_t *ret_base);

/* Adds a symbol; ignores empty names and ranges that wrap. Returns 0 or -ENOMEM. */
int symtab_add(struct symtab_builder *b, const struct symtab_entry *e);

/* Sorts the symbols so far, for symtab_name_at(). Returns their number. */
size_t symtab_sort(struct symtab_builder *b);

/*
 * Among the first @n symbols, sorted by symtab_sort(), finds the name that the table will have for
 * symbols that start at @addr. Returns false if there is none.
 */
bool symtab_name_at(const struct symtab_builder *b, size_t n, uint64_t addr, uint32_t *ret_name);

/* Frees the builder's memory; accepts zeroes. */
void symtab_builder_release(struct symtab_builder *b);

struct symtab;

/* Makes the table. Returns 0 with *@ret for symtab_free(), or -ENOMEM. Releases @b in both cases.
 */
int symtab_build(struct symtab_builder *b, struct symtab **ret);
/* Frees the table with its symbols; accepts NULL. */
void symtab_free(struct symtab *t);

/* Returns the number of symbols that cover at least one address. */
size_t symtab_count(const struct symtab *t);

/*
 * Returns the symbol at @addr, or NULL; it lives as long as the table. Any thread; locks only when
 * a symbol is found for the first time.
 */
const struct symbol *symtab_find(struct symtab *t, uint64_t addr, bool demangle);

/* Returns whether the table knows about @addr: all tables do, but those of an image. */
bool symtab_covers(const struct symtab *t, uint64_t addr);

/*
 * Appends an image of the table's addresses from @from to @to (exclusive), for this machine. A
 * symbol must begin at each of the two. Returns 0, -EINVAL if none does, or -ENOMEM.
 */
int symtab_to_image(const struct symtab *t, uint64_t from, uint64_t to, struct buf *out);

/* As symtab_to_image(), for all addresses. Returns -EINVAL if the table has no symbol. */
int symtab_to_whole_image(const struct symtab *t, struct buf *out);

/*
 * Makes the table of the image in the first @len bytes of a private mapping of @size bytes, with
 * addresses moved by @delta. Takes the mapping over, also on failure. Nobody may change the mapped
 * file, but it may be deleted. Only pages that look-ups use stay in memory. Returns 0 with *@ret
 * for symtab_free(), -EBADMSG if it is no whole image, or -ENOMEM.
 */
int symtab_of_image(void *mapping, size_t size, size_t len, uint64_t delta, struct symtab **ret);

#endif
