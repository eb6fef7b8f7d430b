/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a profile that all its threads share: stacks, frames, functions, native symbols, source
 * files, libraries and strings.
 *
 * They grow by distinct stacks, addresses and names. One thread.
 */
#ifndef RINGTAIL_EXPORT_FIREFOX_TABLES_H
#define RINGTAIL_EXPORT_FIREFOX_TABLES_H

#include "export/stream/export.h"
#include "export/stream/functions.h"

enum { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL }; /* categories */

/* Where a function is: numbers of a source file and a library; INTERN_NONE: unknown. */
struct firefox_function {
	uint32_t source, lib;
};

/* firefox_tables_empty: empty. */
struct firefox_tables {
	struct export_functions functions;
	struct intern stacks, frames, natives, libs;
	struct intern_strings files;
	struct intern_strings strings;	/* behind the names of functions */
	struct firefox_function *known; /* by function */
	size_t nr_known, cap_known;
	struct buf text;
};

extern const struct firefox_tables firefox_tables_empty;

/*
 * Sets *@ret to the number of the sample's stack; INTERN_NONE: it has no frames. Returns 0 or
 * -ENOMEM.
 */
int firefox_stack(struct firefox_tables *t, const struct export_sample *s, uint32_t *ret);
/* Returns the number of the string in @t->text among these strings, or INTERN_NONE. */
uint32_t firefox_string(struct firefox_tables *t);
/* Returns what to add to the number of a string, when all functions are known. */
static inline uint32_t firefox_first_string(const struct firefox_tables *t)
{
	return intern_count(&t->functions.keys);
}

/* Writes "libs" and "shared". Returns 0, out->rc or -ENOMEM. */
int firefox_write_tables(struct firefox_tables *t, struct out *out);
/* Frees the tables. */
void firefox_tables_release(struct firefox_tables *t);

#endif
