/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the files of the header's BUILD_ID section.
 *
 * These are the kernel and its modules, which reporters expect there, and files mapped during the
 * recording whose MMAP records have no build-id.
 *
 * It requests a build-id as soon as it sees a file (record/initial/buildid_reader.h). If the queue
 * is full, it reads the file at the end, if that is still the same file.
 *
 * Threads: one.
 */
#ifndef RINGTAIL_RECORD_OUTPUT_DSOS_H
#define RINGTAIL_RECORD_OUTPUT_DSOS_H

#include <stdbool.h>

#include "base/buf.h"
#include "perfdata/abi.h"

struct dso_names;
struct buildid_reader;
struct patience;

/*
 * Returns an empty collection, or NULL when out of memory. @reader (NULL: none) reads build-ids
 * meanwhile and stays the caller's. @own_build_ids as for mapped_decode().
 */
struct dso_names *dso_names_new(struct buildid_reader *reader, bool own_build_ids);
void dso_names_free(struct dso_names *names); /* accepts NULL */

/* Adds the file of an MMAP or MMAP2 record. Returns 0 or -ENOMEM; ignores malformed records. */
int dso_names_add(struct dso_names *names, const struct perf_event_header *hdr);

/* Adds the names of @from. Returns 0 or -ENOMEM. */
int dso_names_merge(struct dso_names *names, const struct dso_names *from);

/*
 * Appends the contents of BUILD_ID. Several files of one name differ in the data behind the name
 * (struct pd_build_id); the file seen first comes last, because perf keeps one for each name.
 * It waits for the reader as @p (NULL: none) says. Returns 0 or -ENOMEM.
 */
int dso_names_build_ids(struct dso_names *names, const struct patience *p, struct buf *out);

#endif
