// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/overwrite_tally.h"

#include <stdlib.h>
#include <string.h>

struct census_event {
	uint64_t id;
	unsigned int event;
	uint64_t samples;
};

struct census_stage {
	struct sink sink;
	struct sink *next;
	const struct opened *opened;
	struct census_event *by_id; /* of each descriptor; ascending */
};

static int compare(const void *a, const void *b)
{
	const struct census_event *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct census_event *find(struct census_stage *c, uint64_t id)
{
	const struct census_event key = {.id = id};

	return bsearch(&key, c->by_id, c->opened->nr_fds, sizeof(key), compare);
}

/* The id is the first word of every sample (PERF_SAMPLE_IDENTIFIER); many in a row have the same.
 */
static void count_run(struct census_stage *c, const struct run *run)
{
	struct census_event *event = NULL;
	size_t at = 0, end = run_bytes(run);
	struct perf_event_header h;
	uint64_t id;

	for (; end - at >= sizeof(h) + sizeof(id); at += h.size) {
		run_copy(run, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			break;
		if (h.type != PERF_RECORD_SAMPLE || h.size < sizeof(h) + sizeof(id))
			continue;
		run_copy(run, at + sizeof(h), &id, sizeof(id));
		if (!event || event->id != id)
			event = find(c, id);
		if (event)
			event->samples++;
	}
}

static int census_write(struct sink *s, const struct run *run, struct error *err)
{
	struct census_stage *c = (struct census_stage *)s;

	if (run->ring < c->opened->nr_rings && c->opened->rings[run->ring].kind == RING_OVERWRITTEN)
		count_run(c, run);
	return sink_write(c->next, run, err);
}

static int census_flush(struct sink *s, struct error *err)
{
	return sink_flush(((struct census_stage *)s)->next, err);
}

static void census_free(struct sink *s)
{
	free(((struct census_stage *)s)->by_id);
	free(s);
}

static const struct sink_ops census_ops = {
	.write = census_write,
	.flush = census_flush,
	.free = census_free,
};

struct sink *overwrite_tally_new(const struct opened *opened, struct sink *next)
{
	struct census_stage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct census_stage){.sink.ops = &census_ops, .next = next, .opened = opened};
	c->by_id = calloc(opened->nr_fds + 1, sizeof(*c->by_id));
	if (!c->by_id) {
		free(c);
		return NULL;
	}
	for (size_t i = 0; i < opened->nr_fds; i++) {
		c->by_id[i].id = opened->fds[i].id;
		c->by_id[i].event = opened->fds[i].event;
	}
	qsort(c->by_id, opened->nr_fds, sizeof(*c->by_id), compare);
	return &c->sink;
}

void overwrite_tally_add(const struct sink *s, uint64_t *sums)
{
	const struct census_stage *c = (const struct census_stage *)s;

	for (size_t i = 0; i < c->opened->nr_fds; i++)
		sums[c->by_id[i].event] += c->by_id[i].samples;
}
