// SPDX-License-Identifier: Apache-2.0
#include "report/aux/rings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "data/file/findings.h"
#include "perfdata/sample.h"

/* Whether two rings are of the same CPU or, without one, of the same thread. */
static bool is_same_place(const void *entries, uint32_t number, const void *key)
{
	const struct aux_ring_figures *f = (const struct aux_ring_figures *)entries + number;
	const struct aux_ring_figures *k = key;

	return f->cpu == k->cpu && (k->cpu != UINT32_MAX || f->tid == k->tid);
}

static bool is_same_ring(const void *entries, uint32_t number, const void *key)
{
	const struct aux_ring_figures *f = (const struct aux_ring_figures *)entries + number;
	const struct aux_ring_figures *k = key;

	return f->idx == k->idx && is_same_place(entries, number, key);
}

static uint64_t hash_place(uint32_t cpu, uint32_t tid)
{
	return hash_word(hash_key(), cpu != UINT32_MAX ? cpu : (uint64_t)1 << 32 | tid);
}

/*
 * AUX records and samples name a place, but no index: @idx is then UINT32_MAX. The first index that
 * is found at the place becomes that of its first ring.
 */
static struct aux_ring_figures *find_ring(struct aux_rings *r, uint32_t idx, uint32_t cpu,
					  uint32_t tid)
{
	const struct aux_ring_figures new = {
		.idx = idx,
		.cpu = cpu,
		.tid = idx == UINT32_MAX && cpu != UINT32_MAX ? UINT32_MAX : tid,
		.mode = PD_AUX_MODES,
	};
	uint64_t place = hash_place(cpu, tid), ring = hash_word(place, idx);
	uint32_t first = hash_table_find(&r->by_place, place, is_same_place, r->rings, &new), at;

	if (hash_table_reserve(&r->by_place, 1) || hash_table_reserve(&r->by_index, 1) ||
	    array_grow(&r->rings, &r->cap, r->nr + 1, sizeof(*r->rings)))
		return NULL;
	if (first != HASH_TABLE_NONE && idx == UINT32_MAX)
		return &r->rings[first];
	if (first != HASH_TABLE_NONE && r->rings[first].idx == UINT32_MAX) {
		r->rings[first].idx = idx;
		r->rings[first].tid = tid;
		hash_table_add(&r->by_index, ring, first);
		return &r->rings[first];
	}
	at = hash_table_find(&r->by_index, ring, is_same_ring, r->rings, &new);
	if (at != HASH_TABLE_NONE)
		return &r->rings[at];
	if (first == HASH_TABLE_NONE)
		hash_table_add(&r->by_place, place, (uint32_t)r->nr);
	if (idx != UINT32_MAX)
		hash_table_add(&r->by_index, ring, (uint32_t)r->nr);
	r->rings[r->nr] = new;
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
		f->unreported = log.aux.unreported;
		f->lost_records = log.aux.lost_records;
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
	/* The order changes, and with it the numbers in the tables. */
	hash_table_release(&ret->by_place);
	hash_table_release(&ret->by_index);
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
