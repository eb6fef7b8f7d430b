// SPDX-License-Identifier: Apache-2.0
/*
 * The thread that makes the table of symbols, and who waits for it.
 *
 * The thread may hang in a file system for ever. So it owns all that it uses, and frees it itself
 * if nobody waits any more.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock_ns.h"
#include "record/initial/buildid_reader.h"
#include "record/names/names_priv.h"
#include "sys/kernel/priority.h"
#include "sys/kernel/thread.h"

/* How long the thread may take beyond its limit of time, to compose the table. */
#define BEYOND_MS 1000u
/* Enough for libdw. */
#define STACK_SIZE (1u << 20)

struct names_job {
	struct namer *namer;
	struct buildid_reader *reader; /* a reference; NULL: none */

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t end;
	bool ended, given_up;
	int rc;
};

static void job_free(struct names_job *j)
{
	namer_free(j->namer);
	buildid_reader_put(j->reader);
	pthread_cond_destroy(&j->end);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static void run(struct names_job *j)
{
	bool given_up;
	int rc = namer_run(j->namer);

	pthread_mutex_lock(&j->lock);
	j->rc = rc;
	j->ended = true;
	given_up = j->given_up;
	pthread_cond_signal(&j->end);
	pthread_mutex_unlock(&j->lock);
	if (given_up)
		job_free(j);
}

static void *work(void *arg)
{
	priority_nice(0); /* the recorder's other threads have more */
	run(arg);
	return NULL;
}

static struct names_job *job_new(struct names *n, const struct names_opts *opts)
{
	struct buildid_reader *reader = n->reader;
	struct namer *namer = namer_new(n, opts);
	struct names_job *j = namer ? calloc(1, sizeof(*j)) : NULL;

	if (!j) {
		namer_free(namer);
		return NULL;
	}
	j->namer = namer;
	j->reader = reader ? buildid_reader_get(reader) : NULL;
	pthread_mutex_init(&j->lock, NULL);
	thread_cond_init(&j->end);
	return j;
}

/* The thread has the name of this one, which --exclude-perf leaves out. */
static int start(struct names_job *j)
{
	pthread_t thread;
	int rc = thread_start(STACK_SIZE, work, j, &thread);

	if (!rc)
		pthread_detach(thread);
	return rc;
}

/* --- threads left behind -------------------------------------------------------------------------
 */

/* Frees @j if its thread has ended. Else that does it itself, with @give_up. */
static bool reap(struct names_job *j, bool give_up)
{
	bool ended;

	pthread_mutex_lock(&j->lock);
	ended = j->ended;
	j->given_up = !ended && give_up;
	pthread_mutex_unlock(&j->lock);
	if (ended)
		job_free(j);
	return ended;
}

void names_wait_release(struct names_wait *w)
{
	for (size_t i = 0; i < NAMES_LEFT_MAX; i++)
		if (w->left[i].job)
			reap(w->left[i].job, true);
	*w = (struct names_wait){0};
}

/* Makes @r do without what threads hang in. Returns how many more may be left behind. */
static size_t look_at_left(struct names_wait *w, struct namer *r)
{
	size_t room = 0;

	for (size_t i = 0; i < NAMES_LEFT_MAX; i++) {
		struct names_left *l = &w->left[i];

		if (!l->job || reap(l->job, false)) {
			*l = (struct names_left){0};
			room++;
		} else if (l->file) {
			namer_skip(r, l->maj, l->min);
		}
	}
	return room;
}

/* Keeps @j, whose lock is held, or lets it free itself. */
static void leave(struct names_job *j, struct names_wait *w)
{
	namer_hurry(j->namer);
	for (size_t i = 0; w && i < NAMES_LEFT_MAX; i++) {
		struct names_left *l = &w->left[i];

		if (l->job)
			continue;
		l->job = j;
		l->file = namer_at(j->namer, &l->maj, &l->min);
		return;
	}
	j->given_up = true;
}

/* --- the table -----------------------------------------------------------------------------------
 */

static void wait_until(struct names_job *j, const struct names_opts *opts)
{
	const struct patience *p = opts->wait ? &opts->wait->patience : NULL;
	uint64_t until = now_ms() + opts->ms + BEYOND_MS;
	int rc = 0;

	while (!j->ended && !rc)
		rc = patience_wait(p, &j->end, &j->lock, until);
	if (rc != -ECANCELED)
		return;
	namer_hurry(j->namer);
	until = now_ms() + PATIENCE_BREATH_MS;
	for (rc = 0; !j->ended && !rc;)
		rc = patience_wait(NULL, &j->end, &j->lock, until);
}

/* Waits for the thread. Returns whether it has ended; if not, the job is left behind. */
static bool wait_for(struct names_job *j, const struct names_opts *opts, struct buf *table,
		     struct names_counts *ret, int *ret_rc)
{
	bool ended;

	pthread_mutex_lock(&j->lock);
	wait_until(j, opts);
	ended = j->ended;
	/* While the lock is held, the thread does not free what the table is made of. */
	if (ended)
		*ret_rc = j->rc ?: namer_take(j->namer, table, ret);
	else
		*ret_rc = namer_take_part(j->namer, table, ret);
	if (!ended)
		leave(j, opts->wait);
	pthread_mutex_unlock(&j->lock);
	return ended;
}

void names_table(struct names *n, const struct names_opts *opts, struct buf *table,
		 struct names_counts *ret)
{
	struct names_job *j = job_new(n, opts);
	size_t was = table->len;
	int rc = j ? 0 : -ENOMEM;

	*ret = (struct names_counts){0};
	if (j && opts->wait && !look_at_left(opts->wait, j->namer)) {
		namer_hurry(j->namer);
		run(j); /* reads nothing */
	} else if (j && start(j)) {
		run(j); /* the limit of threads is reached */
	}
	if (j && wait_for(j, opts, table, ret, &rc))
		job_free(j);
	if (rc) {
		table->len = was;
		ret->table = (struct compose_counts){0};
		ret->no_memory = true;
	}
}
