// SPDX-License-Identifier: Apache-2.0
#include "report/trace/walk_group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"

void group_counts_release(struct group_counts *g)
{
	hash_table_release(&g->table);
	free(g->counters);
	*g = (struct group_counts){0};
}

bool group_is_read(const struct pd_evsel *evsel)
{
	return (evsel->attr.sample_type & PERF_SAMPLE_READ) &&
	       (evsel->attr.read_format & PERF_FORMAT_ID);
}

bool group_any_read(const struct pd_evlist *list)
{
	for (size_t i = 0; i < pd_evlist_count(list); i++)
		if (group_is_read(pd_evlist_at(list, i)))
			return true;
	return false;
}

/*
 * Returns whether the parts of a sample of @leader, whose lengths the attributes tell, can be read
 * as those of @member. A damaged or hostile file has others.
 */
static bool have_same_parts(const struct pd_evsel *leader, const struct pd_evsel *member)
{
	const struct pd_attr *a = &leader->attr, *b = &member->attr;

	return a->read_format == b->read_format && a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr &&
	       a->branch_sample_type == b->branch_sample_type;
}

static bool same_counter(const void *counters, uint32_t number, const void *key)
{
	const struct group_counter *c = (const struct group_counter *)counters + number, *k = key;

	return c->id == k->id && c->tid == k->tid;
}

/* Returns the counter with the id and thread of @key, at first with value 0; or NULL. */
static struct group_counter *find_counter(struct group_counts *g, const struct group_counter *key)
{
	uint64_t hash = hash_word(hash_word(hash_key(), key->id), key->tid);
	uint32_t at = hash_table_find(&g->table, hash, same_counter, g->counters, key);

	if (at != HASH_TABLE_NONE)
		return &g->counters[at];
	at = g->table.nr;
	if (hash_table_reserve(&g->table, 1) ||
	    array_grow(&g->counters, &g->cap, (size_t)at + 1, sizeof(*g->counters)))
		return NULL;
	hash_table_add(&g->table, hash, at);
	g->counters[at] = (struct group_counter){key->id, key->tid, 0};
	return &g->counters[at];
}

/* Returns the increase of a counter since its last value. */
static int count_since(struct group_counts *g, const struct group_counter *now, uint64_t *ret)
{
	struct group_counter *c = find_counter(g, now);

	if (!c)
		return -ENOMEM;
	/* A smaller value: the counter was reset in between. */
	*ret = now->value >= c->value ? now->value - c->value : now->value;
	c->value = now->value;
	return 0;
}

int group_split(struct group_counts *g, const struct trace *t, const struct walk_sample *ws,
		walk_fn fn, void *arg)
{
	bool inherited = ws->evsel->attr.flags & PD_ATTR_INHERIT, known = false;
	struct walk_sample member = *ws;

	for (uint64_t i = 0; i < ws->s.read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(&ws->s, ws->evsel, i);
		int rc;

		member.evsel = v.id ? pd_evlist_by_id(t->evlist, v.id) : NULL;
		if (!member.evsel || !have_same_parts(ws->evsel, member.evsel))
			continue;
		known = true;
		rc = count_since(g,
				 &(struct group_counter){v.id, inherited ? ws->s.tid : 0, v.value},
				 &member.s.period);
		if (!rc && member.s.period)
			rc = fn(&member, arg);
		if (rc < 0)
			return rc;
	}
	return known ? 0 : fn(ws, arg); /* no id is known: counts it as one sample */
}
