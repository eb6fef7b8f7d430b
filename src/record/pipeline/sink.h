/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of all that takes runs of records: sinks and stages.
 *
 * A sink writes runs to a file or pipe, or keeps them in the history. A stage counts or changes
 * runs and passes them on to the next sink. A mode of recording is a chain of them:
 *
 *   reader ──► fifo ──► tally ──► file
 *   reader ──► fifo ──► tally ──► [history] ──► [compress] ──► asynchronous file
 *
 * Threads: one, the writer's, uses a sink. Ownership: a stage does not own the sink behind it.
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
	 * Takes the records of @run, whose memory is the caller's again on return. Returns 0 or a
	 * negative errno with @err filled; an error ends the recording.
	 */
	int (*write)(struct sink *s, const struct run *run, struct error *err);
	/* Makes all that was written readable in the file. Returns as write() does. */
	int (*flush)(struct sink *s, struct error *err);
	/* Frees the sink itself, not the sink behind it. */
	void (*free)(struct sink *s);
};

struct sink {
	const struct sink_ops *ops;
};

/* These call the functions of the sink's ops. */
int sink_write(struct sink *s, const struct run *run, struct error *err);
int sink_flush(struct sink *s, struct error *err);
void sink_free(struct sink *s); /* accepts NULL */

/* Writes one record made in user space. Returns as sink_write() does. */
int sink_record(struct sink *s, const struct perf_event_header *hdr, struct error *err);

/* sink_record() as a record_emit_fn (record/initial/emit.h); @to is a struct sink_emit. */
struct sink_emit {
	struct sink *sink;
	struct error *err;
};
int sink_emit(const struct perf_event_header *hdr, void *to);

/*
 * Returns a sink that writes to @writer, or NULL when out of memory. It holds @lock (NULL: none)
 * while it uses the writer, so that sinks of several threads may share one. Both remain the
 * caller's and must outlive the sink.
 */
struct sink *sink_file_new(struct writer *writer, pthread_mutex_t *lock);

/*
 * The offsets in the file of the AUXTRACE records that @s, a sink of sink_file_new(), has written.
 * They remain the sink's; none for a shared writer.
 */
const uint64_t *sink_file_traces(const struct sink *s, size_t *ret_nr);

/* After writer_roll_back(): forgets the records that are no more in the file. */
void sink_file_rolled_back(struct sink *s);

/* Returns the bytes that @s, a sink of sink_file_new(), gave to its writer. */
uint64_t sink_file_bytes(const struct sink *s);

#endif
