// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/sink.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

int sink_write(struct sink *s, const struct run *run, struct error *err)
{
	return s->ops->write(s, run, err);
}

int sink_flush(struct sink *s, struct error *err)
{
	return s->ops->flush(s, err);
}

void sink_free(struct sink *s)
{
	if (s)
		s->ops->free(s);
}

int sink_record(struct sink *s, const struct perf_event_header *hdr, struct error *err)
{
	const struct run run = {
		.a = (const uint8_t *)hdr,
		.a_len = hdr->size,
		.ring = RUN_NO_RING,
		.cpu = -1,
	};

	return sink_write(s, &run, err);
}

int sink_emit(const struct perf_event_header *hdr, void *to)
{
	const struct sink_emit *emit = to;

	return sink_record(emit->sink, hdr, emit->err);
}

struct sink_file {
	struct sink sink;
	struct writer *writer;
	pthread_mutex_t *lock;
	uint64_t bytes;
	uint64_t *traces; /* offsets of AUXTRACE records */
	size_t nr_traces, capacity;
};

static void file_lock(const struct sink_file *f)
{
	if (f->lock)
		pthread_mutex_lock(f->lock);
}

static void file_unlock(const struct sink_file *f)
{
	if (f->lock)
		pthread_mutex_unlock(f->lock);
}

static int sink_file_write(struct sink *s, const struct run *run, struct error *err)
{
	struct sink_file *f = (struct sink_file *)s;
	uint64_t at;
	int rc;

	if (run_is_aux(run) &&
	    array_grow(&f->traces, &f->capacity, f->nr_traces + 1, sizeof(*f->traces)))
		return error_set(err, -ENOMEM, "out of memory");
	file_lock(f);
	at = writer_position(f->writer);
	rc = writer_append(f->writer, run->a, run->a_len, run->b, run->b_len, err);
	file_unlock(f);
	if (!rc)
		f->bytes += run_bytes(run);
	if (!rc && run_is_aux(run) && !f->lock)
		f->traces[f->nr_traces++] = at;
	return rc;
}

static int sink_file_flush(struct sink *s, struct error *err)
{
	struct sink_file *f = (struct sink_file *)s;
	int rc;

	file_lock(f);
	rc = writer_flush(f->writer, err);
	file_unlock(f);
	return rc;
}

static void sink_file_free(struct sink *s)
{
	free(((struct sink_file *)s)->traces);
	free(s);
}

static const struct sink_ops sink_file_ops = {
	.write = sink_file_write,
	.flush = sink_file_flush,
	.free = sink_file_free,
};

struct sink *sink_file_new(struct writer *writer, pthread_mutex_t *lock)
{
	struct sink_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->sink.ops = &sink_file_ops;
	f->writer = writer;
	f->lock = lock;
	return &f->sink;
}

const uint64_t *sink_file_traces(const struct sink *s, size_t *ret_nr)
{
	*ret_nr = ((const struct sink_file *)s)->nr_traces;
	return ((const struct sink_file *)s)->traces;
}

void sink_file_rolled_back(struct sink *s)
{
	struct sink_file *f = (struct sink_file *)s;

	while (f->nr_traces && f->traces[f->nr_traces - 1] >= writer_position(f->writer))
		f->nr_traces--;
}

uint64_t sink_file_bytes(const struct sink *s)
{
	return ((const struct sink_file *)s)->bytes;
}
