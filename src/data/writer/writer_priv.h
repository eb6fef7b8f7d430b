/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a writer. Internal to data/writer/.
 *
 * Each file uses only those before it: writer_io.c (system calls), writer_out.c (buffers),
 * writer_place.c, writer_walk.c, writer_preface.c; the forms writer_file.c, writer_stream.c and
 * writer_part.c; and, through struct writer_form, writer.c, writer_mark.c and writer_rescue.c.
 */
#ifndef RINGTAIL_DATA_WRITER_WRITER_PRIV_H
#define RINGTAIL_DATA_WRITER_WRITER_PRIV_H

#include "data/writer/writer_io.h"

/* Small appends are gathered to that many bytes before they are written. */
#define WRITER_OUT_MAX ((size_t)256 << 10)

struct writer_async;
struct writer_mark;

/* What depends on the form of the output. Functions return 0 or a negative errno. */
struct writer_form {
	bool sequential; /* a stream: no offsets, and no failed write can be repeated */
	bool has_header; /* and a table of feature sections */

	/* Creates the output, or checks standard output; sets w->fd. */
	int (*open)(struct writer *w, struct error *err);
	/* Writes what comes before the data. */
	int (*begin)(struct writer *w, const struct pd_evlist *list,
		     const struct writer_feature *features, size_t nr_features, struct error *err);
	/* Makes visible what was appended. */
	int (*flush)(struct writer *w);
	/* After a failed write: makes visible the bytes in held and in the file. NULL: sequential.
	 */
	int (*flush_last)(struct writer *w);
	/* After a flush: adds @features, and ends the output. */
	int (*finish)(struct writer *w, const struct writer_feature *features, size_t nr_features,
		      struct error *err);
	/* Writes header and table as they were at @m, in place. NULL: sequential. */
	int (*put_back)(struct writer *w, const struct writer_mark *m);
};

extern const struct writer_form writer_form_file, writer_form_stream, writer_form_part;

struct writer {
	struct writer_io io; /* a copy */
	char *path;	     /* as messages call it */
	int fd;
	const struct writer_form *form;
	bool finished;

	/* As on disk since the last flush. A stream uses header.data.offset alone. */
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS]; /* of the features it has; others: 0 */
	size_t preface;				      /* writer_preface_size() */
	uint64_t visible; /* file offset where the data end and the table begins */
	struct buf table; /* a copy of the table */
	uint64_t file_end;

	/*
	 * The bytes appended since the last flush. Those that belong where the table stands wait in
	 * @held. Those behind it are in the file up to pos - out.len, the rest in @out; of an
	 * asynchronous writer they are in the file or in its buffers.
	 */
	uint64_t pos; /* file offset where the next record goes */
	struct buf held;
	struct buf out;
	size_t held_failed;	    /* after a failed append: held.len with its bytes; else 0 */
	struct writer_async *async; /* NULL: each write is complete when it returns */

	uint64_t expected; /* end of the data, about; 0: not known */
	uint64_t ahead;	   /* offset up to which blocks were allocated; 0: never */
	bool not_ahead;	   /* do not allocate ahead: it failed, or does not help here */

	uint64_t failed_at; /* offset of the write that failed last, for messages */
	int broken;	    /* errno of a failure after which nothing can be appended; 0: none */
};

/* The state after a flush, for a return to it (writer_mark.c). */
struct writer_mark {
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS];
	uint64_t visible, file_end;
	struct buf table;
};

/* Fills @err: @what failed (NULL: a write at failed_at). Returns @rc. */
int writer_fail(const struct writer *w, int rc, const char *what, struct error *err);

/* Writes, at once. Returns 0 or a negative errno. */
int writer_put_at(struct writer *w, const void *p, size_t len, uint64_t offset);

/*
 * Appends @iov (two at most) at pos, which moves on: gathers small pieces, and writes large ones.
 * With @now all appended bytes are in the file on return. After a failure nothing of @iov is
 * appended, and the caller may try again, but not on a stream.
 */
int writer_put(struct writer *w, const struct iovec *iov, int n, bool now);

/* Forgets the bytes from pos on; the caller has set pos back. */
void writer_forget(struct writer *w);

/*
 * Of an asynchronous writer: waits for the writes in flight, and forgets what is not written.
 * Returns the offset before which all appended bytes are in the file or in held.
 */
uint64_t writer_out_give_up(struct writer *w);

/*
 * Walks the records between the last flush and @end, which are in held and in the file. Returns the
 * end of the last whole one. Counts them in *@ret, those in COMPRESSED records, too.
 */
uint64_t writer_whole_records(const struct writer *w, uint64_t end, struct writer_rescued *ret);

/*
 * Whether somebody else has truncated the file before the table of the last flush, so that nothing
 * can be put in its place. (writer_place.c)
 */
bool writer_is_truncated(const struct writer *w);

/* Whether somebody else has truncated the file to nothing, so that no reader can read any of it. */
bool writer_is_headless(const struct writer *w);

/* Waits for the writes in flight, and frees out and async. */
void writer_out_release(struct writer *w);

/* Creates w->path, which must not exist. Returns 0 or a negative errno with @err filled. */
int writer_open_new(struct writer *w, struct error *err);

/* Appends the first record of the data to @b. Returns 0 or a negative errno. (writer_preface.c) */
int writer_preface_begin(struct writer *w, const struct pd_evlist *list, struct buf *b);

#endif
