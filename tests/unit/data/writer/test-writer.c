// SPDX-License-Identifier: Apache-2.0
/*
 * Stops a writer behind every single write, as SIGKILL would. The disk must then have a whole file
 * with everything that was flushed before. An asynchronous writer has writes in flight that end in
 * any order, in pieces, or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/file/tail_cover.h"
#include "data/file/findings.h"
#include "data/open/open.h"
#include "data/scan/scan.h"
#include "data/writer/writer_priv.h"
#include "perfdata/feature.h"

#define EVENT_ID  77
#define DEPTH_MAX 5

/* What the hooks see and check against. */
struct disk {
	char dir[64], path[96];
	unsigned int seed;	/* printed by a failing check */
	size_t short_writes;	/* most bytes of one write that is not the header; 0: no limit */
	size_t room;		/* bytes that a file may have, of full_disk() */
	unsigned long fail_at;	/* this write fails with ENOSPC, 0: none */
	unsigned long writes;	/* so far */
	bool armed;		/* the first header is out: from here on the file must be whole */
	struct buf appended;	/* all records */
	size_t flushed, before; /* bytes of it that must be visible; that may be, at least */
	const struct writer_feature *features;
	size_t nr_features;
	bool tracing, compressed;
	bool own;	       /* it must have the own section */
	unsigned long between; /* times that features were missing */
	unsigned long errors;  /* calls that failed */

	/* Asynchronous: what is in flight. */
	unsigned int depth;
	struct aio_part flying[DEPTH_MAX];
	unsigned int nr_flying, most_flying;
};

static struct pd_evlist *make_list(void)
{
	struct pd_evlist *list = pd_evlist_new();
	struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE,
			       .config = PERF_COUNT_SW_CPU_CLOCK,
			       .sample_period = 1000000,
			       .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					      PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			       .flags = PD_ATTR_SAMPLE_ID_ALL | PD_ATTR_COMM |
					PD_ATTR_EXCLUDE_GUEST};
	const uint64_t ids[] = {EVENT_ID, 78, 79};

	assert_non_null(list);
	assert_int_equal(pd_evlist_add(list, &attr, NULL, ids, 2), 0);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sig_data = 1; /* needs 128 bytes, so the first must be written as long */
	assert_int_equal(pd_evlist_add(list, &attr, "side:band", ids + 2, 1), 0);
	return list;
}

/* A COMM with a trailer; its tid numbers it. */
static size_t make_record(uint8_t *out, uint32_t number, size_t comm_len)
{
	struct {
		struct perf_event_header hdr;
		uint32_t pid, tid;
	} head = {{PERF_RECORD_COMM, 0, 0}, 1, number};
	uint64_t trailer[3] = {0x100000001ULL, number, EVENT_ID}; /* pid/tid, time, id */

	comm_len = (comm_len + 8) & ~(size_t)7;
	head.hdr.size = sizeof(head) + comm_len + sizeof(trailer);
	memcpy(out, &head, sizeof(head));
	memset(out + sizeof(head), 'x', comm_len - 1);
	out[sizeof(head) + comm_len - 1] = '\0';
	memcpy(out + sizeof(head) + comm_len, trailer, sizeof(trailer));
	return head.hdr.size;
}

static void slurp(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	do {
		assert_int_equal(buf_reserve(b, 1 << 16), 0);
		n = read(fd, b->data + b->len, 1 << 16);
		assert_true(n >= 0);
		b->len += (size_t)n;
	} while (n);
	close(fd);
}

static const uint8_t own_text[] = "A table of symbols, opaque here, and longer than others.";

/* The own section has no bit in the header. Its place behind the table is there with its bytes. */
static void check_own(const struct disk *d, const struct buf *file, const struct pd_header *h,
		      uint64_t at)
{
	struct pd_own_section own = {0};

	assert_false(h->features[HEADER_RINGTAIL_SYMBOLS / 64] >> HEADER_RINGTAIL_SYMBOLS % 64 & 1);
	if (at + sizeof(own) <= file->len)
		memcpy(&own, file->data + at, sizeof(own));
	if (own.magic != PD_OWN_MAGIC) {
		assert_false(d->own);
		return;
	}
	assert_int_equal(own.section.size, sizeof(own_text));
	assert_true(own.section.offset <= file->len &&
		    own.section.size <= file->len - own.section.offset);
	assert_memory_equal(file->data + own.section.offset, own_text, sizeof(own_text));
}

static void check_table(struct disk *d, const struct buf *file, const struct pd_header *h)
{
	uint64_t at = h->data.offset + h->data.size;
	bool tracing = h->features[0] >> HEADER_TRACING_DATA & 1;
	bool compressed = h->features[0] >> HEADER_COMPRESSED & 1;
	unsigned int f, found = 0;
	struct pd_section sec;
	size_t i;

	for (f = 0; f < HEADER_FEAT_BITS; f++) {
		if (!(h->features[f / 64] >> f % 64 & 1))
			continue;
		assert_true(at + sizeof(sec) <= file->len);
		memcpy(&sec, file->data + at, sizeof(sec));
		at += sizeof(sec);
		if (f == HEADER_RESERVED)
			continue;
		found++;
		assert_true(sec.offset <= file->len && sec.size <= file->len - sec.offset);
		for (i = 0; i < d->nr_features; i++) {
			const struct writer_feature *want = &d->features[i];

			if (want->feature != f)
				continue;
			assert_int_equal(sec.size, want->len);
			assert_memory_equal(file->data + sec.offset, want->data, want->len);
		}
	}
	check_own(d, file, h, at);
	/* perf reads nothing of such files without these two. */
	assert_true(tracing || !d->tracing);
	assert_true(compressed || !d->compressed);
	if (found < d->nr_features)
		d->between++;
	assert_true(found >= d->nr_features || found == (unsigned int)d->tracing + d->compressed);
}

/* The records of the file are a beginning of what was appended, and at least what was flushed. */
/* The bytes of a record, and of the trace behind it. */
static size_t span(const void *record)
{
	struct perf_event_header h;
	uint64_t trace = 0;

	memcpy(&h, record, sizeof(h));
	if (h.type == PERF_RECORD_AUXTRACE)
		memcpy(&trace, (const uint8_t *)record + sizeof(h), sizeof(trace));
	return h.size + trace;
}

static void check_data(struct disk *d, const struct buf *file, const struct pd_header *h)
{
	uint64_t at = h->data.offset, end = at + h->data.size;
	struct perf_event_header hdr;
	size_t seen = 0, len;

	assert_true(end <= file->len);
	while (at < end) {
		assert_true(end - at >= sizeof(hdr));
		memcpy(&hdr, file->data + at, sizeof(hdr));
		assert_true(hdr.size >= sizeof(hdr) && hdr.size <= end - at);
		if (hdr.type != PERF_RECORD_HEADER_EVENT_TYPE) {
			len = span(file->data + at);
			assert_true(len <= d->appended.len - seen && len <= end - at);
			assert_memory_equal(file->data + at, d->appended.data + seen, len);
			seen += len;
		} else {
			assert_true(hdr.size >= PD_PASSED_OVER_MIN);
			len = hdr.size;
		}
		at += len;
	}
	assert_true(seen >= d->flushed);
}

