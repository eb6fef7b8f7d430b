/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to data/writer*.c: a writer's two shapes, a file and a stream. */
#ifndef RINGTAIL_DATA_WRITER_PRIV_H
#define RINGTAIL_DATA_WRITER_PRIV_H

#include "data/writer_io.h"

struct writer {
	const struct writer_io *io;
	char *path; /* as messages call it */
	int fd;
	bool stream; /* then only finished, pos, out, and header.data.offset are used below */
	bool finished;

	/* As on disk since the last flush. */
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS]; /* of the features whose bit is set */
	uint64_t visible; /* file offset where data end and the table begins */
	struct buf table; /* the bytes there */
	uint64_t file_end;

	/*
	 * Appended since. Bytes that belong where the table stands wait in @held; those behind it
	 * are in the file up to pos - out.len and in @out from there.
	 */
	uint64_t pos; /* file offset where the next record goes */
	struct buf held;
	struct buf out;
	size_t held_failed; /* bytes in held's memory, those of the last append included if it failed */
};

/* Fills @err: @what could not be done to the file. */
int writer_fail(const struct writer *w, int code, const char *what, struct error *err);

/* Collects small pieces in out; writes when it grows large. @offset as for writer_io_all(). */
int writer_put(struct writer *w, const struct iovec *iov, int n, bool now);

/* Writes header, events and features of a stream; features alone. */
int stream_begin(struct writer *w, const struct pd_evlist *list,
		 const struct writer_feature *features, size_t nr_features, struct error *err);
int stream_features(struct writer *w, const struct writer_feature *features, size_t nr_features,
		    struct error *err);

#endif
