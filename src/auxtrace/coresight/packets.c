// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/coresight/instance.h"
#include "auxtrace/coresight/walk.h"
#include "base/buf.h"

/* A packet that waits to be taken. */
struct cs_waiting {
	size_t end; /* in the stretch */
	bool unsynced;
	struct aux_packet packet; /* but its length */
};

struct cs_packets {
	struct cs_instance instance;
	struct cs_walk walk;
	struct cs_waiting *queue;
	size_t nr, cap, taken;
	size_t pos; /* packets up to here were taken */
	int rc;	    /* of what happened in a callback */
};

static struct cs_waiting *add(struct cs_packets *p, size_t end)
{
	if (array_grow(&p->queue, &p->cap, p->nr + 1, sizeof(*p->queue))) {
		p->rc = -ENOMEM;
		return NULL;
	}
	p->queue[p->nr] = (struct cs_waiting){.end = end};
	return &p->queue[p->nr++];
}

static void on_packet(struct cs_source *s, size_t at, size_t end, const void *packet, size_t size)
{
	struct cs_packets *p = s->walk->user;
	enum cs_packet_kind kind = cs_packet_kind(s->unit, packet);
	struct cs_waiting *last = p->nr > p->taken ? &p->queue[p->nr - 1] : NULL, *w;
	int n = 0;

	(void)at;
	(void)size;
	if (kind == CS_PACKET_UNSYNCED && last && last->unsynced && end >= last->end) {
		last->end = end;
		return;
	}
	w = add(p, end);
	if (!w)
		return;
	w->unsynced = kind == CS_PACKET_UNSYNCED;
	w->packet.bad = kind == CS_PACKET_UNSYNCED || kind == CS_PACKET_BAD;
	if (!p->walk.setup.raw)
		n = snprintf(w->packet.text, sizeof(w->packet.text), "ID 0x%02x ",
			     s->unit->trace_id);
	cs_packet_text(s->tree, packet, w->packet.text + n, sizeof(w->packet.text) - (size_t)n);
}

static void on_fault(struct cs_walk *walk, struct cs_source *s, size_t at, size_t end,
		     const char *text)
{
	struct cs_waiting *w = add(walk->user, end);

	(void)s;
	(void)at;
	if (!w)
		return;
	w->packet.bad = text != NULL;
	snprintf(w->packet.text, sizeof(w->packet.text), "%s", text ? text : "barrier");
}

static const struct cs_walk_ops ops = {
	.source_size = sizeof(struct cs_source),
	.packet = on_packet,
	.fault = on_fault,
};

static void packets_end(struct aux_decoder *d)
{
	struct cs_packets *p = (struct cs_packets *)d;

	cs_walk_release(&p->walk);
	free(p->queue);
	free(p);
}

int cs_packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
	       struct aux_decoder **ret)
{
	struct cs_packets *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->instance.end = packets_end;
	rc = cs_walk_init(&p->walk, setup, stretch, &ops, p);
	if (rc)
		packets_end((struct aux_decoder *)p);
	else
		*ret = (struct aux_decoder *)p;
	return rc;
}

/* Fills the queue. Returns 1, 0 at the end of the walk, or a negative errno. */
static int fill(struct cs_packets *p)
{
	int rc = 1;

	p->nr = p->taken = 0;
	while (rc > 0 && !p->nr && !p->rc)
		rc = cs_walk_step(&p->walk);
	return p->rc ? p->rc : rc < 0 ? rc : p->nr > 0;
}

int cs_packet_next(struct aux_decoder *d, struct aux_packet *ret)
{
	struct cs_packets *p = (struct cs_packets *)d;
	size_t len = p->walk.stretch->len;
	int rc;

	for (;;) {
		const struct cs_waiting *w;

		if (p->taken == p->nr) {
			rc = fill(p);
			if (rc < 0)
				return rc;
			if (!rc)
				break;
		}
		w = &p->queue[p->taken++];
		/* A packet that ends where the one before does says nothing of its own bytes. */
		if (w->end <= p->pos)
			continue;
		*ret = w->packet;
		ret->len = w->end - p->pos;
		p->pos = w->end;
		return 1;
	}
	if (p->pos == len)
		return 0;
	*ret = (struct aux_packet){.len = len - p->pos, .text = "padding"};
	p->pos = len;
	return 1;
}
