/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a perf.data file that is readable after every flush.
 *
 * Layout: header, ids, attributes, the features known at the start, data, and right behind the
 * data, where readers expect it, the table of feature sections. A flush writes in this order: the
 * data behind the old table, and the new table; a header that does not need the old table; the data
 * in the place of the old table; last, in one pwrite, the header with size and feature bits. If the
 * recorder is killed at any point, the file holds all data of the last flush, the tracepoint
 * formats and what decompression needs. Between the two headers, for microseconds, readers do not
 * see the other features.
 *
 *   appended data:  |======== visible ========|-- held --|------ written ------|
 *   file:           |======== visible ========|  table   |------ written ------|
 *
 * The data begin with a record of type HEADER_EVENT_TYPE (see writer_preface()). In a file with
 * TRACING_DATA, COMPRESSED or DIR_FORMAT each flush ends with another one, which holds what readers
 * need between the two headers (writer_file.c).
 * The writer does not sync to the disk, so a machine that stops may lose more than a killed
 * process.
 *
 * One thread owns a writer. Functions return errors of the file system with @err filled; earlier
 * flushes stay readable. After an error, -ENOSPC for example, the call may be repeated, but not on
 * a pipe. -EPIPE: a pipe's reader has closed it; the caller must ignore SIGPIPE.
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
 * Contents of a feature section, in native order. Those of writer_create() stand before the data,
 * those of writer_finish() behind it.
 */
struct writer_feature {
	unsigned int feature; /* enum pd_feature */
	const uint8_t *data;
	size_t len;
};

/*
 * Creates @path, mode 0600; "-" is a pipe stream on standard output, which must not be a terminal.
 * Renames an existing regular file of this user to PATH.old first; refuses anything else, also a
 * symbolic link. Writes @list and @features at once and does not keep them. A pipe stream has
 * HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE and TRACING_DATA records for them, and lacks a feature
 * of more than 65512 bytes, which no record can hold.
 * Returns 0 with *@ret for writer_close(), or a negative errno with @err filled.
 */
int writer_create(const char *path, const struct pd_evlist *list,
		  const struct writer_feature *features, size_t nr_features, struct writer **ret,
		  struct error *err);

/*
 * A callback that can end a write to a slow stream. The writer calls it about ten times a second.
 * The caller owns the struct.
 */
struct writer_patience {
	/* The stream accepted nothing for @ms. False: the write ends with -EINTR. */
	bool (*wait)(void *arg, uint64_t ms);
	void *arg;
	uint64_t asked_ms; /* the writer's: time of the last call */
};

/*
 * As writer_create("-"). Until writer_persist() a write waits until the stream accepts a page, or
 * until @patience (NULL: none) ends it, and the stream with it.
 */
int writer_create_stream(const struct pd_evlist *list, const struct writer_feature *features,
			 size_t nr_features, struct writer_patience *patience, struct writer **ret,
			 struct error *err);

/*
 * Ends the use of a writer_patience: writes now wait as long as necessary. Before this call no
 * write is in flight, even after writer_async(). Writes what the stream has buffered. Returns 0 or
 * a negative errno.
 */
int writer_persist(struct writer *w, struct error *err);

/*
 * Creates @path, mode 0600, as a data.N of a directory: records without a header. Since no header
 * has the size, a record of type AUXTRACE (data/file/tail_cover.h) hides what is not flushed;
 * writer_finish() removes it. Returns as writer_create(), and -EEXIST if @path exists; it is then
 * unchanged.
 */
int writer_create_plain(const char *path, struct writer **ret, struct error *err);

/*
 * With @rests true, prepares a file of writer_create_plain() for a while without appends: perf then
 * reads it without --no-itrace. All must be flushed, and no append may follow until a call with
 * @rests false. Does not change other files. Returns 0 or a negative errno; -EBUSY: not all is
 * flushed.
 */
int writer_rest(struct writer *w, bool rests);

#define WRITER_BUFFER_SIZE ((size_t)512 << 10)

/*
 * Makes appends asynchronous: they fill @depth + 1 buffers of @buffer_size bytes, of which up to
 * @depth (1 to AIO_DEPTH_MAX) are in flight while the caller continues. An append waits only if all
 * are full; a flush waits for all. The next append or flush returns the error of a write in flight
 * and has no other effect; the file stays as of its last flush. A pipe has one buffer in flight: an
 * append or flush submits the next buffer after the previous one is written. Call it once. Returns
 * 0, or a negative errno with the writer unchanged.
 */
int writer_async(struct writer *w, unsigned int depth, size_t buffer_size, struct error *err);

/* Returns the engine of writer_async(), owned by the writer; NULL before that call. */
const struct aio *writer_aio(const struct writer *w);

