// SPDX-License-Identifier: Apache-2.0
#include "report/trace/dso_hits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/walk.h"

struct dso_hits {
	const struct trace *trace;
	bool *hit;
};

static int take_sample(const struct walk_sample *ws, void *arg)
{
	const struct dso_hits *h = arg;
	struct location place;

	if (!ws->exec && (ws->s.type & PERF_SAMPLE_IP) &&
	    state_find(h->trace->state, ws->s.pid, ws->s.cpumode, ws->s.ip, ws->rec->at, &place))
		h->hit[place.map->dso->index] = true;
	return 0;
}

static int walk(struct trace *t, struct dso_hits *h, struct error *err)
{
	struct walker *w = NULL;
	int rc;

	if (t->untimed_samples)
		return walk_ordered(t, &(struct walk_takers){.sample = take_sample, .arg = h}, err);
	rc = walker_new(t, &w);
	for (size_t i = 0; !rc && i < t->nr_chunks; i++)
		rc = walk_chunk(w, &t->chunks[i], take_sample, h);
	walker_free(w);
	walk_hand_in_findings(t);
	return rc ? error_sys(err, rc, "%s", t->opts.path) : 0;
}

int dso_hits(struct trace *t, bool **ret, struct error *err)
{
	struct dso_hits h = {.trace = t};
	const uint8_t *section;
	size_t len;
	bool all;
	int rc;

	/* Nobody decodes hardware trace here, so all files may have been hit. */
	all = !data_feature(t->df, HEADER_AUXTRACE, &section, &len);
	h.hit = calloc(state_dso_count(t->state) + 1, sizeof(*h.hit));
	if (!h.hit)
		return error_sys(err, -ENOMEM, "%s", t->opts.path);
	if (all)
		memset(h.hit, true, state_dso_count(t->state));
	rc = all ? 0 : walk(t, &h, err);
	if (rc) {
		free(h.hit);
		return rc;
	}
	*ret = h.hit;
	return 0;
}
