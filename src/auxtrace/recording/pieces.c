// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "data/file/findings.h"
#include "perfdata/aux_record.h"

static bool is_same(const void *entries, uint32_t number, const void *key)
{
	const struct aux_piece_ring *r = (const struct aux_piece_ring *)entries + number, *k = key;

	return r->idx == k->idx && r->cpu == k->cpu && r->tid == k->tid;
}

static struct aux_piece_ring *find_ring(struct aux_pieces *x, uint32_t idx, uint32_t cpu,
					uint32_t tid)
{
	const struct aux_piece_ring new = {.idx = idx, .cpu = cpu, .tid = tid};
	uint64_t hash = hash_word(hash_word(hash_key(), (uint64_t)cpu << 32 | tid), idx);
	uint32_t at = hash_table_find(&x->by_ids, hash, is_same, x->rings, &new);

	if (at != HASH_TABLE_NONE)
		return &x->rings[at];
	if (hash_table_reserve(&x->by_ids, 1) ||
	    array_grow(&x->rings, &x->cap_rings, x->nr_rings + 1, sizeof(*x->rings)))
		return NULL;
	hash_table_add(&x->by_ids, hash, (uint32_t)x->nr_rings);
	x->rings[x->nr_rings] = new;
	return &x->rings[x->nr_rings++];
}

/* The log's record of a snapshot precedes the data that the snapshot took of a ring. */
static int add_log(struct aux_pieces *x, const struct data_record *rec)
{
	struct pd_snapshot_log log;
	struct aux_piece_ring *ring;

	if (pd_snapshot_decode(rec->hdr, &log) || log.kind != PD_SNAPSHOT_AUX_RING || !log.number)
		return 0;
	ring = find_ring(x, log.aux.idx, log.aux.cpu, log.aux.tid);
	if (!ring)
		return -ENOMEM;
	if (array_grow(&x->takes, &x->cap_takes, x->nr_takes + 1, sizeof(*x->takes)))
		return -ENOMEM;
	x->takes[x->nr_takes++] = (struct aux_piece_take){
		.number = log.number, .from = log.aux.first, .to = log.aux.last};
	ring->logged = true;
	ring->take = (uint32_t)x->nr_takes;
	ring->log = log.aux;
	return 0;
}

/* Takes from the log that the offset is a position, and how many bytes are no padding. */
static void use_log(struct aux_piece_ring *ring, struct aux_piece *piece)
{
	const struct pd_aux_ring *log = &ring->log;

	piece->take = ring->logged ? ring->take : 0;
	piece->placed = ring->logged && log->position - log->written == piece->offset;
	if (piece->placed && piece->size > log->written &&
	    piece->size - log->written < PD_AUXTRACE_ALIGN)
		piece->size = log->written;
	ring->logged = false;
}

static int add_piece(struct aux_pieces *x, const struct data_record *rec,
		     const struct pd_auxtrace *a)
{
	struct aux_piece_ring *ring = find_ring(x, a->idx, a->cpu, a->tid);
	struct aux_piece *piece;

	if (!ring || array_grow(&x->pieces, &x->cap, x->nr + 1, sizeof(*x->pieces)))
		return -ENOMEM;
	/* The event was opened again, as after its CPU was off line. */
	if (!a->offset && ring->any)
		ring->lives++;
	ring->any = true;
	piece = &x->pieces[x->nr++];
	*piece = (struct aux_piece){
		.ring = (uint32_t)(ring - x->rings),
		.life = ring->lives,
		.segment = rec->segment,
		.at = rec->offset,
		.whole = rec->hdr->size + rec->payload_size,
		.offset = a->offset,
		.size = rec->payload_size,
	};
	use_log(ring, piece);
	return 0;
}

