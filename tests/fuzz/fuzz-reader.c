// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a recording: opened, walked whole and in parts, which must find the same, put into
 * time order in little memory, its tracepoint formats loaded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/order/order.h"
#include "data/file/findings.h"
#include "data/open/open.h"
#include "data/scan/scan.h"
#include "data/scan/sweep.h"
#include "data/tracing/tracing.h"
#include "perfdata/record.h"
#include "perfdata/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte that is promised must be there. */
static void touch(const uint8_t *p, uint64_t len)
{
	volatile uint8_t sum = 0;

	for (uint64_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + p[i]);
}

/* Behind a record in the window others follow: what is read of them is seen only in a copy. */
static void decode(const struct data_record *rec, struct pd_evlist *list)
{
	struct perf_event_header *hdr = malloc(rec->hdr->size);
	const struct pd_evsel *evsel;
	struct pd_record record;
	struct pd_sample sample;

	if (!hdr)
		return;
	memcpy(hdr, rec->hdr, rec->hdr->size);
	evsel = pd_evlist_of_record(list, hdr, false);
	pd_record_time(hdr, evsel);
	if (hdr->type != PERF_RECORD_SAMPLE)
		pd_record_decode(hdr, evsel, &record);
	else if (evsel)
		pd_sample_decode(hdr, evsel, &sample, NULL);
	free(hdr);
}

/* All of it is there, if it is not in a compressed record. */
static void read_payload(struct data_scan *scan, const struct data_record *rec)
{
	uint8_t *p = malloc(rec->payload_size + 1);

	if (p && !data_scan_payload(scan, p, rec->payload_size))
		touch(p, rec->payload_size);
	free(p);
}

/* Returns the number of records. */
static uint64_t walk(struct data_file *df, unsigned int segment)
{
	uint64_t nr = 0;
	struct data_record rec;
	struct data_scan *scan;

	if (data_scan_new(df, segment, 0, DATA_WHOLE, DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS,
			  &scan))
		return 0;
	while (data_scan_next(scan, &rec) > 0) {
		decode(&rec, data_evlist(df));
		read_payload(scan, &rec);
		nr++;
	}
	data_scan_free(scan);
	return nr;
}

static void *part_new(void *arg)
{
	return arg;
}

static int part_take(const struct data_record *rec, void *part)
{
	return 1;
}

static int part_end(void *part, bool valid, void *arg)
{
	return 0;
}

/* Some short parts of @size bytes; no threads, so that a finding is the same each time. */
static uint64_t walk_parts(struct data_file *df, size_t size)
{
	struct sweep_opts opts = {
		.scan_flags = DATA_SCAN_CONTAINERS,
		.part_bytes = 64 + size / 32,
		.part_new = part_new,
		.take = part_take,
		.part_end = part_end,
		.arg = df,
	};
	uint64_t nr = 0, newest = 0;
	struct data_record rec;
	struct sweep *sweep;

	if (sweep_new(df, &opts, &sweep))
		return 0;
	while (sweep_next(sweep, &rec, &newest) > 0) {
		touch((const uint8_t *)rec.hdr, rec.hdr->size);
		nr++;
	}
	sweep_free(sweep);
	return nr;
}

static void sort(struct data_file *df)
{
	struct order_opts opts = {.memory = 4096, .scan_flags = DATA_SCAN_FINDINGS};
	struct data_record rec;
	struct order *o;

	if (order_new(df, &opts, &o, NULL))
		return;
	while (order_next(o, &rec, NULL) > 0)
		touch((const uint8_t *)rec.hdr, rec.hdr->size);
	order_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct data_file *df;
	struct tracing *tracing;
	const uint8_t *p;
	char path[64];
	size_t n;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && !data_open(path, true, &df, NULL)) {
		for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++) {
			if (!data_feature(df, f, &p, &n))
				touch(p, n);
		}
		uint64_t nr = 0;

		for (unsigned int i = 0; i < data_segments(df); i++)
			nr += walk(df, i);
		if (walk_parts(df, size) != nr)
			abort();
		sort(df);
		if (!tracing_load(df, &tracing, NULL))
			tracing_free(tracing);
		data_findings(df, &n);
		data_close(df);
	}
	close(fd);
	return 0;
}
