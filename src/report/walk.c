// SPDX-License-Identifier: Apache-2.0
#include "report/walk.h"

#include <errno.h>

#include "data/order.h"

#define PROGRESS_EVERY 4096 /* records */

static int visit(struct trace *t, const struct data_record *rec, walk_fn fn, void *arg)
{
	struct walk_sample ws = {.rec = rec, .evsel = rec->evsel};
	size_t at = 0;

	if (!rec->evsel) {
		data_note(t->df, DATA_DAMAGED, rec->segment, rec->offset,
			  "sample of an event that the recording does not describe");
		return 0;
	}
	if (pd_sample_decode(rec->hdr, rec->evsel, &ws.s, &at) < 0) {
		data_note(t->df, DATA_DAMAGED, rec->segment, rec->offset,
			  "sample of %u bytes: a field does not fit its record", rec->hdr->size);
		return 0;
	}
	return fn(&ws, arg);
}

static void tell(struct trace *t, uint64_t done, uint64_t total)
{
	if (t->opts.progress)
		t->opts.progress(2, done, total, t->opts.progress_arg);
}

int walk_chunk(struct trace *t, const struct trace_chunk *chunk, walk_fn fn, void *arg)
{
	struct data_scan *scan = NULL;
	struct data_record rec;
	unsigned int n = 0;
	uint64_t done, total;
	int rc = data_scan_new(t->df, chunk->segment, chunk->from, chunk->to, 0, &scan);

	if (rc < 0)
		return rc;
	while ((rc = data_scan_next(scan, &rec)) > 0) {
		if (rec.hdr->type == PERF_RECORD_SAMPLE) {
			rc = visit(t, &rec, fn, arg);
			if (rc < 0)
				break;
		}
		if (++n % PROGRESS_EVERY == 0) {
			data_scan_progress(scan, &done, &total);
			tell(t, chunk->from + done, chunk->from + total);
		}
	}
	data_scan_free(scan);
	return rc;
}

static void ordered_progress(uint64_t done, uint64_t total, void *arg)
{
	tell(arg, done, total);
}

int walk_ordered(struct trace *t, walk_fn fn, void *arg, struct error *err)
{
	struct order_opts opts = {.progress = ordered_progress, .arg = t};
	struct order *order = NULL;
	struct data_record rec;
	int rc = order_new(t->df, &opts, &order, err);

	if (rc < 0)
		return rc;
	while ((rc = order_next(order, &rec, err)) > 0) {
		if (rec.hdr->type != PERF_RECORD_SAMPLE)
			continue;
		rc = visit(t, &rec, fn, arg);
		if (rc < 0) {
			error_sys(err, rc, "%s", t->opts.path);
			break;
		}
	}
	order_free(order);
	return rc;
}
