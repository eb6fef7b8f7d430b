/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scan: a walk over the records of an opened recording, in the order of the file.
 *
 * It delivers records in native byte order, and decompresses PERF_RECORD_COMPRESSED and
 * COMPRESSED2. One thread uses a scan; any number of scans may walk one recording.
 *
 * Memory is bounded. A scan reads through a window of 512 KB; it maps no file, so that a file
 * truncated by somebody else ends the walk, not the process. Decompression keeps 512 KB of output
 * and the zstd window, however large the output of a record.
 *
 * Damage is no error of these functions. It becomes a finding (data/file/findings.h), and the walk
 * goes on with the next readable record.
 */
#ifndef RINGTAIL_DATA_SCAN_SCAN_H
#define RINGTAIL_DATA_SCAN_SCAN_H

#include "base/moment.h"
#include "data/file/file.h"

struct data_scan;

/* One record. Pointers are valid until the next call on the scan. */
struct data_record {
	const struct perf_event_header *hdr; /* native order, 8-byte aligned, hdr->size bytes */
	const struct pd_evsel *evsel;	     /* that describes it; NULL: unknown id */
	uint64_t offset; /* of it, or of the compressed record around it, in its segment's file */
	uint64_t inner;	 /* offset in the decompressed chunk; 0 if not compressed */
	uint32_t segment;
	uint64_t time; /* pd_record_time(); 0 if none: also for types from 64 up, and for UINT64_MAX
			*/
	struct moment
		at; /* {time, place}; an untimed record has time 0 here (see data/order/order.h) */
	/*
	 * Bytes that follow an AUXTRACE or TRACING_DATA record, as many as the file has, which may
	 * be less than the record says; data_scan_payload() reads them.
	 */
	uint64_t payload_size;
};

#define DATA_WHOLE UINT64_MAX

#define DATA_SCAN_FINDINGS 1u /* make findings; only one scan of a segment should */
#define DATA_SCAN_CONTAINERS \
	2u /* also deliver COMPRESSED records themselves, before their contents */

/*
 * Begins a walk over @segment from file offset @from (0: its first record) to @to (DATA_WHOLE: its
 * end). Both must be record boundaries. In a stream with one zstd context, as perf writes it, the
 * walk must begin at 0. Returns 0 with *@ret for data_scan_free(), -ENOMEM, -EINVAL (no such
 * segment), or, because this opens the data.N of a directory, another negative errno (-ESTALE: the
 * file is not the one that data_open() saw).
 */
int data_scan_new(struct data_file *df, unsigned int segment, uint64_t from, uint64_t to,
		  unsigned int flags, struct data_scan **ret);
/* Frees @scan; accepts NULL. */
void data_scan_free(struct data_scan *scan);

/*
 * Begins another walk over the same recording with the same flags, reusing the scan's memory.
 * Returns as data_scan_new() does. After a failure call only this or data_scan_free().
 */
int data_scan_move(struct data_scan *scan, unsigned int segment, uint64_t from, uint64_t to);

/* Delivers the next record. Returns 1 with *@ret, 0 at the end, -ENOMEM or -EIO. */
int data_scan_next(struct data_scan *scan, struct data_record *ret);

/*
 * Reads the first @len bytes behind the last delivered record. Returns 0, -ENODATA if there are
 * fewer (the file was truncated, or the record is inside a compressed one), or -EIO.
 */
int data_scan_payload(struct data_scan *scan, void *buf, uint64_t len);
/* As data_scan_payload(), from the byte @from of them on. */
int data_scan_payload_at(struct data_scan *scan, uint64_t from, void *buf, uint64_t len);

/* Returns the bytes of the file done, and in all, for a progress bar. */
void data_scan_progress(const struct data_scan *scan, uint64_t *ret_done, uint64_t *ret_total);

#endif
