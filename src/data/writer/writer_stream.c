// SPDX-License-Identifier: Apache-2.0
/*
 * The pipe form of perf.data: it sends as records what a file has in its header.
 *
 * Source: perf.data-file-format.txt and tools/perf/util/header.c of 6.1. No end mark
 * (HEADER_LAST_FEATURE) is sent: its number differs between versions of perf, and perf stops at
 * a number that is not its own.
 */
#include "data/writer/writer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* perf to 6.1 looks for the ids behind 128 bytes of attribute, whatever attr.size says. */
#define STREAM_ATTR_SIZE 128

#define RECORD_MAX 65528 /* the largest size that fits 16 bits and is a multiple of 8 */

/* Appends a record: header, @fixed, @tail, and zeros up to a multiple of 8. */
static int put_record(struct buf *b, uint32_t type, uint16_t misc, const void *fixed,
		      size_t fixed_len, const void *tail, size_t tail_len)
{
	size_t len = sizeof(struct perf_event_header) + fixed_len + tail_len;
	size_t size = (len + 7) & ~(size_t)7;
	struct perf_event_header hdr = {.type = type, .misc = misc, .size = size};
	int rc;

	if (size > RECORD_MAX)
		return -E2BIG;
	rc = buf_reserve(b, size);
	if (rc)
		return rc;
	buf_append(b, &hdr, sizeof(hdr));
	buf_append(b, fixed, fixed_len);
	buf_append(b, tail, tail_len);
	return buf_zero(b, size - len);
}

static int put_event(struct buf *b, const struct pd_evsel *evsel)
{
	struct pd_attr attr = evsel->attr;
	char name[512];
	uint64_t update[2] = {2 /* name */, 0};
	int rc;

	attr.size = pd_attr_wire_size(&attr);
	if (attr.size < STREAM_ATTR_SIZE)
		attr.size = STREAM_ATTR_SIZE;
	rc = put_record(b, PERF_RECORD_HEADER_ATTR, 0, &attr, attr.size, evsel->ids,
			evsel->nr_ids * sizeof(uint64_t));
	if (rc || !evsel->nr_ids || !evsel->name)
		return rc;
	pd_attr_name(&evsel->attr, name, sizeof(name));
	if (!strcmp(name, evsel->name))
		return 0;
	update[1] = evsel->ids[0];
	rc = put_record(b, PERF_RECORD_EVENT_UPDATE, 0, update, sizeof(update), evsel->name,
			strlen(evsel->name) + 1);
	return rc == -E2BIG ? 0 : rc;
}

/* Appends header, size and padding as perf does; the payload is padded to a multiple of 8. */
static int put_tracing_data(struct buf *b, const struct writer_feature *feature)
{
	size_t size = (feature->len + 7) & ~(size_t)7;
	struct perf_event_header hdr = {.type = PERF_RECORD_HEADER_TRACING_DATA, .size = 16};
	uint32_t payload[2] = {size};
	int rc;

	if (size > UINT32_MAX)
		return -E2BIG;
	rc = buf_reserve(b, hdr.size + size);
	if (rc)
		return rc;
	buf_append(b, &hdr, sizeof(hdr));
	buf_append(b, payload, sizeof(payload));
	buf_append(b, feature->data, feature->len);
	return buf_zero(b, size - feature->len);
}

/* A BUILD_ID section is a run of records whose type is 0. */
static int put_build_ids(struct buf *b, const struct writer_feature *feature)
{
	struct perf_event_header hdr;
	size_t at = 0;
	int rc = 0;

	while (!rc && feature->len - at >= sizeof(hdr)) {
		memcpy(&hdr, feature->data + at, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size > feature->len - at)
			return -EINVAL;
		rc = put_record(b, PERF_RECORD_HEADER_BUILD_ID, hdr.misc, NULL, 0,
				feature->data + at + sizeof(hdr), hdr.size - sizeof(hdr));
		at += hdr.size;
	}
	return rc;
}

static int put_feature(struct buf *b, const struct writer_feature *feature)
{
	uint64_t number = feature->feature;
	int rc;

	if (feature->feature == HEADER_TRACING_DATA)
		return put_tracing_data(b, feature);
	if (feature->feature == HEADER_BUILD_ID)
		return put_build_ids(b, feature);
	rc = put_record(b, PERF_RECORD_HEADER_FEATURE, 0, &number, sizeof(number), feature->data,
			feature->len);
	return rc == -E2BIG ? 0 : rc; /* writer.h: a stream leaves it out */
}

static int stream_features(struct writer *w, const struct writer_feature *features,
			   size_t nr_features, struct error *err)
{
	struct iovec iov;
	struct buf b = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < nr_features && !rc; i++)
		rc = put_feature(&b, &features[i]);
	if (!rc) {
		iov = (struct iovec){b.data, b.len};
		rc = writer_put(w, &iov, 1, true);
	}
	buf_release(&b);
	return rc ? writer_fail(w, rc, "cannot write the features", err) : 0;
}

static int stream_begin(struct writer *w, const struct pd_evlist *list,
			const struct writer_feature *features, size_t nr_features,
			struct error *err)
{
	static const uint64_t header[2] = {PD_MAGIC, PD_PIPE_HEADER_SIZE};
	struct iovec iov;
	struct buf b = {0};
	size_t i;
	int rc;

	_Static_assert(sizeof(header) == PD_PIPE_HEADER_SIZE, "pipe header");
	rc = buf_append(&b, header, sizeof(header));
	for (i = 0; i < pd_evlist_count(list) && !rc; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);

		rc = put_event(&b, evsel);
		if (rc == -E2BIG)
			rc = error_set(err, rc,
				       "event %s has %zu ids, too many for a pipe; record to a "
				       "file instead",
				       evsel->name ? evsel->name : "?", evsel->nr_ids);
	}
	if (rc && rc != -E2BIG)
		rc = writer_fail(w, rc, "cannot make the header", err);
	if (!rc) {
		iov = (struct iovec){b.data, b.len};
		rc = writer_put(w, &iov, 1, false);
		if (rc)
			writer_fail(w, rc, "cannot write the header", err);
	}
	buf_release(&b);
	if (!rc)
		rc = stream_features(w, features, nr_features, err);
	w->header.data.offset = w->pos;
	return rc;
}

static int stream_open(struct writer *w, struct error *err)
{
	int flags;

	w->fd = w->io.stream_fd;
	flags = fcntl(w->fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(err, -EBADF,
				 "standard output is closed or cannot be written to; redirect it, "
				 "or name a file (-o)");
	if (isatty(w->fd))
		return error_set(err, -EINVAL,
				 "standard output is a terminal; redirect it, or name a file (-o)");
	return 0;
}

static int stream_flush(struct writer *w)
{
	return writer_put(w, NULL, 0, true);
}

const struct writer_form writer_form_stream = {
	.sequential = true,
	.open = stream_open,
	.begin = stream_begin,
	.flush = stream_flush,
	.finish = stream_features,
};
