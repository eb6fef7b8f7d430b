/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader thread that drains rings and a writer thread that feeds a sink, with a fifo between.
 *
 *   main thread ── worker_ask() ──► reader thread ──► fifo, marks ──► writer thread: sink
 *               ◄────── report, worker_view(): commands done, errors ─────┘
 *
 * A command travels with the records: it is done when the writer reaches its mark. When the sink
 * fails, the writer goes on to empty the fifo, and passes the runs to discard() to be counted.
 *
 * Ownership: the worker uses the sink between worker_start() and worker_join(); before and after
 * that it is the caller's to use. The caller frees it.
 *
 * Threads: one, the main thread, calls these functions. The writer thread calls those of
 * struct worker_opts, or worker_write_now() does; never both at a time.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_WORKER_H
#define RINGTAIL_RECORD_PIPELINE_WORKER_H

#include "record/pipeline/overwrite_drain.h"
#include "record/pipeline/reader.h"
#include "record/pipeline/sink.h"
#include "sys/kernel/cpus.h"

/* Commands. Of several that wait, the last in this order is carried out and counts for all. */
enum worker_command {
	WORKER_NONE,
	WORKER_FLUSH, /* drain all rings, flush the sink, go on */
	/* The commands from here on drain overwrite rings, too. */
	WORKER_PAUSE,  /* the same, then wait for worker_resume() */
	WORKER_FINISH, /* drain until nothing comes, flush the sink, end */
};

struct worker;

struct worker_opts {
	unsigned int number;	     /* of the threads' names, reader-N and writer-N */
	const struct cpus *affinity; /* where they run; NULL: as the thread that starts them */
	int realtime;	   /* SCHED_FIFO priority of the reader; 0: RECORD_REALTIME, if allowed */
	size_t buffer;	   /* bytes of the fifo */
	struct shed *shed; /* for the reader, or NULL; stays the caller's */
	struct sink *sink; /* stays the caller's */
	bool rounds;	   /* see record/pipeline/reader.h */
	bool unbuffered;   /* flush after each run */
	bool direct;	   /* worker_write_now() writes itself, if the writer is idle */
	uint64_t least;	   /* see reader_set_least() */
	/* Changes whole records of a ring of @cpu, in place, before they are written. */
	void (*fixup)(void *arg, int cpu, uint8_t *records, size_t len);
	void *fixup_arg;
	/* Each of these may be NULL. */
	void (*flushed)(void *arg);			   /* after each successful flush */
	void (*failed)(void *arg, int rc);		   /* once, when the sink has failed */
	void (*discard)(void *arg, const struct run *run); /* each run after that */
	bool (*passed)(void *arg); /* after each write; true: the output is full */
	bool hold;		   /* a full output holds the writer until worker_resume() */
	void *arg;
	int report; /* an eventfd, written when worker_view() changes; stays the caller's */
};

/*
 * Makes a worker without its threads. Returns 0 with *@ret, to be freed with worker_free(), or a
 * negative errno with @err filled.
 */
int worker_new(const struct worker_opts *opts, struct worker **ret, struct error *err);
void worker_free(struct worker *w); /* accepts NULL; not between start and join */

/*
 * Before worker_start(): adds a ring. Its memory and descriptors must outlive the worker. Returns 0
 * or a negative errno with @err filled.
 */
int worker_add_ring(struct worker *w, const struct reader_source *source, struct error *err);

/*
 * Starts both threads, with signals blocked (thread.h). Returns 0 or a negative errno with
 * @err filled; call worker_join() in both cases.
 */
int worker_start(struct worker *w, struct error *err);

/*
 * After worker_start(): waits until the reader runs, or until @deadline (of now_ms()). A new thread
 * waits for its CPU, and for memory while another thread changes the process's maps.
 */
void worker_await(struct worker *w, uint64_t deadline);

/* Gives the reader a command and returns at once. */
void worker_ask(struct worker *w, enum worker_command command);

/*
 * Returns room for @len bytes that the caller hands back by worker_hand(), or NULL when out of
 * memory. Large room is used again, so that later snapshots cause no page faults.
 */
uint8_t *worker_room(struct worker *w, size_t len);

/*
 * Before worker_start(): makes room for @len bytes, with its pages, that a later worker_room()
 * returns. Does nothing without memory, or if much room waits already.
 */
void worker_make_room(struct worker *w, size_t len);

/* Frees room that is not handed back. */
void worker_drop_room(uint8_t *records);

/*
 * Hands the writer a whole AUXTRACE record, or other whole records: the first @len bytes of
 * @records from worker_room(). It writes them before the next command is done, or at
 * worker_write_now().
 */
void worker_hand(struct worker *w, uint8_t *records, size_t len);

/* As two calls of worker_hand(); nothing comes between the two in the output of a file. */
void worker_hand_both(struct worker *w, uint8_t *first, size_t first_len, uint8_t *second,
		      size_t second_len);

/*
 * Has what was handed over written and flushed without waiting for the reader: by this thread, if
 * it is little, or it wakes the writer.
 */
void worker_write_now(struct worker *w);

/* Returns the bytes that were handed over and are not yet written. */
size_t worker_handed(struct worker *w);

/*
 * With @hold, stops the writer after the run that it writes, and returns when it has stopped; the
 * reader goes on. Without, lets the writer go on, and nothing holds it before worker_resume().
 */
void worker_hold(struct worker *w, bool hold);

/*
 * After WORKER_PAUSE is done, or while the writer is held: replaces the sink and the argument of
 * the functions (but fixup()). worker_resume() is due.
 */
void worker_retarget(struct worker *w, struct sink *sink, void *arg);

/* Ends a pause and a hold, and clears worker_view.full. */
void worker_resume(struct worker *w);

struct worker_view {
	bool flushed; /* all commands are done */
	bool hung_up; /* all events' tasks have ended */
	bool full;    /* the output was full since the last worker_resume() */
	bool ended;   /* the writer has ended; worker_join() does not wait */
	int code;     /* the first error, a negative errno, or 0 */
};

/* Returns the state of the worker now. */
struct worker_view worker_view(struct worker *w);

/*
 * Waits for the end, after WORKER_FINISH or an error. Returns 0, or the first error of either
 * thread, with @err (NULL: not wanted) filled.
 */
int worker_join(struct worker *w, struct error *err);

/* After worker_join(), or before worker_start(). Both remain the worker's. */
struct reader *worker_reader(struct worker *w);
struct overwrite_drain *worker_overwrite_drain(struct worker *w);

/* Returns the fifo between the two threads, which remains the worker's, for fifo_fullness(). */
struct fifo *worker_fifo(struct worker *w);

#endif
