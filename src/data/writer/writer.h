/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf.data file being written, readable at every flush.
 *
 * Layout: header, ids, attributes, the feature contents known at the start, data, and behind the
 * data the table of feature sections, which is the only thing that readers expect there. A flush
 * makes what was appended visible in this order: the data beyond the old table, and the new table
 * behind them; a header that does without the old table; the bytes that belong where it stood;
 * last, in one pwrite, the header with size and feature bits. A recorder killed at any point leaves
 * all data of the last flush, the tracepoint formats and what decompression needs; between the two
 * headers, a matter of microseconds, the other features are not seen.
 *
 *   appended data:  |======== visible ========|-- held --|------ written ------|
 *   file:           |======== visible ========|  table   |------ written ------|
 *
 * The data begin with a record of type HEADER_EVENT_TYPE (see writer_preface()), and in a file with
 * TRACING_DATA or COMPRESSED each flush ends with another, the resume record (writer_file.c). It
 * carries what a reader needs between the two headers.
 * Nothing is synced to the disk: that is for the kernel to do, and a machine that stops may lose
 * more than a process that does.
 *
 * One thread owns a writer. Errors of the file system are returned with @err filled (-ENOSPC says
 * so, and what was flushed before stays readable; the call may be made again, but not on a pipe). A
 * pipe whose reader has gone is -EPIPE; the caller must ignore SIGPIPE.
 */
#ifndef RINGTAIL_DATA_WRITER_WRITER_H
#define RINGTAIL_DATA_WRITER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perfdata/attr.h"
#include "sys/io/aio.h"

struct writer;

/*
 * Contents of feature sections in native order, by feature number. Those given at creation lie
 * before the data, those given to writer_finish() behind it.
 */
struct writer_feature {
	unsigned int feature; /* enum pd_feature */
	const uint8_t *data;
	size_t len;
};

/*
 * Creates @path ("-": a pipe stream on standard output), mode 0600. An existing regular file is
 * renamed to PATH.old first; anything else, and a symbolic link, is refused. @list and @features
 * are written at once and not kept. In a pipe stream they become HEADER_ATTR, EVENT_UPDATE,
 * HEADER_FEATURE and TRACING_DATA records; a feature of more than 65512 bytes, which no record can
 * hold, is left out there. Standard output must not be a terminal. PATH must belong to this user.
 * Returns 0 with *@ret to be given to writer_close(); or a negative errno.
 */
int writer_create(const char *path, const struct pd_evlist *list,
		  const struct writer_feature *features, size_t nr_features, struct writer **ret,
		  struct error *err);

/* Callback about ten times a second while a stream waits for its reader. The caller owns it. */
struct writer_patience {
	/* The reader took nothing for @ms. Returns whether to go on; if not: -EINTR. */
	bool (*wait)(void *arg, uint64_t ms);
	void *arg;
	uint64_t asked_ms; /* used by the writer: time of the last call */
};

/*
 * As writer_create("-"). Until writer_persist() no write takes longer than the stream does to take
 * a page, or @patience (NULL: none) has; given up, the stream has ended.
 */
int writer_create_stream(const struct pd_evlist *list, const struct writer_feature *features,
			 size_t nr_features, struct writer_patience *patience, struct writer **ret,
			 struct error *err);

/*
 * From now on writes wait for as long as it takes; before, none is in flight, writer_async() or
 * not. Flushes what such a stream has gathered. Returns 0 or a negative errno.
 */
int writer_persist(struct writer *w, struct error *err);

/*
 * Creates @path, which must not exist, mode 0600, for records alone, as the data.N of a directory
 * are. There is no header to tell the size, so what was not flushed is hidden behind a record of
 * type AUXTRACE (data/file/tail_cover.h) until the file is finished. Returns as writer_create(),
 * and -EEXIST when there is something at @path, which stays as it is.
 */
int writer_create_plain(const char *path, struct writer **ret, struct error *err);

/*
 * All is flushed, and nothing will be appended for a while, until this is called again with @rests
 * false: meanwhile perf, too, reads a file of records alone without --no-itrace. Of other files
 * nothing is changed. Returns 0 or a negative errno; -EBUSY: not all is flushed.
 */
int writer_rest(struct writer *w, bool rests);

#define WRITER_BUFFER_SIZE ((size_t)512 << 10)

/*
 * From now on appends are gathered in buffers of @buffer_size bytes, @depth + 1 of them
 * (1 … AIO_DEPTH_MAX), of which up to @depth are being written while the caller goes on. An append
 * waits only when all are full; a flush waits for all. What fails in flight is returned by the next
 * append or flush, of which then nothing counts; the file stays as of its last flush. A pipe takes
 * its buffers one after the other, the next one when an append or flush finds that the one before
 * is written. To be called once. Returns 0, or a negative errno with the writer as before.
 */
