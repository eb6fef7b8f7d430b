// SPDX-License-Identifier: Apache-2.0
#include "export/stream/export.h"

#include <string.h>

#include "auxtrace/itrace/samples.h"

struct exporter {
	const struct export_job *job;
	const struct export_format *format;
	void *writer;
	struct frames frames;
	struct timeline timeline;
	uint64_t samples;
	bool writer_failed;
};

/* A branch in a hardware trace is no place where time was spent; an error has no event. */
static bool is_wanted(const struct export_opts *opts, const struct walk_sample *ws)
{
	if (!ws->evsel || (ws->made && ws->made->kind == ITRACE_BRANCHES))
		return false;
	if (opts->event && strcmp(opts->event, ws->evsel->name) != 0)
		return false;
	return filter_sample(&opts->filter, &ws->s);
}

static bool passes_row(struct exporter *x, const struct export_sample *s)
{
	const struct walk_sample *ws = s->ws;
	const struct filter *f = &x->job->opts->filter;
	struct frame at = {0};

	if (filter_needs_frame(f))
		frames_resolve(&x->frames, ws->s.pid, ws->s.cpumode, ws->s.ip, ws->rec->at, &at);
	return filter_row(f, s->comm, &at);
}

/* Notes a failure of the writer or the output. Returns it, or 0. */
static int check_writer(struct exporter *x, int rc)
{
	if (!rc)
		rc = x->job->out->rc;
	x->writer_failed = rc < 0;
	return rc;
}

static bool passes_task(const struct exporter *x, const struct timeline_event *e,
			const struct timeline_task *task)
{
	const struct pd_sample s = {
		.pid = task->pid, .tid = task->tid, .cpu = e->cpu, .time = e->time};
	const struct filter *f = &x->job->opts->filter;

	return filter_sample(f, &s) && filter_comm(f, task->comm);
}

/* Options that choose code, or an event, say nothing of what happened beside samples. */
static int take_event(const struct timeline_event *e, void *arg)
{
	struct exporter *x = arg;

	if (!passes_task(x, e, &e->task) &&
	    (e->other.tid == TIMELINE_NONE || !passes_task(x, e, &e->other)))
		return 0;
	return check_writer(x, x->format->event(x->writer, e));
}

static int take_record(const struct data_record *rec, const struct pd_record *r, void *arg)
{
	struct exporter *x = arg;

	return timeline_record(&x->timeline, rec, r);
}

static int give_sample(const struct walk_sample *ws, void *arg)
{
	struct exporter *x = arg;
	const struct export_opts *opts = x->job->opts;
	struct export_sample s = {.ws = ws};
	int rc;

	if (!is_wanted(opts, ws))
		return 0;
	s.comm = state_comm(x->job->trace->state, ws->s.pid, ws->s.tid, ws->rec->at);
	if (!passes_row(x, &s))
		return 0;
	rc = frames_of_sample(&x->frames, ws, opts->max_stack);
	if (!rc && ws->wait)
		rc = wait_mark(ws->wait, &x->frames);
	if (rc < 0)
		return rc;
	s.frame = x->frames.frame;
	s.nr_frames = x->frames.nr;
	x->samples++;
	return check_writer(x, x->format->sample(x->writer, &s));
}

static int note_sample(const struct walk_sample *ws, void *arg)
{
	struct exporter *x = arg;

	return timeline_sample(&x->timeline, ws);
}

static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct exporter *x = arg;
	int rc = x->format->event ? note_sample(ws, x) : 0;

	return rc ?: give_sample(ws, x);
}

static int walk(struct exporter *x, struct error *err)
{
	const struct export_job *job = x->job;
	const struct walk_takers takers = {
		.sample = take_sample,
		.record = x->format->event ? take_record : NULL,
		.arg = x,
	};
	struct waits_opts waits = {0};
	struct waits_counts counts;

	if (!job->opts->waits)
		return walk_ordered(job->trace, &takers, err);
	waits = *job->opts->waits;
	waits.record = takers.record;
	waits.sample = x->format->event ? note_sample : NULL;
	waits.arg = x;
	return waits_walk(job->trace, &waits, give_sample, x, &counts, err);
}

static int run(struct exporter *x, struct error *err)
{
	const struct export_job *job = x->job;
	int rc = x->format->open(job, &x->writer);

	x->writer_failed = rc < 0;
	if (!rc)
		rc = walk(x, err);
	if (rc >= 0) {
		rc = x->format->close(x->writer);
		x->writer_failed = rc < 0;
	}
	for (size_t i = 0; rc >= 0 && (!i || (x->format->files && x->format->files[i])); i++)
		rc = out_flush(&job->out[i]);
	return rc;
}

int export_run(struct trace *t, const struct export_format *format, const struct export_opts *opts,
	       struct out *out, uint64_t *ret_samples, struct error *err)
{
	struct error own = ERROR_INIT;
	const struct export_job job = {.trace = t, .opts = opts, .out = out, .err = &own};
	struct exporter x = {
		.job = &job,
		.format = format,
		.timeline = {.trace = t, .fn = take_event, .arg = &x},
	};
	int rc = frames_init(&x.frames, t);

	if (!rc && opts->inlined) {
		x.frames.inlines = FRAMES_INLINED;
		rc = trace_want_lines(t);
	}
	if (rc)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = run(&x, err);
	if (rc < 0 && x.writer_failed) {
		if (own.code)
			*err = own;
		else
			error_sys(err, rc, "%s", t->opts.path);
	}
	*ret_samples = x.samples;
	format->free(x.writer);
	timeline_release(&x.timeline);
	frames_release(&x.frames);
	return rc < 0 ? rc : 0;
}
