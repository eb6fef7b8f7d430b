// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/cuts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "perfdata/aux_record.h"

#define AMBIGUOUS (ID_TABLE_NONE - 1)

/* A key of a ring. Without @idx, of its place. */
static uint64_t key_of(uint32_t cpu, uint32_t tid, uint32_t idx)
{
	uint64_t place = cpu != UINT32_MAX ? cpu : (uint64_t)1 << 32 | tid;

	return idx == UINT32_MAX ? place : hash_word(hash_word(hash_key(), place), idx);
}

static struct aux_cut_place *find_place(struct aux_index *x, uint32_t cpu, uint32_t tid,
					uint32_t idx)
{
	uint32_t nr = id_table_count(&x->place_numbers), number;

	if (array_grow(&x->places, &x->cap_places, (size_t)nr + 1, sizeof(*x->places)))
		return NULL;
	number = id_table_add(&x->place_numbers, key_of(cpu, tid, idx));
	if (number == ID_TABLE_NONE)
		return NULL;
	if (number == nr)
		x->places[nr] = (struct aux_cut_place){.cpu = cpu, .tid = tid, .idx = idx};
	return &x->places[number];
}

static bool ends_run(const struct aux_index *x, const struct pd_aux *aux)
{
	return x->setup.type == PD_AUXTRACE_CS_ETM ||
	       aux->flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL);
}

int aux_cuts_add(struct aux_index *x, const struct data_record *rec)
{
	struct aux_cut_place *place;
	uint32_t idx = UINT32_MAX;
	struct pd_record r;

	if (pd_record_decode(rec->hdr, rec->evsel, &r))
		return 0;
	aux_ids_ring(&x->ids, r.id.id, &r.id.cpu, &r.id.tid, &idx);
	place = find_place(x, r.id.cpu, r.id.tid, idx);
	if (!place)
		return -ENOMEM;
	place->flags |= r.aux.flags;
	/* The kernel's offsets in an overwritten ring are not those of snapshots. */
	if (r.aux.flags & PERF_AUX_FLAG_OVERWRITE || r.aux.aux_offset > UINT64_MAX - r.aux.aux_size)
		return 0;
	if (!r.aux.aux_offset && place->end)
		place->life++;
	place->end = r.aux.aux_offset + r.aux.aux_size;
	if (!ends_run(x, &r.aux))
		return 0;
	if (array_grow(&x->cuts, &x->cap_cuts, x->nr_cuts + 1, sizeof(*x->cuts)))
		return -ENOMEM;
	x->cuts[x->nr_cuts++] = (struct aux_cut){
		.place = (uint32_t)(place - x->places), .life = place->life, .at = place->end};
	return 0;
}

/* Of several rings at a place none is found without its index. */
static int list_rings(const struct aux_index *x, struct id_table *ret)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < x->pieces.nr_rings; i++) {
		const struct aux_piece_ring *r = &x->pieces.rings[i];
		uint64_t place = key_of(r->cpu, r->tid, UINT32_MAX);
		bool again = id_table_find(ret, place) != ID_TABLE_NONE;

		rc = id_table_put(ret, place, again ? AMBIGUOUS : (uint32_t)i)
			     ?: id_table_put(ret, key_of(r->cpu, r->tid, r->idx), (uint32_t)i);
	}
	return rc;
}

static uint32_t ring_of(const struct aux_cut_place *p, const struct id_table *rings)
{
	uint32_t ring = id_table_find(rings, key_of(p->cpu, p->tid, UINT32_MAX));

	return ring == AMBIGUOUS ? id_table_find(rings, key_of(p->cpu, p->tid, p->idx)) : ring;
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_position(const void *a, const void *b)
{
	const struct aux_cut *x = a, *y = b;

	return by_number(x->place, y->place)
		       ?: by_number(x->life, y->life)
		       ?: by_number(x->at, y->at);
}

int aux_cuts_finish(struct aux_index *x)
{
	struct id_table rings = {0};
	int rc = list_rings(x, &rings);

	for (uint32_t i = 0; !rc && i < id_table_count(&x->place_numbers); i++) {
		uint32_t ring = ring_of(&x->places[i], &rings);

		x->places[i].ring = ring;
		if (ring != ID_TABLE_NONE)
			x->pieces.rings[ring].aux_flags |= x->places[i].flags;
	}
	for (size_t i = 0; !rc && i < x->nr_cuts; i++)
		x->cuts[i].place = x->places[x->cuts[i].place].ring;
	if (x->nr_cuts)
		qsort(x->cuts, x->nr_cuts, sizeof(*x->cuts), by_position);
	id_table_release(&rings);
	return rc;
}

uint64_t aux_cuts_next(const struct aux_index *x, uint32_t ring, uint32_t life, uint64_t from,
		       uint64_t to)
{
	const struct aux_cut key = {.place = ring, .life = life, .at = from};
	size_t low = 0, high = x->nr_cuts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_position(&x->cuts[mid], &key) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	if (low == x->nr_cuts || x->cuts[low].place != ring || x->cuts[low].life != life ||
	    x->cuts[low].at > to)
		return to;
	return x->cuts[low].at;
}
