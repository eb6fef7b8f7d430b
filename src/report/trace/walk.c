// SPDX-License-Identifier: Apache-2.0
#include "report/trace/walk.h"

#include <errno.h>

#include "data/order/order.h"

#define PROGRESS_EVERY 4096 /* records */

static int note_unknown(struct findings **findings, const struct data_record *rec)
{
	if (!*findings)
		*findings = findings_new();
	if (!*findings)
		return -ENOMEM;
	if (!rec->evsel)
		findings_add(*findings, DATA_DAMAGED, rec->segment, rec->offset,
			     "sample of an event that the recording does not describe");
	else
		findings_add(*findings, DATA_DAMAGED, rec->segment, rec->offset,
			     "sample of %u bytes: a field does not fit its record", rec->hdr->size);
	return 0;
}

static int visit(const struct trace *t, struct findings **findings, const struct data_record *rec,
		 walk_fn fn, void *arg)
{
	struct walk_sample ws;

	if (t->opts.snapshot && snapshots_of(&t->snapshots, rec) != t->opts.snapshot)
		return 0;
	ws.rec = rec;
	ws.evsel = rec->evsel;
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &ws.s, NULL) < 0)
		return note_unknown(findings, rec);
	return fn(&ws, arg);
}

static void report_progress(struct trace *t, uint64_t done, uint64_t total)
{
	if (t->opts.progress)
		t->opts.progress(2, done, total, t->opts.progress_arg);
}

int walk_chunk(struct trace *t, struct trace_chunk *chunk, struct data_scan **scan, walk_fn fn,
	       void *arg)
{
	const struct sweep_run *run = &chunk->run;
	struct data_record rec;
	unsigned int n = 0;
	uint64_t done, total;
	int rc;

	if (t->opts.snapshot && !snapshots_reach(&t->snapshots, t->opts.snapshot, run))
		return 0;
	if (*scan)
		rc = data_scan_move(*scan, run->segment, run->from, run->to);
	else
		rc = data_scan_new(t->df, run->segment, run->from, run->to, 0, scan);
	if (rc < 0)
		return rc;
	while ((rc = data_scan_next(*scan, &rec)) > 0) {
		if (rec.hdr->type == PERF_RECORD_SAMPLE) {
			rc = visit(t, &chunk->findings, &rec, fn, arg);
			if (rc < 0)
				break;
		}
		if (++n % PROGRESS_EVERY == 0) {
			data_scan_progress(*scan, &done, &total);
			report_progress(t, run->from + done, run->from + total);
		}
	}
	return rc;
}

void walk_hand_in_findings(struct trace *t)
{
	for (size_t i = 0; i < t->nr_chunks; i++)
		if (t->chunks[i].findings)
			findings_merge(t->chunks[i].findings, t->df);
}

static void ordered_progress(uint64_t done, uint64_t total, void *arg)
{
	report_progress(arg, done, total);
}

int walk_ordered(struct trace *t, walk_fn fn, void *arg, struct error *err)
{
	struct order_opts opts = {.progress = ordered_progress, .arg = t};
	struct findings *findings = NULL;
	struct order *order = NULL;
	struct data_record rec;
	int rc = order_new(t->df, &opts, &order, err);

	if (rc < 0)
		return rc;
	while ((rc = order_next(order, &rec, err)) > 0) {
		if (rec.hdr->type != PERF_RECORD_SAMPLE)
			continue;
		rc = visit(t, &findings, &rec, fn, arg);
		if (rc < 0) {
			error_sys(err, rc, "%s", t->opts.path);
			break;
		}
	}
	order_free(order);
	if (findings)
		findings_merge(findings, t->df);
	findings_free(findings);
	return rc;
}
