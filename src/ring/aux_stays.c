// SPDX-License-Identifier: Apache-2.0
#include "ring/aux_stays.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int aux_stays_init(struct aux_stays *s, size_t room)
{
	*s = (struct aux_stays){.stays = calloc(room, sizeof(*s->stays)), .room = room};
	return s->stays ? 0 : -ENOMEM;
}

void aux_stays_release(struct aux_stays *s)
{
	free(s->stays);
	*s = (struct aux_stays){0};
}

static struct aux_stay join(const struct aux_stay *a, const struct aux_stay *b)
{
	return (struct aux_stay){
		.begun = a->begun,
		.ended = b->ended,
		.bytes = a->bytes + b->bytes,
		.joined = true,
		.tail = b->tail,
		.tail_begun = b->tail_begun,
	};
}

/* Halves the older half of the list. */
static void make_room(struct aux_stays *s)
{
	size_t pairs = s->nr / 4, rest = s->nr - 2 * pairs;

	for (size_t i = 0; i < pairs; i++)
		s->stays[i] = join(&s->stays[2 * i], &s->stays[2 * i + 1]);
	memmove(s->stays + pairs, s->stays + 2 * pairs, rest * sizeof(*s->stays));
	s->nr = pairs + rest;
	if (s->unsettled > s->nr)
		s->unsettled = s->nr;
}

void aux_stays_add(struct aux_stays *s, uint64_t begun, uint64_t ended, uint64_t bytes, bool whole)
{
	if (s->nr == s->room)
		make_room(s);
	s->stays[s->nr++] = (struct aux_stay){
		.begun = begun,
		.ended = ended,
		.bytes = bytes,
		.joined = !whole,
		.tail = whole ? bytes : 0,
		.tail_begun = begun,
	};
	s->unsettled++;
}

void aux_stays_settle(struct aux_stays *s, uint64_t more)
{
	struct aux_stay *first = s->stays + s->nr - s->unsettled;

	if (more && !s->unsettled) {
		aux_stays_drop(s);
		return;
	}
	if (more) {
		/* A single stay wrote all of it, and without a pause. */
		bool tail = s->unsettled == 1 && !first->joined;

		for (size_t i = 1; i < s->unsettled; i++)
			*first = join(first, first + i);
		first->bytes += more;
		first->tail += tail ? more : 0;
		s->nr -= s->unsettled - 1;
	}
	s->unsettled = 0;
}

void aux_stays_drop(struct aux_stays *s)
{
	if (s->nr)
		s->floor = s->stays[s->nr - 1].ended;
	s->nr = s->unsettled = 0;
}

uint64_t aux_stays_since(const struct aux_stays *s, uint64_t bytes)
{
	for (size_t i = s->nr; bytes && i; i--) {
		if (bytes <= s->stays[i - 1].bytes)
			return s->stays[i - 1].begun;
		bytes -= s->stays[i - 1].bytes;
	}
	return 0;
}
