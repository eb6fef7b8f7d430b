// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "base/human.h"
#include "record/aux/room.h"
#include "record/plan/options.h"
#include "sys/kernel/priority.h"
#include "sys/kernel/thread.h"

/* After so many bytes a reader drains all rings, so that reports can sort in little memory. */
#define ROUND_BYTES (8u << 20)

/*
 * Bytes of a thread's stack: enough for readers and writers; zstd goes deepest. Libc unmaps stacks
 * of the default 8 MB one by one as threads end, and keeps small ones.
 */
#define STACK_SIZE (256u << 10)

/* A flag in a mark: the writer ends here. The rest of a mark is the number of the command. */
#define MARK_END (1ull << 63)

/* The main thread writes so much itself. While it writes it serves nothing else. */
#define DIRECT_MOST ((size_t)8 << 20)

struct worker {
	struct worker_opts opts;
	struct fifo *fifo;
	struct reader *reader;
	struct overwrite_drain *overwrite;
	uint64_t since_round; /* bytes drained since the last pass over all rings */
	int wake;	      /* an eventfd that wakes the reader: a command, or room in the fifo */
	pthread_t read_thread, write_thread;
	bool reading, writing; /* the threads were started */

	pthread_mutex_t lock; /* guards what follows */
	enum worker_command command;
	uint64_t asked, done; /* numbers of commands */
	bool reads;	      /* the reader has begun */
	bool paused;	      /* the reader waits for @resumed */
	pthread_cond_t resumed;
	bool held, waived;     /* held: the writer is to stop; waived: nothing stops it any more */
	bool retargeting;      /* worker_hold() stopped it, not a full output */
	bool busy;	       /* a thread uses the sink */
	bool failed;	       /* the sink has failed; its user's */
	pthread_cond_t turned; /* reads, held, waived or busy has changed */
	bool hung_up, full, ended;
	struct room *handed, **handed_end; /* by the main thread, in this order */
	size_t handed_bytes;		   /* not yet written */
	struct room_store spare;
	struct error err;
};

int worker_new(const struct worker_opts *opts, struct worker **ret, struct error *err)
{
	struct worker *w = calloc(1, sizeof(*w));
	char size[HUMAN_SIZE_SIZE];
	int rc;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->opts = *opts;
	w->wake = -1;
	w->handed_end = &w->handed;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->resumed, NULL);
	thread_cond_init(&w->turned);
	w->fifo = fifo_new(opts->buffer);
	if (!w->fifo) {
		rc = error_set(err, -ENOMEM,
			       "no memory for a buffer of %s: give less with --buffer-memory",
			       human_size(opts->buffer, size));
		goto failed;
	}
	rc = reader_new(w->fifo, opts->shed, opts->rounds, &w->reader, err);
	if (rc)
		goto failed;
	reader_set_least(w->reader, opts->least);
	w->overwrite = overwrite_drain_new(w->fifo);
	if (!w->overwrite) {
		rc = error_set(err, -ENOMEM, "out of memory");
		goto failed;
	}
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = w->wake < 0 ? error_sys(err, -errno, "eventfd")
			 : reader_watch(w->reader, w->wake, err);
	if (rc)
		goto failed;
	*ret = w;
	return 0;
