/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a MMAP or MMAP2 record of a recording tells of, and which of them were seen before.
 *
 * One thread uses a filter.
 */
#ifndef RINGTAIL_RECORD_INITIAL_MAPPED_H
#define RINGTAIL_RECORD_INITIAL_MAPPED_H

#include "record/initial/id_reader.h"

struct mapped {
	struct build_id_key key; /* of the kernel: as id_reader_kernel_key() */
	struct pd_mmap map;	 /* its name is what the file is known by */
	bool kernel;
};

/*
 * @own_build_ids: the recording's own events ask the kernel for build-ids; else a mark of them is
 * another recorder's, and device and inode are behind it. False where there is no file, or where
 * the record has the build-id.
 */
bool mapped_decode(const struct perf_event_header *hdr, bool own_build_ids, struct mapped *ret);

/* As many files are told apart for sure. */
#define MAPPED_SLOTS 1024u

struct mapped_filter {
	struct mapped_slot {
		uint64_t hash;
		uint32_t seen;
	} slots[MAPPED_SLOTS];
};

/*
 * How many times the file was seen since it has its slot, 1 at first. One that has lost its slot to
 * another is new again.
 */
uint32_t mapped_seen(struct mapped_filter *f, const struct mapped *m);

/*
 * Asks for the build-id of what was seen @seen times. A file that was gone with the first process
 * that had it may be there with another: it is asked for again the second, fourth, eighth time …
 * @r NULL: nobody is asked.
 */
void mapped_ask(struct id_reader *r, const struct mapped *m, uint32_t seen);

/*
 * Where the recording asks for no build-ids: takes the mark of another recorder's from the records
 * at @p, which others would take device and inode for a build-id by. Returns at the first sample:
 * in rings that have some there is no MMAP2.
 */
void mapped_mend(uint8_t *p, size_t len);

#endif
