/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index of a file with debug information, in the user's cache (sys/io/cache.h): the units by
 * address, and the tables of those units that reports have needed so far.
 *
 * It spares the next report to open the debug information, which decompresses it and visits each
 * unit. It is of one build-id. Two processes may write; the last one's stays. Whatever does not fit
 * together costs the index, not the report. Internal to symbol/lines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_UNIT_INDEX_H
#define RINGTAIL_SYMBOL_LINES_UNIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_image.h"
#include "symbol/lines/ranges.h"
#include "symbol/lines/unit.h"

/* Bytes of an index; what exceeds them is read from the debug information again. */
#define INDEX_MAX ((size_t)64 << 20)

/* What an index is of. Bytes alone, to be compared as they are. */
struct index_key {
	char magic[8]; /* with the version */
	uint64_t size; /* of the file with the debug information */
	uint64_t debug_size;
	uint64_t build_id_size;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint64_t libdw; /* its version, hashed: another one may find other units, or more in them */
};

/* Makes the key of @img. Returns 0, or -ENOENT: it has no build-id. */
int index_key_of(const struct elf_image *img, struct index_key *ret);

/* A mapped index. All zero: none. Released by index_release(). */
struct unit_index {
	void *map;
	size_t size;
};

/*
 * Maps the index with @key of the cache @base. Fills *@ret_ranges, and an array of units whose
 * blocks lie in the mapping, for free(). Returns 0 or a negative errno.
 */
int index_load(const char *base, const struct index_key *key, struct unit_index *ret,
	       struct range_set *ret_ranges, struct unit **ret_units, size_t *ret_nr);

/* Writes the index of @units that have blocks. Failures are nobody's concern. */
void index_store(const char *base, const struct index_key *key, const struct range_set *ranges,
		 const struct unit *units, size_t nr);

/* Unmaps; accepts zeroes. */
void index_release(struct unit_index *x);

#endif
