/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-ids (GNU notes) of ELF files and of note files of sysfs, and a cache of them by inode.
 *
 * Only ids of 1 to PD_BUILD_ID_MAX bytes exist here, as for the kernel (lib/buildid.c).
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
 * Finds the build-id among the @len bytes of notes at @notes (native byte order; @align 4 or 8).
 * *ret has size 0 when there is none or the notes are broken.
 */
void build_id_of_notes(const uint8_t *notes, size_t len, size_t align, struct build_id *ret);

/* Of the ELF file behind @fd (not closed), read with pread: it may change meanwhile. */
void build_id_of_fd(int fd, struct build_id *ret);

/*
 * Of the file @path below @dirfd, if it is a regular one: anything else is not even opened.
 * Returns 0 when the file was read (*ret may have size 0), or a negative errno.
 */
int build_id_of_path(int dirfd, const char *path, struct build_id *ret);

/* A file, as MMAP2 records name it. Without padding: it is hashed as bytes. */
struct build_id_key {
	uint32_t maj, min;
	uint64_t ino, generation; /* generation 0: not known */
};

/*
 * Of @path, if it is the file @file (ino 0: any; the generation is compared where the file system
 * tells it). Returns as build_id_of_path() does, and -ESTALE when another file is there.
 */
int build_id_of_file(const char *path, const struct build_id_key *file, struct build_id *ret);

/* Of the running kernel, and of one of its modules, from sysfs. */
void build_id_of_kernel(struct build_id *ret);
void build_id_of_module(const char *name, struct build_id *ret);

/* Of what a map of the kernel is called: "[kernel.kallsyms]", "[snd_pcm]", "/…/snd-pcm.ko.xz". */
void build_id_of_kernel_map(const char *name, struct build_id *ret);

/* What is known already of the files of this call; one thread. */
struct build_id_cache;

struct build_id_cache *build_id_cache_new(void);	/* NULL when out of memory */
void build_id_cache_free(struct build_id_cache *cache); /* accepts NULL */

/* NULL if the file is not known. Valid until the cache is freed. */
const struct build_id *build_id_cache_find(const struct build_id_cache *cache,
					   const struct build_id_key *key);
/* Returns 0 or -ENOMEM. The key must not be known yet. */
int build_id_cache_add(struct build_id_cache *cache, const struct build_id_key *key,
		       const struct build_id *id);

#endif
