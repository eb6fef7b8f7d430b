// SPDX-License-Identifier: Apache-2.0
#include "export/html/before.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "export/html/table.h"

/* The key of a sum; without padding. */
struct before_key {
	uint32_t event, stack;
};

struct before_sum {
	uint64_t weight, samples;
};

/* What the walk over the recording works with; its export_opts are those of the walk. */
struct before_walk {
	struct export_opts opts;
	const struct pd_evlist *events;
	struct html_tree *tree;
	struct intern keys;
	struct before_sum *sums;
	size_t cap;
};

/* Returns the number of the page's event that has the name of @evsel; INTERN_NONE: none has. */
static uint32_t event_of(const struct before_walk *w, const struct pd_evsel *evsel)
{
	for (uint32_t i = 0; i < pd_evlist_count(w->events); i++)
		if (!strcmp(pd_evlist_at(w->events, i)->name, evsel->name))
			return i;
	return INTERN_NONE;
}

static int before_open(const struct export_job *job, void **ret)
{
	*ret = (char *)(uintptr_t)job->opts - offsetof(struct before_walk, opts);
	return 0;
}

static int before_sample(void *writer, const struct export_sample *s)
{
	struct before_walk *w = writer;
	struct before_key key = {.event = event_of(w, s->ws->evsel)};
	uint32_t place, number, nr;
	int rc;

	if (key.event == INTERN_NONE)
		return 0;
	rc = html_tree_put(w->tree, s, &key.stack, &place);
	if (rc)
		return rc;
	nr = intern_count(&w->keys);
	number = intern_put(&w->keys, &key);
	if (number == INTERN_NONE ||
	    array_grow(&w->sums, &w->cap, (size_t)number + 1, sizeof(*w->sums)))
		return -ENOMEM;
	if (number == nr)
		w->sums[number] = (struct before_sum){0};
	w->sums[number].weight += s->ws->s.period;
	w->sums[number].samples++;
	return 0;
}

static int before_close(void *writer)
{
	return 0;
}

static void before_free(void *writer)
{
}

static int write_sums(const struct before_walk *w, struct out *out)
{
	struct html_table table = {.nr_columns = 4};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < intern_count(&w->keys); i++) {
		const struct before_key *key = intern_at(&w->keys, i);

		rc = html_table_add(&table,
				    (const uint64_t[]){key->stack, key->event, w->sums[i].weight,
						       w->sums[i].samples});
	}
	rc = rc ?: html_table_write(&table, out, "before");
	html_table_release(&table);
	return rc;
}

int html_before_write(const struct html_before *b, const struct pd_evlist *events,
		      struct html_tree *tree, struct out *out, struct error *err)
{
	static const struct export_format format = {
		.name = "before",
		.open = before_open,
		.sample = before_sample,
		.close = before_close,
		.free = before_free,
	};
	struct before_walk w = {
		.opts = b->export,
		.events = events,
		.tree = tree,
		.keys = {.size = sizeof(struct before_key)},
	};
	uint64_t samples;
	int rc = export_run(b->trace, &format, &w.opts, out, &samples, err);

	rc = rc ?: write_sums(&w, out);
	intern_release(&w.keys);
	free(w.sums);
	return rc;
}
