// SPDX-License-Identifier: Apache-2.0
/*
 * Walk over the records of a segment.
 *
 * It reads with pread() into a window and does not map the file. So if somebody truncates the file
 * meanwhile, the walk ends early and the process survives. Memory does not depend on the file's
 * size. Records are delivered from the window without a copy if they are aligned and in this
 * machine's byte order. Data behind an AUXTRACE record are skipped, and read on demand.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/file/tail_cover.h"
#include "data/scan/decompress.h"
#include "data/file/file_priv.h"
#include "data/scan/scan_priv.h"
#include "data/scan/resume.h"
#include "perfdata/sample.h"

#define TYPE_MAX  65535u /* no recorder uses larger numbers */
#define SEEK_STEP 16384u /* bytes of new output before the next search */

#define WINDOW_SIZE  (512u << 10)
#define WINDOW_FIRST RECORD_MAX /* some walks end soon; each next window is twice as large */

/*
 * Places: the offset in the file has the upper bits, the offset inside a container the lower ones.
 * Both count units of 8 bytes, the least size of a record, so each record has its own place.
 */
#define PLACE_INNER_BITS 23
#define PLACE_INNER_MAX	 ((1ULL << PLACE_INNER_BITS) - 1)

struct data_scan {
	struct data_file *df;
	const struct segment *seg;
	unsigned int segment, flags;
	int fd;
	bool own_fd;
	bool native; /* records are delivered, in this machine's byte order */
	bool inside; /* the next records are in a container */

	uint64_t from, pos, to;	   /* file offsets; @pos: of the next record */
	uint64_t until;		   /* the walk pauses here */
	struct findings *findings; /* NULL: those of the file */
	uint64_t win_off;	   /* file offset of window[0] */
	size_t win_len, win_max;   /* @win_max: how much to read next */
	uint64_t inner_skip; /* bytes of payload in a container that are still to be skipped */

	struct pd_last_id last_id;
	struct resume *resume;		   /* made at the first damage */
	struct inflater *z;		   /* made at the first container */
	uint64_t payload_at, payload_size; /* of the delivered record, if it is in the file */

	/* Search for records in the output of containers: where it began, and the bytes skipped. */
	bool seeking;
	uint64_t seek_offset, seek_inner, sought;
	size_t seek_need; /* bytes of output needed for the next search */

	uint64_t record[RECORD_MAX / 8]; /* a record that was copied */
	uint8_t window[WINDOW_SIZE] __attribute__((aligned(8)));
};

#define scan_note(scan, severity, offset, ...)                                            \
	do {                                                                              \
		if (!((scan)->flags & DATA_SCAN_FINDINGS))                                \
			break;                                                            \
		if ((scan)->findings)                                                     \
			findings_add((scan)->findings, severity, (scan)->segment, offset, \
				     __VA_ARGS__);                                        \
		else                                                                      \
			data_finding_add((scan)->df, severity, (scan)->segment, offset,   \
					 __VA_ARGS__);                                    \
	} while (0)

/* Severity of an incomplete record at the end of the file. */
static enum data_severity truncated_severity(const struct data_scan *scan)
{
	return scan->pos >= scan->seg->sure ? DATA_ODD : DATA_DAMAGED;
}

