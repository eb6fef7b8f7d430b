/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a recording, whatever its container: file, directory (perf's --threads), pipe stream
 * (from a file or standard input); either byte order; PERF_RECORD_COMPRESSED and COMPRESSED2.
 *
 * data_open() reads header, attributes, features and, of a pipe stream, every record that carries
 * such things, so that afterwards the evlist and the features are complete and do not change.
 * Standard input, and a stream that cannot be seeked, is copied to an unlinked temporary file.
 *
 * A struct data_file may be used by any number of threads; each walks the records with a
 * struct data_scan of its own. Memory is bounded: a scan reads through a window of 512 KB (files
 * are not mapped, so that one cut by somebody else ends the walk, not the process), and
 * decompression keeps 512 KB of output and the zstd window, however much a record expands to.
 *
 * Damage is not an error of these functions: what is odd is noted (struct data_note) and the walk
 * goes on with the next readable record.
 */
#ifndef RINGTAIL_DATA_READER_H
#define RINGTAIL_DATA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/moment.h"
#include "perfdata/attr.h"
#include "perfdata/record.h"

struct data_file;
struct data_scan;

enum data_kind {
	DATA_FILE,
	DATA_DIRECTORY,
	DATA_PIPE,
};

/*
 * Opens @path ("-": standard input). Without @force a file that belongs to neither this user nor
 * root is refused (-EPERM), as perf does.
 * Returns 0 with *@ret to be closed by data_close(); -errno from the system; -EBADMSG when it is
 * no perf.data at all or its header is beyond use; -ENODATA when it is shorter than a header.
 */
int data_open(const char *path, bool force, struct data_file **ret, struct error *err);
void data_close(struct data_file *df); /* accepts NULL; no scan may be in use any more */

enum data_kind data_kind(const struct data_file *df);
bool data_swapped(const struct data_file *df); /* recorded in the other byte order */
const struct pd_header *data_header(const struct data_file *df); /* native order */
struct pd_evlist *data_evlist(const struct data_file *df);

/*
 * The bytes of a feature's section, in the file's byte order, living as long as @df.
 * Returns 0, or -ENOENT if the recording does not have it. TRACING_DATA of a pipe stream, which is
 * a record there, is found here too.
 */
int data_feature(const struct data_file *df, unsigned int feature, const uint8_t **ret,
		 size_t *ret_len);

/* A file or pipe has one segment; a directory one for "data" and one for each "data.N". */
unsigned int data_segments(const struct data_file *df);
uint64_t data_bytes(const struct data_file *df); /* of all segments, as they are in files */
const char *data_segment_path(const struct data_file *df, unsigned int segment);

/* One record as found. Pointers are valid until the next call on the scan. */
struct data_record {
	const struct perf_event_header *hdr; /* native order, 8-byte aligned, hdr->size bytes */
	const struct pd_evsel *evsel;	     /* that describes it; NULL: unknown id */
	uint64_t offset; /* of it, or of the compressed record around it, in its segment's file */
	uint64_t inner;	 /* offset in the decompressed chunk; 0 if not compressed */
	uint32_t segment;
	uint64_t time; /* pd_record_time(); 0 if none: also for types from 64 up, and for UINT64_MAX
			*/
	struct moment at; /* {time, place}; an untimed record has time 0 here (see data/order.h) */
	/*
	 * Bytes that follow an AUXTRACE or TRACING_DATA record, as many as the file has, which may
	 * be less than the record says; data_scan_payload() reads them.
	 */
	uint64_t payload_size;
};

#define DATA_WHOLE UINT64_MAX

#define DATA_SCAN_NOTES 1u /* note what is odd (one scan a segment should) */
#define DATA_SCAN_CONTAINERS \
	2u /* also deliver COMPRESSED records themselves, before their contents */

/*
 * Begins a walk over @segment from file offset @from (0: its first record) to @to (DATA_WHOLE: its
 * end); both must be record boundaries, and of a stream compressed in one zstd context (as perf
 * writes it) the walk must begin at 0. *@ret is freed with data_scan_free().
 * Returns 0, -ENOMEM, -EINVAL (no such segment), or, since the data.N of a directory are opened
 * here, a negative errno of the system (-ESTALE: another file than data_open() saw).
 */
int data_scan_new(struct data_file *df, unsigned int segment, uint64_t from, uint64_t to,
		  unsigned int flags, struct data_scan **ret);
void data_scan_free(struct data_scan *scan); /* accepts NULL */

/*
 * Begins anew elsewhere, with the memory that the scan has: as data_scan_new() of the same file
 * and flags. On failure the scan is good for this or for data_scan_free() only.
 */
int data_scan_move(struct data_scan *scan, unsigned int segment, uint64_t from, uint64_t to);

/* Next record. Returns 1 with *@ret, 0 at the end, -ENOMEM or -EIO. */
int data_scan_next(struct data_scan *scan, struct data_record *ret);

/*
 * Reads the first @len bytes behind the record that was delivered last. Returns 0, -ENODATA if
 * there are fewer (the file has become shorter, or they are in a compressed record), or -EIO.
 */
int data_scan_payload(struct data_scan *scan, void *buf, uint64_t len);

/* Bytes of file consumed and in all, for a progress bar. */
void data_scan_progress(const struct data_scan *scan, uint64_t *ret_done, uint64_t *ret_total);

enum data_severity {
	DATA_ODD, /* unusual, nothing lost: unknown record type, longer attribute, no tracing data
		   */
	DATA_DAMAGED, /* something could not be read: exit status 1 */
};

struct data_note {
	enum data_severity severity;
	uint64_t count; /* how often the same was met; offset is of the first */
	uint64_t offset;
	unsigned int segment;
	char text[200]; /* what was expected and what was found */
};

/*
 * What was odd so far. At most 64 distinct notes are kept, and their repetitions counted.
 * The array is valid until the next call on @df; call when no scan is running.
 */
const struct data_note *data_notes(struct data_file *df, size_t *ret_count);

/* Adds a note from a layer above (for example a sample that did not decode). Any thread. */
void data_note(struct data_file *df, enum data_severity severity, unsigned int segment,
	       uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * The notes of one of several walks at a time. They are handed in in the order of the file, so that
 * what data_notes() says does not depend on which walk was faster. One thread at a time.
 */
struct data_notebook;

struct data_notebook *data_notebook_new(void);	      /* NULL when out of memory */
void data_notebook_free(struct data_notebook *notes); /* accepts NULL */
void data_notebook_note(struct data_notebook *notes, enum data_severity severity,
			unsigned int segment, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Adds all to those of @df; @notes is empty afterwards. */
void data_notebook_hand_in(struct data_notebook *notes, struct data_file *df);

#endif
