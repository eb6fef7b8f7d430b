/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for copies of AUX areas, and other records that the main thread hands a worker. Large room
 * is used again, since a fresh page costs a fault, and a snapshot stops the events meanwhile.
 *
 * Threads: the caller locks a store. Sizes are bytes.
 */
#ifndef RINGTAIL_RECORD_AUX_ROOM_H
#define RINGTAIL_RECORD_AUX_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room {
	struct room *next;
	size_t size, len; /* bytes of the memory and of the records in it */
	uint8_t records[];
};

/* Room that waits to be used again. All-zero is empty. */
struct room_store {
	struct room *first;
	size_t bytes;
};

/* Takes room for @len bytes out of @s. Returns NULL if there is none. */
struct room *room_take(struct room_store *s, size_t len);

/* Returns new room for @len bytes, or NULL without memory; to be freed with free(). */
struct room *room_new(size_t len);

/* Gives @room to @s. Returns false if it is not to be kept, because of its size or theirs. */
bool room_keep(struct room_store *s, struct room *room);

/* Adds new room for @len bytes, with its pages, to @s, if it is kept and there is memory. */
void room_add(struct room_store *s, size_t len);

/* Returns the room whose records are at @records. */
struct room *room_of(uint8_t *records);

void rooms_free(struct room *first); /* with all that follow; accepts NULL */

#endif