/* Appends whole records (in at most two spans). Returns 0 or a negative errno. */
int writer_append(struct writer *w, const void *a, size_t a_len, const void *b, size_t b_len,
		  struct error *err);

/*
 * Makes all appended records visible to readers. Returns 0 or a negative errno; -ESTALE: another
 * process has truncated the file, so no more records can become visible.
 */
int writer_flush(struct writer *w, struct error *err);

/*
 * Overwrites in place the contents of a feature of writer_create(), with the same @len. A reader
 * may see a mix of old and new words, but no torn word at an offset that is a multiple of 8.
 * Returns 0 or a negative errno.
 */
int writer_replace(struct writer *w, unsigned int feature, const void *data, size_t len,
		   struct error *err);

/*
 * Announces that a file will hold about @bytes of data: the writer allocates no blocks ahead beyond
 * that. Call it before the first append.
 */
void writer_expect(struct writer *w, uint64_t bytes);

#define WRITER_PLACE_SIZE 64 /* bytes */

/*
 * Writes whole records, @len bytes (a multiple of 8), into the space reserved for them at the
 * beginning of the data of a file with a header: two places of WRITER_PLACE_SIZE, and one for each
 * id of the events, up to a limit. It overwrites in place, so it works in a finished file and on a
 * full disk, too. Returns 0 or a negative errno: -ENOTSUP for a stream and for a file of
 * writer_create_plain(), which have no such space; -ESTALE as writer_flush().
 */
int writer_preface(struct writer *w, const void *records, size_t len, struct error *err);
/* Returns the bytes of all places; 0: there are none. */
size_t writer_preface_size(const struct writer *w);

/* The state of a file at a flush, for writer_roll_back(). */
struct writer_mark;
/*
 * Marks the present state. Returns 0 with *@ret for writer_mark_free(); -ENOMEM; -ENOTSUP for a
 * stream; -EINVAL if an append is not flushed or has failed.
 */
int writer_mark_new(const struct writer *w, struct writer_mark **ret);
/* Frees a mark. Accepts NULL. */
void writer_mark_free(struct writer_mark *mark);

/*
 * Restores the file as of @mark: drops what was appended and flushed since, also after a failure.
 * Returns 0, or a negative errno with @err filled; then only writer_close() may follow.
 */
int writer_roll_back(struct writer *w, const struct writer_mark *mark, struct error *err);

/* Counts of records that became visible, compressed ones included. */
struct writer_rescued {
	uint64_t records; /* without COMPRESSED ones and the writer's own */
	uint64_t samples;
	uint64_t lost;	/* sum of LOST_SAMPLES */
	uint64_t trace; /* bytes behind AUXTRACE records */
};

/*
 * Makes visible the whole records in a file after a failure; no append may follow. These include
 * records of the failed append, and of all writes in flight before the first failed one. The table
 * of features must fit behind them. Returns 0 with *@ret filled, or a negative errno with the file
 * as of its last flush (-EINVAL: a stream, or a finished file; -ESTALE as writer_flush()).
 */
int writer_rescue(struct writer *w, struct writer_rescued *ret);

/*
 * Counts the whole records that remain in a file after -ESTALE, up to the first incomplete one. A
 * reader may find more behind it.
 */
void writer_remains(const struct writer *w, struct writer_rescued *ret);

enum writer_place {
	WRITER_THERE,	  /* under its name; always for a stream */
	WRITER_MOVED,	  /* under another name */
	WRITER_DELETED,	  /* without a name: lost at writer_close() */
	WRITER_TRUNCATED, /* under its name, but truncated (unknown after writer_create_plain()) */
};

/*
 * Returns whether the file is still at the path where it was created. *@ret_path is its present
 * path for free(); NULL if that is the same or unknown.
 */
enum writer_place writer_place(const struct writer *w, char **ret_path);

/* Returns the bytes of the file now. */
uint64_t writer_size(const struct writer *w);
/* Whether it writes to a pipe, whose reader may take nothing. */
bool writer_is_stream(const struct writer *w);

/* Returns the offset in the file where the next append goes; of a stream, 0. */
uint64_t writer_position(const struct writer *w);
/* Returns the bytes of data appended. */
uint64_t writer_data_size(const struct writer *w);

/*
 * Adds @features, which replace earlier contents of the same number, and flushes; a pipe stream
 * gets them as records, build-ids as BUILD_ID. No append may follow. Returns 0 or a negative errno.
 */
int writer_finish(struct writer *w, const struct writer_feature *features, size_t nr_features,
		  struct error *err);

/* Closes and frees. Accepts NULL. Without writer_finish() the file stays as of its last flush. */
void writer_close(struct writer *w);

#endif