static int open_segment(struct data_scan *scan, const struct segment *seg)
{
	struct stat st;

	if (scan->own_fd)
		close(scan->fd);
	scan->own_fd = false;
	scan->fd = seg->fd;
	if (seg->fd >= 0)
		return 0;
	scan->fd = open(seg->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (scan->fd < 0)
		return -errno;
	scan->own_fd = true;
	if (fstat(scan->fd, &st))
		return -errno;
	return st.st_dev == seg->dev && st.st_ino == seg->ino ? 0 : -ESTALE;
}

int data_scan_move(struct data_scan *scan, unsigned int segment, uint64_t from, uint64_t to)
{
	const struct segment *seg;
	int rc = 0;

	if (segment >= scan->df->nr_segments)
		return -EINVAL;
	scan->payload_size = 0;
	if (scan->z)
		inflater_reset(scan->z);
	scan->inside = scan->seeking = false;
	scan->inner_skip = 0;
	seg = &scan->df->segments[segment];
	if (seg != scan->seg) {
		scan->seg = NULL;
		rc = open_segment(scan, seg);
		if (rc)
			return rc;
	}
	scan->seg = seg;
	scan->segment = segment;
	scan->to = to < seg->end ? to : seg->end;
	scan->pos = from > seg->begin ? from : seg->begin;
	if (scan->pos > scan->to)
		scan->pos = scan->to;
	scan->from = scan->pos;
	scan->until = scan->to;
	scan->win_off = scan->pos;
	scan->win_len = 0;
	return 0;
}

int data_scan_new(struct data_file *df, unsigned int segment, uint64_t from, uint64_t to,
		  unsigned int flags, struct data_scan **ret)
{
	struct data_scan *scan = malloc(sizeof(*scan));
	int rc;

	if (!scan)
		return -ENOMEM;
	memset(scan, 0, offsetof(struct data_scan, record));
	scan->df = df;
	scan->flags = flags;
	scan->win_max = WINDOW_FIRST;
	scan->native = !df->swapped && !(flags & SCAN_RAW);
	rc = data_scan_move(scan, segment, from, to);
	if (rc) {
		data_scan_free(scan);
		return rc;
	}
	*ret = scan;
	return 0;
}

void data_scan_free(struct data_scan *scan)
{
	if (!scan)
		return;
	resume_free(scan->resume);
	inflater_free(scan->z);
	if (scan->own_fd)
		close(scan->fd);
	free(scan);
}

void data_scan_progress(const struct data_scan *scan, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = scan->pos - scan->from;
	*ret_total = scan->to - scan->from;
}

uint64_t scan_position(const struct data_scan *scan)
{
	return scan->pos;
}

int scan_fd(const struct data_scan *scan)
{
	return scan->fd;
}

void scan_set_findings(struct data_scan *scan, struct findings *findings)
{
	scan->findings = findings;
}

void scan_pause_at(struct data_scan *scan, uint64_t until)
{
	scan->until = until < scan->to ? until : scan->to;
}

bool scan_ended(const struct data_scan *scan)
{
	return scan->pos >= scan->to;
}

bool scan_is_fresh(const struct data_scan *scan)
{
	return !scan->inside && !scan->inner_skip && !scan->seeking &&
	       (!scan->z || inflater_is_fresh(scan->z));
}

/*
 * Reads the window again from the next record on, with at least @need bytes, but not beyond @until
 * if that is not needed. Returns 0 or -EIO. If the file became shorter, the walk ends earlier.
 */
static int refill(struct data_scan *scan, size_t need)
{
	uint64_t left = (scan->pos + need > scan->until ? scan->to : scan->until) - scan->pos;
	size_t want = left < scan->win_max ? (size_t)left : scan->win_max;
	ssize_t n = file_read(scan->fd, scan->window, want, scan->pos);

	if (n < 0)
		return -EIO;
	if (scan->win_max < WINDOW_SIZE)
		scan->win_max *= 2;
	scan->win_off = scan->pos;
	scan->win_len = (size_t)n;
	if ((size_t)n < want) {
		scan_note(scan, DATA_DAMAGED, scan->pos + (uint64_t)n,
			  "%" PRIu64 " more bytes expected, the file has become shorter",
			  scan->to - scan->pos - (uint64_t)n);
		scan->to = scan->pos + (uint64_t)n;
		if (scan->until > scan->to)
			scan->until = scan->to;
	}
	return 0;
}

/*
 * Stores the next @need bytes (at most RECORD_MAX) in *@ret, or NULL if the file ends before.
 * Returns 0 or -EIO.
 */
static inline int peek(struct data_scan *scan, size_t need, const uint8_t **ret)
{
	uint64_t at = scan->pos - scan->win_off;
	int rc;

	if (at + need > scan->win_len) {
		if (scan->to - scan->pos < need) {
			*ret = NULL;
			return 0;
		}
		rc = refill(scan, need);
		if (rc)
			return rc;
		at = 0;
	}
	*ret = need <= scan->win_len - at ? scan->window + at : NULL;
	return 0;
}

/*
 * @inner counts from 1 inside a container, so that the container itself sorts before its contents.
 */
static uint64_t place_of(const struct data_scan *scan, uint64_t offset, uint64_t inner)
{
	if (inner > PLACE_INNER_MAX)
		inner = PLACE_INNER_MAX;
	return (scan->seg->base + offset) >> 3 << PLACE_INNER_BITS | inner;
}

static inline bool known_type(uint32_t type)
{
	return type <= PERF_RECORD_CALLCHAIN_DEFERRED ||
	       (type >= PERF_RECORD_HEADER_ATTR && type <= PERF_RECORD_SCHEDSTAT_DOMAIN);
}

static void note_unknown_type(struct data_scan *scan, uint32_t type, uint64_t offset)
{
	if (scan->flags & SCAN_RAW)
		return;
	if (type >= SIMPLEPERF_RECORD_TYPE_START && type < SIMPLEPERF_RECORD_TYPE_START + 256)
		scan_note(scan, DATA_ODD, offset, "records of simpleperf's own type %" PRIu32,
			  type);
	else
		scan_note(scan, DATA_ODD, offset, "records of unknown type %" PRIu32, type);
}

/* Copies a record that is not aligned, or not in this machine's byte order. */
static const struct perf_event_header *copy_record(struct data_scan *scan, const uint8_t *p,
						   const struct perf_event_header *hdr,
						   uint64_t offset)
{
	struct perf_event_header *copy = (struct perf_event_header *)scan->record;
	int rc;

	memcpy(scan->record, p, hdr->size);
	*copy = *hdr;
	if (!scan->df->swapped || scan->flags & SCAN_RAW)
		return copy;
	rc = pd_record_to_host(copy, scan->df->list);
	if (rc == -EBADMSG)
		scan_note(scan, DATA_DAMAGED, offset,
			  "%s record whose contents do not fit its size",
			  pd_record_name(hdr->type) ?: "unknown");
	return copy;
}

static void note_unknown_event(struct data_scan *scan, uint64_t offset)
{
	scan_note(scan, DATA_DAMAGED, offset, "samples of an event that the header does not name");
}

/* Fills time and place of @ret. */
static inline void place(const struct data_scan *scan, uint64_t time, uint64_t offset,
			 uint64_t inner, struct data_record *ret)
{
	ret->offset = offset;
	ret->inner = inner;
	ret->segment = scan->segment;
	ret->time = time;
	ret->at.time = time;
	ret->at.seq = place_of(scan, offset, scan->inside ? (inner >> 3) + 1 : 0);
	ret->payload_size = 0;
}

/* Fills @ret, except for the payload. */
static void describe(struct data_scan *scan, const uint8_t *p, const struct perf_event_header *hdr,
		     uint64_t offset, uint64_t inner, struct data_record *ret)
{
	const struct pd_evsel *evsel = NULL;
	uint64_t time = 0;

	if ((uintptr_t)p % 8 || scan->df->swapped)
		ret->hdr = copy_record(scan, p, hdr, offset);
	else
		ret->hdr = (const struct perf_event_header *)p;

	if (!known_type(hdr->type))
		note_unknown_type(scan, hdr->type, offset);
	if (hdr->type < PERF_RECORD_HEADER_ATTR && !(scan->flags & SCAN_RAW)) {
		evsel = pd_evlist_of_next(scan->df->list, ret->hdr, &scan->last_id);
		if (evsel)
			time = pd_record_time(ret->hdr, evsel);
		else if (hdr->type == PERF_RECORD_SAMPLE)
			note_unknown_event(scan, offset);
		if (time == UINT64_MAX)
			time = 0;
	}
	ret->evsel = evsel;
	place(scan, time, offset, inner, ret);
}

/* Whether a native sample is whole at @p, which has @have bytes. */
static inline bool is_plain_sample(const struct data_scan *scan, const uint8_t *p, size_t have)
{
	const struct perf_event_header *hdr = (const struct perf_event_header *)p;

	return scan->native && (uintptr_t)p % 8 == 0 && have >= RECORD_MIN &&
	       hdr->type == PERF_RECORD_SAMPLE && hdr->size >= RECORD_MIN && hdr->size <= have;
}

/* As describe(), in fewer instructions, for what is_plain_sample(): most records. */
static inline void describe_sample(struct data_scan *scan, const uint8_t *p, uint64_t offset,
				   uint64_t inner, struct data_record *ret)
{
	uint64_t time = 0;

	ret->hdr = (const struct perf_event_header *)p;
	ret->evsel = pd_evlist_of_next(scan->df->list, ret->hdr, &scan->last_id);
	if (ret->evsel)
		time = pd_sample_time(ret->hdr, ret->evsel);
	else
		note_unknown_event(scan, offset);
	place(scan, time == UINT64_MAX ? 0 : time, offset, inner, ret);
}

/* Number of bytes behind the record at @p that are no records. */
static uint64_t payload_size(const struct data_scan *scan, const uint8_t *p,
			     const struct perf_event_header *hdr)
{
	bool swap = scan->df->swapped;
	uint64_t size;

	if (hdr->type == PERF_RECORD_AUXTRACE && hdr->size >= RECORD_MIN + 8)
		return load_u64(p + RECORD_MIN, swap);
	if (hdr->type != PERF_RECORD_HEADER_TRACING_DATA || hdr->size < RECORD_MIN + 4)
		return 0;
	size = load_u32(p + RECORD_MIN, swap);
	/*
	 * simpleperf counts the data into the size of the record; perf puts them, padded, behind
	 * it.
	 */
	if (hdr->size - RECORD_MIN - 4 >= size)
		return 0;
	return (size + 7) & ~7ULL;
}

static void take_payload(struct data_scan *scan, const uint8_t *p,
			 const struct perf_event_header *hdr, struct data_record *ret)
{
	uint64_t size = payload_size(scan, p, hdr);
	uint64_t left = scan->to - scan->pos - hdr->size;

	if (size > left) {
		scan_note(scan, DATA_DAMAGED, scan->pos,
			  "%s record: %" PRIu64 " bytes expected after it, found %" PRIu64,
			  pd_record_name(hdr->type) ?: "?", size, left);
		size = left;
	}
	scan->payload_at = scan->pos + hdr->size;
	scan->payload_size = ret->payload_size = size;
	scan->pos += hdr->size + size;
}

int data_scan_payload_at(struct data_scan *scan, uint64_t from, void *buf, uint64_t len)
{
	uint64_t at = scan->payload_at + from, in_window = at - scan->win_off;
	ssize_t n;

	if (from > scan->payload_size || len > scan->payload_size - from)
		return -ENODATA;
	if (at >= scan->win_off && len <= scan->win_len && in_window <= scan->win_len - len) {
		memcpy(buf, scan->window + in_window, len);
		return 0;
	}
	n = file_read(scan->fd, buf, len, at);
	if (n < 0)
		return -EIO;
	return (uint64_t)n < len ? -ENODATA : 0;
}

int data_scan_payload(struct data_scan *scan, void *buf, uint64_t len)
{
	return data_scan_payload_at(scan, 0, buf, len);
}

/* Ends a search in compressed data and notes what was skipped. */
static void end_seek(struct data_scan *scan)
{
	if (!scan->seeking)
		return;
	scan->seeking = false;
	scan_note(scan, DATA_DAMAGED, scan->seek_offset,
		  "no record at byte %" PRIu64 " of compressed data: %" PRIu64 " bytes are skipped",
		  scan->seek_inner, scan->sought);
}

/* Begins to read the contents of the container at @p. */
static int enter_container(struct data_scan *scan, const uint8_t *p,
			   const struct perf_event_header *hdr)
{
	size_t head = RECORD_MIN, len = hdr->size - RECORD_MIN;

	if (hdr->type == PERF_RECORD_COMPRESSED2) {
		uint64_t size = len < 8 ? 0 : load_u64(p + RECORD_MIN, scan->df->swapped);

		head += 8;
		if (len < 8 || size > len - 8) {
			scan_note(scan, DATA_DAMAGED, scan->pos,
				  "COMPRESSED2 record: at most %zu bytes expected, found %" PRIu64,
				  len < 8 ? 0 : len - 8, size);
			size = len < 8 ? 0 : len - 8;
		}
		len = (size_t)size;
	}
	if (!len)
		return 0;
	if (!scan->z) {
		scan->z = inflater_new();
		if (!scan->z)
			return -ENOMEM;
	}
	inflater_input(scan->z, p + head, len, scan->pos);
	scan->inside = true;
	return 0;
}

/* Ends the walk here; the rest is not read. */
static int stop(struct data_scan *scan)
{
	scan->to = scan->until = scan->pos;
	return 0;
}

/*
 * Skips damage up to the next run of records. Every reader finds the same run. Drops the state of
 * the compressed stream. Returns 0 or a negative errno.
 */
static int skip_damage(struct data_scan *scan, const struct perf_event_header *hdr)
{
	uint64_t from = scan->pos, next = 0, left = scan->to - from;
	int rc = 0;

	if (!(scan->flags & SCAN_NO_RESUME))
		rc = resume_find(&scan->resume, scan->df, scan->seg, scan->fd, from + 1, &next);
	if (rc < 0)
		return rc;
	if (!rc) {
		scan_note(scan, DATA_DAMAGED, from,
			  "no record (type %" PRIu32
			  ", size %u), and none after it: the last %" PRIu64 " bytes are not read",
			  hdr->type, hdr->size, left);
		return stop(scan);
	}
	scan_note(scan, DATA_DAMAGED, from,
		  "no record (type %" PRIu32 ", size %u): %" PRIu64
		  " bytes are skipped, up to offset 0x%" PRIx64,
		  hdr->type, hdr->size, next - from, next);
	if (scan->z)
		inflater_reset(scan->z);
	end_seek(scan);
	scan->pos = next < scan->to ? next : scan->to;
	return 0;
}

/* Whether the record is a tail cover, of either type: a killed recorder leaves it behind. */
static bool is_cover(const struct data_scan *scan, const uint8_t *p,
		     const struct perf_event_header *hdr)
{
	return (hdr->type == PERF_RECORD_AUXTRACE || hdr->type == PERF_RECORD_HEADER_EVENT_TYPE) &&
	       (hdr->size == sizeof(struct tail_cover) || hdr->size == COVER_LEN_OLD) &&
	       scan->df->kind == DATA_DIRECTORY &&
	       load_u64(p + offsetof(struct tail_cover, reference), scan->df->swapped) ==
		       COVER_REFERENCE;
}

/*
 * Reads the next record of the file itself. *@ret_container: it is a container, which was entered.
 */
static int next_outer(struct data_scan *scan, struct data_record *ret, bool *ret_container)
{
	struct perf_event_header hdr;
	uint64_t left = scan->to - scan->pos;
	const uint8_t *p;
	int rc;

	*ret_container = false;
	if (scan->pos >= scan->until)
		return 0;
	rc = peek(scan, RECORD_MIN, &p);
	if (rc)
		return rc;
	if (!p) {
		scan_note(scan, truncated_severity(scan), scan->pos,
			  "a record expected, found the last %" PRIu64 " bytes", left);
		return stop(scan);
	}
	hdr = pd_record_header(p, scan->df->swapped);
	if (hdr.size < RECORD_MIN || hdr.type > TYPE_MAX) {
		rc = skip_damage(scan, &hdr);
		return rc ? rc : next_outer(scan, ret, ret_container);
	}
	rc = peek(scan, hdr.size, &p);
	if (rc)
		return rc;
	if (!p) {
		scan_note(scan, truncated_severity(scan), scan->pos,
			  "a record of %u bytes (type %" PRIu32
			  ") expected, found the last %" PRIu64 " bytes",
			  hdr.size, hdr.type, scan->to - scan->pos);
		return stop(scan);
	}
	if (is_cover(scan, p, &hdr))
		return stop(scan);
	describe(scan, p, &hdr, scan->pos, 0, ret);
	if (hdr.type == PERF_RECORD_AUXTRACE || hdr.type == PERF_RECORD_HEADER_TRACING_DATA) {
		take_payload(scan, p, &hdr, ret);
		return 1;
	}
	if ((hdr.type == PERF_RECORD_COMPRESSED || hdr.type == PERF_RECORD_COMPRESSED2) &&
	    !(scan->flags & SCAN_RAW)) {
		*ret_container = true;
		rc = enter_container(scan, p, &hdr);
	}
	scan->pos += hdr.size;
	return rc ? rc : 1;
}

/* Makes at least @need bytes of output available. Returns 1, or 0 if the container has no more. */
static int fill_inner(struct data_scan *scan, size_t need)
{
	const char *why = "";
	size_t have;
	int rc;

	for (;;) {
		inflater_peek(scan->z, &have);
		if (have >= need)
			return 1;
		rc = inflater_fill(scan->z, &why);
		if (rc > 0)
			continue;
		if (rc < 0) {
			uint64_t offset, inner;

			inflater_place(scan->z, &offset, &inner);
			scan_note(scan, DATA_DAMAGED, offset,
				  "compressed data expected, zstd says: %s", why);
			scan->inner_skip = 0;
		}
		return 0;
	}
}

static int skip_inner(struct data_scan *scan)
{
	size_t have;

	while (scan->inner_skip) {
		if (!fill_inner(scan, 1))
			return 0;
		inflater_peek(scan->z, &have);
		if (have > scan->inner_skip)
			have = (size_t)scan->inner_skip;
		inflater_consume(scan->z, have);
		scan->inner_skip -= have;
	}
	return 1;
}

/*
 * Skips bytes without records in the output of containers. Returns 1 at the next record, or 0 if
 * the container has no more; a possible beginning of a run is kept for the next container.
 */
static int seek_inner(struct data_scan *scan)
{
	bool found = false;

	while (!found) {
		const uint8_t *p;
		size_t have, pass;

		if (!fill_inner(scan, scan->seek_need))
			return 0;
		p = inflater_peek(scan->z, &have);
		found = resume_find_in(scan->df, p, have, false, &pass);
		inflater_consume(scan->z, pass);
		scan->sought += pass;
		if (scan->sought > RESUME_MAX) {
			inflater_drop(scan->z);
			return 0;
		}
		scan->seek_need = have - pass + SEEK_STEP;
	}
	end_seek(scan);
	return 1;
}

/* At the very end: accepts a run in the kept bytes that was too short to be certain before. */
static bool seek_last(struct data_scan *scan)
{
	size_t have, pass;
	const uint8_t *p = inflater_peek(scan->z, &have);

	if (!resume_find_in(scan->df, p, have, true, &pass))
		return false;
	inflater_consume(scan->z, pass);
	scan->sought += pass;
	end_seek(scan);
	return true;
}

/* Reads the next record inside the container; 0 if it has no more whole records. */
static int next_inner(struct data_scan *scan, struct data_record *ret)
{
	struct perf_event_header hdr;
	uint64_t offset, inner;
	size_t have;
	const uint8_t *p = inflater_peek(scan->z, &have);

	if (!scan->seeking && !scan->inner_skip && is_plain_sample(scan, p, have)) {
		inflater_place(scan->z, &offset, &inner);
		describe_sample(scan, p, offset, inner, ret);
		inflater_consume(scan->z, ret->hdr->size);
		return 1;
	}
	if ((scan->seeking && !seek_inner(scan)) || !skip_inner(scan) ||
	    !fill_inner(scan, RECORD_MIN))
		return 0;
	p = inflater_peek(scan->z, &have);
	hdr = pd_record_header(p, scan->df->swapped);
	inflater_place(scan->z, &offset, &inner);
	if (hdr.size < RECORD_MIN || hdr.type > TYPE_MAX) {
		scan->seeking = true;
		scan->seek_offset = offset;
		scan->seek_inner = inner;
		scan->sought = 1;
		scan->seek_need = 1;
		inflater_consume(scan->z, 1);
		return next_inner(scan, ret);
	}
	if (!fill_inner(scan, hdr.size))
		return 0;
	p = inflater_peek(scan->z, &have);
	describe(scan, p, &hdr, offset, inner, ret);
	/* What follows inside of a container cannot be read from the file. */
	scan->inner_skip = payload_size(scan, p, &hdr);
	ret->payload_size = 0;
	inflater_consume(scan->z, hdr.size);
	return 1;
}

/* At the end: notes it if the compressed stream ends within a record. */
static void check_rest(struct data_scan *scan)
{
	uint64_t offset, inner;
	size_t have;

	if (!scan->z)
		return;
	inflater_peek(scan->z, &have);
	if (scan->seeking) {
		scan->sought += have;
		inflater_drop(scan->z);
		end_seek(scan);
	} else if (have) {
		inflater_place(scan->z, &offset, &inner);
		scan_note(scan, DATA_DAMAGED, offset,
			  "compressed data end within a record, after %zu bytes of it", have);
		inflater_drop(scan->z);
	}
}

/* Reads the next record of the file itself if it is a plain sample in the window. */
static inline bool next_sample(struct data_scan *scan, struct data_record *ret)
{
	uint64_t at = scan->pos - scan->win_off;

	if (scan->inside || scan->pos >= scan->until || at >= scan->win_len ||
	    !is_plain_sample(scan, scan->window + at, scan->win_len - at))
		return false;
	describe_sample(scan, scan->window + at, scan->pos, 0, ret);
	scan->pos += ret->hdr->size;
	return true;
}

int data_scan_next(struct data_scan *scan, struct data_record *ret)
{
	bool container;
	int rc;

	scan->payload_size = 0;
	if (next_sample(scan, ret))
		return 1;
	for (;;) {
		if (scan->inside) {
			rc = next_inner(scan, ret);
			if (rc)
				return rc;
			scan->inside = false;
		}
		rc = next_outer(scan, ret, &container);
		if (!rc && scan_ended(scan)) {
			scan->inside = scan->seeking && seek_last(scan);
			if (scan->inside)
				continue;
			check_rest(scan);
		}
		if (rc <= 0 || !container || scan->flags & DATA_SCAN_CONTAINERS)
			return rc;
	}
}
