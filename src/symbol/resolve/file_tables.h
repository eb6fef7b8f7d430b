/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables of program files, each file read once.
 *
 * A recording may have many dsos of one file: a library in many containers, or inodes that somebody
 * invented to have a file read often. Name and build-id identify a file. Any thread may call.
 * Internal to symbol/.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_FILE_TABLES_H
#define RINGTAIL_SYMBOL_RESOLVE_FILE_TABLES_H

#include <stdbool.h>

#include "base/error.h"
#include "state/state.h"
#include "symbol/elf/elf_image.h"
#include "symbol/elf/table.h"

struct file_tables;

/* Read-only after file_tables_done(). */
struct file_table {
	struct symtab *table; /* NULL: none; see @code and @why */
	int code;
	struct error why;
};

/* Returns an empty set, or NULL when memory is short. */
struct file_tables *file_tables_new(void);
/* Frees the set with all tables; accepts NULL. */
void file_tables_free(struct file_tables *ft);

/* Returns the number of symbols of all tables; a file without symbols counts as one. */
size_t file_tables_symbols(struct file_tables *ft);

/*
 * Returns the table of @dso, or the one that it has @alone, whose file is @program; if that is not
 * open, a debug file found by build-id is the only source. If *@ret_mine is set, the caller must
 * load the table and call file_tables_done(); other threads wait for that. @ft owns the result.
 * NULL: memory is short.
 */
const struct file_table *file_tables_take(struct file_tables *ft, const struct dso *dso,
					  const struct elf_image *program, bool alone,
					  bool *ret_mine);

/* Stores the outcome in @taken and wakes waiting threads. @ft takes over @table. */
void file_tables_done(struct file_tables *ft, const struct file_table *taken, int rc,
		      struct symtab *table, const struct error *why);

#endif
