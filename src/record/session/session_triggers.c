// SPDX-License-Identifier: Apache-2.0
#include "record/session/session_triggers.h"

#include <limits.h>

#include "base/clock_ns.h"
#include "record/trigger/trigger.h"

int session_triggers_open(struct session_triggers *st, const struct trigger_opts *opts,
			  const struct trigger_place *place, struct error *err)
{
	struct trigger_place here = *place;
	int rc = 0;

	if (opts->rotations.count)
		rc = event_watch_new(&opts->rotations, &here, 0, &st->rotations, err);
	here.descriptors += event_watch_open_descriptors(st->rotations);
	return rc ? rc : trigger_set_new(&opts->snapshots, &here, &st->asks, err);
}

void session_triggers_release(struct session_triggers *st)
{
	event_watch_free(st->rotations);
	trigger_set_free(st->asks);
	*st = (struct session_triggers){0};
}

int session_triggers_start(struct session_triggers *st, struct error *err)
{
	int rc = st->rotations ? event_watch_enable(st->rotations, err) : 0;

	return rc ? rc : trigger_set_start(st->asks, now_ns(CLOCK_MONOTONIC), err);
}

int session_triggers_revive(struct session_triggers *st, int cpu)
{
	int rc = st->rotations ? event_watch_revive(st->rotations, cpu) : 0;
	int asks = trigger_set_revive(st->asks, cpu);

	return rc ? rc : asks;
}

size_t session_triggers_descriptors(const struct session_triggers *st)
{
	return event_watch_descriptors(st->rotations) + trigger_set_descriptors(st->asks);
}

static struct pollfd *polled_for_snapshots(const struct session_triggers *st)
{
	return st->polled + event_watch_descriptors(st->rotations);
}

void session_triggers_watch(struct session_triggers *st, struct pollfd *polled)
{
	st->polled = polled;
	if (st->rotations)
		event_watch_watch(st->rotations, polled);
	trigger_set_watch(st->asks, polled_for_snapshots(st));
}

/* Timeout for poll(2) that does not end before @due. */
static int milliseconds(uint64_t from, uint64_t due)
{
	uint64_t ms;

	if (due == TRIGGER_NEVER)
		return -1;
	ms = due > from ? (due - from + NS_PER_MS - 1) / NS_PER_MS : 0;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int session_triggers_poll(const struct session_triggers *st, struct pollfd *all, size_t others,
			  bool wait)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC);
	size_t nr = others + event_watch_descriptors(st->rotations) +
		    trigger_set_polled(st->asks, from);

	return poll(all, nr, wait ? milliseconds(from, trigger_set_due(st->asks, from)) : 0);
}

void session_triggers_take_rotations(struct session_triggers *st, struct event_watch_news *news)
{
	*news = (struct event_watch_news){0};
	if (st->rotations)
		event_watch_ask(st->rotations, st->polled, event_watch_count, news);
	trigger_set_look(st->asks, polled_for_snapshots(st), now_ns(CLOCK_MONOTONIC));
}

void session_triggers_finish(struct session_triggers *st)
{
	trigger_set_finish(st->asks, polled_for_snapshots(st), now_ns(CLOCK_MONOTONIC));
}
