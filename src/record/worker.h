/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that takes records from its rings and hands them to its sink, until it is told to stop
 * or cannot go on.
 *
 *   main thread ── worker_ask() ──► command, wake ──► worker: reader ──► sink
 *               ◄── report, worker_view() ── what is done, errors ──┘
 *
 * Between worker_start() and worker_join() reader, pool and sink are the worker's; before and after
 * they are the caller's. All of worker.h is called by one thread, the main one.
 */
#ifndef RINGTAIL_RECORD_WORKER_H
#define RINGTAIL_RECORD_WORKER_H

#include "record/reader.h"
#include "sys/cpus.h"

/* What a worker can be told; of several at once the last in this order is done, for all. */
enum worker_command {
	WORKER_GO_ON,
	WORKER_FLUSH, /* take what all rings hold, make it readable, go on */
	WORKER_PAUSE, /* the same, and wait for worker_resume() */
	WORKER_DRAIN, /* take until nothing comes, make it readable, end */
};

struct worker;

struct worker_opts {
	const struct cpus *affinity; /* where the thread runs; NULL: where its maker does */
	size_t chunks, chunk_bytes;  /* of its pool */
	struct sink *sink;	     /* stays the caller's */
	bool rounds;		     /* see record/reader.h */
	/* Called by the worker after each flush that succeeded; NULL: nobody asks. */
	void (*flushed)(void *arg);
	void (*failed)(void *arg,
		       int code); /* it ends with this error; the sink is as it was left */
	/* Called by it after each pass; true: the output is full. NULL: nobody asks. */
	bool (*passed)(void *arg);
	void *arg;
	int report; /* an eventfd, written when worker_view() has something new */
};

int worker_new(const struct worker_opts *opts, struct worker **ret, struct error *err);
void worker_free(struct worker *w); /* accepts NULL; not between start and join */

/* Before worker_start(). The source's memory and descriptors must outlive the worker. */
int worker_add_ring(struct worker *w, const struct reader_source *source, struct error *err);

int worker_start(struct worker *w, struct error *err);

/* Tells what to do. Does not wait. */
void worker_ask(struct worker *w, enum worker_command command);

/* After WORKER_PAUSE is done: another sink, and argument of the functions; then it goes on. */
void worker_retarget(struct worker *w, struct sink *sink, void *arg);
void worker_resume(struct worker *w);

struct worker_view {
	bool flushed; /* everything that was asked for is done */
	bool hung_up; /* no task is left that could write to its rings */
	bool full;    /* the output, since the last worker_resume() */
	bool ended;   /* by DRAIN or an error; worker_join() does not wait */
	int code;     /* of that error, or 0 */
};
struct worker_view worker_view(struct worker *w);

/* Waits for the end, which somebody must have asked for. Returns 0 or its error. */
int worker_join(struct worker *w, struct error *err);

/* After worker_join(), or before worker_start(). */
struct reader *worker_reader(struct worker *w);
size_t worker_pool_bytes(const struct worker *w);

#endif
