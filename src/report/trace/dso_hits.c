// SPDX-License-Identifier: Apache-2.0
#include "report/trace/dso_hits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/frame.h"
#include "report/trace/walk.h"

struct dso_hits {
	const struct trace *trace;
	struct frames frames; /* used if callers count */
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

static int take_callers(const struct walk_sample *ws, void *arg)
{
	struct dso_hits *h = arg;
	int rc = ws->exec ? 0 : frames_of_sample(&h->frames, ws, FRAMES_MAX);

	for (size_t i = 0; !rc && !ws->exec && i < h->frames.nr; i++)
		if (h->frames.frame[i].dso)
			h->hit[h->frames.frame[i].dso->index] = true;
	return rc;
}

static int walk(struct trace *t, walk_fn take, struct dso_hits *h, struct error *err)
{
	struct walker *w = NULL;
	int rc;

	if (t->untimed_samples)
		return walk_ordered(t, &(struct walk_takers){.sample = take, .arg = h}, err);
	rc = walker_new(t, &w);
	for (size_t i = 0; !rc && i < t->nr_chunks; i++)
		rc = walk_chunk(w, &t->chunks[i], take, h);
	walker_free(w);
	walk_hand_in_findings(t);
	return rc ? error_sys(err, rc, "%s", t->opts.path) : 0;
}

int dso_hits(struct trace *t, bool callers, bool **ret, struct error *err)
{
	struct dso_hits h = {.trace = t};
	const uint8_t *section;
	size_t len;
	int rc = callers ? frames_init(&h.frames, t) : 0;

	h.hit = calloc(state_dso_count(t->state) + 1, sizeof(*h.hit));
	if (rc || !h.hit)
		rc = error_sys(err, -ENOMEM, "%s", t->opts.path);
	else if (!data_feature(t->df, HEADER_AUXTRACE, &section, &len))
		/* Nobody decodes hardware trace here, so all files may have been hit. */
		memset(h.hit, true, state_dso_count(t->state));
	else
		rc = walk(t, callers ? take_callers : take_sample, &h, err);
	if (callers)
		frames_release(&h.frames);
	if (rc) {
		free(h.hit);
		return rc;
	}
	*ret = h.hit;
	return 0;
}
