// SPDX-License-Identifier: Apache-2.0
#include "state/namespaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define CGROUP_INDEX 6 /* CGROUP_NS_INDEX of perf_event.h */

struct namespace_change {
	struct moment at;
	size_t order; /* among changes of one moment */
	struct namespace_id id;
	uint32_t tid;
};

int namespaces_add(struct namespaces *n, const struct pd_namespaces *rec, struct moment at)
{
	struct namespace_change change = {.at = at, .order = n->nr, .tid = rec->tid};

	if (array_grow(&n->changes, &n->cap, n->nr + 1, sizeof(*n->changes)) < 0)
		return -ENOMEM;
	if (rec->nr > CGROUP_INDEX)
		memcpy(&change.id, rec->link + 2 * CGROUP_INDEX, sizeof(change.id));
	n->changes[n->nr++] = change;
	return 0;
}

static int compare_moments(struct moment a, struct moment b)
{
	return moment_before(a, b) ? -1 : moment_before(b, a);
}

static int compare(const void *pa, const void *pb)
{
	const struct namespace_change *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return compare_moments(a->at, b->at) ?: a->order < b->order ? -1 : a->order > b->order;
}

void namespaces_freeze(struct namespaces *n)
{
	if (n->nr)
		qsort(n->changes, n->nr, sizeof(*n->changes), compare);
}

struct namespace_id namespaces_cgroup(const struct namespaces *n, uint32_t tid, struct moment at)
{
	const struct namespace_change key = {.at = at, .order = SIZE_MAX, .tid = tid};
	size_t low = 0, high = n->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(&n->changes[mid], &key) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low || n->changes[low - 1].tid != tid)
		return (struct namespace_id){0};
	return n->changes[low - 1].id;
}

size_t namespaces_memory(const struct namespaces *n)
{
	return n->cap * sizeof(*n->changes);
}

void namespaces_release(struct namespaces *n)
{
	free(n->changes);
	*n = (struct namespaces){0};
}
