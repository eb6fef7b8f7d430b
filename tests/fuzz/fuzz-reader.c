// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a recording: opened, walked whole, put into time order in little memory, its
 * tracepoint formats loaded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/order.h"
#include "data/reader.h"
#include "data/tracing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte that is promised must be there. */
static void touch(const uint8_t *p, uint64_t len)
{
	volatile uint8_t sum = 0;

	for (uint64_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + p[i]);
}

static void walk(struct data_file *df, unsigned int segment)
{
	struct data_record rec;
	struct data_scan *scan;

	if (data_scan_new(df, segment, 0, DATA_WHOLE, DATA_SCAN_NOTES | DATA_SCAN_CONTAINERS,
			  &scan))
		return;
	while (data_scan_next(scan, &rec) > 0) {
		touch((const uint8_t *)rec.hdr, rec.hdr->size);
		if (rec.payload)
			touch(rec.payload, rec.payload_size);
	}
	data_scan_free(scan);
}

static void sort(struct data_file *df)
{
	struct order_opts opts = {.memory = 4096, .scan_flags = DATA_SCAN_NOTES};
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
		for (unsigned int i = 0; i < data_segments(df); i++)
			walk(df, i);
		sort(df);
		if (!tracing_load(df, &tracing, NULL))
			tracing_free(tracing);
		data_notes(df, &n);
		data_close(df);
	}
	close(fd);
	return 0;
}
