// SPDX-License-Identifier: Apache-2.0
#include "report/table/group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

void group_counts_release(struct group_counts *g)
{
	id_table_release(&g->ids);
	free(g->values);
	*g = (struct group_counts){0};
}

bool group_is_read(const struct pd_evsel *evsel)
{
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;

	return (evsel->attr.sample_type & PERF_SAMPLE_READ) &&
	       (evsel->attr.read_format & format) == format;
}

/* Returns the increase of counter @id since its last value. */
static int count_since(struct group_counts *g, uint64_t id, uint64_t value, uint64_t *ret)
{
	uint32_t at = id_table_find(&g->ids, id);

	if (at == ID_TABLE_NONE) {
		at = id_table_count(&g->ids);
		if (array_grow(&g->values, &g->cap, (size_t)at + 1, sizeof(*g->values)) ||
		    id_table_put(&g->ids, id, at))
			return -ENOMEM;
		g->values[at] = 0;
	}
	/* A smaller value: the counter was reset in between. */
	*ret = value >= g->values[at] ? value - g->values[at] : value;
	g->values[at] = value;
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
	return known ? 0 : fn(ws, arg); /* no id is known: counts it as one sample */
}
