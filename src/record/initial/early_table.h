/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of files that may vanish before the recording ends.
 *
 * A file of the system, seen under its own name, is read at the end; so is any other one with many
 * symbols that has not changed for long. The rest, such as freshly built programs, files of
 * containers, deleted files and programs in memory, is read soon after the first map of a build-id.
 * What symbols need of a file is copied as it is: most files turn out to have no hits, and then
 * nobody takes the copy apart. For source lines the whole file is copied. An open file would keep
 * its file system mounted. One thread reads them; the memory for all of them is bounded.
 */
#ifndef RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H
#define RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "record/initial/buildid.h"
#include "symbol/elf/wanted.h"

/* Bytes of parts of files, of all tables together. */
#define EARLY_TABLES_MAX (64u << 20)
/* Bytes of whole files. */
#define EARLY_COPIES_MAX (256u << 20)

/* A file with symbols. It never changes. */
struct early_table {
	struct build_id id;
	bool whole;	  /* the image: with debug information */
	struct buf image; /* of the file, mapped; if not @whole, zeros where symbols need nothing */
};

struct early_tables {
	struct early_table **tables; /* all that were made */
	size_t nr, cap;
	struct hash_table by_id;
	bool copies;	   /* also copy files that have debug information */
	uint64_t bytes;	   /* of parts of files */
	uint64_t copied;   /* bytes of whole files */
	uint64_t refused;  /* files for which there was no room */
	uint64_t uncopied; /* files with debug information for whose copy there was no room */
};

/* Frees all tables; accepts zeroes. */
void early_tables_release(struct early_tables *t);

/*
 * Finds or copies the symbols of @fd, which stays open, if the file mapped as @name may vanish and
 * has the build-id @id. It was found as @path, which may be another file by now. Returns the table,
 * which belongs to @t; NULL: there is none.
 */
const struct early_table *early_table_make(struct early_tables *t, const char *name,
					   const char *path, int fd, const struct build_id *id);

/*
 * Makes the table of what is @wanted, for symtab_free(); any thread. *@ret_few: the file has only
 * exported symbols, or none: it was stripped. Returns 0 or a negative errno.
 */
int early_table_symbols(const struct early_table *table, const struct symtab_wanted *wanted,
			struct symtab **ret, bool *ret_few);

#endif
