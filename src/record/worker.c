// SPDX-License-Identifier: Apache-2.0
#include "record/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Bytes taken after which all rings are visited, so that readers can sort in little memory. */
#define ROUND_BYTES (8u << 20)

struct worker {
	struct worker_opts opts;
	struct chunk_pool *pool;
	struct reader *reader;
	uint64_t since_round; /* bytes */
	int wake;	      /* an eventfd: there is a command */
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* guards what follows */
	enum worker_command command;
	uint64_t asked, done; /* numbers of commands */
	bool paused;	      /* until @resumed */
	pthread_cond_t resumed;
	bool hung_up, full, ended;
	struct error err;
};

int worker_new(const struct worker_opts *opts, struct worker **ret, struct error *err)
{
	struct worker *w = calloc(1, sizeof(*w));
	int code;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->opts = *opts;
	w->wake = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->resumed, NULL);
	w->pool = chunk_pool_new(opts->chunks, opts->chunk_bytes);
	if (!w->pool) {
		code = error_set(err, -ENOMEM, "no memory for a pool of %zu chunks", opts->chunks);
		goto failed;
	}
	code = reader_new(w->pool, opts->sink, opts->rounds, &w->reader, err);
	if (code)
		goto failed;
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	code = w->wake < 0 ? error_sys(err, -errno, "eventfd")
			   : reader_watch(w->reader, w->wake, err);
	if (code)
		goto failed;
	*ret = w;
	return 0;
