// SPDX-License-Identifier: Apache-2.0
/*
 * Address maps of a process as of any time: persistent treaps.
 *
 * A treap is a search tree by address and a heap by a random number. The number is a function of
 * the range's start, so it needs no field, and depth is logarithmic for any order of insertion.
 */
#include "state/space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

struct space_node {
	uint64_t start, end; /* the range, a piece of @map */
	const struct space_map *map;
	struct space_node *left, *right;
	uint64_t epoch;
};

/*
 * Most nodes that one change allocates. A change copies a few paths from root to leaf. The memory
 * for all of them is reserved first, so that no change has to be undone half-way. In a tree of a
 * million nodes, a path is longer than 256 with a probability below 1e-100.
 */
#define CHANGE_NODES (5 * 256)

void space_pool_init(struct space_pool *pool)
{
	/* secret, so that nobody can craft a file whose tree degrades to a list */
	*pool = (struct space_pool){.seed = hash_word(hash_key(), (uintptr_t)pool)};
}

void space_pool_release(struct space_pool *pool)
{
	arena_release(&pool->nodes);
	arena_release(&pool->links);
}

/* A bijection, so different starts never have the same rank. */
static uint64_t rank(const struct space_pool *pool, const struct space_node *n)
{
	uint64_t h = n->start + pool->seed;

	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
	return h ^ h >> 31;
}

static struct space_node *node_new(struct space_pool *pool, uint64_t epoch, uint64_t start,
				   uint64_t end, const struct space_map *map)
{
	struct space_node *n = arena_alloc(&pool->nodes, sizeof(*n));

	*n = (struct space_node){.start = start, .end = end, .map = map, .epoch = epoch};
	return n;
}

/* Returns @n if it belongs to this epoch, else a copy that does. */
static struct space_node *own(struct space_pool *pool, uint64_t epoch, struct space_node *n)
{
	struct space_node *copy;

	if (n->epoch == epoch)
		return n;
	copy = arena_alloc(&pool->nodes, sizeof(*copy));
	*copy = *n;
	copy->epoch = epoch;
	return copy;
}

/* Splits the tree at @key: ranges that start before it, and all others. */
static void split(struct space_pool *pool, uint64_t epoch, struct space_node *n, uint64_t key,
		  struct space_node **ret_low, struct space_node **ret_high)
{
	if (!n) {
		*ret_low = *ret_high = NULL;
		return;
	}
	n = own(pool, epoch, n);
	if (n->start < key) {
		*ret_low = n;
		split(pool, epoch, n->right, key, &n->right, ret_high);
	} else {
		*ret_high = n;
		split(pool, epoch, n->left, key, ret_low, &n->left);
	}
}

/* Joins two trees; all of @low lies below all of @high. */
static struct space_node *join(struct space_pool *pool, uint64_t epoch, struct space_node *low,
			       struct space_node *high)
{
	if (!low || !high)
		return low ? low : high;
	if (rank(pool, low) > rank(pool, high)) {
		low = own(pool, epoch, low);
		low->right = join(pool, epoch, low->right, high);
		return low;
	}
	high = own(pool, epoch, high);
	high->left = join(pool, epoch, low, high->left);
	return high;
}

/* Returns the last range that starts before @key, or NULL. */
static struct space_node *last_before(struct space_node *n, uint64_t key)
{
	struct space_node *found = NULL;

