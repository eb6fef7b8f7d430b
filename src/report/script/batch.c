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
	struct itrace_sample made;
	size_t size; /* of all, in multiples of 8 */
};

/* Copies bytes behind a node; with @to NULL it only counts them. */
struct batch_packer {
	uint8_t *to;
	size_t len;
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
	return p->to ? memcpy(p->to + at, from, len) : NULL;
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
		return p->to ? p->record_copy + (at - p->record) : NULL;
	return pack(p, from, (size_t)nr * size);
}

static size_t count_bits(uint64_t mask)
{
	return (size_t)__builtin_popcountll(mask);
}

static void pack_sample(struct batch_packer *p, const struct walk_sample *ws, struct pd_sample *ret)
{
	const struct pd_sample *s = &ws->s;
	const struct pd_attr *attr = &ws->evsel->attr;

	*ret = *s;
	ret->read.values = pack_part(p, s->read.values, s->read.nr * s->read.stride, 8);
	ret->callchain = pack_part(p, s->callchain, s->callchain_nr, sizeof(*s->callchain));
	ret->raw = pack_part(p, s->raw, s->raw_size, 1);
	ret->branches = pack_part(p, s->branches, s->branch_nr, sizeof(*s->branches));
	ret->branch_counters = pack_part(p, s->branch_counters, s->branch_nr, 8);
	ret->user_regs = pack_part(p, s->user_regs, count_bits(attr->sample_regs_user), 8);
	ret->intr_regs = pack_part(p, s->intr_regs, count_bits(attr->sample_regs_intr), 8);
	ret->user_stack = pack_part(p, s->user_stack, s->user_stack_size, 1);
	ret->aux = pack_part(p, s->aux, s->aux_size, 1);
}

/* Makes a node of @ws; with p->to NULL its pointers are not valid, and only p->len counts. */
static void pack_node(struct batch_packer *p, const struct walk_sample *ws, struct batch_node *ret)
{
	ret->rec = *ws->rec;
	if (ws->rec->hdr) {
		p->record = (const uint8_t *)ws->rec->hdr;
		p->record_len = ws->rec->hdr->size;
		p->record_copy = pack(p, ws->rec->hdr, ws->rec->hdr->size);
		ret->rec.hdr = (const void *)p->record_copy;
	}
	ret->ws = *ws;
	if (ws->evsel)
		pack_sample(p, ws, &ret->ws.s);
	if (ws->text)
		ret->ws.text = pack(p, ws->text, strlen(ws->text) + 1);
	if (ws->made)
		ret->made = *ws->made;
	ret->size = sizeof(*ret) + p->len;
}

static int reserve(struct batch *b, size_t more)
{
	uint8_t *bytes;
	size_t cap = more > BATCH_BYTES ? more : BATCH_BYTES;

	if (b->len + more <= b->cap)
		return 0;
	if (b->len)
		return -ENOSPC;
	bytes = malloc(cap);
	if (!bytes)
		return -ENOMEM;
	free(b->p);
	b->p = bytes;
	b->cap = cap;
	return 0;
}

int batch_add(struct batch *b, const struct walk_sample *ws)
{
	struct batch_packer count = {0}, packer;
	struct batch_node unused, *node;
	int rc;

	pack_node(&count, ws, &unused);
	rc = reserve(b, unused.size);
	if (rc)
		return rc;
	node = (struct batch_node *)(void *)(b->p + b->len);
	packer = (struct batch_packer){.to = (uint8_t *)(node + 1)};
	pack_node(&packer, ws, node);
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
		struct walk_sample ws = node->ws;

		ws.rec = &node->rec;
		if (ws.made)
			ws.made = &node->made;
		rc = fn(&ws, arg);
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
