/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of symbols of files that may vanish before the recording ends.
 *
 * A file of the system, seen under its own name, is read at the end. Any other one, such as a
 * freshly built program, a container's or a deleted file, is read soon after its first map. One
 * thread makes the tables; the memory for all of them is bounded.
 */
#ifndef RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H
#define RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "record/initial/buildid.h"
#include "symbol/elf/table.h"

/* Bytes of symbols and names in files, of all tables together. */
#define EARLY_TABLES_MAX (64u << 20)

struct early_tables {
	struct symtab **tables; /* all that were made */
	size_t nr, cap;
	uint64_t bytes;	  /* in files */
	uint64_t refused; /* files for which there was no room */
};

/* Frees all tables; accepts zeroes. */
void early_tables_release(struct early_tables *t);

/*
 * Reads the symbols of @path, if the file mapped as @name may vanish and has the build-id @id.
 * Returns the table, which belongs to @t; NULL: none was made.
 */
struct symtab *early_table_make(struct early_tables *t, const char *name, const char *path,
				const struct build_id *id);

#endif
