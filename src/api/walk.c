// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "api/options.h"
#include "api/recording.h"
#include "base/buf.h"
#include "data/order/order.h"
#include "report/trace/frame.h"

#define MAX_STACK 127 /* perf's and the kernel's default */

struct ringtail_walk {
	struct ringtail_recording *recording;
	struct ringtail_walk_opts opts;
	unsigned int scan_flags;
	struct order *order;	/* in time order; else NULL, and */
	struct data_scan *scan; /* of the segment before next_segment; NULL: none yet */
	unsigned int next_segment;
	uint64_t newest; /* time so far, in file order */
	struct findings *findings;
	struct frames frames;
	struct ringtail_frame *shown; /* of the current sample */
	size_t cap_shown;
	bool at_sample; /* what follows is one, decoded */
	struct data_record rec;
	struct walk_sample decoded;
	struct ringtail_sample sample;
	struct ringtail_record record;
};

static int begin(struct ringtail_walk *w, struct error *err)
{
	struct order_opts order = {.memory = w->opts.memory};
	struct trace *t = w->recording->trace;
	int rc = 0;

	/* The samples of a snapshot are known after the first pass. */
	if (!w->opts.no_symbols || t->opts.snapshot)
		rc = recording_prepare(w->recording, err);
	if (rc < 0)
		return rc;
	w->scan_flags = DATA_SCAN_FINDINGS;
	w->findings = findings_new();
	if (!w->findings || (!w->opts.no_symbols && frames_init(&w->frames, t) < 0))
		return error_sys(err, -ENOMEM, "%s", w->recording->path);
	if (w->opts.order == RINGTAIL_FILE_ORDER) {
		w->scan_flags |= w->opts.compressed ? DATA_SCAN_CONTAINERS : 0;
		return 0;
	}
	order.scan_flags = w->scan_flags;
	return order_new(t->df, &order, &w->order, err);
}

int ringtail_walk_new(struct ringtail_recording *r, const struct ringtail_walk_opts *opts,
		      struct ringtail_walk **ret, struct ringtail_error *err)
{
	struct ringtail_walk *w = calloc(1, sizeof(*w));
	struct error why = ERROR_INIT;
	int rc;

	if (!w)
		return api_error(err, -ENOMEM, &why);
	w->recording = r;
	rc = api_options_read(opts, &w->opts, sizeof(w->opts), &why);
	if (!rc && w->opts.order > RINGTAIL_FILE_ORDER)
		rc = error_set(&why, -EINVAL,
			       "%u is no order: choose RINGTAIL_TIME_ORDER or RINGTAIL_FILE_ORDER",
			       (unsigned int)w->opts.order);
	if (!w->opts.max_stack)
		w->opts.max_stack = MAX_STACK;
	if (!rc)
		rc = begin(w, &why);
	if (rc < 0) {
		ringtail_walk_free(w);
		return api_error(err, rc, &why);
	}
	*ret = w;
	return 0;
}

void ringtail_walk_free(struct ringtail_walk *w)
{
	if (!w)
		return;
	order_free(w->order);
	data_scan_free(w->scan);
	if (w->frames.trace)
		frames_release(&w->frames);
	if (w->findings)
		findings_merge(w->findings, w->recording->trace->df);
	findings_free(w->findings);
	free(w->shown);
	free(w);
}

/* The next segment that can be read. Returns 1, 0 after the last, or -ENOMEM. */
static int next_segment(struct ringtail_walk *w)
{
	struct data_file *df = w->recording->trace->df;

	data_scan_free(w->scan);
	w->scan = NULL;
	while (w->next_segment < data_segments(df)) {
		unsigned int segment = w->next_segment++;
		int rc = data_scan_new(df, segment, 0, DATA_WHOLE, w->scan_flags, &w->scan);

		if (!rc)
			return 1;
		if (rc == -ENOMEM)
			return rc;
		findings_add(w->findings, DATA_DAMAGED, segment, 0, "the file cannot be read");
	}
	return 0;
}

