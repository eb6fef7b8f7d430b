/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes a recording whose recorder was killed: header, features, and whole records only.
 *
 * A recording is whole if its recorder ended well and all of it can be read. Otherwise
 * recover_write() makes a copy of the readable records with a header and features that fit them. It
 * looks for records behind the recorder's last flush, too, which other readers do not see. No state
 * besides the struct; one thread.
 */
#ifndef RINGTAIL_DATA_EDIT_RECOVER_H
#define RINGTAIL_DATA_EDIT_RECOVER_H

#include "base/buf.h"
#include "base/error.h"
#include "data/file/file.h"
#include "perfdata/feature.h"

/* Bytes of one file that are whole records, back to back. */
struct recover_span {
	uint64_t from, to; /* file offsets */
};

struct recover_segment {
	struct recover_span *spans;
	size_t nr, cap;
	uint64_t bytes, records; /* of all spans; records before compression */
};

struct recovery {
	const char *why; /* what is wrong, a static clause; NULL: the recording is whole */
	struct recover_segment *segments;
	size_t nr_segments;
	uint64_t records, samples; /* found */
	uint64_t behind;	   /* of @records: behind the recorder's last flush */
	uint64_t dropped;	   /* bytes without a readable record */
	uint64_t left_out;	   /* readable samples in damaged chunks, which cannot be kept */
	struct pd_sample_time times;
	bool timed;		      /* @times is set */
	uint32_t chunk;		      /* bytes of the largest decompressed chunk; 0: none */
	uint64_t compressed, raw;     /* bytes of the compressed records, and of their contents */
	struct pd_auxtrace_index aux; /* places in the new files */
};

/* A feature for the new header, in native byte order. */
struct recover_feature {
	unsigned int feature;
	struct buf data; /* owned by the caller */
};

/*
 * Reads all of @df, and decides whether it is whole. Returns 0 with @ret for recover_release(),
 * also after a failure, or a negative errno.
 */
int recover_examine(struct data_file *df, struct recovery *ret);
/* Frees what @r holds. */
void recover_release(struct recovery *r);

/*
 * Writes the recovered recording to @out, which must not exist; NULL: in the place of the original,
 * which is there until the new one is complete and on the disk. @features (native byte order, so
 * only for a recording of this byte order) are added where the recording lacks them. Returns 0, or
 * a negative errno with @err filled, and nothing changed: -EBUSY: somebody writes the recording;
 * -ENODATA: it has no record; -ENOTSUP: its header is in an older format, or @out is NULL and
 * samples would be left out; -EEXIST; others of the
 * system.
 */
int recover_write(struct data_file *df, struct recovery *r, const struct recover_feature *features,
		  size_t nr_features, const char *out, struct error *err);

#endif
