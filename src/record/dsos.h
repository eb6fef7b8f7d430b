/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the header's BUILD_ID section, whose build-ids are read at the end: the kernel and its
 * modules, since readers look for them there, and of the files mapped while recording those whose
 * records carry no build-id (kernels before 5.12, or where the kernel could not read the note).
 *
 * One thread.
 */
#ifndef RINGTAIL_RECORD_DSOS_H
#define RINGTAIL_RECORD_DSOS_H

#include "base/buf.h"
#include "perfdata/abi.h"

struct dso_names;

struct dso_names *dso_names_new(void);	      /* NULL when out of memory */
void dso_names_free(struct dso_names *names); /* accepts NULL */

/* Takes note of a MMAP or MMAP2 record. Returns 0 or -ENOMEM; a malformed record is ignored. */
int dso_names_add(struct dso_names *names, const struct perf_event_header *hdr);

/* Adds the names of @from. Returns 0 or -ENOMEM. */
int dso_names_merge(struct dso_names *names, const struct dso_names *from);

/* Appends the contents of BUILD_ID: those of the names that have a build-id now. 0 or -ENOMEM. */
int dso_names_build_ids(const struct dso_names *names, struct buf *out);

#endif
