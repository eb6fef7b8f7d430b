/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner state of an opened recording: segments, features and findings. Internal to data/.
 *
 * data_open() fills a struct data_file on one thread; afterwards only its findings change, under
 * their own lock.
 */
#ifndef RINGTAIL_DATA_FILE_FILE_PRIV_H
#define RINGTAIL_DATA_FILE_FILE_PRIV_H

#include <pthread.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "data/file/file.h"
#include "data/file/findings.h"

#define RECORD_MIN sizeof(struct perf_event_header)
#define RECORD_MAX 65536u /* the size field has 16 bits */

#define SIMPLEPERF_RECORD_TRACING_DATA 32777u

struct segment {
	char *path; /* for messages, and for opening when fd is -1 */
	int fd;	    /* kept open, or -1: each scan opens the path and checks dev and ino */
	dev_t dev;
	ino_t ino;
	uint64_t size;	     /* bytes of the file */
	uint64_t begin, end; /* of its records, file offsets; end is within size */
	/*
	 * File offset of the last flush of a killed recorder. Missing records after it are no
	 * damage. UINT64_MAX: does not apply.
	 */
	uint64_t sure;
	uint64_t base; /* bytes of all segments before it, so that places grow from segment to
			  segment */
};

#define FINDINGS_MAX 64

struct findings {
	struct data_finding finding[FINDINGS_MAX];
	size_t nr;
};

struct data_file {
	enum data_kind kind;
	bool swapped;
	struct pd_header header; /* features: those whose contents are in @features */
	bool features_cut;	 /* as data_features_cut() */
	bool mid_flush;		 /* the recorder was killed while it replaced the features */
	uint8_t head[sizeof(struct pd_header)]; /* the file's first head_len bytes, as first read */
	size_t head_len;
	struct pd_evlist *list;
	struct segment *segments;
	size_t nr_segments, cap_segments;
	struct buf features[HEADER_FEAT_BITS];
	struct pd_section *symbol_records; /* of a stream: where its table of symbols is */
	size_t nr_symbol_records, cap_symbol_records;
	uint64_t name_steps; /* steps spent on names so far; their number is limited */
	pthread_mutex_t
		findings_lock; /* guards @findings; data_findings() is called without a scan */
	struct findings findings;
};

/* Reads up to @len bytes at @off. Returns their number (fewer at end of file) or -errno. */
ssize_t file_read(int fd, void *buf, size_t len, uint64_t off);
/*
 * Reads where the section of HEADER_RINGTAIL_SYMBOLS is, from behind the table of features, which
 * ends at file offset @at. Returns false if nothing there says so. The section may be anywhere.
 */
bool own_section_read(const struct data_file *df, uint64_t at, struct pd_section *ret);
/*
 * Adds a regular file, open as @fd, as the next segment. Returns 0 or a negative errno with @err
 * filled.
 */
int segment_add(struct data_file *df, const char *path, int fd, bool force, struct error *err);

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
