/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the reader share: an opened recording, its segments, and its notes.
 * Nothing outside data/ includes this.
 *
 * A struct data_file is filled by data_open() on one thread; after that only its notes change,
 * under their own lock.
 */
#ifndef RINGTAIL_DATA_FILE_H
#define RINGTAIL_DATA_FILE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/buf.h"
#include "data/reader.h"

#define RECORD_MIN sizeof(struct perf_event_header)
#define RECORD_MAX 65536u /* the size field has 16 bits */

#define SIMPLEPERF_RECORD_TRACING_DATA 32777u

struct segment {
	char *path; /* for messages, and for opening when fd is -1 */
	int fd;	    /* kept open, or -1: each scan opens the path and checks dev and ino */
	dev_t dev;
	ino_t ino;
	uint64_t size;	     /* bytes of the file */
	uint64_t begin, end; /* its records, file offsets; end is within size */
	uint64_t sure; /* file offset: the recorder had this much flushed when it was killed, and
			  what is cut off behind it was never promised. UINT64_MAX: not so */
	uint64_t base; /* bytes of all segments before it: makes places segment-major */
};

#define NOTES_MAX 64

struct data_notebook {
	struct data_note note[NOTES_MAX];
	size_t nr;
};

struct data_file {
	enum data_kind kind;
	bool swapped;
	struct pd_header header; /* features: those whose contents are in @features */
	uint8_t head[sizeof(struct pd_header)]; /* as read first, so many bytes of it */
	size_t head_len;
	struct pd_evlist *list;
	struct segment *segments;
	size_t nr_segments, cap_segments;
	struct buf features[HEADER_FEAT_BITS];
	uint64_t name_steps;	    /* work done for names so far */
	pthread_mutex_t notes_lock; /* guards @notes; who reads data_notes() has no scan running */
	struct data_notebook notes;
};

/* Internal scan flag: headers only. No decompression, events or times; bodies in file order. */
#define SCAN_RAW (1u << 31)
/* And one: the walk ends at what is no record, rather than to look for records behind it. */
#define SCAN_NO_RESUME (1u << 30)

/* notes.c */
int notes_init(struct data_file *df);
void notes_release(struct data_file *df);

/* open.c: reads up to @len bytes at @off. Returns the bytes read (short at end of file) or -errno.
 */
ssize_t file_read(int fd, void *buf, size_t len, uint64_t off);
/* Opens a regular file as a further segment. Returns 0 or a negative errno with @err filled. */
int segment_add(struct data_file *df, const char *path, int fd, bool force, struct error *err);

/* tmpfile.c: an unlinked temporary file in $TMPDIR or /var/tmp. Returns the fd or -errno. */
int tmpfile_open(struct error *err);

/* header.c: the first bytes of segment 0: kind, byte order, sections; then attributes and features.
 */
int header_read(struct data_file *df, struct error *err);
/* Whether @raw, of 8 bytes, begins a recording. Returns 0, or -EBADMSG with @err filled. */
int header_check_magic(const char *path, const uint8_t *raw, struct error *err);
/* Has it been written since header_read()? What that found behind it may be of another moment. */
bool header_changed(const struct data_file *df);
/* attrs.c: the section of attributes, their ids, and the names of old files (event_types). */
int attrs_read(struct data_file *df);
int event_type_name(struct data_file *df, const uint8_t *entry, size_t len);
/* Names the tracepoints of number @config. 0 or -ENOMEM. */
int tracepoint_set_name(struct data_file *df, uint64_t config, const char *name);
/* Decodes an attribute, correcting a size that does not fit the @len bytes there are. */
int attr_decode_lenient(struct data_file *df, const uint8_t *p, size_t len, uint64_t offset,
			struct pd_attr *ret);
/* features.c: the table behind the data. */
int features_read(struct data_file *df);
bool features_plausible(const struct data_file *df, const uint64_t bits[4]);
/* Sets names and groups from the EVENT_DESC and GROUP_DESC features. */
int features_apply(struct data_file *df);
/* stream.c: what a pipe stream, or the beginning of a file's data, says about its events. */
int stream_prescan(struct data_file *df);
int stream_find_end(struct data_file *df);
/* directory.c: adds data.N of the directory @path behind segment 0. */
int directory_segments(struct data_file *df, const char *path, bool force, struct error *err);

/* scan.c: position at which a scan stopped or goes on. */
uint64_t scan_position(const struct data_scan *scan);
int scan_fd(const struct data_scan *scan);
/* Where the notes of a scan go instead of the file's. */
void scan_set_notebook(struct data_scan *scan, struct data_notebook *notes);
/*
 * Makes the walk pause (data_scan_next() returns 0) before the first record of the file at @until
 * or behind it; it goes on when this is called again with an offset behind its position.
 */
void scan_pause_at(struct data_scan *scan, uint64_t until);
/* Whether the walk is at its end rather than paused. */
bool scan_ended(const struct data_scan *scan);
/* Whether a paused walk would go on as a new one from its position would: nothing of a compressed
 * stream is pending. */
bool scan_is_fresh(const struct data_scan *scan);

/*
 * split.c: an offset of @seg, open as @fd, behind @from at which a record seems to begin, and a
 * walk to be worth beginning; UINT64_MAX if none is found near. A guess: only a walk from before
 * can tell whether it comes by there.
 */
uint64_t split_find(const struct data_file *df, const struct segment *seg, int fd, uint64_t from);

static inline bool section_inside(struct pd_section s, uint64_t size)
{
	return s.offset <= size && s.size <= size - s.offset;
}

static inline uint32_t load_u32(const void *p, bool swap)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *p, bool swap)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline bool feature_has(const struct data_file *df, unsigned int feature)
{
	return df->header.features[feature / 64] >> (feature % 64) & 1;
}

#endif