static void check_reader(struct disk *d)
{
	struct error err = ERROR_INIT;
	struct data_file *df;
	struct data_scan *scan;
	struct data_record rec;
	const uint8_t *p;
	size_t i, n, seen = 0;

	assert_int_equal(data_open(d->path, false, &df, &err), 0);
	if (!data_feature(df, HEADER_RINGTAIL_SYMBOLS, &p, &n)) {
		assert_int_equal(n, sizeof(own_text));
		assert_memory_equal(p, own_text, n);
	} else {
		assert_false(d->own);
	}
	assert_int_equal(pd_evlist_count(data_evlist(df)), 2);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
	while (data_scan_next(scan, &rec) == 1)
		seen += rec.hdr->type == PERF_RECORD_HEADER_EVENT_TYPE ? 0 : span(rec.hdr);
	data_scan_free(scan);
	assert_true(seen >= d->flushed);
	for (i = 0; i < 2; i++)
		assert_string_equal(pd_evlist_at(data_evlist(df), i)->name,
				    i ? "dummy" : "cpu-clock");
	data_findings(df, &n);
	for (i = 0; i < n; i++) {
		if (data_findings(df, &n)[i].severity == DATA_DAMAGED)
			fail_msg("seed %u: %s", d->seed, data_findings(df, &n)[i].text);
	}
	data_close(df);
}

static void check(struct disk *d)
{
	struct buf file = {0};
	struct pd_header h;

	slurp(d->path, &file);
	assert_true(file.len >= sizeof(h));
	memcpy(&h, file.data, sizeof(h));
	assert_true(h.magic == PD_MAGIC && h.size == sizeof(h));
	assert_int_equal(h.attr_size, 128 + 16);
	assert_int_equal(h.attrs.size, 2 * h.attr_size);
	assert_int_equal(h.data.offset % 8, 0);
	check_table(d, &file, &h);
	check_data(d, &file, &h);
	if (d->writes % 7 == 0)
		check_reader(d);
	buf_release(&file);
}

static ssize_t bounded_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg);

static ssize_t hooked_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg)
{
	struct disk *d = arg;
	struct iovec first = iov[0];
	ssize_t r;

	if (d->armed)
		check(d);
	d->writes++;
	if (d->writes == d->fail_at) {
		errno = ENOSPC;
		return -1;
	}
	if (offset && d->short_writes) {
		if (first.iov_len > d->short_writes)
			first.iov_len = 1 + d->writes % d->short_writes;
		r = pwritev(fd, &first, 1, offset);
	} else {
		r = pwritev(fd, iov, n, offset);
	}
	if (!offset)
		d->armed = true;
	if (d->armed)
		check(d);
	return r;
}

/* --- an engine whose writes end in random order ---------------------------------------------- */

static int random_open(void *arg, unsigned int depth, void **ret)
{
	assert_true(depth <= DEPTH_MAX);
	*ret = arg;
	return 0;
}

static int random_start(void *engine, unsigned int slot, const struct aio_part *part)
{
	struct disk *d = engine;

	assert_int_equal(d->flying[slot].len, 0);
	d->flying[slot] = *part;
	d->nr_flying++;
	if (d->nr_flying > d->most_flying)
		d->most_flying = d->nr_flying;
	return 0;
}

static int random_collect(void *engine, bool wait, unsigned int *ret_slot, ssize_t *ret_result)
{
	struct disk *d = engine;
	unsigned int slot = rand_r(&d->seed) % DEPTH_MAX;
	struct aio_part *part;
	struct iovec iov;

	if (!d->nr_flying || (!wait && rand_r(&d->seed) % 3))
		return 0;
	while (!d->flying[slot].len)
		slot = (slot + 1) % DEPTH_MAX;
	part = &d->flying[slot];
	iov = (struct iovec){(void *)(uintptr_t)part->data, part->len};
	*ret_slot = slot;
	if (rand_r(&d->seed) % 10 == 0)
		*ret_result = rand_r(&d->seed) % 2 ? -EINTR : -EAGAIN;
	else
		*ret_result = (d->room ? bounded_pwritev : hooked_pwritev)(part->fd, &iov, 1,
									   part->offset, d);
	if (*ret_result == -1)
		*ret_result = -errno;
	part->len = 0;
	d->nr_flying--;
	return 1;
}

static void random_close(void *engine)
{
	assert_int_equal(((struct disk *)engine)->nr_flying, 0);
}

static const struct aio_engine random_engine = {
	.name = "random",
	.open = random_open,
	.start = random_start,
	.collect = random_collect,
	.close = random_close,
};

static int setup(void **state)
{
	struct disk *d = calloc(1, sizeof(*d));

	snprintf(d->dir, sizeof(d->dir), "/tmp/test-data-writer-XXXXXX");
	if (!mkdtemp(d->dir))
		return -1;
	snprintf(d->path, sizeof(d->path), "%s/perf.data", d->dir);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"", ".old"};
	struct disk *d = *state;
	char path[128];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s", d->path, names[i]);
		unlink(path);
	}
	rmdir(d->dir);
	buf_release(&d->appended);
	free(d);
	return 0;
}

/* One append; of one that failed nothing counts, so that quite another one may follow. */
static void append_some(struct disk *d, struct writer *w)
{
	uint8_t records[2][512];
	size_t before = d->appended.len, i;
	struct error err = ERROR_INIT;
	int rc;

	do {
		size_t len[2] = {0, 0};

		d->appended.len = before;
		for (i = 0; i < 2; i++) {
			if (i || rand_r(&d->seed) % 4)
				len[i] = make_record(records[i], rand_r(&d->seed),
						     rand_r(&d->seed) % 200);
			assert_int_equal(buf_append(&d->appended, records[i], len[i]), 0);
		}
		rc = writer_append(w, records[0], len[0], records[1], len[1], &err);
		if (rc) {
			assert_int_equal(rc, -ENOSPC);
			d->errors++;
			assert_non_null(strstr(err.text, d->path));
			assert_non_null(strstr(err.text, "at offset"));
			check(d);
		}
	} while (rc);
}

