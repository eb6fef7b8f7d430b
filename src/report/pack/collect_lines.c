// SPDX-License-Identifier: Apache-2.0
#include "report/pack/collect_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "symbol/lines/lines_record.h"
#include "symbol/recorded/recorded.h"

void code_pieces_release(struct code_pieces *p)
{
	free(p->piece);
	hash_table_release(&p->by_place);
	*p = (struct code_pieces){0};
}

static bool is_same(const void *pieces, uint32_t number, const void *key)
{
	const struct code_piece *a = (const struct code_piece *)pieces + number, *b = key;

	return a->dso == b->dso && a->addr == b->addr;
}

int code_pieces_add(struct code_pieces *p, const struct dso *dso, uint64_t addr)
{
	struct code_piece piece = {dso, addr & ~(uint64_t)(CODE_PIECE - 1)};
	uint64_t hash = hash_word(hash_word(p->key, piece.addr), dso->index);

	if (hash_table_find(&p->by_place, hash, is_same, p->piece, &piece) != HASH_TABLE_NONE)
		return 0;
	if (hash_table_reserve(&p->by_place, 1) ||
	    array_grow(&p->piece, &p->cap, p->nr + 1, sizeof(*p->piece)))
		return -ENOMEM;
	hash_table_add(&p->by_place, hash, (uint32_t)p->nr);
	p->piece[p->nr++] = piece;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	if (x->dso->index != y->dso->index)
		return x->dso->index < y->dso->index ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void code_pieces_sort(struct code_pieces *p)
{
	hash_table_release(&p->by_place);
	if (p->nr)
		qsort(p->piece, p->nr, sizeof(*p->piece), compare);
}

static bool stands_for(const struct pd_symbols_object *o, const struct dso *dso)
{
	struct pd_symbols_object other;

	return recorded_symbols_object(dso, 0, &other) && !recorded_symbols_compare(o, &other);
}

/* Adds the addresses of all pieces of @o, and finds its dsos. */
static int take_addresses(const struct code_pieces *p, const struct pd_symbols_object *o,
			  uint64_t **addr, size_t *nr, const struct dso **first)
{
	const struct dso *last = NULL;
	bool ours = false;
	size_t cap = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->piece[i].dso != last)
			ours = stands_for(o, p->piece[i].dso);
		last = p->piece[i].dso;
		if (!ours)
			continue;
		if (array_grow(addr, &cap, *nr + 1, sizeof(**addr)))
			return -ENOMEM;
		(*addr)[(*nr)++] = p->piece[i].addr;
		*first = *first ?: last;
	}
	return 0;
}

static int compare_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int record(struct lines_recorder *lines, const struct resolver *r, const struct dso *dso,
		  const uint64_t *addr, size_t nr)
{
	struct source_lines *l = NULL;
	int rc = lines_open(r, dso, false, &l);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (size_t i = 0; !rc && i < nr; i++)
		rc = lines_record(lines, l, addr[i], CODE_PIECE);
	lines_free(l);
	return rc;
}

int code_pieces_lines(const struct code_pieces *p, const struct resolver *r,
		      const struct pd_symbols_object *o, struct buf *ret, uint64_t *pieces)
{
	struct lines_recorder *lines = lines_recorder_new();
	const struct dso *dso = NULL;
	uint64_t *addr = NULL;
	size_t nr = 0;
	int rc = lines ? take_addresses(p, o, &addr, &nr, &dso) : -ENOMEM;

	if (!rc && nr) {
		qsort(addr, nr, sizeof(*addr), compare_addr);
		rc = record(lines, r, dso, addr, nr);
	}
	if (!rc)
		rc = lines_recorder_encode(lines, ret);
	*pieces += nr;
	free(addr);
	lines_recorder_free(lines);
	return rc;
}
