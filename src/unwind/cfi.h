/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information of dsos: .eh_frame and .debug_frame, of the program or its debug file.
 *
 * Any thread may ask. All tables are behind one lock, since they come and go: what is loaded stays
 * below a fixed amount of memory, beyond which the table that was not asked for the longest time is
 * dropped, and read anew when needed. So callers keep the rows that they get.
 */
#ifndef RINGTAIL_UNWIND_CFI_H
#define RINGTAIL_UNWIND_CFI_H

#include "symbol/resolve/resolver.h"
#include "unwind/row.h"

struct cfi_tables;

/* @r finds the files, and must outlive the tables. Returns 0 or -ENOMEM. */
int cfi_tables_new(struct resolver *r, struct cfi_tables **ret);
void cfi_tables_free(struct cfi_tables *t); /* accepts NULL */

/*
 * The row for the code at @addr of @dso (as struct location has it). Returns 0 with *@ret for
 * free(), -ENOENT if no table has an entry for it, -EBADMSG if the entry tells no caller (there is
 * none, or it cannot be followed), or -ENOMEM.
 */
int cfi_tables_row(struct cfi_tables *t, const struct unwind_arch *arch, const struct dso *dso,
		   uint64_t addr, struct cfi_row **ret);

/* For tests: the same with another bound than the usual one, in bytes. */
void cfi_tables_limit(struct cfi_tables *t, size_t bytes);
size_t cfi_tables_loaded(const struct cfi_tables *t);

#endif
