// SPDX-License-Identifier: Apache-2.0
#include "unwind/uses.h"

#include <string.h>

/* Whether all of the map's addresses around @ip are known to be in it. */
static bool is_range(const struct state_view *v, uint64_t ip)
{
	return v->found && ip >= v->start && ip < v->end;
}

static bool is_of(const struct unwind_use *use, const struct state_view *v, uint64_t ip,
		  const struct location *loc)
{
	if (use->map != loc->map || use->pid != v->pid)
		return false;
	/* Another map may cover a part of this one: only addresses of one range go together. */
	return ip == use->low || (is_range(v, ip) && use->low >= v->start && use->high < v->end);
}

static void widen(struct unwind_use *use, struct moment at, uint64_t ip, uint64_t addr)
{
	if (moment_before(at, use->first))
		use->first = at;
	if (moment_before(use->last, at))
		use->last = at;
	if (ip < use->low) {
		use->low = ip;
		use->addr = addr;
	}
	if (ip > use->high)
		use->high = ip;
}

/* Returns the index of the use of @ip; @u->nr if there is none yet. */
static size_t find(const struct unwind_uses *u, const struct state_view *v, uint64_t ip,
		   const struct location *loc)
{
	size_t i = 0;

	while (i < u->nr && !is_of(&u->use[i], v, ip, loc))
		i++;
	return i;
}

void unwind_uses_note(struct unwind_uses *u, const struct state_view *v, uint64_t ip,
		      const struct location *loc)
{
	if (u->full)
		return;
	if (!u->nr || !is_of(&u->use[u->last], v, ip, loc))
		u->last = find(u, v, ip, loc);
	if (u->last == UNWIND_USES_MAX) {
		u->full = true;
		return;
	}
	if (u->last == u->nr)
		u->use[u->nr++] = (struct unwind_use){
			.pid = v->pid,
			.map = loc->map,
			.addr = loc->addr,
			.low = ip,
			.high = ip,
			.first = v->at,
			.last = v->at,
		};
	else
		widen(&u->use[u->last], v->at, ip, loc->addr);
}

/* Whether the two are of one file, though of different states. */
static bool same_dso(const struct dso *a, const struct dso *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) && a->maj == b->maj &&
	       a->min == b->min && a->ino == b->ino && a->ino_generation == b->ino_generation;
}

static bool holds(const struct unwind_use *use, const struct state *s)
{
	struct location loc;

	if (!state_find_steady(s, use->pid, use->low, use->high, use->first, use->last, &loc))
		return false;
	if (!loc.map || !use->map)
		return loc.map == use->map;
	return loc.addr == use->addr && loc.map->prot == use->map->prot &&
	       same_dso(loc.map->dso, use->map->dso);
}

bool unwind_uses_hold(const struct unwind_uses *u, const struct state *s)
{
	if (u->full)
		return false;
	for (size_t i = 0; i < u->nr; i++)
		if (!holds(&u->use[i], s))
			return false;
	return true;
}
