/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of files that may vanish before the recording ends.
 *
 * A file of the system, seen under its own name, is read at the end; so is any other one with many
 * symbols that has not changed for long. The rest, such as freshly built programs, files of
 * containers, deleted files and programs in memory, is read soon after the first map of a build-id.
 * Symbols are kept as they come from the file: nobody knows yet which are needed. For source lines
 * the file is copied into memory: an open file would keep its file system mounted. One thread reads
 * them; the memory for all of them is bounded.
 */
#ifndef RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H
#define RINGTAIL_RECORD_INITIAL_EARLY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "record/initial/buildid.h"
#include "symbol/elf/table.h"

/* Bytes of symbols and names in files, of all tables together. */
#define EARLY_TABLES_MAX (64u << 20)
/* Bytes of copies of files, for source lines. */
#define EARLY_COPIES_MAX (256u << 20)

/* Symbols of a file. They never change. */
struct early_table {
	struct build_id id;
	bool few; /* the file has only the exported symbols: it was stripped */
	struct symtab_builder symbols;
	struct buf copy; /* of the file with its debug information; empty: none */
};

struct early_tables {
	struct early_table **tables; /* all that were made */
	size_t nr, cap;
	struct hash_table by_id;
	bool copies;	   /* also copy files that have debug information */
	uint64_t bytes;	   /* in files */
	uint64_t copied;   /* bytes */
	uint64_t refused;  /* files for which there was no room */
	uint64_t uncopied; /* files with debug information for whose copy there was no room */
};

/* Frees all tables; accepts zeroes. */
void early_tables_release(struct early_tables *t);

/*
 * Finds or reads the symbols of @fd, which stays open, if the file mapped as @name may vanish and
 * has the build-id @id. It was found as @path, which may be another file by now. Returns the table,
 * which belongs to @t; NULL: there is none.
 */
const struct early_table *early_table_make(struct early_tables *t, const char *name,
					   const char *path, int fd, const struct build_id *id);

#endif
