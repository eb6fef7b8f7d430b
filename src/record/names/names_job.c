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
#include "sys/kernel/signal_mask.h"

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
	pthread_condattr_t monotonic;

	if (!j) {
		namer_free(namer);
		return NULL;
	}
	j->namer = namer;
	j->reader = reader ? buildid_reader_get(reader) : NULL;
	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&j->end, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return j;
}

/* The thread has the name of this one, which --exclude-perf leaves out. */
static int start(struct names_job *j)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t before;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	signal_mask_block(&before);
	rc = pthread_create(&thread, &attr, work, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

/* Waits for the thread. Returns whether it has ended; if not, it frees the job. */
static bool wait_for(struct names_job *j, unsigned int ms, struct buf *table,
		     struct names_counts *ret, int *ret_rc)
{
	const struct timespec until = timespec_of_deadline(now_ms() + ms);
	bool ended;
	int rc = 0;

	pthread_mutex_lock(&j->lock);
	while (!j->ended && !rc)
		rc = pthread_cond_timedwait(&j->end, &j->lock, &until);
	ended = j->ended;
	/* While the lock is held, the thread does not free what the table is made of. */
	if (ended)
		*ret_rc = j->rc ?: namer_take(j->namer, table, ret);
	else
		*ret_rc = namer_take_part(j->namer, table, ret);
	j->given_up = !ended;
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
	if (j && start(j))
		run(j); /* the limit of threads is reached */
	if (j && wait_for(j, opts->ms + BEYOND_MS, table, ret, &rc))
		job_free(j);
	if (rc) {
		table->len = was;
		ret->table = (struct compose_counts){0};
		ret->no_memory = true;
	}
}
