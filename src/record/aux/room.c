// SPDX-License-Identifier: Apache-2.0
#include "record/aux/room.h"

#include <stdlib.h>
#include <string.h>

/* Of these sizes room is kept and used again. */
#define ROOM_LEAST (64u << 10)
#define ROOM_MOST  (17u << 20)
#define SPARE_MOST ((size_t)64 << 20) /* bytes of room that is kept, in a store */

static bool is_kept(size_t size)
{
	return size >= ROOM_LEAST && size <= ROOM_MOST;
}

/* Sizes in steps, so that room for one area serves for the next one. */
static size_t step_of(size_t len)
{
	size_t size = ROOM_LEAST;

	if (len > ROOM_MOST || len < ROOM_LEAST / 2)
		return len;
	while (size < len)
		size += size / 2;
	return size < ROOM_MOST ? size : ROOM_MOST;
}

struct room *room_take(struct room_store *s, size_t len)
{
	if (!is_kept(step_of(len)))
		return NULL;
	for (struct room **at = &s->first; *at; at = &(*at)->next) {
		struct room *room = *at;

		if (room->size < len)
			continue;
		*at = room->next;
		s->bytes -= room->size;
		return room;
	}
	return NULL;
}

struct room *room_new(size_t len)
{
	size_t size = step_of(len);
	struct room *room = malloc(sizeof(*room) + size);

	if (room)
		room->size = size;
	return room;
}

static bool takes(const struct room_store *s, size_t size)
{
	return is_kept(size) && s->bytes + size <= SPARE_MOST;
}

bool room_keep(struct room_store *s, struct room *room)
{
	if (!takes(s, room->size))
		return false;
	room->next = s->first;
	s->first = room;
	s->bytes += room->size;
	return true;
}

void room_add(struct room_store *s, size_t len)
{
	struct room *room = takes(s, step_of(len)) ? room_new(len) : NULL;

	if (!room)
		return;
	memset(room->records, 0, room->size);
	room_keep(s, room);
}

struct room *room_of(uint8_t *records)
{
	return (struct room *)(records - offsetof(struct room, records));
}

void rooms_free(struct room *first)
{
	struct room *next;

	for (; first; first = next) {
		next = first->next;
		free(first);
	}
}