failed:
	worker_free(w);
	return code;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	reader_free(w->reader);
	chunk_pool_free(w->pool);
	if (w->wake >= 0)
		close(w->wake);
	pthread_cond_destroy(&w->resumed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_add_ring(struct worker *w, const struct reader_source *source, struct error *err)
{
	return reader_add(w->reader, source, err);
}

struct reader *worker_reader(struct worker *w)
{
	return w->reader;
}

size_t worker_pool_bytes(const struct worker *w)
{
	return chunk_pool_bytes(w->pool);
}

/* --- the worker's own thread ---------------------------------------------------------------------
 */

/* An eventfd's counter cannot overflow here, and a full one is readable as well. */
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

static int take_all(struct worker *w, uint64_t *ret_bytes, struct error *err)
{
	w->since_round = 0;
	return reader_pass_all(w->reader, ret_bytes, err);
}

static int take_ready(struct worker *w, struct error *err)
{
	uint64_t bytes = 0;
	int code = reader_pass_ready(w->reader, &bytes, err);

	w->since_round += bytes;
	if (!code && w->since_round > ROUND_BYTES)
		code = take_all(w, NULL, err);
	return code;
}

static int flush(struct worker *w, struct error *err)
{
	int code = sink_flush(w->opts.sink, err);

	if (!code && w->opts.flushed)
		w->opts.flushed(w->opts.arg);
	return code;
}

static int carry_out(struct worker *w, enum worker_command command, struct error *err)
{
	uint64_t bytes = 0;
	int code;

	do {
		code = take_all(w, &bytes, err);
	} while (!code && bytes && command == WORKER_DRAIN);
	return code ? code : flush(w, err);
}

static void wait_for_resume(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->paused)
		pthread_cond_wait(&w->resumed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* Does what it was told. *@ret_end: to end. */
static int obey(struct worker *w, bool *ret_end, struct error *err)
{
	enum worker_command command;
	uint64_t asked;
	int code;

	forget_notices(w->wake);
	pthread_mutex_lock(&w->lock);
	command = w->command;
	asked = w->asked;
	w->command = WORKER_GO_ON;
	pthread_mutex_unlock(&w->lock);
	if (command == WORKER_GO_ON)
		return 0;
	code = carry_out(w, command, err);
	if (code)
		return code;
	pthread_mutex_lock(&w->lock);
	/* Told to end meanwhile, it does not wait. */
	w->paused = command == WORKER_PAUSE && w->command != WORKER_DRAIN;
	w->done = asked;
	pthread_mutex_unlock(&w->lock);
	notify(w->opts.report);
	if (command == WORKER_PAUSE)
		wait_for_resume(w);
	*ret_end = command == WORKER_DRAIN;
	return 0;
}

static void look_for_limit(struct worker *w)
{
	bool news;

	if (!w->opts.passed || !w->opts.passed(w->opts.arg))
		return;
	pthread_mutex_lock(&w->lock);
	news = !w->full;
	w->full = true;
	pthread_mutex_unlock(&w->lock);
	if (news)
		notify(w->opts.report);
}

static void look_for_hangup(struct worker *w)
{
	bool news;

	if (!reader_hung_up(w->reader))
		return;
	pthread_mutex_lock(&w->lock);
	news = !w->hung_up;
	w->hung_up = true;
	pthread_mutex_unlock(&w->lock);
	if (news)
		notify(w->opts.report);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct error err = ERROR_INIT;
	bool end = false;
	int code = 0, told, fd;

	while (!code && !end) {
		told = reader_wait(w->reader, &fd, 1, &err);
		code = told < 0 ? told : take_ready(w, &err);
		look_for_hangup(w);
		look_for_limit(w);
		if (!code && told > 0)
			code = obey(w, &end, &err);
	}
	/* Of what was handed on, whatever the disk still takes. */
	if (code && w->opts.failed)
		w->opts.failed(w->opts.arg, code);
	pthread_mutex_lock(&w->lock);
	w->err = err;
	w->err.code = code;
	w->ended = true;
	pthread_mutex_unlock(&w->lock);
	notify(w->opts.report);
	return NULL;
}

/* --- the main thread -----------------------------------------------------------------------------
 */

/* Returns 0 or a negative errno. */
static int set_affinity(pthread_attr_t *attr, const struct cpus *cpus)
{
	cpu_set_t *set;
	size_t size;
	int code;

	if (!cpus || !cpus->nr)
		return 0;
	set = CPU_ALLOC((size_t)cpus->ids[cpus->nr - 1] + 1);
	if (!set)
		return -ENOMEM;
	size = CPU_ALLOC_SIZE((size_t)cpus->ids[cpus->nr - 1] + 1);
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < cpus->nr; i++)
		CPU_SET_S((size_t)cpus->ids[i], size, set);
	code = -pthread_attr_setaffinity_np(attr, size, set);
	CPU_FREE(set);
	return code;
}

/* Signals are the main thread's: the mask is inherited. */
static int create_thread(struct worker *w, const pthread_attr_t *attr)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = -pthread_create(&w->thread, attr, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

int worker_start(struct worker *w, struct error *err)
{
	pthread_attr_t attr;
	int code = -pthread_attr_init(&attr);

	if (code)
		return error_sys(err, code, "a thread");
	code = set_affinity(&attr, w->opts.affinity);
	if (!code)
		code = create_thread(w, &attr);
	pthread_attr_destroy(&attr);
	w->started = !code;
	return code ? error_sys(err, code, "cannot start a thread that reads rings") : 0;
}

void worker_ask(struct worker *w, enum worker_command command)
{
	pthread_mutex_lock(&w->lock);
	if (command > w->command)
		w->command = command;
	w->asked++;
	if (command == WORKER_DRAIN) {
		w->paused = false;
		pthread_cond_signal(&w->resumed);
	}
	pthread_mutex_unlock(&w->lock);
	notify(w->wake);
}

void worker_retarget(struct worker *w, struct sink *sink, void *arg)
{
	pthread_mutex_lock(&w->lock);
	w->opts.sink = sink;
	w->opts.arg = arg;
	reader_set_sink(w->reader, sink);
	pthread_mutex_unlock(&w->lock);
}

void worker_resume(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->paused = w->full = false;
	pthread_cond_signal(&w->resumed);
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
	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
	if (w->err.code && err)
		*err = w->err;
	return w->err.code;
}
