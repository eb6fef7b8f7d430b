// SPDX-License-Identifier: Apache-2.0
#include "report/table/group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

void group_counts_release(struct group_counts *g)
{
	free(g->slot);
	*g = (struct group_counts){0};
}

bool group_is_read(const struct pd_evsel *evsel)
{
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;

	return (evsel->attr.sample_type & PERF_SAMPLE_READ) &&
	       (evsel->attr.read_format & format) == format;
}

static struct group_count *find_slot(const struct group_counts *g, uint64_t id)
{
	size_t at = hash_word(g->key, id) & (g->size - 1);

	while (g->slot[at].id && g->slot[at].id != id)
		at = (at + 1) & (g->size - 1);
	return &g->slot[at];
}

static int grow(struct group_counts *g)
{
	struct group_counts wide = {
		.size = g->size ? g->size * 2 : 64, .nr = g->nr, .key = hash_key()};

	wide.slot = calloc(wide.size, sizeof(*wide.slot));
	if (!wide.slot)
		return -ENOMEM;
	for (size_t i = 0; i < g->size; i++)
		if (g->slot[i].id)
			*find_slot(&wide, g->slot[i].id) = g->slot[i];
	free(g->slot);
	*g = wide;
	return 0;
}

/* Computes how much counter @id has counted since its last sample. */
static int count_since(struct group_counts *g, uint64_t id, uint64_t value, uint64_t *ret)
{
	struct group_count *slot;

	if ((g->nr + 1) * 2 > g->size && grow(g) < 0)
		return -ENOMEM;
	slot = find_slot(g, id);
	if (!slot->id) {
		slot->id = id;
		g->nr++;
	}
	*ret = value >= slot->value ? value - slot->value : value; /* smaller: it was reset */
	slot->value = value;
	return 0;
}

int group_split(struct group_counts *g, const struct trace *t, const struct walk_sample *ws,
		walk_fn fn, void *arg)
{
	struct walk_sample member = *ws;
	bool known = false;

	for (uint64_t i = 0; i < ws->s.read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(&ws->s, ws->evsel, i);
		int rc;

		member.evsel = v.id ? pd_evlist_by_id(t->evlist, v.id) : NULL;
		if (!member.evsel)
			continue;
		known = true;
		rc = count_since(g, v.id, v.value, &member.s.period);
		if (!rc && member.s.period)
			rc = fn(&member, arg);
		if (rc < 0)
			return rc;
	}
	return known ? 0 : fn(ws, arg); /* no id is known: count it as one sample */
}
