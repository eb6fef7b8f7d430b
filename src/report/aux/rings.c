// SPDX-License-Identifier: Apache-2.0
#include "report/aux/rings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "data/file/findings.h"
#include "perfdata/sample.h"

/*
 * AUX records and samples name a place, but no index: @idx is then UINT32_MAX. The first index that
 * is found at the place becomes that of the ring.
 */
static struct aux_ring_figures *find_ring(struct aux_rings *r, uint32_t idx, uint32_t cpu,
					  uint32_t tid)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct aux_ring_figures *f = &r->rings[i];

		if (f->cpu != cpu || (cpu == UINT32_MAX && f->tid != tid))
			continue;
		if (f->idx == UINT32_MAX && idx != UINT32_MAX) {
			f->idx = idx;
			f->tid = tid;
		}
		if (idx == UINT32_MAX || f->idx == idx)
			return f;
	}
	if (array_grow(&r->rings, &r->cap, r->nr + 1, sizeof(*r->rings)))
		return NULL;
	r->rings[r->nr] = (struct aux_ring_figures){
		.idx = idx,
		.cpu = cpu,
		.tid = idx == UINT32_MAX && cpu != UINT32_MAX ? UINT32_MAX : tid,
		.mode = PD_AUX_MODES,
	};
	return &r->rings[r->nr++];
}

static int add_auxtrace(struct aux_rings *r, const struct data_record *rec)
{
	struct aux_ring_figures *f;
	struct pd_record a;

	if (pd_record_decode(rec->hdr, rec->evsel, &a))
		return 0;
	f = find_ring(r, a.auxtrace.idx, a.auxtrace.cpu, a.auxtrace.tid);
	if (!f)
		return -ENOMEM;
	f->bytes += rec->payload_size;
	f->records++;
	return 0;
}

static int add_aux(struct aux_rings *r, const struct data_record *rec)
{
	struct aux_ring_figures *f;
	struct pd_record a;

	if (pd_record_decode(rec->hdr, rec->evsel, &a))
		return 0;
	aux_ids_place(&r->ids, a.id.id, &a.id.cpu, &a.id.tid);
	f = find_ring(r, UINT32_MAX, a.id.cpu, a.id.tid);
	if (!f)
		return -ENOMEM;
	f->truncated += !!(a.aux.flags & PERF_AUX_FLAG_TRUNCATED);
	f->partial += !!(a.aux.flags & PERF_AUX_FLAG_PARTIAL);
	f->collisions += !!(a.aux.flags & PERF_AUX_FLAG_COLLISION);
	if (f->mode == PD_AUX_MODES)
		f->mode = a.aux.flags & PERF_AUX_FLAG_OVERWRITE ? PD_AUX_SNAPSHOT : PD_AUX_FULL;
	return 0;
}

static int add_sample(struct aux_rings *r, const struct data_record *rec)
{
	struct aux_ring_figures *f;
	struct pd_sample s;

	if (!rec->evsel || !(rec->evsel->attr.sample_type & PERF_SAMPLE_AUX) ||
	    pd_sample_decode(rec->hdr, rec->evsel, &s, NULL) || !s.aux_size)
		return 0;
	aux_ids_place(&r->ids, s.id, &s.cpu, &s.tid);
	f = find_ring(r, UINT32_MAX, s.cpu, s.tid);
	if (!f)
		return -ENOMEM;
	f->mode = PD_AUX_SAMPLE;
	f->bytes += s.aux_size;
	f->records++;
	return 0;
}

static int add_log(struct aux_rings *r, const struct data_record *rec)
{
	struct aux_ring_figures *f;
	struct pd_snapshot_log log;

	if (pd_snapshot_decode(rec->hdr, &log) || log.kind != PD_SNAPSHOT_AUX_RING)
		return 0;
	f = find_ring(r, log.aux.idx, log.aux.cpu, log.aux.tid);
	if (!f)
		return -ENOMEM;
	if (log.aux.mode != PD_AUX_MODES)
		f->mode = log.aux.mode;
	if (!log.number) {
		f->lost = log.aux.lost;
		f->restarts = log.aux.restarts;
		return 0;
	}
	if (array_grow(&r->takes, &r->cap_takes, r->nr_takes + 1, sizeof(*r->takes)))
		return -ENOMEM;
	r->takes[r->nr_takes++] = (struct aux_take){.number = log.number, .ring = log.aux};
	return 0;
}

static int add(struct aux_rings *r, const struct data_record *rec)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_AUXTRACE: return add_auxtrace(r, rec);
	case PERF_RECORD_AUX: return add_aux(r, rec);
	case PERF_RECORD_SAMPLE: return add_sample(r, rec);
	case PERF_RECORD_HEADER_EVENT_TYPE: return add_log(r, rec);
	default: return aux_ids_add(&r->ids, rec);
	}
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct aux_ring_figures *x = a, *y = b;

	return by_number(x->cpu, y->cpu) ?: by_number(x->tid, y->tid) ?: by_number(x->idx, y->idx);
}

static int by_snapshot(const void *a, const void *b)
{
	const struct aux_take *x = a, *y = b;

	return by_number(x->number, y->number)
		       ?: by_number(x->ring.cpu, y->ring.cpu)
		       ?: by_number(x->ring.tid, y->ring.tid)
		       ?: by_number(x->ring.idx, y->ring.idx);
}

int aux_rings_read(struct data_file *df, struct aux_rings *ret)
{
	int rc = 0;

	*ret = (struct aux_rings){0};
	for (unsigned int i = 0; !rc && i < data_segments(df); i++) {
		struct data_scan *scan = NULL;
		struct data_record rec;

		rc = data_scan_new(df, i, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan);
		while (!rc && (rc = data_scan_next(scan, &rec)) > 0)
			rc = add(ret, &rec);
		data_scan_free(scan);
	}
	if (ret->nr)
		qsort(ret->rings, ret->nr, sizeof(*ret->rings), by_place);
	if (ret->nr_takes)
		qsort(ret->takes, ret->nr_takes, sizeof(*ret->takes), by_snapshot);
	return rc;
}

void aux_rings_release(struct aux_rings *r)
{
	free(r->rings);
	free(r->takes);
	aux_ids_release(&r->ids);
	*r = (struct aux_rings){0};
}