int writer_async(struct writer *w, unsigned int depth, size_t buffer_size, struct error *err);

/* What it writes by, to be asked for its name; NULL before writer_async(). Owned by the writer. */
const struct aio *writer_aio(const struct writer *w);

/* Appends whole records (in at most two spans). Returns 0 or a negative errno. */
int writer_append(struct writer *w, const void *a, size_t a_len, const void *b, size_t b_len,
		  struct error *err);

/*
 * Makes all that was appended visible to readers. Returns 0 or a negative errno; -ESTALE: others
 * have truncated the file, and nothing more can be made visible.
 */
int writer_flush(struct writer *w, struct error *err);

/*
 * Overwrites, in place, the contents of a feature given at creation, @len bytes as before. Readers
 * see old and new words mixed at worst, no torn ones where they are aligned to 8 bytes (contents
 * begin so). Returns 0 or a negative errno.
 */
int writer_replace(struct writer *w, unsigned int feature, const void *data, size_t len,
		   struct error *err);

/*
 * A file will hold about @bytes of data: blocks that are asked for ahead of writes end there.
 * Before anything is appended.
 */
void writer_expect(struct writer *w, uint64_t bytes);

#define WRITER_PLACE_SIZE 64 /* bytes */

/*
 * Puts whole records, @len bytes (a multiple of 8), at the beginning of the data of a file with a
 * header, where there are places of WRITER_PLACE_SIZE: two, and one for each id of the events, as
 * far as there are not too many. In place: also when the file is finished, or the disk is full.
 * Returns 0 or a negative errno: -ENOTSUP for a stream and for records alone, which have no such
 * place; -ESTALE as writer_flush().
 */
int writer_preface(struct writer *w, const void *records, size_t len, struct error *err);
size_t writer_preface_size(const struct writer *w); /* of all places, bytes; 0: there are none */

/*
 * Where a file stands, to come back to. Returns 0 with *@ret to be given to writer_mark_free();
 * -ENOMEM; -ENOTSUP: a stream; -EINVAL: something was appended and not flushed, or has failed.
 */
struct writer_mark;
int writer_mark_new(const struct writer *w, struct writer_mark **ret);
void writer_mark_free(struct writer_mark *mark); /* accepts NULL */

/*
 * Takes back what was appended and flushed since, also after a failure; the file is as it was.
 * Returns 0, or a negative errno with @err filled, after which only writer_close() is good.
 */
int writer_roll_back(struct writer *w, const struct writer_mark *mark, struct error *err);

/* Of records that became visible, compressed ones included. */
struct writer_rescued {
	uint64_t samples;
	uint64_t lost; /* sum of LOST_SAMPLES */
};

/*
 * For a file that failed, when nothing more will be appended: makes visible each whole record that
 * reached the file, also of the append that failed, as far as the table behind the data finds room;
 * of writes in flight those before the first that failed. Returns 0 with *@ret filled; or a
 * negative errno, and the file is as of its last flush (-EINVAL: a stream, or one that is finished;
 * -ESTALE: as writer_flush()).
 */
int writer_rescue(struct writer *w, struct writer_rescued *ret);

/*
 * Of a file that others have truncated (-ESTALE): the whole records up to the first that is not.
 * There may be more behind it, for readers that find them.
 */
void writer_remains(const struct writer *w, struct writer_rescued *ret);

enum writer_place {
	WRITER_THERE,	/* under its name, as a stream always is */
	WRITER_MOVED,	/* it has only other names */
	WRITER_DELETED, /* it has none: with the writer it goes */
	WRITER_CUT,	/* under its name, but truncated (not told of plain ones) */
};

/*
 * Whether others have left the file where it was created. *@ret_path: where it is now, to be freed;
 * NULL: there, or nobody knows.
 */
enum writer_place writer_place(const struct writer *w, char **ret_path);

/* Bytes of the file now, and bytes of data appended. */
uint64_t writer_size(const struct writer *w);
uint64_t writer_data_size(const struct writer *w);

/*
 * Adds the features known only at the end (they replace earlier contents of the same number; in a
 * pipe stream they follow as records, build-ids as BUILD_ID), and flushes. No append may follow.
 * Returns 0 or a negative errno.
 */
int writer_finish(struct writer *w, const struct writer_feature *features, size_t nr_features,
		  struct error *err);

/* Closes and frees. Accepts NULL. Without writer_finish() the file stays as of its last flush. */
void writer_close(struct writer *w);

#endif