static int next_in_file(struct ringtail_walk *w, struct error *err)
{
	int rc = w->scan ? data_scan_next(w->scan, &w->rec) : 0;

	while (!rc) {
		rc = next_segment(w);
		if (rc <= 0)
			break;
		rc = data_scan_next(w->scan, &w->rec);
	}
	if (rc < 0)
		return error_sys(err, rc, "%s", w->recording->path);
	if (!rc)
		return 0;
	/* What has no time is resolved as of the newest record before it, as in time order. */
	if (w->rec.at.time > w->newest)
		w->newest = w->rec.at.time;
	else if (!w->rec.at.time && w->newest)
		w->rec.at = (struct moment){w->newest, UINT64_MAX};
	return 1;
}

static void decode_sample(struct ringtail_walk *w)
{
	const struct data_record *rec = &w->rec;
	const struct pd_sample *s = &w->decoded.s;

	w->decoded = (struct walk_sample){.rec = rec, .evsel = rec->evsel};
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &w->decoded.s, NULL) < 0) {
		findings_add(w->findings, DATA_DAMAGED, rec->segment, rec->offset,
			     rec->evsel ? "sample: a field does not fit its record"
					: "sample of an event that the recording does not "
					  "describe");
		return;
	}
	w->at_sample = true;
	w->record.sample = &w->sample;
	w->sample = (struct ringtail_sample){
		.event = rec->evsel->index,
		.time = s->time,
		.ip = s->ip,
		.addr = s->addr,
		.period = s->period,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
		.cpumode = s->cpumode,
		.raw = s->raw,
		.raw_size = s->raw_size,
	};
}

/* Whether the record at hand is one that the walk is about. */
static bool is_wanted(const struct ringtail_walk *w)
{
	const struct trace *t = w->recording->trace;

	if (w->rec.hdr->type != PERF_RECORD_SAMPLE)
		return !w->opts.samples;
	return !t->opts.snapshot ||
	       trace_wants_snapshot(&t->opts, snapshots_of(&t->snapshots, &w->rec));
}

int ringtail_walk_next(struct ringtail_walk *w, const struct ringtail_record **ret,
		       struct ringtail_error *err)
{
	struct error why = ERROR_INIT;
	int rc;

	w->at_sample = false;
	do {
		rc = w->order ? order_next(w->order, &w->rec, &why) : next_in_file(w, &why);
		if (rc < 0)
			return api_error(err, rc, &why);
		if (!rc)
			return 0;
	} while (!is_wanted(w));
	w->record = (struct ringtail_record){
		.header = w->rec.hdr,
		.type = pd_record_name(w->rec.hdr->type),
		.time = w->rec.time,
		.path = data_segment_path(w->recording->trace->df, w->rec.segment),
		.offset = w->rec.offset,
	};
	if (w->rec.hdr->type == PERF_RECORD_SAMPLE)
		decode_sample(w);
	*ret = &w->record;
	return 1;
}

const char *ringtail_walk_comm(struct ringtail_walk *w)
{
	const struct pd_sample *s = &w->decoded.s;

	if (!w->at_sample || w->opts.no_symbols)
		return NULL;
	return state_comm(w->recording->trace->state, s->pid, s->tid, w->rec.at);
}

int ringtail_walk_frames(struct ringtail_walk *w, const struct ringtail_frame **ret,
			 struct ringtail_error *err)
{
	struct error why = ERROR_INIT;
	int rc;

	if (!w->at_sample || w->opts.no_symbols)
		return api_error(
			err,
			error_set(&why, -EINVAL, "%s",
				  w->at_sample
					  ? "this walk has no symbols: its options set no_symbols"
					  : "the walk is not at a sample"),
			&why);
	rc = frames_of_sample(&w->frames, &w->decoded, w->opts.max_stack);
	if (!rc)
		rc = array_grow(&w->shown, &w->cap_shown, w->frames.nr + 1, sizeof(*w->shown));
	if (rc < 0)
		return api_error(err, rc, &why);
	for (size_t i = 0; i < w->frames.nr; i++) {
		const struct frame *f = &w->frames.frame[i];

		w->shown[i] = (struct ringtail_frame){
			.ip = f->ip,
			.addr = f->addr,
			.dso = f->dso ? f->dso->name : NULL,
			.symbol = f->sym ? f->sym->name : NULL,
			.symbol_addr = f->sym ? f->sym->start : 0,
			.cpumode = f->cpumode,
		};
	}
	*ret = w->shown;
	return (int)w->frames.nr;
}
