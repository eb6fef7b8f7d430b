// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/overwrite_tally.h"

#include <stdlib.h>
#include <string.h>

struct overwrite_stage {
	struct sink sink;
	struct sink *next;
	const struct opened *opened;
	struct id_table ids; /* to indices of opened->fds */
	uint64_t *samples;   /* of each descriptor */
};

/* The id is a sample's first word (PERF_SAMPLE_IDENTIFIER). Neighbours often have the same one. */
static void count_run(struct overwrite_stage *c, const struct run *run)
{
	uint32_t found = ID_TABLE_NONE;
	size_t at = 0, end = run_bytes(run);
	struct perf_event_header h;
	uint64_t id, last = 0;

	for (; end - at >= sizeof(h) + sizeof(id); at += h.size) {
		run_copy(run, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			break;
		if (h.type != PERF_RECORD_SAMPLE || h.size < sizeof(h) + sizeof(id))
			continue;
		run_copy(run, at + sizeof(h), &id, sizeof(id));
		if (id != last || found == ID_TABLE_NONE)
			found = id_table_find(&c->ids, id);
		last = id;
		if (found != ID_TABLE_NONE)
			c->samples[found]++;
	}
}

static int overwrite_tally_write(struct sink *s, const struct run *run, struct error *err)
{
	struct overwrite_stage *c = (struct overwrite_stage *)s;

	if (run->ring < c->opened->nr_rings && c->opened->rings[run->ring].kind == RING_OVERWRITTEN)
		count_run(c, run);
	return sink_write(c->next, run, err);
}

static int overwrite_tally_flush(struct sink *s, struct error *err)
{
	return sink_flush(((struct overwrite_stage *)s)->next, err);
}

static void overwrite_tally_free(struct sink *s)
{
	struct overwrite_stage *c = (struct overwrite_stage *)s;

	id_table_release(&c->ids);
	free(c->samples);
	free(c);
}

static const struct sink_ops overwrite_tally_ops = {
	.write = overwrite_tally_write,
	.flush = overwrite_tally_flush,
	.free = overwrite_tally_free,
};

struct sink *overwrite_tally_new(const struct opened *opened, struct sink *next)
{
	struct overwrite_stage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct overwrite_stage){
		.sink.ops = &overwrite_tally_ops, .next = next, .opened = opened};
	c->samples = calloc(opened->nr_fds + 1, sizeof(*c->samples));
	if (!c->samples || open_fds_by_id(opened->fds, opened->nr_fds, &c->ids)) {
		overwrite_tally_free(&c->sink);
		return NULL;
	}
	return &c->sink;
}

void overwrite_tally_add(const struct sink *s, uint64_t *sums)
{
	const struct overwrite_stage *c = (const struct overwrite_stage *)s;

	for (size_t i = 0; i < c->opened->nr_fds; i++)
		sums[c->opened->fds[i].event] += c->samples[i];
}
