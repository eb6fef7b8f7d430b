/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space: the address maps of a process, as of any moment. Internal to state/.
 *
 * A space is a list of versions, each with search trees of disjoint address ranges. Trees of
 * several versions, and of a process and its children, share nodes. A node belongs to the epoch
 * that made it; a change in a later epoch works on a copy. So a fork costs only a new version, and
 * a mapping that replaces another copies the path to it, O(log n).
 *
 * A mapping that overlaps nothing goes into the newest version itself, without a copy. For earlier
 * moments of that version space_find() finds no mapping there, because the range was born later.
 * Most mappings are of this kind, so memory is nearly linear in their number.
 *
 * One thread builds; after space_freeze() any number of threads may search.
 */
#ifndef RINGTAIL_STATE_SPACE_H
#define RINGTAIL_STATE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/moment.h"
#include "state/arena.h"
#include "state/state.h"

/* A mapping as recorded. Ranges of several trees point to it. */
struct space_map {
	struct map map;
	struct moment born;
};

enum space_tree {
	SPACE_CODE,
	SPACE_DATA, /* mapped without PROT_EXEC */
	SPACE_JIT,  /* code that a JIT has put into anonymous memory */
	SPACE_TREES,
};

struct space_node;

struct space_version {
	struct moment at;      /* valid from here up to the next version */
	struct moment settled; /* from here on nothing was added to it */
	struct space_node *root[SPACE_TREES];
	uint32_t replaced; /* number, from 1, of the version that the last exec ended; 0: none */
};

/* A version before space_freeze(); newest first. */
struct space_link {
	struct space_version v;
	struct space_link *prev;
};

/* An all-zero struct is an empty space. */
struct space {
	struct space_link *last;	/* until frozen */
	struct space_version *versions; /* when frozen: @count of them, oldest first */
	uint32_t count;
	uint64_t epoch; /* nodes of this epoch may be changed in place */
};

/* Memory that the spaces of a state share. */
struct space_pool {
	struct arena nodes;
	struct arena links; /* until frozen */
	uint64_t epoch;	    /* the newest */
	uint64_t seed;	    /* of the random order in the trees */
};

/* Makes an empty pool. */
void space_pool_init(struct space_pool *pool);
/* Frees all nodes of all spaces of the pool. */
void space_pool_release(struct space_pool *pool);

/*
 * Adds a mapping, valid from @map->born on; mappings that it overlaps end there: code ends data and
 * data ends code. (On arm64, a library's code is mapped as long as all of the library, and its data
 * over the end of that.) Moments of calls
 * on a space must not decrease. @map must outlive the space. Returns 0 or -ENOMEM; after that only
 * release the space with its pool.
 */
int space_add(struct space_pool *pool, struct space *s, enum space_tree tree,
	      const struct space_map *map);

/* Returns whether space_add() would change nothing: @map is empty, or equal to what is there. */
bool space_has(const struct space *s, enum space_tree tree, const struct map *map);

/* Ends the range that holds @addr. Returns 0 or -ENOMEM. */
int space_remove(struct space_pool *pool, struct space *s, enum space_tree tree, uint64_t addr,
		 struct moment at);

/* Ends all mappings; @exec: because another program replaces them. Returns 0 or -ENOMEM. */
int space_clear(struct space_pool *pool, struct space *s, bool exec, struct moment at);

/* Makes @child a copy of @parent; they may be the same space. Returns 0 or -ENOMEM. */
int space_fork(struct space_pool *pool, struct space *child, struct space *parent,
	       struct moment at);

/* Moves the versions of @s to @array, which has room for s->count of them. */
void space_freeze(struct space *s, struct space_version *array);

/* Returns whether one version is valid for all moments from @first to @last. */
bool space_is_steady(const struct space *s, struct moment first, struct moment last);

/* A span of time, end exclusive. */
struct space_span {
	struct moment from, until;
};

/*
 * Narrows *@span to where @s, which is frozen, has the same mappings as at @at, which lies in it.
 * Returns false if some mapping of that version was born after @at.
 */
bool space_calm(const struct space *s, struct moment at, struct space_span *span);

/* Returns the version that is valid at @at; NULL: nothing is mapped. */
const struct space_version *space_version(const struct space *s, struct moment at);

/* A range of addresses, end exclusive. */
struct space_range {
	uint64_t start, end;
};

/*
 * Returns the mapping at @addr as of @at, or NULL. @v is the version of @at. *@ret_range: all of
 * the mapping around @addr that no other one covers.
 */
const struct space_map *space_version_find(const struct space_version *v, enum space_tree tree,
					   uint64_t addr, struct moment at,
					   struct space_range *ret_range);

/* The same, without the range. */
const struct space_map *space_find(const struct space *s, enum space_tree tree, uint64_t addr,
				   struct moment at);

typedef int (*space_fn)(const struct map *piece, void *arg);

/*
 * Calls @fn for the ranges of the newest version, after space_freeze(), by address. A non-zero
 * value of @fn ends the walk and is returned; else 0.
 */
int space_each(const struct space *s, enum space_tree tree, space_fn fn, void *arg);

/* Returns the mapping that the last exec before @at ended; NULL before the space is frozen. */
const struct space_map *space_find_replaced(const struct space *s, enum space_tree tree,
					    uint64_t addr, struct moment at);

#endif
