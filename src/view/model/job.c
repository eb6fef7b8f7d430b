// SPDX-License-Identifier: Apache-2.0
#include "view/model/job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void progress(unsigned int pass, uint64_t done, uint64_t total, void *arg)
{
	struct view_job *j = arg;

	atomic_store_explicit(&j->pass, pass, memory_order_relaxed);
	atomic_store_explicit(&j->done, done, memory_order_relaxed);
	atomic_store_explicit(&j->total, total, memory_order_relaxed);
}

void job_watch(struct view_job *j, struct trace *t)
{
	t->opts.progress = progress;
	t->opts.progress_arg = j;
	t->opts.stop = &j->stop;
}

int job_init(struct view_job *j)
{
	*j = (struct view_job){.ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	return j->ended < 0 ? -errno : 0;
}

void job_table_free(struct job_table *t)
{
	if (!t)
		return;
	report_free(t->report);
	free(t);
}

static void drop_result(struct view_job *j)
{
	job_table_free(j->table);
	code_free(j->code);
	j->table = NULL;
	j->code = NULL;
}

void job_release(struct view_job *j)
{
	job_stop(j);
	while (!job_take(j, 1000))
		;
	drop_result(j);
	if (j->ended >= 0)
		close(j->ended);
	j->ended = -1;
}

/* The span of the slices: that of the filter, or of all samples. */
static void place_slices(struct report_opts *opts, const struct trace *t)
{
	struct report_slices *s = &opts->slices;

	s->first = opts->filter.start ?: t->counts.first_time;
	s->last = opts->filter.stop ?: t->counts.last_time;
	s->nr = s->last > s->first ? JOB_SLICES : 0;
}

static int make_table(struct view_job *j)
{
	struct job_table *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return error_sys(&j->err, -ENOMEM, "%s", j->trace->opts.path);
	t->trace = j->trace;
	t->opts = j->opts;
	t->opts.stop = &j->stop;
	place_slices(&t->opts, t->trace);
	rc = report_run(t->trace, &t->opts, &t->report, &j->err);
	if (rc < 0)
		free(t);
	else
		j->table = t;
	return rc;
}

static void *run(void *arg)
{
	struct view_job *j = arg;

	if (j->load)
		j->rc = j->load(j->arg, j, &j->trace, &j->err);
	if (!j->rc && j->code_of.sym)
		j->rc = code_load(j->trace, &j->opts.filter, &j->code_of, j->event, &j->code,
				  &j->err);
	else if (!j->rc)
		j->rc = make_table(j);
	if (!j->rc && atomic_load(&j->stop))
		j->rc = error_set(&j->err, -ECANCELED, "stopped");
	eventfd_write(j->ended, 1);
	return NULL;
}

int job_start(struct view_job *j)
{
	int rc;

	drop_result(j);
	atomic_store(&j->stop, false);
	atomic_store(&j->pass, 0);
	atomic_store(&j->done, 0);
	atomic_store(&j->total, 0);
	j->rc = 0;
	j->err = (struct error)ERROR_INIT;
	rc = pthread_create(&j->thread, NULL, run, j);
	j->running = !rc;
	return -rc;
}

void job_stop(struct view_job *j)
{
	atomic_store(&j->stop, true);
}

bool job_take(struct view_job *j, unsigned int ms)
{
	struct pollfd p = {.fd = j->ended, .events = POLLIN};
	eventfd_t n;

	if (!j->running)
		return true;
	if (poll(&p, 1, (int)ms) != 1)
		return false;
	eventfd_read(j->ended, &n);
	pthread_join(j->thread, NULL);
	j->running = false;
	return true;
}
