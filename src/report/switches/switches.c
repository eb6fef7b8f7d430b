// SPDX-License-Identifier: Apache-2.0
#include "report/switches/switches.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "report/trace/walk.h"

struct switcher {
	const struct pd_evsel *on, *off;
	struct filter_ranges *times;
	uint64_t beside; /* ns between the sample of an event and what it switches */
	uint64_t since;
	bool is_on;
};

static int add(struct filter_ranges *times, uint64_t first, uint64_t last)
{
	if (array_grow(&times->r, &times->cap, times->nr + 1, sizeof(*times->r)))
		return -ENOMEM;
	times->r[times->nr++] = (struct filter_range){first, last};
	return 0;
}

static int take(const struct walk_sample *ws, void *arg)
{
	struct switcher *s = arg;

	if (!ws->evsel)
		return 0;
	if (!s->is_on && ws->evsel == s->on) {
		s->is_on = true;
		s->since = ws->s.time + s->beside;
	} else if (s->is_on && ws->evsel == s->off) {
		s->is_on = false;
		return add(s->times, s->since, ws->s.time - s->beside);
	}
	return 0;
}

static const struct pd_evsel *find(const struct trace *t, const char *name)
{
	for (size_t i = 0; name && i < pd_evlist_count(t->evlist); i++)
		if (!strcmp(pd_evlist_at(t->evlist, i)->name, name))
			return pd_evlist_at(t->evlist, i);
	return NULL;
}

int switches_find(struct trace *t, const struct switch_opts *opts, struct filter *f,
		  struct error *err)
{
	struct switcher s = {
		.on = find(t, opts->on),
		.off = find(t, opts->off),
		.times = &f->times,
		.beside = !opts->show,
		.is_on = !opts->on,
	};
	const char *lacks = opts->on && !s.on ? opts->on : opts->off && !s.off ? opts->off : NULL;
	int rc;

	if (lacks)
		return error_set(err, -EINVAL,
				 "the recording has no event '%.128s': 'ringtail evlist' lists its "
				 "events",
				 lacks);
	rc = walk_ordered(t, &(struct walk_takers){.sample = take, .arg = &s}, err);
	if (!rc && s.is_on)
		rc = add(s.times, s.since, UINT64_MAX);
	/* It was never on. */
	if (!rc && !s.times->nr)
		rc = add(s.times, UINT64_MAX, 0);
	return rc == -ENOMEM ? error_sys(err, rc, "%s", t->opts.path) : rc;
}
