// SPDX-License-Identifier: Apache-2.0
#include "report/script/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/itrace/samples.h"

/* A sample in a batch. Behind it come the bytes that its pointers lead to. */
struct batch_node {
	struct walk_sample ws;
	struct data_record rec;
	size_t size; /* of all, in multiples of 8 */
};

/* Copies bytes behind a node. Behind @room it only counts them. */
struct batch_packer {
	uint8_t *to;
	size_t len, room;
	const uint8_t *record, *record_copy;
	size_t record_len;
};

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static const void *pack(struct batch_packer *p, const void *from, size_t len)
{
	size_t at = p->len;

	p->len += padded(len);
	return p->len <= p->room ? memcpy(p->to + at, from, len) : NULL;
}

/*
 * The address of @from in the copy of the record, if it is there; else that of a copy of its own.
 * NULL stays NULL.
 */
static const void *pack_part(struct batch_packer *p, const void *from, uint64_t nr, size_t size)
{
	const uint8_t *at = from;

	if (!at)
		return NULL;
	if (p->record && at >= p->record && at < p->record + p->record_len)
		return p->record_copy ? p->record_copy + (at - p->record) : NULL;
	return pack(p, from, (size_t)nr * size);
}

static size_t count_bits(uint64_t mask)
{
	return (size_t)__builtin_popcountll(mask);
}

/* Makes the pointers of @s lead to copies. */
static void pack_sample(struct batch_packer *p, const struct pd_attr *attr, struct pd_sample *s)
{
	s->read.values = pack_part(p, s->read.values, s->read.nr * s->read.stride, 8);
	s->callchain = pack_part(p, s->callchain, s->callchain_nr, sizeof(*s->callchain));
	s->raw = pack_part(p, s->raw, s->raw_size, 1);
	s->branches = pack_part(p, s->branches, s->branch_nr, sizeof(*s->branches));
	s->branch_counters = pack_part(p, s->branch_counters, s->branch_nr, 8);
	s->user_regs = pack_part(p, s->user_regs, count_bits(attr->sample_regs_user), 8);
	s->intr_regs = pack_part(p, s->intr_regs, count_bits(attr->sample_regs_intr), 8);
	s->user_stack = pack_part(p, s->user_stack, s->user_stack_size, 1);
	s->aux = pack_part(p, s->aux, s->aux_size, 1);
}

static void pack_node(struct batch_packer *p, const struct walk_sample *ws, struct batch_node *ret)
{
	ret->ws = *ws;
	ret->ws.rec = &ret->rec;
	ret->rec = *ws->rec;
	if (ws->rec->hdr) {
		p->record = (const uint8_t *)ws->rec->hdr;
		p->record_len = ws->rec->hdr->size;
		p->record_copy = pack(p, ws->rec->hdr, ws->rec->hdr->size);
		ret->rec.hdr = (const void *)p->record_copy;
	}
	if (ws->evsel)
		pack_sample(p, &ws->evsel->attr, &ret->ws.s);
	if (ws->text)
		ret->ws.text = pack(p, ws->text, strlen(ws->text) + 1);
	if (ws->made)
		ret->ws.made = pack(p, ws->made, sizeof(*ws->made));
	ret->size = sizeof(*ret) + p->len;
}

/* Gives an empty batch @size bytes. */
static int grow(struct batch *b, size_t size)
{
	uint8_t *bytes = malloc(size);

	if (!bytes)
		return -ENOMEM;
	free(b->p);
	b->p = bytes;
	b->cap = size;
	return 0;
}

int batch_add(struct batch *b, const struct walk_sample *ws)
{
	struct batch_packer packer;
	struct batch_node *node;

	if (!b->cap && grow(b, BATCH_BYTES))
		return -ENOMEM;
	for (;;) {
		if (b->cap - b->len < sizeof(*node))
			return -ENOSPC;
		node = (struct batch_node *)(void *)(b->p + b->len);
		packer = (struct batch_packer){
			.to = (uint8_t *)(node + 1),
			.room = b->cap - b->len - sizeof(*node),
		};
		pack_node(&packer, ws, node);
		if (packer.len <= packer.room)
			break;
		if (b->len)
			return -ENOSPC;
		if (grow(b, node->size))
			return -ENOMEM;
	}
	b->len += node->size;
	b->nr++;
	return 0;
}

int batch_each(const struct batch *b, walk_fn fn, void *arg)
{
	int rc = 0;

	for (size_t at = 0; rc >= 0 && at < b->len;) {
		const struct batch_node *node =
			(const struct batch_node *)(const void *)(b->p + at);

		rc = fn(&node->ws, arg);
		at += node->size;
	}
	return rc < 0 ? rc : 0;
}

void batch_clear(struct batch *b)
{
	b->len = b->nr = 0;
}

void batch_release(struct batch *b)
{
	free(b->p);
	*b = (struct batch){0};
}