static void flush(struct disk *d, struct writer *w)
{
	struct error err = ERROR_INIT;
	int rc = writer_flush(w, &err);

	if (rc) {
		assert_int_equal(rc, -ENOSPC);
		assert_non_null(strstr(err.text, d->path));
		assert_non_null(strstr(err.text, "No space left"));
		d->errors++;
		check(d);
		rc = writer_flush(w, &err);
	}
	assert_int_equal(rc, 0);
	d->flushed = d->appended.len;
	check(d);
	check_reader(d);
}

#define NR_FEATURES 5

/* One recording of a few flushes. Returns the number of writes it took. */
static unsigned long record(struct disk *d, const struct pd_evlist *list, unsigned int seed,
			    size_t nr_features, unsigned long fail_at)
{
	static const uint8_t text[] = "TRACING DATA IS OPAQUE HERE";
	static const struct writer_feature all[NR_FEATURES] = {
		{HEADER_STAT, text, 0},
		{HEADER_LAST_KNOWN + 100, text, 5},
		{HEADER_SAMPLE_TIME, text, 16},
		{HEADER_COMPRESSED, text, 20},
		{HEADER_TRACING_DATA, text, sizeof(text)},
	};
	const struct writer_feature late[] = {
		{HEADER_SAMPLE_TIME, text + 3, 16},
		{HEADER_BRANCH_STACK, text, 0},
		{HEADER_RINGTAIL_SYMBOLS, own_text, sizeof(own_text)}};
	const struct writer_io io = {.pwritev = hooked_pwritev, .engine = &random_engine, .arg = d};
	struct error err = ERROR_INIT;
	bool own = seed % 4;
	struct writer *w;
	int i, j, rc;

	d->seed = seed;
	d->short_writes = seed % 3 ? 0 : d->depth ? 30 : 100;
	d->fail_at = fail_at;
	d->writes = d->between = d->errors = 0;
	d->armed = d->tracing = d->compressed = d->own = false;
	d->appended.len = d->flushed = 0;
	d->nr_features = 0;
	rc = writer_create_io(d->path, list, all, nr_features, &io, &w, &err);
	if (rc) {
		assert_int_equal(rc, -ENOSPC);
		assert_int_equal(access(d->path, F_OK), -1);
		return d->writes;
	}
	d->features = all;
	d->nr_features = nr_features;
	d->tracing = nr_features == NR_FEATURES;
	d->compressed = nr_features >= NR_FEATURES - 1;
	check(d);
	if (d->depth)
		assert_int_equal(writer_async(w, d->depth, 100, &err), 0);
	for (i = 0; i < 6; i++) {
		for (j = rand_r(&d->seed) % 4; j >= 0; j--)
			append_some(d, w);
		if (rand_r(&d->seed) % 4)
			flush(d, w);
		assert_true(writer_data_size(w) >= d->appended.len);
	}
	d->nr_features = nr_features < 3 ? nr_features : 2; /* the third is being replaced */
	rc = writer_finish(w, late, 2 + own, &err);
	if (rc) {
		assert_int_equal(rc, -ENOSPC);
		d->errors++;
		rc = writer_finish(w, late, 2 + own, &err);
	}
	assert_int_equal(rc, 0);
	d->flushed = d->appended.len;
	d->features = late;
	d->nr_features = 2;
	d->own = own;
	check(d);
	check_reader(d);
	assert_int_equal(writer_append(w, text, 8, NULL, 0, &err), -EINVAL);
	assert_int_equal(writer_finish(w, NULL, 0, &err), -EINVAL);
	writer_close(w);
	/* Each failure was reported once. */
	assert_int_equal(d->errors, fail_at && fail_at <= d->writes);
	return d->writes;
}

static void whole_behind_every_write(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	unsigned int seed;
	size_t nr;

	for (seed = 1; seed <= 12; seed++) {
		for (nr = 0; nr <= NR_FEATURES; nr++) {
			record(d, list, seed, nr, 0);
			/* The test sees the dangerous moments. */
			assert_true(nr < 2 || d->between > 0);
		}
	}
	pd_evlist_free(list);
}

static void whole_with_writes_in_flight(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	unsigned int seed;

	for (d->depth = 1; d->depth <= DEPTH_MAX; d->depth++) {
		d->most_flying = 0;
		for (seed = 1; seed <= 12; seed++)
			record(d, list, seed, seed % (NR_FEATURES + 1), 0);
		assert_int_equal(d->most_flying, d->depth);
	}
	pd_evlist_free(list);
}

static void whole_after_failures_in_flight(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	unsigned long k, n;

	for (d->depth = 1; d->depth <= DEPTH_MAX; d->depth++) {
		n = record(d, list, 3 + d->depth, NR_FEATURES, 0);
		for (k = 1; k <= n; k++)
			record(d, list, 3 + d->depth, NR_FEATURES, k);
	}
	pd_evlist_free(list);
}

/* What is in flight ends before the file is closed; what was flushed stays. */
static void closed_with_writes_in_flight(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	const struct writer_io io = {.pwritev = hooked_pwritev, .engine = &random_engine, .arg = d};
	struct error err = ERROR_INIT;
	struct writer *w;
	int i;

	assert_int_equal(writer_create_io(d->path, list, NULL, 0, &io, &w, &err), 0);
	assert_int_equal(writer_async(w, DEPTH_MAX, 100, &err), 0);
	assert_int_equal(writer_async(w, 1, 100, &err), -EINVAL);
	append_some(d, w);
	flush(d, w);
	for (i = 0; i < 8 || !d->nr_flying; i++)
		append_some(d, w);
	writer_close(w);
	assert_int_equal(d->nr_flying, 0);
	check(d);
	check_reader(d);
	pd_evlist_free(list);
}

static void whole_after_every_failed_write(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	unsigned long k, n;
	size_t nr;

	for (nr = 0; nr <= NR_FEATURES; nr += NR_FEATURES) {
		n = record(d, list, 4, nr, 0);
		for (k = 1; k <= n; k++)
			record(d, list, 4, nr, k);
	}
	pd_evlist_free(list);
}

/* A disk on which a file may have d->room bytes. */
static ssize_t bounded_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg)
{
	struct disk *d = arg;
	ssize_t r, sum = 0;

	for (int i = 0; i < n; i++) {
		size_t len = iov[i].iov_len;

		if ((size_t)offset + len > d->room)
			len = (size_t)offset < d->room ? d->room - (size_t)offset : 0;
		r = pwrite(fd, iov[i].iov_base, len, offset);
		if (r < 0)
			return r;
		sum += r;
		offset += r;
		if (len < iov[i].iov_len)
			break;
	}
	if (sum || !iov[0].iov_len)
		return sum;
	errno = ENOSPC;
	return -1;
}

/* Makes an AUXTRACE record, and behind it trace that looks like samples. */
static size_t make_trace(uint8_t *out, uint64_t size)
{
	struct perf_event_header h = {.type = PERF_RECORD_AUXTRACE, .size = 48};

	memset(out, 0, h.size);
	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), &size, sizeof(size));
	h = (struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = sizeof(h)};
	for (uint64_t at = 0; at < size; at += sizeof(h))
		memcpy(out + 48 + at, &h, sizeof(h));
	return 48 + size;
}

