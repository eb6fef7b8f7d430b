/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files for the header's BUILD_ID section: the kernel and its modules, since readers look for
 * them there, and of the files mapped while recording those whose records carry no build-id.
 *
 * Their build-ids are asked for as soon as they are seen (record/id_reader.h). What was not read
 * then, for want of room, is read at the end, if the same file is still there.
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_DSOS_H
#define RINGTAIL_RECORD_OUTPUT_DSOS_H

#include <stdbool.h>

#include "base/buf.h"
#include "perfdata/abi.h"

struct dso_names;
struct id_reader;

/*
 * @reader, which stays the caller's: who reads build-ids meanwhile; NULL: nobody. @own_build_ids as
 * for mapped_decode(). NULL when out of memory.
 */
struct dso_names *dso_names_new(struct id_reader *reader, bool own_build_ids);
void dso_names_free(struct dso_names *names); /* accepts NULL */

/* Takes note of a MMAP or MMAP2 record. Returns 0 or -ENOMEM; a malformed record is ignored. */
int dso_names_add(struct dso_names *names, const struct perf_event_header *hdr);

/* Adds the names of @from. Returns 0 or -ENOMEM. */
int dso_names_merge(struct dso_names *names, const struct dso_names *from);

/*
 * Appends the contents of BUILD_ID. Several files of one name are told apart by what stands behind
 * it (struct pd_build_id); the one that was seen first comes last, since perf knows one of a name.
 * Returns 0 or -ENOMEM.
 */
int dso_names_build_ids(struct dso_names *names, struct buf *out);

#endif
