/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted addresses: for a reader that needs the symbols of few addresses of a large file.
 *
 * A builder that has them (symtab_builder.wanted) makes a table of the few symbols that decide what
 * is at these addresses. It answers for them as the whole table would; but it takes no sorting of
 * all symbols, and no memory for them.
 *
 * A window of a piece of code reaches from the last start of a symbol at or before the piece to the
 * first start behind it. Only symbols that have a part in a window matter. Windows that do not know
 * all symbols are too wide, so they let too many symbols through, never too few.
 *
 * Threads: one uses windows; any may call the other functions.
 */
#ifndef RINGTAIL_SYMBOL_ELF_WANTED_H
#define RINGTAIL_SYMBOL_ELF_WANTED_H

#include "symbol/elf/table.h"

/* Pieces of code, each of @bytes bytes. */
struct symtab_wanted {
	const uint64_t *addr; /* where they begin: in order, and without overlaps; borrowed */
	size_t nr;	      /* at least 1 */
	uint64_t bytes;
};

/* Returns whether a piece has an address from @start to @end (exclusive). */
bool symtab_wants(const struct symtab_wanted *w, uint64_t start, uint64_t end);

struct symtab_windows {
	const struct symtab_wanted *w;
	uint64_t *low, *high; /* of each piece; inclusive */
	uint32_t *index;      /* of the first piece in each bucket of addresses */
	size_t buckets;
	unsigned int shift; /* log2 of the bytes of a bucket */
};

/* Makes windows without bounds. Returns 0 or -ENOMEM. */
int symtab_windows_init(struct symtab_windows *v, const struct symtab_wanted *w);
void symtab_windows_release(struct symtab_windows *v); /* accepts zeroes */

/* Tells of a symbol that starts at @start. */
void symtab_windows_narrow(const struct symtab_windows *v, uint64_t start);
/* Settles the bounds when all symbols have been told. */
void symtab_windows_settle(const struct symtab_windows *v);
/* Returns whether the symbol from @start to @end matters; a symbol without a size ends at once. */
bool symtab_windows_have(const struct symtab_windows *v, uint64_t start, uint64_t end);

/*
 * Copies the symbols of @from that @w needs to the empty builder @to. @from stays as it is. Returns
 * 0 or a negative errno.
 */
int symtab_pick(const struct symtab_builder *from, const struct symtab_wanted *w,
		struct symtab_builder *to);

#endif