/* One append of @nr records in two spans, whether it succeeds or not; some count as @sum says. */
static int append_many(struct disk *d, struct writer *w, unsigned int nr,
		       struct writer_rescued *sum)
{
	struct buf b = {0};
	uint8_t record[512];
	size_t cut = 0;
	int rc;

	for (unsigned int i = 0; i < nr; i++) {
		size_t len = make_record(record, i, (size_t)rand_r(&d->seed) % 200);
		unsigned int kind = (unsigned int)rand_r(&d->seed) % 5;

		if (kind == 4) {
			len = make_trace(record, 8 * ((uint64_t)rand_r(&d->seed) % 50));
		} else if (kind < 2) {
			memcpy(record, &(uint32_t){PERF_RECORD_SAMPLE}, 4);
			memcpy(record + 8, &(uint64_t){EVENT_ID}, 8);
			sum->samples++;
		} else if (kind == 2) {
			memcpy(record, &(uint32_t){PERF_RECORD_LOST_SAMPLES}, 4);
			memcpy(record + 8, &(uint64_t){i}, 8);
			sum->lost += i;
		}
		if (i < nr / 2)
			cut += len;
		assert_int_equal(buf_append(&b, record, len), 0);
	}
	assert_int_equal(buf_append(&d->appended, b.data, b.len), 0);
	rc = writer_append(w, b.data, cut, b.data + cut, b.len - cut, NULL);
	buf_release(&b);
	return rc;
}

static struct writer_rescued found_in(const struct disk *d)
{
	struct writer_rescued sum = {0};
	struct data_file *df;
	struct data_scan *scan;
	struct data_record rec;

	assert_int_equal(data_open(d->path, false, &df, NULL), 0);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, 0, &scan), 0);
	while (data_scan_next(scan, &rec) == 1) {
		uint64_t lost;

		memcpy(&lost, (const uint8_t *)rec.hdr + 8, sizeof(lost));
		sum.samples += rec.hdr->type == PERF_RECORD_SAMPLE;
		sum.lost += rec.hdr->type == PERF_RECORD_LOST_SAMPLES ? lost : 0;
	}
	data_scan_free(scan);
	data_close(df);
	return sum;
}

/* With @len bytes of records at the beginning of its data a file is the same but for them. */
static void check_preface(struct disk *d, struct writer *w, const uint8_t *records, size_t len)
{
	size_t places = writer_preface_size(w);
	struct perf_event_header rest;
	struct buf before = {0}, now = {0};
	struct pd_header h;
	uint8_t *p;
	size_t end;

	slurp(d->path, &before);
	assert_int_equal(writer_preface(w, records, len, NULL), 0);
	slurp(d->path, &now);
	memcpy(&h, now.data, sizeof(h));
	p = now.data + h.data.offset;
	assert_int_equal(now.len, before.len);
	assert_memory_equal(now.data, before.data, h.data.offset);
	assert_memory_equal(p, records, len);
	memcpy(&rest, p + len, sizeof(rest));
	assert_int_equal(rest.type, PERF_RECORD_HEADER_EVENT_TYPE);
	assert_true(rest.size >= places - len && rest.size >= PD_PASSED_OVER_MIN);
	end = h.data.offset + len + rest.size;
	assert_memory_equal(now.data + end, before.data + end, now.len - end);
	buf_release(&before);
	buf_release(&now);
}

/* What is known at the end finds room on a disk that has none. */
static void check_prefaces(struct disk *d, struct writer *w)
{
	uint8_t records[8 * WRITER_PLACE_SIZE];
	size_t len = 0;

	/* two, and three ids */
	assert_int_equal(writer_preface_size(w), 5 * WRITER_PLACE_SIZE);
	while (len < 5ull * WRITER_PLACE_SIZE)
		len += make_record(records + len, 1, 20);
	assert_int_equal(len, 5 * WRITER_PLACE_SIZE);
	check_preface(d, w, records, len / 5);
	check_preface(d, w, records, len);
	check_preface(d, w, records, 0);
	assert_int_equal(writer_preface(w, records, len + 8, NULL), -EINVAL);
	assert_int_equal(writer_preface(w, records, 12, NULL), -EINVAL);
	check(d);
}

/*
 * All that found room on a full disk can be read, whatever the pieces it came in; of writes in
 * flight all before the one that failed, but not of the append that failed.
 */
static void full_disk(struct disk *d, const struct pd_evlist *list, unsigned int seed)
{
	static const uint8_t text[] = "TRACING DATA IS OPAQUE HERE";
	static const struct writer_feature features[] = {
		{HEADER_LAST_KNOWN + 100, text, 5},
		{HEADER_TRACING_DATA, text, sizeof(text)},
	};
	const struct writer_io io = {
		.pwritev = bounded_pwritev, .engine = &random_engine, .arg = d};
	size_t buffer = 4096, whole = 0;
	struct writer_rescued rescued = {0}, appended = {0}, flushed = {0}, found;
	uint64_t fit;
	struct error err = ERROR_INIT;
	struct writer *w;
	struct stat st;
	int rc = 0;

	d->seed = seed;
	d->room = 8000 + (size_t)rand_r(&d->seed) % 1000000;
	d->appended.len = d->flushed = 0;
	d->features = features;
	d->nr_features = 1 + seed % 2;
	d->tracing = seed % 2;
	assert_int_equal(writer_create_io(d->path, list, features, d->nr_features, &io, &w, &err),
			 0);
	if (d->depth)
		assert_int_equal(writer_async(w, d->depth, buffer, &err), 0);
	while (!rc) {
		whole = d->appended.len;
		rc = append_many(d, w, rand_r(&d->seed) % 3 ? 3 : 3000, &appended);
		if (!rc && rand_r(&d->seed) % 4 == 0) {
			rc = writer_flush(w, &err);
			if (!rc) {
				flushed = appended;
				d->flushed = d->appended.len;
			}
		}
	}
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(writer_rescue(w, &rescued), 0);
	assert_int_equal(writer_append(w, text, 8, NULL, 0, NULL), -EINVAL);
	assert_int_equal(writer_rescue(w, &rescued), -EINVAL);
	if (!d->depth) {
		whole = d->appended.len;
		buffer = 0;
	}
	fit = d->room - buffer < whole ? d->room - buffer : whole;
	d->flushed = fit > 2000 ? fit - 2000 : d->flushed; /* header, table, a truncated record */
	check(d);
	check_reader(d);
	found = found_in(d);
	assert_int_equal(found.samples, flushed.samples + rescued.samples);
	assert_int_equal(found.lost, flushed.lost + rescued.lost);
	check_prefaces(d, w);
	assert_int_equal(stat(d->path, &st), 0);
	assert_int_equal(st.st_size, writer_size(w));
	writer_close(w);
}

