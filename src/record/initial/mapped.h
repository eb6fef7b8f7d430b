/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the file of an MMAP or MMAP2 record, and counts how often a file was mapped.
 *
 * Threads: one uses a filter; any may call the other functions.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MAPPED_H
#define RINGTAIL_RECORD_INITIAL_MAPPED_H

#include "record/initial/buildid_reader.h"

struct mapped {
	struct build_id_key key; /* of the kernel: as buildid_reader_kernel_key() */
	struct pd_mmap map;	 /* its filename is that of the dso; points into the record */
	bool kernel;
};

/*
 * Fills *@ret from an MMAP or MMAP2 record. @own_build_ids: the recording's own events ask for
 * build-ids (attr.build_id). If not, the record has device and inode even where another recorder
 * made the kernel mark it as one with a build-id. Returns false if the map has no file, or the
 * record has the build-id.
 */
bool mapped_decode(const struct perf_event_header *hdr, bool own_build_ids, struct mapped *ret);

/* The number of slots; files with the same slot replace each other. */
#define MAPPED_SLOTS 1024u

struct mapped_filter {
	struct mapped_slot {
		uint64_t hash;
		uint32_t seen;
	} slots[MAPPED_SLOTS];
};

/*
 * Counts the file and returns how often it was seen, 1 at first. A file that lost its slot to
 * another one starts again at 1.
 */
uint32_t mapped_seen(struct mapped_filter *f, const struct mapped *m);

/*
 * Asks @r (NULL: does nothing) for the build-id of a file that was seen @seen times, if that is a
 * power of two. A file that vanished with the first process that mapped it may exist for another.
 */
void mapped_ask(struct buildid_reader *r, const struct mapped *m, uint32_t seen);

/*
 * If @hdr is an MMAP or MMAP2 record of generated code, asks @r (NULL: does nothing) to keep the
 * perf-PID.map of the process: it may be gone when names are looked up. @f as for mapped_ask().
 */
void mapped_watch_jit(struct buildid_reader *r, const struct perf_event_header *hdr,
		      struct mapped_filter *f);

/*
 * For recordings without attr.build_id: clears PERF_RECORD_MISC_MMAP_BUILD_ID, which another
 * recorder has caused, in the @len bytes of whole records at @p. With it readers would take device
 * and inode for a build-id. Stops at the first sample: rings with samples have no MMAP2.
 */
void mapped_clear_build_id_marks(uint8_t *p, size_t len);

#endif
