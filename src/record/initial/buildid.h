/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads build-ids (GNU notes) of ELF files and of sysfs, and caches them by inode. During a
 * recording record/initial/buildid_reader.h calls it.
 *
 * As in the kernel (lib/buildid.c), an id has 1 to PD_BUILD_ID_MAX bytes; others count as none.
 *
 * Threads: any may read; one uses a cache.
 */
#ifndef RINGTAIL_RECORD_INITIAL_BUILDID_H
#define RINGTAIL_RECORD_INITIAL_BUILDID_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/record.h"

struct build_id {
	uint8_t size; /* bytes; 0: none */
	uint8_t id[PD_BUILD_ID_MAX];
};

/*
 * Finds the build-id in the @len bytes of notes at @notes (native byte order; @align 4 or 8). Sets
 * ret->size to 0 when there is none or the notes are malformed.
 */
void build_id_of_notes(const uint8_t *notes, size_t len, size_t align, struct build_id *ret);

/*
 * Reads the build-id of the ELF file behind @fd, which stays open. Uses pread(), so that a file
 * that changes meanwhile does no harm. Sets ret->size to 0 when there is none.
 */
void build_id_of_fd(int fd, struct build_id *ret);

/*
 * Reads the build-id of the regular file @path below @dirfd; opens no other kind of file. Returns 0
 * when the file was read (ret->size may be 0), or a negative errno.
 */
int build_id_of_path(int dirfd, const char *path, struct build_id *ret);

/* A file as MMAP2 records identify it. It has no padding, because it is hashed as bytes. */
struct build_id_key {
	uint32_t maj, min;
	uint64_t ino, generation; /* generation 0: not known */
};

/*
 * Reads the build-id of @path if it is the file @file (ino 0: any file; compares the generation
 * where the file system has one). Returns as build_id_of_path() does, or -ESTALE for another file.
 */
int build_id_of_file(const char *path, const struct build_id_key *file, struct build_id *ret);

/* Opens @path, as build_id_of_file() does. Returns a descriptor for reading, or a negative errno.
 */
int build_id_open(const char *path, const struct build_id_key *file);

/* These read sysfs, and set ret->size to 0 when there is no build-id. */
/* Reads the build-id of the running kernel, or of its module @name. */
void build_id_of_kernel(struct build_id *ret);
void build_id_of_module(const char *name, struct build_id *ret);

/* Reads it by the name of a kernel map: "[kernel.kallsyms]", "[snd_pcm]", "/…/snd-pcm.ko.xz". */
void build_id_of_kernel_map(const char *name, struct build_id *ret);

/* Build-ids by file. */
struct build_id_cache;

struct build_id_cache *build_id_cache_new(void);	/* returns NULL when out of memory */
void build_id_cache_free(struct build_id_cache *cache); /* accepts NULL */

/* Returns the build-id of @key, valid until the cache is freed, or NULL if it is not cached. */
const struct build_id *build_id_cache_find(const struct build_id_cache *cache,
					   const struct build_id_key *key);

/* Copies @id into the cache; @key must not be cached yet. Returns 0 or -ENOMEM. */
int build_id_cache_add(struct build_id_cache *cache, const struct build_id_key *key,
		       const struct build_id *id);

#endif