static int add_auxtrace(struct aux_pieces *x, struct data_file *df, const struct data_record *rec)
{
	const char *why = NULL;
	struct pd_record r;

	if (pd_record_decode(rec->hdr, rec->evsel, &r))
		why = "an AUXTRACE record whose contents do not fit its size";
	else if (!r.auxtrace.size)
		why = "an AUXTRACE record without data";
	else if (!rec->payload_size)
		why = "an AUXTRACE record whose data are not in the file, or compressed";
	else if (r.auxtrace.offset > UINT64_MAX - rec->payload_size)
		why = "an AUXTRACE record whose offset is beyond any ring";
	if (!why)
		return add_piece(x, rec, &r.auxtrace);
	data_finding_add(df, DATA_DAMAGED, rec->segment, rec->offset, "%s", why);
	return 0;
}

static void add_aux(struct aux_pieces *x, const struct data_record *rec)
{
	struct pd_record r;

	if (pd_record_decode(rec->hdr, rec->evsel, &r))
		return;
	if (r.aux.flags & PERF_AUX_FLAG_OVERWRITE)
		x->overwrites = true;
	else
		x->drains = true;
}

int aux_pieces_add(struct aux_pieces *x, struct data_file *df, const struct data_record *rec)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_AUXTRACE: return add_auxtrace(x, df, rec);
	case PERF_RECORD_HEADER_EVENT_TYPE: return add_log(x, rec);
	case PERF_RECORD_AUX: add_aux(x, rec); return 0;
	default: return 0;
	}
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_order(const void *a, const void *b)
{
	const struct aux_piece *x = a, *y = b;

	if (x->ring != y->ring)
		return by_number(x->ring, y->ring);
	if (x->life != y->life)
		return by_number(x->life, y->life);
	if (x->placed && y->placed && x->offset != y->offset)
		return by_number(x->offset, y->offset);
	if (x->segment != y->segment)
		return by_number(x->segment, y->segment);
	return by_number(x->at, y->at);
}

/* A ring's pieces must be placed all or none, which makes their order total. */
static void place(struct aux_pieces *x)
{
	bool full = x->drains && !x->overwrites, *placed;

	placed = calloc(x->nr_rings + 1, sizeof(*placed));
	for (size_t i = 0; placed && i < x->nr_rings; i++)
		placed[i] = true;
	for (size_t i = 0; placed && i < x->nr; i++)
		placed[x->pieces[i].ring] &= x->pieces[i].placed;
	for (size_t i = 0; i < x->nr; i++)
		x->pieces[i].placed = full || (placed && placed[x->pieces[i].ring]);
	free(placed);
}

/* The end of what is known of a ring's trace with @p. */
static uint64_t end_of(const struct aux_piece *p)
{
	return p->offset + p->size > p->begin ? p->offset + p->size : p->begin;
}

bool aux_pieces_continue(const struct aux_piece *a, const struct aux_piece *b)
{
	if (b->joined)
		return true;
	return a->ring == b->ring && a->life == b->life && a->placed && b->placed &&
	       b->offset <= end_of(a);
}

/* Finds where each piece has something new. Fewer bytes than the alignment may be padding. */
static void set_begins(struct aux_pieces *x)
{
	for (size_t i = 0; i < x->nr; i++) {
		const struct aux_piece *before = i ? &x->pieces[i - 1] : NULL;
		struct aux_piece *p = &x->pieces[i];

		p->begin = p->offset;
		if (!before || !aux_pieces_continue(before, p))
			continue;
		if (end_of(before) - p->offset >= PD_AUXTRACE_ALIGN)
			p->begin = end_of(before);
		else if (p->begin < before->begin)
			p->begin = before->begin;
	}
}

void aux_pieces_finish(struct aux_pieces *x)
{
	place(x);
	if (x->nr)
		qsort(x->pieces, x->nr, sizeof(*x->pieces), by_order);
	set_begins(x);
}

void aux_pieces_release(struct aux_pieces *x)
{
	free(x->rings);
	hash_table_release(&x->by_ids);
	free(x->pieces);
	free(x->takes);
	*x = (struct aux_pieces){0};
}