static void full_disk_holds_what_fits(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();

	for (d->depth = 0; d->depth <= DEPTH_MAX; d->depth++) {
		for (unsigned int seed = 1; seed <= (d->depth ? 50 : 200); seed++)
			full_disk(d, list, seed);
	}
	pd_evlist_free(list);
}

static void only_own_files_give_way(void **state)
{
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	struct error err = ERROR_INIT;
	char old[128];
	struct writer *w;
	struct stat st, st_old;

	snprintf(old, sizeof(old), "%s.old", d->path);
	assert_int_equal(writer_create(d->path, list, NULL, 0, &w, &err), 0);
	writer_close(w);
	assert_int_equal(stat(d->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(writer_create(d->path, list, NULL, 0, &w, &err), 0);
	writer_close(w);
	assert_int_equal(stat(old, &st_old), 0);
	assert_true(st_old.st_ino == st.st_ino);

	assert_int_equal(unlink(d->path), 0);
	assert_int_equal(symlink(old, d->path), 0);
	assert_int_equal(writer_create(d->path, list, NULL, 0, &w, &err), -EEXIST);
	assert_non_null(strstr(err.text, d->path));
	assert_int_equal(writer_create("/dev/null", list, NULL, 0, &w, &err), -EEXIST);
	if (!geteuid()) {
		assert_int_equal(unlink(d->path), 0);
		assert_int_equal(rename(old, d->path), 0);
		assert_int_equal(chown(d->path, 65534, 65534), 0);
		assert_int_equal(writer_create(d->path, list, NULL, 0, &w, &err), -EPERM);
	}
	pd_evlist_free(list);
}

/* The stream goes to the same file that the other tests use, and is read from there. */
static void stream_round(void **state, unsigned int depth)
{
	static const uint8_t big[70000];
	struct disk *d = *state;
	struct pd_evlist *list = make_list();
	struct writer_io io = writer_io_system;
	struct error err = ERROR_INIT;
	struct pd_build_id id = {.pid = -1, .size = 20, .filename = "/bin/true"};
	struct buf host = {0}, ids = {0};
	struct writer *w;
	struct data_file *df;
	struct data_scan *scan;
	struct data_record rec;
	const uint8_t *p;
	unsigned int comms = 0, build_ids = 0;
	size_t len;
	int i;

	assert_int_equal(pd_feature_string_encode(&host, "a-host"), 0);
	assert_int_equal(pd_feature_build_id_encode(&ids, &id, PERF_RECORD_MISC_USER), 0);
	assert_int_equal(pd_feature_build_id_encode(&ids, &id, PERF_RECORD_MISC_KERNEL), 0);
	const struct writer_feature first[] = {{HEADER_HOSTNAME, host.data, host.len},
					       {HEADER_CPU_TOPOLOGY, big, sizeof(big)}};
	const struct writer_feature late[] = {{HEADER_BUILD_ID, ids.data, ids.len}};

	io.stream_fd = open(d->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(io.stream_fd >= 0);
	assert_int_equal(writer_create_io("-", list, first, 2, &io, &w, &err), 0);
	if (depth)
		assert_int_equal(writer_async(w, depth, 100, &err), 0);
	for (i = 0; i < 10; i++)
		append_some(d, w);
	assert_int_equal(writer_data_size(w), d->appended.len);
	assert_int_equal(writer_finish(w, late, 1, &err), 0);
	writer_close(w);
	close(io.stream_fd);

	assert_int_equal(data_open(d->path, false, &df, &err), 0);
	assert_int_equal(data_kind(df), DATA_PIPE);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 2);
	assert_string_equal(pd_evlist_at(data_evlist(df), 1)->name, "side:band");
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 2);
	assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &len), 0);
	assert_memory_equal(p, host.data, host.len);
	assert_int_equal(data_feature(df, HEADER_CPU_TOPOLOGY, &p, &len), -ENOENT);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
	while (data_scan_next(scan, &rec) == 1) {
		comms += rec.hdr->type == PERF_RECORD_COMM ? rec.hdr->size : 0;
		build_ids += rec.hdr->type == PERF_RECORD_HEADER_BUILD_ID;
	}
	data_scan_free(scan);
	data_findings(df, &len);
	assert_int_equal(len, 0);
	data_close(df);
	assert_int_equal(comms, d->appended.len);
	assert_int_equal(build_ids, 2);
	buf_release(&host);
	buf_release(&ids);
	pd_evlist_free(list);
}

static void stream_is_read_back(void **state)
{
	stream_round(state, 0);
}

static void stream_is_read_back_asynchronous(void **state)
{
	struct disk *d = *state;
	unsigned int depth;

	for (depth = 1; depth <= DEPTH_MAX; depth++) {
		d->appended.len = 0;
		stream_round(state, depth);
		assert_int_equal(unlink(d->path), 0);
	}
}

static void gone_reader(void **state, unsigned int depth)
{
	struct pd_evlist *list = make_list();
	struct writer_io io = writer_io_system;
	struct error err = ERROR_INIT;
	struct writer *w;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	io.stream_fd = fds[1];
	assert_int_equal(writer_create_io("-", list, NULL, 0, &io, &w, &err), 0);
	if (depth)
		assert_int_equal(writer_async(w, depth, 1000, &err), 0);
	close(fds[0]);
	append_some(*state, w);
	assert_int_equal(writer_flush(w, &err), -EPIPE);
	assert_non_null(strstr(err.text, "standard output"));
	/* Nothing may follow a gap. */
	assert_int_equal(writer_append(w, list, 8, NULL, 0, &err), -EPIPE);
	assert_int_equal(writer_flush(w, &err), -EPIPE);
	writer_close(w);
	close(fds[1]);
	pd_evlist_free(list);
}

static void stream_without_reader(void **state)
{
	gone_reader(state, 0);
	gone_reader(state, 3);
}

/* A pipe whose reader takes what the first writes bring, and nothing of the others. */
struct reluctant {
	int fds[2];
	size_t takes, taken; /* bytes */
	struct buf got;
};

static ssize_t reluctant_writev(int fd, const struct iovec *iov, int n, void *arg)
{
	struct reluctant *p = arg;
	uint8_t piece[PIPE_BUF];
	size_t len = 0;
	ssize_t done;

	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	assert_uint_in_range(len, 1, PIPE_BUF); /* more might block */
	done = writev(fd, iov, n);
	assert_int_equal(done, len);
	p->taken += (size_t)done;
	if (p->taken <= p->takes) {
		assert_int_equal(read(p->fds[0], piece, (size_t)done), done);
		assert_int_equal(buf_append(&p->got, piece, (size_t)done), 0);
	}
	return done;
}

