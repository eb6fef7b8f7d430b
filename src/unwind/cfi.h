/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of call frame information by dso: .eh_frame and .debug_frame, of the program or its debug
 * file.
 *
 * Any thread may call. One lock guards all tables, because they are dropped and loaded again:
 * loaded tables stay below a fixed amount of memory, and beyond it the least recently used one
 * goes. So callers get copies of rows.
 */
#ifndef RINGTAIL_UNWIND_CFI_H
#define RINGTAIL_UNWIND_CFI_H

#include "symbol/resolve/resolver.h"
#include "unwind/row.h"

struct cfi_tables;

/* @r finds the files; it must outlive the tables. Returns 0 or -ENOMEM. */
int cfi_tables_new(struct resolver *r, struct cfi_tables **ret);
void cfi_tables_free(struct cfi_tables *t); /* accepts NULL */

/*
 * Finds the row for the code at @addr of @dso (as in struct location). Returns 0 with *@ret for
 * free(); -ENOENT if no table has an entry for it; -EBADMSG if the entry leads to no caller,
 * because there is none or its rules cannot be followed; or -ENOMEM.
 */
int cfi_tables_row(struct cfi_tables *t, const struct unwind_arch *arch, const struct dso *dso,
		   uint64_t addr, struct cfi_row **ret);

/* For tests: sets another bound, in bytes. */
void cfi_tables_limit(struct cfi_tables *t, size_t bytes);
size_t cfi_tables_loaded(const struct cfi_tables *t);

#endif
