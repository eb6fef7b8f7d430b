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

	/* Creates the output, or checks the one that there is: sets w->fd. */
	int (*open)(struct writer *w, struct error *err);
	/* Writes what comes before the data. */
	int (*begin)(struct writer *w, const struct pd_evlist *list,
		     const struct writer_feature *features, size_t nr_features, struct error *err);
	/* Makes visible what was appended. */
	int (*flush)(struct writer *w);
	/* The same after a failure, of what is in held and in the file. NULL: sequential. */
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
	struct pd_section sections[HEADER_FEAT_BITS]; /* of the features whose bit is set */
	size_t preface;				      /* bytes of what the data begin with */
	uint64_t visible; /* file offset where data end and the table begins */
	struct buf table; /* the bytes there */
	uint64_t file_end;

	/*
	 * Appended since. Bytes that belong where the table stands wait in @held; those behind it
	 * are in the file up to pos - out.len and in @out from there; of an asynchronous writer
	 * they are in the file or in its buffers.
	 */
	uint64_t pos; /* file offset where the next record goes */
	struct buf held;
	struct buf out;
	size_t held_failed; /* bytes in held's memory, those of the last append included if it
			       failed */
	struct writer_async *async; /* NULL: each write is complete when it returns */

	uint64_t expected; /* end of the data, about; 0: not known */
	uint64_t ahead;	   /* blocks were asked for up to this offset; 0: never */
	bool not_ahead;	   /* never again: it failed, or is of no use here */

	uint64_t failed_at; /* offset of the write that failed last, for messages */
	int broken; /* a failure of a stream, or of a file without its cover: nothing can follow */
};

/* A flush to come back to (writer_mark.c). */
struct writer_mark {
	struct pd_header header;
	struct pd_section sections[HEADER_FEAT_BITS];
	uint64_t visible, file_end;
	struct buf table;
};

/*
 * Fills @err: @what (NULL: a write at failed_at) could not be done to the file, and what of it
 * stays readable.
 */
int writer_fail(const struct writer *w, int rc, const char *what, struct error *err);

/* Writes, at once. Returns 0 or a negative errno. */
int writer_put_at(struct writer *w, const void *p, size_t len, uint64_t offset);

/*
 * Puts @iov (two at most) at pos, which moves on: gathers small pieces, and writes what grows
 * large. With @now all that was put is in the file on return. After a failure none of @iov counts,
 * and the call may be made again, but not on a stream.
 */
int writer_put(struct writer *w, const struct iovec *iov, int n, bool now);

/* Forgets what lies from pos on, which was set back. */
void writer_forget(struct writer *w);

/*
 * Of an asynchronous writer: waits for what is in flight and forgets what is not written. Returns
 * up to which offset all that was put is in the file, or in held.
 */
uint64_t writer_out_give_up(struct writer *w);

/*
 * Where the last whole record ends of those between the last flush and @end, which are in held and
 * in the file; *@ret is about them, and about those in them that are COMPRESSED.
 */
uint64_t writer_whole_records(const struct writer *w, uint64_t end, struct writer_rescued *ret);

/*
 * Whether others have cut off the table that stood behind the data at the last flush, so that
 * nothing can be put in its place. (writer_place.c)
 */
bool writer_is_cut(const struct writer *w);

/* Whether others have cut it off at the beginning, so that nothing of it can be read. */
bool writer_is_headless(const struct writer *w);

/* Waits for what is in flight, and frees out and async. */
void writer_out_release(struct writer *w);

/* Creates w->path, which must not exist. Returns 0 or a negative errno with @err filled. */
int writer_open_new(struct writer *w, struct error *err);

/* Appends to @b what the data of a file with these events begin with. 0 or a negative errno. */
int writer_preface_begin(struct writer *w, const struct pd_evlist *list, struct buf *b);

#endif