static void reluctant_open(struct reluctant *p, size_t takes, struct writer_io *io)
{
	*p = (struct reluctant){.takes = takes};
	assert_int_equal(pipe2(p->fds, O_CLOEXEC), 0);
	io->writev = reluctant_writev;
	io->arg = p;
	io->stream_fd = p->fds[1];
}

static void reluctant_close(struct reluctant *p)
{
	close(p->fds[0]);
	close(p->fds[1]);
	buf_release(&p->got);
}

#define LONG ((size_t)300000) /* more than a pipe has room for */

/* Goes on while @arg says so, else for a moment. */
static bool wait_a_moment(void *arg, uint64_t ms)
{
	return *(const bool *)arg || ms < 300;
}

/* When whoever is asked says so. */
static void stream_that_takes_nothing_is_given_up(void **state)
{
	struct writer_io io = writer_io_system;
	uint8_t *bytes = malloc(LONG);
	struct reluctant p;
	bool go_on = false;
	struct writer_patience patience = {.wait = wait_a_moment, .arg = &go_on};

	assert_non_null(bytes);
	for (size_t i = 0; i < LONG; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	io.patience = &patience;
	for (int read = 0; read < 2; read++) {
		struct iovec iov[] = {{bytes, 10}, {bytes + 10, PIPE_BUF}, {NULL, 0}, {NULL, 0}};

		iov[3] = (struct iovec){bytes + 10 + PIPE_BUF, LONG - 10 - PIPE_BUF};
		go_on = read;
		reluctant_open(&p, read ? LONG : 3 * PIPE_BUF, &io);
		assert_int_equal(writer_io_all(&io, p.fds[1], iov, 4, -1), read ? 0 : -EINTR);
		assert_int_equal(p.got.len, read ? LONG : 3 * PIPE_BUF);
		assert_memory_equal(p.got.data, bytes, p.got.len);
		reluctant_close(&p);
	}
	free(bytes);
}

/* Nothing is in flight before writer_persist(), and all that went before is in the stream then. */
static void given_up_writer(void **state, unsigned int depth)
{
	struct pd_evlist *list = make_list();
	struct writer_io io = writer_io_system;
	struct error err = ERROR_INIT;
	uint8_t *bytes = calloc(1, LONG);
	struct reluctant p;
	struct writer *w;
	bool go_on = true;
	struct writer_patience patience = {.wait = wait_a_moment, .arg = &go_on};

	assert_non_null(bytes);
	io.patience = &patience;
	reluctant_open(&p, LONG, &io);
	assert_int_equal(writer_create_io("-", list, NULL, 0, &io, &w, &err), 0);
	if (depth)
		assert_int_equal(writer_async(w, depth, 1000, &err), 0);
	assert_int_equal(writer_append(w, bytes, 100, NULL, 0, &err), 0);
	assert_int_equal(writer_persist(w, &err), 0);
	assert_int_equal(p.got.len, writer_size(w));
	assert_int_equal(writer_append(w, bytes, 100, NULL, 0, &err), 0);
	assert_int_equal(writer_flush(w, &err), 0);
	writer_close(w);
	reluctant_close(&p);

	reluctant_open(&p, 100, &io);
	go_on = false;
	assert_int_equal(writer_create_io("-", list, NULL, 0, &io, &w, &err), 0);
	if (depth)
		assert_int_equal(writer_async(w, depth, 1000, &err), 0);
	assert_int_equal(writer_append(w, bytes, LONG, NULL, 0, &err), -EINTR);
	assert_non_null(strstr(err.text, "takes nothing"));
	assert_int_equal(writer_persist(w, &err), -EINTR);
	writer_close(w);
	reluctant_close(&p);
	free(bytes);
	pd_evlist_free(list);
}

static void writer_gives_up(void **state)
{
	given_up_writer(state, 0);
	given_up_writer(state, 3);
}

/*
 * A file of records alone: a beginning of what was appended and, until it is finished, behind it a
 * record that covers the rest. What was flushed is in front of that at any time.
 */
static void check_plain(const struct disk *d, const struct buf *file, size_t flushed)
{
	const struct tail_cover *cover;
	size_t at = flushed;

	/* The cover stands behind the last flush. */
	assert_true(file->len >= flushed + sizeof(*cover));
	assert_memory_equal(file->data, d->appended.data, flushed);
	cover = (const struct tail_cover *)(file->data + at);
	assert_int_equal(cover->hdr.type, PERF_RECORD_AUXTRACE);
	assert_int_equal(cover->hdr.size, sizeof(*cover));
	assert_true(sizeof(*cover) >= PD_PASSED_OVER_MIN); /* its type is that of one, too */
	assert_true(cover->size > d->appended.len && cover->reference == COVER_REFERENCE);
	if (file->len > flushed + sizeof(*cover) && file->len <= d->appended.len)
		assert_true(cover->size > file->len);
}

static void plain_is_covered(struct disk *d, unsigned int depth)
{
	struct error err = ERROR_INIT;
	struct buf file = {0};
	struct writer *w;
	size_t flushed = 0;
	int i;

	d->seed = 7;
	assert_int_equal(writer_create_plain(d->path, &w, &err), 0);
	append_some(d, w);
	if (depth)
		assert_int_equal(writer_async(w, depth, 100, &err), 0);
	for (i = 0; i < 300; i++) {
		append_some(d, w);
		if (i % 50 == 49 || i % 50 == 20) {
			assert_int_equal(writer_flush(w, &err), 0);
			flushed = d->appended.len;
		}
		file.len = 0;
		slurp(d->path, &file);
		check_plain(d, &file, flushed);
	}
	append_some(d, w);
	assert_int_equal(writer_finish(w, NULL, 0, &err), 0);
	file.len = 0;
	slurp(d->path, &file);
	assert_int_equal(file.len, d->appended.len);
	assert_memory_equal(file.data, d->appended.data, file.len);
	writer_close(w);
	buf_release(&file);
}

/*
 * With one file for each CPU the flush of all is the first thing that many threads do at once. If
 * each began by asking for memory, they would wait for the lock of the address space.
 */
static void plain_asks_for_no_memory(void **state)
{
	struct disk *d = *state;
	struct error err = ERROR_INIT;
	const uint8_t *held, *out;
	struct writer *w;

	assert_int_equal(writer_create_plain(d->path, &w, &err), 0);
	held = w->held.data;
	out = w->out.data;
	assert_true(held && out);
	for (int i = 0; i < 100; i++) {
		append_some(d, w);
		if (i % 3 == 2)
			assert_int_equal(writer_flush(w, &err), 0);
		assert_ptr_equal(w->held.data, held);
		assert_ptr_equal(w->out.data, out);
	}
	writer_close(w);
}

static void plain(void **state)
{
	plain_is_covered(*state, 0);
}

static void plain_in_flight(void **state)
{
	plain_is_covered(*state, 3);
}

/* Appends and flushes on and on, whatever they return, to a file that takes @limit bytes. */
static void append_without_room(const char *path, size_t limit, const struct perf_event_header *hdr)
{
	struct error err = ERROR_INIT;
	struct rlimit old, low;
	struct writer *w;

	assert_int_equal(writer_create_plain(path, &w, &err), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	low = (struct rlimit){limit, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &low);
	for (int i = 0; i < 30; i++) {
		writer_append(w, hdr, hdr->size, hdr, i % 2 ? hdr->size : 0, &err);
		if (i % 4 == 3)
			writer_flush(w, &err);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	writer_close(w);
}

/* What is there stays, and what could not be begun is not left behind. */
static void plain_that_cannot_begin(void **state)
{
	struct disk *d = *state;
	struct error err = ERROR_INIT;
	struct rlimit old, low;
	struct writer *w;
	char kept[128];
	FILE *f = fopen(d->path, "w");

	assert_non_null(f);
	fputs("somebody's", f);
	fclose(f);
	assert_int_equal(writer_create_plain(d->path, &w, &err), -EEXIST);
	snprintf(kept, sizeof(kept), "%s.old", d->path);
	assert_int_equal(access(kept, F_OK), -1);
	assert_int_equal(unlink(d->path), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	low = (struct rlimit){0, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &low);
	assert_int_equal(writer_create_plain(d->path, &w, &err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(access(d->path, F_OK), -1);
}

/* Nothing but whole records is ever met before a cover or the end. */
static void plain_without_room(void **state)
{
	struct disk *d = *state;
	uint8_t record[40000] = {0};
	struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE, .size = sizeof(record)};
	struct buf file = {0};

	memcpy(record, &hdr, sizeof(hdr));
	for (size_t i = 4; i < 200; i++) {
		/* Also where there is room for a part of a cover behind a record. */
		size_t limit = i / 4 * 8000 + i % 4 * 12, at = 0;

		unlink(d->path);
		append_without_room(d->path, limit, (const struct perf_event_header *)record);
		file.len = 0;
		slurp(d->path, &file);
		assert_true(file.len <= limit);
		while (at < file.len && !memcmp(file.data + at, &hdr, sizeof(hdr)))
			at += sizeof(record);
		memcpy(&hdr, file.data + at, at < file.len ? sizeof(hdr) : 0);
		assert_true(at == file.len || hdr.type == PERF_RECORD_AUXTRACE);
		memcpy(&hdr, record, sizeof(hdr));
	}
	buf_release(&file);
}

/* --- large appends -----------------------------------------------------------------------------
 */

#define ALIGN ((uint64_t)64 << 10)

/* Of appends: those large enough to be written at once end aligned. */
static ssize_t aligned_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg)
{
	struct disk *d = arg;
	uint64_t end = (uint64_t)offset;

	d->writes++;
	if (d->writes == d->fail_at) {
		errno = ENOSPC;
		return -1;
	}
	for (int i = 0; i < n; i++)
		end += iov[i].iov_len;
	if (d->armed)
		assert_int_equal(end % ALIGN, 0);
	return pwritev(fd, iov, n, offset);
}

/* Of one that fails nothing counts, and quite another one follows. */
static void append_large(struct disk *d, struct writer *w)
{
	size_t before = d->appended.len;
	struct writer_rescued appended = {0};

	d->armed = true;
	while (append_many(d, w, 1 + (unsigned int)rand_r(&d->seed) % 1500, &appended)) {
		d->appended.len = before;
		d->errors++;
	}
	d->armed = false;
}

static void large_appends_end_aligned(void **state)
{
	const struct writer_io io = {.pwritev = aligned_pwritev, .arg = *state};
	struct pd_evlist *list = make_list();
	struct disk *d = *state;
	struct writer *w;

	for (unsigned int seed = 1; seed <= 20; seed++) {
		d->seed = seed;
		d->fail_at = 5 + seed;
		d->writes = d->errors = 0;
		d->appended.len = d->flushed = 0;
		assert_int_equal(writer_create_io(d->path, list, NULL, 0, &io, &w, NULL), 0);
		for (int i = 0; i < 40; i++) {
			append_large(d, w);
			if (rand_r(&d->seed) % 8 == 0 && writer_flush(w, NULL)) {
				d->errors++;
				assert_int_equal(writer_flush(w, NULL), 0);
			}
		}
		assert_int_equal(writer_finish(w, NULL, 0, NULL), 0);
		writer_close(w);
		assert_int_equal(d->errors, 1);
		d->flushed = d->appended.len;
		check(d);
	}
	pd_evlist_free(list);
}

#define PIECE ((size_t)256 << 10)

/* Counts the calls, each of which goes on where the one before has ended. */
struct pieces {
	unsigned int calls;
	off_t end;
};

static ssize_t count_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg)
{
	struct pieces *pieces = arg;
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (pieces->calls++)
		assert_int_equal(offset, pieces->end);
	pieces->end = offset + (off_t)len;
	assert_true(len <= PIECE);
	return (ssize_t)len;
}

/* A flush counts on it, wherever its last write lies; what is large ends at multiples of a size. */
static void small_writes_stay_whole(void **state)
{
	static char bytes[3 * PIECE];
	struct pieces pieces = {0};
	const struct writer_io io = {.pwritev = count_pwritev, .arg = &pieces};
	struct iovec small[] = {{bytes, 16}, {bytes, 32}};
	struct iovec large[] = {{bytes, 1000}, {bytes, PIECE - 200}, {bytes, PIECE}};

	assert_int_equal(writer_io_all(&io, 0, small, 2, PIECE - 20), 0);
	assert_int_equal(pieces.calls, 1);
	assert_int_equal(pieces.end, PIECE + 28);

	pieces = (struct pieces){0};
	assert_int_equal(writer_io_all(&io, 0, large, 3, PIECE + 24), 0);
	assert_int_equal(pieces.calls, 3);
	assert_int_equal(pieces.end, 3 * PIECE + 824);
}

#define AHEAD ((uint64_t)4 << 20)

/* Bytes that the file has on the disk beyond those that it is long. */
static int64_t beyond(const struct disk *d)
{
	struct stat st;

	assert_int_equal(stat(d->path, &st), 0);
	return (int64_t)st.st_blocks * 512 - st.st_size;
}

/* A file that grows has blocks before it needs them, where that is of use, and none when closed. */
static void blocks_ahead_are_given_back(void **state)
{
	struct pd_evlist *list = make_list();
	struct disk *d = *state;
	struct statfs fs;
	struct writer *w;

	assert_int_equal(statfs(d->dir, &fs), 0);
	for (unsigned int form = 0; form < 4; form++) {
		struct writer_rescued appended = {0};

		unlink(d->path);
		d->appended.len = d->flushed = 0;
		if (form % 2)
			assert_int_equal(writer_create_plain(d->path, &w, NULL), 0);
		else
			assert_int_equal(writer_create(d->path, list, NULL, 0, &w, NULL), 0);
		if (form / 2)
			assert_int_equal(writer_async(w, 2, ALIGN, NULL), 0);
		while (writer_data_size(w) < AHEAD + AHEAD / 4)
			assert_int_equal(append_many(d, w, 1000, &appended), 0);
		assert_int_equal(writer_flush(w, NULL), 0);
		if (fs.f_type == EXT4_SUPER_MAGIC)
			assert_true(beyond(d) > (int64_t)AHEAD / 4);
		assert_int_equal(writer_finish(w, NULL, 0, NULL), 0);
		writer_close(w);
		assert_true(beyond(d) < (int64_t)AHEAD / 8);
		if (form % 2)
			continue;
		d->flushed = d->appended.len;
		check(d);
	}
	pd_evlist_free(list);
}

/* --- taking back -------------------------------------------------------------------------------
 */

/* Appends and flushes until something fails, or for a while. */
static void go_on(struct disk *d, struct writer *w)
{
	struct writer_rescued appended = {0};
	int rc = 0;

	for (int i = rand_r(&d->seed) % 5; !rc && i >= 0; i--) {
		rc = append_many(d, w, rand_r(&d->seed) % 3 ? 3 : 300, &appended);
		if (!rc && rand_r(&d->seed) % 3 == 0)
			rc = writer_flush(w, NULL);
	}
}

/* What came behind the mark is gone, to the byte, and what comes then is where it would have been.
 */
static void taken_back(struct disk *d, struct writer *w, void (*hinder)(struct disk *, bool))
{
	struct buf before = {0}, after = {0};
	struct writer_mark *mark = NULL;
	struct error err = ERROR_INIT;
	size_t appended;

	for (int round = 0; round < 8; round++) {
		append_some(d, w);
		assert_int_equal(writer_mark_new(w, &mark), -EINVAL);
		assert_int_equal(writer_flush(w, &err), 0);
		d->flushed = appended = d->appended.len;
		before.len = after.len = 0;
		slurp(d->path, &before);
		assert_int_equal(writer_mark_new(w, &mark), 0);
		hinder(d, round % 4);
		go_on(d, w);
		hinder(d, false);
		d->flushed = appended;
		assert_int_equal(writer_roll_back(w, mark, &err), 0);
		writer_mark_free(mark);
		d->appended.len = appended;
		slurp(d->path, &after);
		assert_int_equal(before.len, after.len);
		assert_memory_equal(before.data, after.data, before.len);
		assert_int_equal(writer_size(w), after.len);
	}
	append_some(d, w);
	assert_int_equal(writer_finish(w, NULL, 0, &err), 0);
	d->flushed = d->appended.len;
	writer_close(w);
	buf_release(&before);
	buf_release(&after);
}

/* Some write fails, and the file is whole behind each of them. */
static void hinder_a_write(struct disk *d, bool on)
{
	d->fail_at = on ? d->writes + 1 + (unsigned long)rand_r(&d->seed) % 12 : 0;
}

static void taken_back_files(void **state)
{
	static const uint8_t text[] = "TRACING DATA IS OPAQUE HERE";
	static const struct writer_feature features[] = {
		{HEADER_LAST_KNOWN + 100, text, 5},
		{HEADER_TRACING_DATA, text, sizeof(text)},
	};
	const struct writer_io io = {
		.pwritev = hooked_pwritev, .engine = &random_engine, .arg = *state};
	struct pd_evlist *list = make_list();
	struct disk *d = *state;
	struct writer *w;

	for (unsigned int seed = 1; seed <= 12; seed++) {
		d->seed = seed;
		d->writes = d->fail_at = 0;
		d->armed = false;
		d->appended.len = d->flushed = 0;
		d->features = features;
		d->nr_features = seed % 3;
		d->tracing = d->nr_features == 2;
		unlink(d->path);
		assert_int_equal(
			writer_create_io(d->path, list, features, d->nr_features, &io, &w, NULL),
			0);
		d->depth = seed % 4 == 0 ? 3 : 0;
		if (d->depth)
			assert_int_equal(writer_async(w, d->depth, 1000, NULL), 0);
		taken_back(d, w, hinder_a_write);
		check(d);
		check_reader(d);
	}
	pd_evlist_free(list);
}

/* A file that takes only some bytes more. */
static void hinder_growth(struct disk *d, bool on)
{
	struct rlimit limit;
	struct stat st;

	getrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(stat(d->path, &st), 0);
	limit.rlim_cur =
		on ? (rlim_t)st.st_size + (rlim_t)rand_r(&d->seed) % 100000 : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void taken_back_plain_files(void **state)
{
	struct disk *d = *state;
	struct buf file = {0};
	struct writer *w;

	for (unsigned int seed = 1; seed <= 12; seed++) {
		d->seed = seed;
		d->appended.len = d->flushed = 0;
		unlink(d->path);
		assert_int_equal(writer_create_plain(d->path, &w, NULL), 0);
		if (seed % 4 == 0)
			assert_int_equal(writer_async(w, 3, 1000, NULL), 0);
		taken_back(d, w, hinder_growth);
		file.len = 0;
		slurp(d->path, &file);
		assert_int_equal(file.len, d->appended.len);
		assert_memory_equal(file.data, d->appended.data, file.len);
	}
	buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_behind_every_write, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_after_every_failed_write, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_with_writes_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_after_failures_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(closed_with_writes_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(full_disk_holds_what_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(only_own_files_give_way, setup, teardown),
		cmocka_unit_test_setup_teardown(stream_is_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(stream_is_read_back_asynchronous, setup, teardown),
		cmocka_unit_test_setup_teardown(stream_without_reader, setup, teardown),
		cmocka_unit_test(stream_that_takes_nothing_is_given_up),
		cmocka_unit_test(writer_gives_up),
		cmocka_unit_test_setup_teardown(plain_that_cannot_begin, setup, teardown),
		cmocka_unit_test_setup_teardown(plain_asks_for_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(plain, setup, teardown),
		cmocka_unit_test_setup_teardown(plain_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(plain_without_room, setup, teardown),
		cmocka_unit_test_setup_teardown(large_appends_end_aligned, setup, teardown),
		cmocka_unit_test(small_writes_stay_whole),
		cmocka_unit_test_setup_teardown(blocks_ahead_are_given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_back_files, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_back_plain_files, setup, teardown),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
