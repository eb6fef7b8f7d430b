/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped where, as of any moment. Internal to state/.
 *
 * A space is a list of versions, each of them a search tree of disjoint address ranges. Trees of
 * different versions, and of a process and its children, share nodes: a node belongs to the epoch
 * that made it, and whoever changes it in a later epoch works on a copy. So a fork costs nothing
 * but a new version, and a mapping that replaces another one copies the path to it, O(log n).
 *
 * A mapping that overlaps nothing goes into the newest version itself, without a copy: for earlier
 * moments of that version there was a hole, and that is what space_find() says of a range that was
 * born later. Most mappings are of this kind, so memory is nearly linear in their number.
 */
#ifndef RINGTAIL_STATE_SPACE_H
#define RINGTAIL_STATE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/moment.h"
#include "state/arena.h"
#include "state/state.h"

/* A mapping as recorded. Ranges of several trees refer to it. */
struct space_map {
	struct map map;
	struct moment born;
};

enum space_tree {
	SPACE_CODE,
	SPACE_DATA, /* mapped without PROT_EXEC */
	SPACE_TREES,
};

struct space_node;

struct space_version {
	struct moment at; /* valid from then on, up to the next version */
	struct space_node *root[SPACE_TREES];
	uint32_t replaced; /* number, from 1, of the version that the last exec ended; 0: none */
};

/* A version on the way to the array; newest first. */
struct space_link {
	struct space_version v;
	struct space_link *prev;
};

/* An all-zero struct is an empty space. */
struct space {
	struct space_link *last;	/* until frozen */
	struct space_version *versions; /* when frozen: @count of them, oldest first */
	uint32_t count;
	uint64_t epoch; /* nodes of this one may be changed in place */
};

/* What the spaces of a state share. */
struct space_pool {
	struct arena nodes;
	struct arena links; /* until frozen */
	uint64_t epoch;	    /* the newest */
	uint64_t seed;	    /* of the order in the trees */
};

/* An empty pool. space_pool_release() frees all nodes of all spaces of it. */
void space_pool_init(struct space_pool *pool);
void space_pool_release(struct space_pool *pool);

/*
 * From @map->born on, @map is what is found at its addresses; what it overlaps ends there. Moments
 * of calls on a space must not decrease. @map must stay. Returns 0 or -ENOMEM; after that the space
 * may only be released with its pool.
 */
int space_add(struct space_pool *pool, struct space *s, enum space_tree tree,
	      const struct space_map *map);

/* Whether space_add() of @map would change nothing: it is empty, or what there is says the same. */
bool space_has(const struct space *s, enum space_tree tree, const struct map *map);

/* Ends the range that @addr lies in. Returns 0 or -ENOMEM. */
int space_remove(struct space_pool *pool, struct space *s, enum space_tree tree, uint64_t addr,
		 struct moment at);

/* Everything ends, with @exec for another program. Returns 0 or -ENOMEM. */
int space_clear(struct space_pool *pool, struct space *s, bool exec, struct moment at);

/* @child becomes what @parent is. They may be the same space. Returns 0 or -ENOMEM. */
int space_fork(struct space_pool *pool, struct space *child, struct space *parent,
	       struct moment at);

/* Moves the versions of @s to @array, which has room for s->count of them. */
void space_freeze(struct space *s, struct space_version *array);

/* Whether one version serves all moments from @first to @last. */
bool space_is_steady(const struct space *s, struct moment first, struct moment last);

/* What is found at @addr as of @at, or NULL. */
const struct space_map *space_find(const struct space *s, enum space_tree tree, uint64_t addr,
				   struct moment at);

/* What was there until the last exec before @at; NULL before the space is frozen. */
const struct space_map *space_find_replaced(const struct space *s, enum space_tree tree,
					    uint64_t addr, struct moment at);

#endif
