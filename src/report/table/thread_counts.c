// SPDX-License-Identifier: Apache-2.0
#include "report/table/thread_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/trace/walk.h"

static int ignore_sample(const struct walk_sample *ws, void *arg)
{
	return 0;
}

/* A count is the first word of a single event's READ record (PERF_FORMAT_GROUP: the third). */
static int take_read(const struct data_record *rec, const struct pd_record *r, void *arg)
{
	struct thread_counts *c = arg;
	size_t at = rec->evsel && rec->evsel->attr.read_format & PERF_FORMAT_GROUP ? 3 : 0;
	struct thread_count *count;

	if (rec->hdr->type != PERF_RECORD_READ || !rec->evsel || r->read.nr_values <= at)
		return 0;
	if (array_grow(&c->all, &c->cap, c->nr + 1, sizeof(*c->all)))
		return -ENOMEM;
	count = &c->all[c->nr++];
	*count = (struct thread_count){r->read.pid, r->read.tid, rec->evsel->index, 0};
	memcpy(&count->value, (const uint8_t *)r->read.values + at * sizeof(uint64_t),
	       sizeof(count->value));
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct thread_count *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/* An event on several CPUs has a count for each. */
static void add_up(struct thread_counts *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (nr && !compare(&c->all[nr - 1], &c->all[i]))
			c->all[nr - 1].value += c->all[i].value;
		else
			c->all[nr++] = c->all[i];
	}
	c->nr = nr;
}

int thread_counts_read(struct trace *t, struct thread_counts *ret, struct error *err)
{
	struct thread_counts c = {0};
	int rc = walk_ordered(
		t, &(struct walk_takers){.sample = ignore_sample, .record = take_read, .arg = &c},
		err);

	if (rc < 0) {
		thread_counts_release(&c);
		return rc;
	}
	if (c.nr)
		qsort(c.all, c.nr, sizeof(*c.all), compare);
	add_up(&c);
	*ret = c;
	return 0;
}

void thread_counts_release(struct thread_counts *c)
{
	free(c->all);
	*c = (struct thread_counts){0};
}
