/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables of programs and libraries, kept in the user's cache: reading and sorting the
 * symbols of a file takes longer than a report of few samples does otherwise.
 *
 * A copy is of one build-id, and of one program and debug file as they were: a debug file that is
 * installed or removed later makes another table, and another file that claims the same build-id
 * has no say. Files without a build-id have no copy. Any thread. Internal to symbol/.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_FILE_CACHE_H
#define RINGTAIL_SYMBOL_RESOLVE_FILE_CACHE_H

#include "symbol/resolve/sources.h"

/* A file as it was; zeroes: none. */
struct file_cache_file {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds; /* of its last change */
};

/* What a copy is of. Bytes alone, to be compared as they are. */
struct file_cache_key {
	char magic[8]; /* with the version */
	struct file_cache_file program, debug;
	uint64_t build_id_size;
	uint8_t build_id[ELF_BUILD_ID_MAX];
};

/*
 * Makes the key of @program with @debug, which may be not open. Returns false if there can be no
 * copy: the program is no file or has no build-id, or the user has no cache.
 */
bool file_cache_key(const struct sources *src, const struct elf_image *program,
		    const struct elf_image *debug, struct file_cache_key *ret);

/*
 * Makes a table of the copy with @key. *@ret_few: it has only exported symbols. Returns 0 with
 * *@ret for symtab_free(), or a negative errno: there is no copy.
 */
int file_cache_load(const struct sources *src, const struct file_cache_key *key,
		    struct symtab **ret, bool *ret_few);

/*
 * Returns whether a reader of few symbols should read all of them, to store a copy for the next
 * reader: the files are of moderate size and have not changed for an hour, and the user's cache can
 * be written. If there is a copy of another file with the build-id, it should not: files of several
 * containers would replace each other's copy in each recording.
 */
bool file_cache_worthwhile(const struct sources *src, const struct file_cache_key *key);

/* Stores a copy of @t. Failures are nobody's concern. */
void file_cache_store(const struct sources *src, const struct file_cache_key *key,
		      const struct symtab *t, bool few);

#endif