	while (n) {
		if (n->start < key) {
			found = n;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return found;
}

static struct space_node *node_at(struct space_node *root, uint64_t addr)
{
	struct space_node *n = addr == UINT64_MAX ? NULL : last_before(root, addr + 1);

	return n && addr < n->end ? n : NULL;
}

/*
 * Returns the tree with [@start, @end) of @map added, or removed if @map is NULL. The node that
 * ends at a split point or covers it lies on the path to it, so split() has already copied it into
 * this epoch.
 */
static struct space_node *replace(struct space_pool *pool, uint64_t epoch, struct space_node *root,
				  uint64_t start, uint64_t end, const struct space_map *map)
{
	struct space_node *low, *mid, *high, *n, *rest = NULL, *in = NULL;

	split(pool, epoch, root, start, &low, &high);
	split(pool, epoch, high, end, &mid, &high);
	n = last_before(low, start);
	if (n && n->end > start) {
		if (n->end > end)
			rest = node_new(pool, epoch, end, n->end, n->map);
		n->end = start;
	}
	n = last_before(mid, end);
	if (n && n->end > end)
		rest = node_new(pool, epoch, end, n->end, n->map);
	if (map)
		in = node_new(pool, epoch, start, end, map);
	return join(pool, epoch, join(pool, epoch, low, in), join(pool, epoch, rest, high));
}

static int new_version(struct space_pool *pool, struct space *s, const struct space_version *v)
{
	struct space_link *link = arena_alloc(&pool->links, sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->v = *v;
	link->prev = s->last;
	s->last = link;
	s->count++;
	s->epoch = ++pool->epoch;
	return 0;
}

/* Whether @n already maps all of [@start, @end) in the way of @map. */
static bool says_same(const struct space_node *n, uint64_t start, uint64_t end,
		      const struct map *map)
{
	const struct map *old = &n->map->map;

	return n->start <= start && n->end >= end && old->dso == map->dso &&
	       old->prot == map->prot && old->flags == map->flags &&
	       old->pgoff - old->start == map->pgoff - map->start;
}

/* Returns the last range of a tree that overlaps [@start, @end), or NULL. */
static const struct space_node *overlap(const struct space *s, enum space_tree tree, uint64_t start,
					uint64_t end)
{
	const struct space_node *n = s->last ? last_before(s->last->v.root[tree], end) : NULL;

	return n && n->end > start ? n : NULL;
}

/* Returns the tree whose mappings a mapping of @tree replaces, too; @tree itself: none. */
static enum space_tree beside(enum space_tree tree)
{
	switch (tree) {
	case SPACE_CODE: return SPACE_DATA;
	case SPACE_DATA: return SPACE_CODE;
	case SPACE_JIT:
	case SPACE_TREES: break;
	}
	return tree;
}

bool space_has(const struct space *s, enum space_tree tree, const struct map *map)
{
	const struct space_node *n;

	if (map->end <= map->start)
		return true;
	n = overlap(s, tree, map->start, map->end);
	return n && says_same(n, map->start, map->end, map);
}

int space_add(struct space_pool *pool, struct space *s, enum space_tree tree,
	      const struct space_map *map)
{
	uint64_t start = map->map.start, end = map->map.end;
	enum space_tree other = beside(tree);
	bool cut = other != tree && overlap(s, other, start, end);
	struct space_version next = {.at = map->born};
	bool version = !s->last;
	int rc;

	if (space_has(s, tree, &map->map))
		return 0;
	if (cut || overlap(s, tree, start, end)) {
		next = s->last->v;
		next.at = map->born;
		version = true;
	}
	rc = arena_reserve(&pool->nodes, 2 * CHANGE_NODES * sizeof(struct space_node));
	if (!rc && version)
		rc = new_version(pool, s, &next);
	if (rc)
		return rc;
	if (cut)
		s->last->v.root[other] =
			replace(pool, s->epoch, s->last->v.root[other], start, end, NULL);
	s->last->v.root[tree] = replace(pool, s->epoch, s->last->v.root[tree], start, end, map);
	s->last->v.settled = map->born;
	return 0;
}

int space_remove(struct space_pool *pool, struct space *s, enum space_tree tree, uint64_t addr,
		 struct moment at)
{
	const struct space_node *n = s->last ? node_at(s->last->v.root[tree], addr) : NULL;
	struct space_version next;
	int rc;

	if (!n)
		return 0;
	next = s->last->v;
	next.at = next.settled = at;
	rc = arena_reserve(&pool->nodes, CHANGE_NODES * sizeof(struct space_node));
	if (!rc)
		rc = new_version(pool, s, &next);
	if (rc)
		return rc;
	s->last->v.root[tree] =
		replace(pool, s->epoch, s->last->v.root[tree], n->start, n->end, NULL);
	return 0;
}

int space_clear(struct space_pool *pool, struct space *s, bool exec, struct moment at)
{
	struct space_version empty = {.at = at, .settled = at, .replaced = exec ? s->count : 0};

	if (!s->last || (!s->last->v.root[SPACE_CODE] && !s->last->v.root[SPACE_DATA] &&
			 !s->last->v.root[SPACE_JIT]))
		return 0;
	return new_version(pool, s, &empty);
}

int space_fork(struct space_pool *pool, struct space *child, struct space *parent, struct moment at)
{
	struct space_version v = {.at = at};

	if (parent->last)
		v = parent->last->v;
	v.at = v.settled = at;
	v.replaced = 0; /* it counts versions of the parent */
	/* From here on, neither process may change the nodes that they share. */
	parent->epoch = ++pool->epoch;
	return child->last || parent->last ? new_version(pool, child, &v) : 0;
}

void space_freeze(struct space *s, struct space_version *array)
{
	const struct space_link *link;
	uint32_t i = s->count;

	for (link = s->last; link; link = link->prev)
		array[--i] = link->v;
	s->versions = array;
	s->last = NULL;
}

const struct space_version *space_version(const struct space *s, struct moment at)
{
	uint32_t low = 0, high = s->count, mid;
	const struct space_link *link;

	if (!s->versions) {
		for (link = s->last; link && moment_before(at, link->v.at);)
			link = link->prev;
		return link ? &link->v : NULL;
	}
	while (low < high) {
		mid = low + (high - low) / 2;
		if (moment_before(at, s->versions[mid].at))
			high = mid;
		else
			low = mid + 1;
	}
	return low ? &s->versions[low - 1] : NULL;
}

bool space_is_steady(const struct space *s, struct moment first, struct moment last)
{
	return space_version(s, first) == space_version(s, last);
}

bool space_calm(const struct space *s, struct moment at, struct space_span *span)
{
	const struct space_version *v = space_version(s, at), *next = v ? v + 1 : s->versions;

	if (v && moment_before(at, v->settled))
		return false;
	if (v && moment_before(span->from, v->settled))
		span->from = v->settled;
	if (next < s->versions + s->count && moment_before(next->at, span->until))
		span->until = next->at;
	return true;
}

const struct space_map *space_version_find(const struct space_version *v, enum space_tree tree,
					   uint64_t addr, struct moment at,
					   struct space_range *ret_range)
{
	const struct space_node *n = v ? node_at(v->root[tree], addr) : NULL;

	if (!n || moment_before(at, n->map->born))
		return NULL;
	*ret_range = (struct space_range){n->start, n->end};
	return n->map;
}

const struct space_map *space_find(const struct space *s, enum space_tree tree, uint64_t addr,
				   struct moment at)
{
	struct space_range unused;

	return space_version_find(space_version(s, at), tree, addr, at, &unused);
}

const struct space_map *space_find_replaced(const struct space *s, enum space_tree tree,
					    uint64_t addr, struct moment at)
{
	const struct space_version *v = space_version(s, at);
	const struct space_node *n;

	if (!s->versions || !v || !v->replaced)
		return NULL;
	n = node_at(s->versions[v->replaced - 1].root[tree], addr);
	return n ? n->map : NULL;
}

/* The depth is that of a random tree: about twice the logarithm of the number of ranges. */
static int each(const struct space_node *n, space_fn fn, void *arg)
{
	struct map piece;
	int rc;

	if (!n)
		return 0;
	rc = each(n->left, fn, arg);
	if (rc)
		return rc;
	piece = n->map->map;
	piece.pgoff += n->start - piece.start;
	piece.start = n->start;
	piece.end = n->end;
	rc = fn(&piece, arg);
	return rc ? rc : each(n->right, fn, arg);
}

int space_each(const struct space *s, enum space_tree tree, space_fn fn, void *arg)
{
	return s->count ? each(s->versions[s->count - 1].root[tree], fn, arg) : 0;
}
