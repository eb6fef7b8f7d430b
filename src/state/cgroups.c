// SPDX-License-Identifier: Apache-2.0
#include "state/state_priv.h"

#include <errno.h>

#include "base/hash.h"

/* uthash's own function takes no key: see base/hash.h. */
#define HASH_FUNCTION(p, n, ret) ((ret) = (unsigned int)hash_bytes(hash_key(), p, n))
#include <uthash.h>

/* The kernel never reuses an id, so the table needs no time. */
struct cgroup {
	uint64_t id;
	const char *path; /* interned */
	UT_hash_handle hh;
};

int cgroups_add(struct state *s, const struct pd_cgroup *rec)
{
	struct cgroup *c;
	const char *path;

	HASH_FIND(hh, s->cgroups, &rec->id, sizeof(rec->id), c);
	if (c && !strcmp(c->path, rec->path))
		return 0;
	path = dso_intern(&s->dsos, rec->path);
	if (!path)
		return -ENOMEM;
	if (!c) {
		c = arena_alloc(&s->maps, sizeof(*c));
		if (!c)
			return -ENOMEM;
		c->id = rec->id;
		HASH_ADD(hh, s->cgroups, id, sizeof(c->id), c);
		if (!c->hh.tbl)
			return -ENOMEM;
	}
	c->path = path;
	return 0;
}

const char *state_cgroup(const struct state *s, uint64_t id)
{
	struct cgroup *c;

	HASH_FIND(hh, s->cgroups, &id, sizeof(id), c);
	return c ? c->path : NULL;
}

size_t cgroups_memory(const struct state *s)
{
	return HASH_OVERHEAD(hh, s->cgroups);
}

void cgroups_release(struct state *s)
{
	HASH_CLEAR(hh, s->cgroups);
}