failed:
	worker_free(w);
	return rc;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	rooms_free(w->handed);
	rooms_free(w->spare.first);
	overwrite_drain_free(w->overwrite);
	reader_free(w->reader);
	fifo_free(w->fifo);
	if (w->wake >= 0)
		close(w->wake);
	pthread_cond_destroy(&w->turned);
	pthread_cond_destroy(&w->resumed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_add_ring(struct worker *w, const struct reader_source *source, struct error *err)
{
	return source->overwritten ? overwrite_drain_add(w->overwrite, source, err)
				   : reader_add(w->reader, source, err);
}

struct reader *worker_reader(struct worker *w)
{
	return w->reader;
}

struct overwrite_drain *worker_overwrite_drain(struct worker *w)
{
	return w->overwrite;
}

struct fifo *worker_fifo(struct worker *w)
{
	return w->fifo;
}

/* --- both threads --------------------------------------------------------------------------------
 */

/* A failed write is harmless: it means that the counter is full, and the eventfd readable. */
static void notify(int fd)
{
	const uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

static void forget_notices(int fd)
{
	uint64_t n;
	ssize_t got = read(fd, &n, sizeof(n));

	(void)got;
}

/* Sets a flag of the view, and notifies the main thread if it was not set. */
static void raise_flag(struct worker *w, bool *flag)
{
	bool news;

	pthread_mutex_lock(&w->lock);
	news = !*flag;
	*flag = true;
	pthread_mutex_unlock(&w->lock);
	if (news)
		notify(w->opts.report);
}

/* Stores the first error of either thread. */
static void report_error(struct worker *w, const struct error *err)
{
	pthread_mutex_lock(&w->lock);
	if (!w->err.code)
		w->err = *err;
	pthread_mutex_unlock(&w->lock);
	notify(w->opts.report);
}

static void name_thread(const char *what, unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%u", what, number);
	pthread_setname_np(pthread_self(), name);
}

/* --- the reader's thread -------------------------------------------------------------------------
 */

static uint64_t take_all(struct worker *w, bool patient)
{
	w->since_round = 0;
	return reader_pass_all(w->reader, patient);
}

static int take_ready(struct worker *w, struct error *err)
{
	uint64_t bytes = 0;
	int rc = reader_pass_ready(w->reader, &bytes, err);

	w->since_round += bytes;
	if (!rc && w->since_round > ROUND_BYTES) {
		w->since_round = 0;
		reader_pass_round(w->reader);
	}
	return rc;
}

/* If records stay in a ring for lack of room, lets the writer wake the reader when there is room.
 */
static void ask_for_room(struct worker *w)
{
	if (reader_waits(w->reader) && !fifo_want_room(w->fifo))
		notify(w->wake);
}

static void wait_for_resume(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->paused)
		pthread_cond_wait(&w->resumed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/*
 * Drains rings for @command. It pauses overwrite rings first: the sideband that resolves their
 * samples is then in the sideband rings, which it drains before and between the overwrite rings.
 */
static int drain_for(struct worker *w, enum worker_command command, struct error *err)
{
	/* At the end events are disabled: rings do not fill while the reader waits for the disk. */
	bool end = command == WORKER_FINISH, overwrite = command >= WORKER_PAUSE;
	int rc = overwrite ? overwrite_drain_pause(w->overwrite, err) : 0;

	while (!rc && take_all(w, end) && end)
		;
	for (size_t i = 0; !rc && overwrite && i < overwrite_drain_rings(w->overwrite); i++) {
		rc = overwrite_drain_take(w->overwrite, i, !end, err);
		take_all(w, end);
	}
	return rc;
}

/*
 * Carries out the reader's part of the waiting command, and sends the writer a mark for its part.
 * Sets *@ret_end after WORKER_FINISH.
 */
static int run_command(struct worker *w, bool *ret_end, struct error *err)
{
	enum worker_command command;
	uint64_t asked;
	int rc;

	forget_notices(w->wake);
	pthread_mutex_lock(&w->lock);
	command = w->command;
	asked = w->asked;
	w->command = WORKER_NONE;
	pthread_mutex_unlock(&w->lock);
	if (command == WORKER_NONE)
		return 0;
	rc = drain_for(w, command, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&w->lock);
	/* worker_ask() has cleared @paused before it was set here, so the reader must not wait. */
	w->paused = command == WORKER_PAUSE && w->command != WORKER_FINISH;
	pthread_mutex_unlock(&w->lock);
	fifo_mark(w->fifo, asked | (command == WORKER_FINISH ? MARK_END : 0));
	if (command == WORKER_PAUSE)
		wait_for_resume(w);
	*ret_end = command == WORKER_FINISH;
	return 0;
}

/*
 * The recorded load competes with the reader for CPUs, and has more threads. The reader runs at
 * real-time priority, because the kernel drops records when it is late, and it only copies.
 * (Measured, a storm on all CPUs into rings of 512 KB: with both threads at nice -15 1 % is lost,
 * because the reader waits for the writer's time slice; with real-time priority none.) The writer
 * needs none, because the fifo holds the records while it is late.
 */
static void raise_reader(const struct worker *w)
{
	if (priority_realtime(w->opts.realtime ? w->opts.realtime : RECORD_REALTIME))
		priority_nice(RECORD_NICE_READER);
}

static void say_that_it_reads(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->reads = true;
	pthread_cond_broadcast(&w->turned);
	pthread_mutex_unlock(&w->lock);
}

static void *read_main(void *arg)
{
	struct worker *w = arg;
	struct error err = ERROR_INIT;
	bool end = false;
	int rc = 0, woken, fd;

	name_thread("reader", w->opts.number);
	raise_reader(w);
	say_that_it_reads(w);
	while (!rc && !end) {
		ask_for_room(w);
		woken = reader_wait(w->reader, &fd, 1, &err);
		rc = woken < 0 ? woken : take_ready(w, &err);
		if (reader_hung_up(w->reader))
			raise_flag(w, &w->hung_up);
		if (!rc && woken > 0)
			rc = run_command(w, &end, &err);
	}
	if (rc) {
		err.code = rc;
		report_error(w, &err);
		fifo_mark(w->fifo, MARK_END);
	}
	return NULL;
}

/* --- the writer's thread -------------------------------------------------------------------------
 */

static int flush(struct worker *w, struct error *err)
{
	int rc = sink_flush(w->opts.sink, err);

	if (!rc && w->opts.flushed)
		w->opts.flushed(w->opts.arg);
	return rc;
}

/*
 * Waits while the writer is held, then claims the sink until give_sink(). At the @end no record of
 * a next output follows, so a full output does not hold the writer.
 */
static void take_sink(struct worker *w, bool end)
{
	pthread_mutex_lock(&w->lock);
	while (w->busy || (w->held && !w->waived && (!end || w->retargeting)))
		pthread_cond_wait(&w->turned, &w->lock);
	if (end)
		w->full = false;
	w->busy = true;
	pthread_mutex_unlock(&w->lock);
}

static void give_sink(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->busy = false;
	pthread_cond_broadcast(&w->turned);
	pthread_mutex_unlock(&w->lock);
}

/* After a write: reports an output that is full, and holds the writer as worker_opts.hold says. */
static void look_whether_full(struct worker *w)
{
	if (!w->opts.passed || !w->opts.passed(w->opts.arg))
		return;
	if (w->opts.hold) {
		pthread_mutex_lock(&w->lock);
		w->held = true;
		pthread_mutex_unlock(&w->lock);
	}
	raise_flag(w, &w->full);
}

/*
 * Writes a piece of the fifo, which is the writer's until fifo_done(): the fixup may change it in
 * place.
 */
static int write_run(struct worker *w, const struct run *run, struct error *err)
{
	int rc;

	if (w->opts.fixup && !run_is_aux(run))
		w->opts.fixup(w->opts.fixup_arg, run->cpu, (uint8_t *)run->a, run->a_len);
	rc = sink_write(w->opts.sink, run, err);
	if (!rc)
		look_whether_full(w);
	return rc || !w->opts.unbuffered ? rc : flush(w, err);
}

static void was_written(struct worker *w, struct room *room)
{
	bool kept;

	pthread_mutex_lock(&w->lock);
	w->handed_bytes -= room->len;
	kept = room_keep(&w->spare, room);
	pthread_mutex_unlock(&w->lock);
	if (!kept)
		free(room);
}

/*
 * Writes the records that the main thread handed over; counts them as lost if the sink has failed.
 * At the @end an output that gets full is not reported: no next one follows.
 */
static int write_handed(struct worker *w, bool end, struct error *err)
{
	struct room *room, *next;
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	room = w->handed;
	w->handed = NULL;
	w->handed_end = &w->handed;
	pthread_mutex_unlock(&w->lock);
	for (; room; room = next) {
		const struct run run = {
			.a = room->records,
			.a_len = room->len,
			.ring = RUN_NO_RING,
			.cpu = -1,
		};

		next = room->next;
		if (!w->failed && !rc)
			rc = sink_write(w->opts.sink, &run, err);
		else if (w->opts.discard)
			w->opts.discard(w->opts.arg, &run);
		if (!w->failed && !rc && !end)
			look_whether_full(w);
		was_written(w, room);
	}
	return rc;
}

/* After a use of the sink that returned @rc: reports its first failure. */
static void check(struct worker *w, int rc, struct error *err)
{
	if (!rc || w->failed)
		return;
	w->failed = true;
	err->code = rc;
	if (w->opts.failed)
		w->opts.failed(w->opts.arg, err->code);
	report_error(w, err);
}

/* At a mark: writes what was handed over, and flushes all. */
static void write_rest(struct worker *w, bool end)
{
	struct error err = ERROR_INIT;
	int rc = write_handed(w, end, &err);

	if (!rc && !w->failed)
		rc = flush(w, &err);
	check(w, rc, &err);
}

static void write_piece(struct worker *w, const struct run *run)
{
	struct error err = ERROR_INIT;

	if (!w->failed)
		check(w, write_run(w, run, &err), &err);
	else if (w->opts.discard)
		w->opts.discard(w->opts.arg, run);
	if (fifo_done(w->fifo))
		notify(w->wake);
}

static void command_done(struct worker *w, uint64_t number)
{
	pthread_mutex_lock(&w->lock);
	w->done = number > w->done ? number : w->done;
	fifo_hurry(w->fifo, w->done < w->asked);
	pthread_mutex_unlock(&w->lock);
	notify(w->opts.report);
}

static void *write_main(void *arg)
{
	struct worker *w = arg;
	uint64_t mark = 0;
	struct run run;
	bool failed;

	name_thread("writer", w->opts.number);
	priority_nice(RECORD_NICE);
	while (!(mark & MARK_END)) {
		mark = fifo_wait(w->fifo, &run);
		take_sink(w, mark & MARK_END);
		if (mark)
			write_rest(w, mark & MARK_END);
		else
			write_piece(w, &run);
		failed = w->failed;
		give_sink(w);
		if (mark && mark != FIFO_NUDGE && !failed)
			command_done(w, mark & ~MARK_END);
	}
	raise_flag(w, &w->ended);
	return NULL;
}

/* --- the main thread -----------------------------------------------------------------------------
 */

/* Returns 0 or a negative errno. */
static int set_affinity(pthread_attr_t *attr, const struct cpus *cpus)
{
	cpu_set_t *set;
	size_t size;
	int rc;

	if (!cpus || !cpus->nr)
		return 0;
	set = cpus_to_set(cpus, &size);
	if (!set)
		return -ENOMEM;
	rc = -pthread_attr_setaffinity_np(attr, size, set);
	CPU_FREE(set);
	return rc;
}

/* Creates a thread. If all CPUs of its affinity have gone offline, it runs on any CPU. */
static int create_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *arg),
			 struct worker *w)
{
	int rc = -pthread_create(thread, attr, main, w);

	return rc == -EINVAL ? -pthread_create(thread, NULL, main, w) : rc;
}

/* Both threads inherit the mask: the main thread handles the signals of the process. */
static int create_threads(struct worker *w, const pthread_attr_t *attr)
{
	sigset_t before;
	int rc;

	thread_mask_signals(&before);
	rc = create_thread(&w->write_thread, attr, write_main, w);
	w->writing = !rc;
	if (!rc) {
		rc = create_thread(&w->read_thread, attr, read_main, w);
		w->reading = !rc;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int worker_start(struct worker *w, struct error *err)
{
	pthread_attr_t attr;
	int rc = -pthread_attr_init(&attr);

	if (rc)
		return error_sys(err, rc, "a thread");
	rc = -pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (!rc)
		rc = set_affinity(&attr, w->opts.affinity);
	if (!rc)
		rc = create_threads(w, &attr);
	pthread_attr_destroy(&attr);
	return rc ? error_sys(err, rc, "cannot start a thread that reads rings") : 0;
}

void worker_await(struct worker *w, uint64_t deadline)
{
	const struct timespec until = timespec_of_deadline(deadline);
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	while (!w->reads && !rc)
		rc = pthread_cond_timedwait(&w->turned, &w->lock, &until);
	pthread_mutex_unlock(&w->lock);
}

void worker_ask(struct worker *w, enum worker_command command)
{
	pthread_mutex_lock(&w->lock);
	if (command > w->command)
		w->command = command;
	w->asked++;
	fifo_hurry(w->fifo, true);
	if (command == WORKER_FINISH) {
		w->paused = false;
		pthread_cond_signal(&w->resumed);
	}
	pthread_mutex_unlock(&w->lock);
	notify(w->wake);
}

void worker_make_room(struct worker *w, size_t len)
{
	room_add(&w->spare, len);
}

uint8_t *worker_room(struct worker *w, size_t len)
{
	struct room *room;

	pthread_mutex_lock(&w->lock);
	room = room_take(&w->spare, len);
	pthread_mutex_unlock(&w->lock);
	if (!room)
		room = room_new(len);
	return room ? room->records : NULL;
}

void worker_drop_room(uint8_t *records)
{
	free(room_of(records));
}

/* The caller holds the lock. */
static void hand(struct worker *w, uint8_t *records, size_t len)
{
	struct room *room = room_of(records);

	room->next = NULL;
	room->len = len;
	*w->handed_end = room;
	w->handed_end = &room->next;
	w->handed_bytes += len;
}

void worker_hand(struct worker *w, uint8_t *records, size_t len)
{
	pthread_mutex_lock(&w->lock);
	hand(w, records, len);
	pthread_mutex_unlock(&w->lock);
}

void worker_hand_both(struct worker *w, uint8_t *first, size_t first_len, uint8_t *second,
		      size_t second_len)
{
	pthread_mutex_lock(&w->lock);
	hand(w, first, first_len);
	hand(w, second, second_len);
	pthread_mutex_unlock(&w->lock);
}

void worker_write_now(struct worker *w)
{
	bool here;

	pthread_mutex_lock(&w->lock);
	here = w->opts.direct && w->handed_bytes <= DIRECT_MOST && !w->busy &&
	       !(w->held && !w->waived);
	w->busy |= here;
	pthread_mutex_unlock(&w->lock);
	if (!here) {
		fifo_nudge(w->fifo);
		return;
	}
	write_rest(w, false);
	give_sink(w);
}

size_t worker_handed(struct worker *w)
{
	size_t bytes;

	pthread_mutex_lock(&w->lock);
	bytes = w->handed_bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

void worker_hold(struct worker *w, bool hold)
{
	pthread_mutex_lock(&w->lock);
	w->held = w->retargeting = hold;
	w->waived = !hold;
	pthread_cond_broadcast(&w->turned);
	while (hold && w->busy)
		pthread_cond_wait(&w->turned, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void worker_retarget(struct worker *w, struct sink *sink, void *arg)
{
	pthread_mutex_lock(&w->lock);
	w->opts.sink = sink;
	w->opts.arg = arg;
	pthread_mutex_unlock(&w->lock);
}

void worker_resume(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->paused = w->full = w->held = w->waived = w->retargeting = false;
	pthread_cond_signal(&w->resumed);
	pthread_cond_broadcast(&w->turned);
	pthread_mutex_unlock(&w->lock);
}

struct worker_view worker_view(struct worker *w)
{
	struct worker_view view;

	pthread_mutex_lock(&w->lock);
	view = (struct worker_view){
		.flushed = w->done == w->asked,
		.hung_up = w->hung_up,
		.full = w->full,
		.ended = w->ended,
		.code = w->err.code,
	};
	pthread_mutex_unlock(&w->lock);
	return view;
}

int worker_join(struct worker *w, struct error *err)
{
	if (w->reading)
		pthread_join(w->read_thread, NULL);
	else if (w->writing)
		fifo_mark(w->fifo, MARK_END); /* no reader is there to send it */
	if (w->writing)
		pthread_join(w->write_thread, NULL);
	w->reading = w->writing = false;
	if (w->err.code && err)
		*err = w->err;
	return w->err.code;
}
