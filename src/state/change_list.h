/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change list: a number that changes over time, in a few bytes for each change.
 *
 * Changes may come in any order; change_list_freeze() sorts them. A change is stored as the time
 * since the one before and the number, seven bits a byte.
 *
 * One thread fills a list. Once frozen, any number of threads may read it.
 */
#ifndef RINGTAIL_STATE_CHANGE_LIST_H
#define RINGTAIL_STATE_CHANGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* From @time on the number is @value. */
struct change_entry {
	uint64_t time;
	uint32_t value;
};

/* A change that is found without those before it. */
struct change_anchor {
	struct change_entry change;
	size_t at; /* of the next change in the bytes */
};

/* All zero: empty. */
struct change_list {
	struct buf bytes;
	uint64_t nr;
	uint64_t last;		       /* time of the newest in @bytes */
	size_t nr_descents;	       /* changes that are earlier than the one before */
	struct change_anchor *anchors; /* when frozen */
	size_t nr_anchors, cap_anchors;
};

/* Adds a change. Returns 0 or -ENOMEM. */
int change_list_add(struct change_list *l, uint64_t time, uint32_t value);

/* Reads the change at *@at, which is behind @change, into @change; begin with zeroes. */
void change_list_next(const struct change_list *l, size_t *at, struct change_entry *change);

/* Decides about a change of a list that is frozen: returns whether to keep it; may set its value.
 */
typedef bool (*change_fn)(struct change_entry *change, void *arg);

/*
 * Sorts; of equal times the first that was added stays first. Calls @keep for each change in that
 * order. Call it once. Returns 0 or -ENOMEM.
 */
int change_list_freeze(struct change_list *l, change_fn keep, void *arg);

/* Finds the number at @time in a frozen list. Returns false before the first change. */
bool change_list_find(const struct change_list *l, uint64_t time, uint32_t *ret);

/* Returns the bytes that a list holds, and those that sorting it would take. */
size_t change_list_memory(const struct change_list *l);

/* Frees the list; accepts zeroes. */
void change_list_release(struct change_list *l);

#endif
