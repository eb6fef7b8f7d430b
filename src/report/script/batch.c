// SPDX-License-Identifier: Apache-2.0
#include "report/script/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/itrace_held.h"

/* A span, or a sample. Behind a sample come the bytes that its pointers lead to. */
struct batch_head {
	size_t size;	       /* of all, in multiples of 8 */
	struct walk_span span; /* nr 0: a sample */
};

struct batch_node {
	struct batch_head head;
	struct walk_sample ws;
	struct data_record rec;
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
	ret->head = (struct batch_head){.size = sizeof(*ret) + p->len};
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
		if (grow(b, node->head.size))
			return -ENOMEM;
	}
	b->len += node->head.size;
	b->nr++;
	return 0;
}

int batch_add_span(struct batch *b, const struct walk_span *span)
{
	struct batch_head *head;
	size_t held = span->held == b->held ? 0 : span->held->list.nr;

	if (!b->cap && grow(b, BATCH_BYTES))
		return -ENOMEM;
	if (b->nr && (b->cap - b->len < sizeof(*head) || b->nr + span->nr > BATCH_SAMPLES ||
		      b->nr_held + held > BATCH_HELD))
		return -ENOSPC;
	head = (struct batch_head *)(void *)(b->p + b->len);
	*head = (struct batch_head){sizeof(*head), *span};
	itrace_hold(span->held);
	b->held = span->held;
	b->nr_held += held;
	b->len += sizeof(*head);
	b->nr += span->nr;
	return 0;
}

static const struct batch_head *head_at(const struct batch *b, size_t at)
{
	return (const struct batch_head *)(const void *)(b->p + at);
}

int batch_each(const struct batch *b, walk_fn fn, void *arg)
{
	int rc = 0;

	for (size_t at = 0; rc >= 0 && at < b->len; at += head_at(b, at)->size) {
		const struct batch_head *head = head_at(b, at);

		if (head->span.nr)
			rc = walk_span_each(&head->span, fn, arg);
		else
			rc = fn(&((const struct batch_node *)head)->ws, arg);
	}
	return rc < 0 ? rc : 0;
}

void batch_clear(struct batch *b)
{
	for (size_t at = 0; at < b->len; at += head_at(b, at)->size)
		if (head_at(b, at)->span.nr)
			itrace_let_go(head_at(b, at)->span.held);
	b->len = b->nr = b->nr_held = 0;
	b->held = NULL;
}

void batch_release(struct batch *b)
{
	batch_clear(b);
	free(b->p);
	*b = (struct batch){0};
}
