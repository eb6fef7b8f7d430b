/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables of program files. A recording may have many dsos of one file: containers that share
 * a library, or inodes made up to have it read often. A file is read once for each name and
 * build-id. Internal to symbol/.
 *
 * Any thread may call.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_FILE_TABLES_H
#define RINGTAIL_SYMBOL_RESOLVE_FILE_TABLES_H

#include <stdbool.h>

#include "base/error.h"
#include "state/state.h"
#include "symbol/elf/elf_image.h"
#include "symbol/elf/table.h"

struct file_tables;

/* Read-only once file_tables_done() was called. */
struct file_table {
	struct symtab *table; /* NULL: there is none, and @code says why */
	int code;
	struct error why;
};

struct file_tables *file_tables_new(void);     /* NULL when out of memory */
void file_tables_free(struct file_tables *ft); /* accepts NULL */

/*
 * The table of @dso, whose file is @program (not open: a debug file alone, by build-id). Where
 * *@ret_mine is set, the caller makes it and calls file_tables_done(); others wait for that. It is
 * @ft's. NULL when out of memory.
 */
const struct file_table *file_tables_take(struct file_tables *ft, const struct dso *dso,
					  const struct elf_image *program, bool *ret_mine);

/* @table is @ft's from then on. */
void file_tables_done(struct file_tables *ft, const struct file_table *taken, int rc,
		      struct symtab *table, const struct error *why);

#endif
