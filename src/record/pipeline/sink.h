/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where runs of records go. Everything behind a reader has this one shape: a sink writes to a
 * file or pipe; a stage does something with the runs and hands them to the sink behind it. A mode
 * of recording is a chain of them:
 *
 *   reader ──► fifo ──► tally ──► file
 *   reader ──► fifo ──► tally ──► [history] ──► [compress] ──► asynchronous file
 *
 * One thread, that of the writer behind the fifo, uses a sink.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_SINK_H
#define RINGTAIL_RECORD_PIPELINE_SINK_H

#include <pthread.h>

#include "base/error.h"
#include "data/writer/writer.h"
#include "record/pipeline/run.h"

struct sink;

struct sink_ops {
	/*
	 * Takes the records of @run; on return its memory may be used again. 0 or a negative errno
	 * with @err filled, after which the recording ends.
	 */
	int (*write)(struct sink *s, const struct run *run, struct error *err);
	/* Makes all that it took readable by others. */
	int (*flush)(struct sink *s, struct error *err);
	/* Frees the sink itself, not the one behind it. */
	void (*free)(struct sink *s);
};

struct sink {
	const struct sink_ops *ops;
};

/* Call the operation of that name. Return 0, or a negative errno with @err filled. */
int sink_write(struct sink *s, const struct run *run, struct error *err);
int sink_flush(struct sink *s, struct error *err);
void sink_free(struct sink *s); /* accepts NULL */

/* One record made in user space. */
int sink_record(struct sink *s, const struct perf_event_header *hdr, struct error *err);

/* The same as a record_emit_fn (record/emit.h), whose argument is a struct sink_emit. */
struct sink_emit {
	struct sink *sink;
	struct error *err;
};
int sink_emit(const struct perf_event_header *hdr, void *to);

/*
 * A sink on @writer. @lock (NULL: none) is held while the writer is used, which sinks of several
 * threads may then share. Both remain the caller's and must outlive the sink. Returns NULL when out
 * of memory.
 */
struct sink *sink_file_new(struct writer *writer, pthread_mutex_t *lock);

/* Bytes that this sink gave to its writer. */
uint64_t sink_file_bytes(const struct sink *s);

#endif
