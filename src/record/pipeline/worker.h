/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads: one that takes records from its rings, and one behind it that hands them to a sink,
 * until they are told to stop.
 *
 *   main thread ── worker_ask() ──► reader thread ──► fifo, marks ──► writer thread: sink
 *               ◄────── report, worker_view(): what is done, errors ──────┘
 *
 * A command goes the way of the records: it is done when the writer has come to its mark. When the
 * sink fails, the writer goes on to take what comes, and lets others count it (discard).
 *
 * Between worker_start() and worker_join() the sink is the worker's; before and after it is the
 * caller's. All of worker.h is called by one thread, the main one.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_WORKER_H
#define RINGTAIL_RECORD_PIPELINE_WORKER_H

#include "record/pipeline/overwrite_drain.h"
#include "record/pipeline/reader.h"
#include "record/pipeline/sink.h"
#include "sys/kernel/cpus.h"

/* What a worker can be told; of several at once the last in this order is done, for all. */
enum worker_command {
	WORKER_GO_ON,
	WORKER_FLUSH, /* take what all rings hold, make it readable, go on */
	/* From here on rings that are overwritten are dumped, too. */
	WORKER_PAUSE, /* the same, and wait for worker_resume() */
	WORKER_DRAIN, /* take until nothing comes, make it readable, end */
};

struct worker;

struct worker_opts {
	unsigned int number;	     /* of the threads' names, reader-N and writer-N */
	const struct cpus *affinity; /* where they run; NULL: where their maker does */
	int realtime;	   /* priority of the reader, SCHED_FIFO; 0: RECORD_REALTIME, if allowed */
	size_t buffer;	   /* bytes of memory between the two */
	struct shed *shed; /* of the reader, or NULL; stays the caller's */
	struct sink *sink; /* stays the caller's */
	bool rounds;	   /* see record/reader.h */
	bool unbuffered;   /* each run is flushed */
	uint64_t least;	   /* see reader_set_least() */
	/* Changes whole records of a ring of @cpu before they are written, where they are. Called
	 * by the writer. */
	void (*amend)(void *amender, int cpu, uint8_t *records, size_t len);
	void *amender;
	/* All of these are called by the writer; NULL: nobody asks. */
	void (*flushed)(void *arg);			   /* after each flush that succeeded */
	void (*failed)(void *arg, int rc);		   /* the sink is as it was left */
	void (*discard)(void *arg, const struct run *run); /* what comes after that */
	bool (*passed)(void *arg); /* after each run; true: the output is full */
	bool hold;		   /* the writer then waits for worker_resume() */
	void *arg;
	int report; /* an eventfd, written when worker_view() has something new */
};

/*
 * Makes a worker without rings; no thread runs yet. @opts->arg and sinks must outlive it. Returns
 * 0, or a negative errno with @err filled.
 */
int worker_new(const struct worker_opts *opts, struct worker **ret, struct error *err);
void worker_free(struct worker *w); /* accepts NULL; not between start and join */

/* Before worker_start(). The source's memory and descriptors must outlive the worker. */
int worker_add_ring(struct worker *w, const struct reader_source *source, struct error *err);

/* Starts the two threads. Returns 0, or a negative errno with @err filled. */
int worker_start(struct worker *w, struct error *err);

/* Tells what to do. Does not wait. */
void worker_ask(struct worker *w, enum worker_command command);

/*
 * Holds the writer behind the run that it writes, until worker_resume(); the reader goes on. Waits
 * until it stands. With @hold false: it goes on, and until worker_resume() nothing holds it.
 */
void worker_hold(struct worker *w, bool hold);

/* After WORKER_PAUSE is done, or while it is held: another sink, and argument of the functions;
 * then it goes on. */
void worker_retarget(struct worker *w, struct sink *sink, void *arg);
void worker_resume(struct worker *w);

struct worker_view {
	bool flushed; /* everything that was asked for is done */
	bool hung_up; /* no task is left that could write to its rings */
	bool full;    /* the output, since the last worker_resume() */
	bool ended;   /* by DRAIN; worker_join() does not wait */
	int code;     /* of the error that it has met, or 0 */
};
/* The worker's state now. Does not wait. Any thread. */
struct worker_view worker_view(struct worker *w);

/* Waits for the end, which somebody must have asked for. Returns 0 or its error. */
int worker_join(struct worker *w, struct error *err);

/* After worker_join(), or before worker_start(). */
struct reader *worker_reader(struct worker *w);
struct overwrite_drain *worker_dump(struct worker *w);

/* The memory between the two threads, to be asked how full it is. */
struct fifo *worker_fifo(struct worker *w);

#endif
