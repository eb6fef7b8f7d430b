/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses: which maps some walks over stacks have asked for.
 *
 * Who unwinds before all maps are known notes here what the walks relied on. Later it asks whether
 * the whole state gives the same answers. One thread uses an object.
 */
#ifndef RINGTAIL_UNWIND_USES_H
#define RINGTAIL_UNWIND_USES_H

#include "state/state.h"

/* Addresses of a process, all in one map, or one address alone. */
struct unwind_use {
	uint32_t pid;
	const struct map *map; /* NULL: nothing is mapped at @low */
	uint64_t addr;	       /* of @low in the dso */
	uint64_t low, high;    /* @high is in the map, too */
	struct moment first, last;
};

/* More maps than most programs have. */
#define UNWIND_USES_MAX 64

/* All zero is an empty object, which owns no memory. */
struct unwind_uses {
	struct unwind_use use[UNWIND_USES_MAX];
	size_t nr;
	size_t last; /* index of the use that was noted last */
	bool full;   /* some are missing */
};

/* Notes that @v, of the moment of a sample, gave @loc for the address @ip. */
void unwind_uses_note(struct unwind_uses *u, const struct state_view *v, uint64_t ip,
		      const struct location *loc);

/*
 * Returns whether @s gives the same answers as the state whose answers were noted: the same file at
 * the same place. It may return false although it does. Any thread.
 */
bool unwind_uses_hold(const struct unwind_uses *u, const struct state *s);

#endif
