// SPDX-License-Identifier: Apache-2.0
/* Triggers by events: an event that happens, or one that follows another too late. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/trigger/latency.h"
#include "record/trigger/trigger.h"
#include "record/trigger/trigger_set.h"

/*
 * Paired events should not be lost, and those of a CPU come at any rate. A ring has room for 650
 * events of each kind a millisecond during a rest, and for a burst of 6500. It is a quarter of that
 * where locked memory is limited and the recording needs it. To avoid an interrupt for each event,
 * rings are read when they have many records, and ten times a second.
 */
#define LATENCY_RING_SIZE	(256u << 10)
#define LATENCY_RING_SIZE_BOUND (64u << 10)
#define LATENCY_LOOK_NS		100000000ull

/* Events that trigger or start, and events that end. Each kind has its own rings. */
enum { FIRST, ENDS, SIDES };

struct event_source {
	struct trigger source;
	struct event_list lists[SIDES];	     /* parts of the spec's list */
	struct event_watch *triggers[SIDES]; /* only FIRST, if each event triggers */
	struct latency *latency;	     /* NULL: each event triggers */
	uint32_t self;			     /* pid of this process, whose events do not count */
	/* Events counted in a pause; they wait for a sample for a while. */
	uint64_t paused;
	bool said; /* reported that counts could not be read */
};

/* State of one call of events_ask() or latency_ask(). */
struct asking {
	struct event_source *source;
	bool ends; /* the side being read */
	uint64_t now;
	uint64_t times;
	struct event_watch_hit first;
	bool known;
};

static size_t events_descriptors(const struct trigger *s)
{
	const struct event_source *e = (const struct event_source *)s;

	return event_watch_descriptors(e->triggers[FIRST]) +
	       event_watch_descriptors(e->triggers[ENDS]);
}

static int events_revive(struct trigger *s, int cpu)
{
	const struct event_source *e = (const struct event_source *)s;
	int rc = event_watch_revive(e->triggers[FIRST], cpu);
	int ends = e->triggers[ENDS] ? event_watch_revive(e->triggers[ENDS], cpu) : 0;

	return rc ? rc : ends;
}

static void events_watch(const struct trigger *s, struct pollfd *ret)
{
	const struct event_source *e = (const struct event_source *)s;

	event_watch_watch(e->triggers[FIRST], ret);
	if (e->triggers[ENDS])
		event_watch_watch(e->triggers[ENDS],
				  ret + event_watch_descriptors(e->triggers[FIRST]));
}

/* Enables ends first, so that each start has its end. */
static int events_start(struct trigger *s, uint64_t now, struct error *err)
{
	struct event_source *e = (struct event_source *)s;
	int rc = e->triggers[ENDS] ? event_watch_enable(e->triggers[ENDS], err) : 0;

	return rc ? rc : event_watch_enable(e->triggers[FIRST], err);
}

static void events_free(struct trigger *s)
{
	struct event_source *e = (struct event_source *)s;

	for (size_t i = 0; i < SIDES; i++)
		event_watch_free(e->triggers[i]);
	latency_free(e->latency);
	rate_release(&s->rate);
	free(e);
}

static int make(const struct trigger_ops *ops, const struct trigger_spec *spec,
		struct event_source **ret, struct error *err)
{
	struct event_source *e = calloc(1, sizeof(*e));
	int rc = -ENOMEM;

	if (e)
		rc = trigger_init(&e->source, ops, spec);
	if (rc) {
		free(e);
		return error_set(err, rc, "out of memory");
	}
	e->self = (uint32_t)getpid();
	*ret = e;
	return 0;
}

/* Opens @nr events of the spec from @first on. */
static int open_side(struct event_source *e, size_t side, size_t first, size_t nr,
		     const struct trigger_place *place, size_t ring_size, struct error *err)
{
	struct trigger_place here = *place;
	int rc;

	e->lists[side] = (struct event_list){e->source.spec->events.specs + first, nr, nr};
	here.descriptors += e->source.open_descriptors;
	rc = event_watch_new(&e->lists[side], &here, ring_size, &e->triggers[side], err);
	if (!rc)
		e->source.open_descriptors += event_watch_open_descriptors(e->triggers[side]);
	return rc;
}

/* --- an event ------------------------------------------------------------------------------------
 */

static void on_event(const struct event_watch_hit *hit, void *arg)
{
	struct asking *a = arg;

	a->times += hit->times;
	if (hit->what != TRIGGER_HAPPENED || (a->known && hit->time >= a->first.time))
		return;
	a->first = *hit;
	a->known = true;
}

static uint64_t events_unreported(struct trigger *s)
{
	struct event_source *e = (struct event_source *)s;

	return event_watch_unreported(e->triggers[FIRST], false) + e->paused;
}

static void say_uncounted(struct event_source *e)
{
	if (e->said || !event_watch_uncounted(e->triggers[FIRST]))
		return;
	e->said = true;
	messages_say(
		e->source.messages, MESSAGE_WARNING,
		"trigger %s: cannot read its count: it may have happened more often, or earlier",
		e->source.spec->text);
}

/*
 * Ends a pause. Events counted in a pause are reported with the next sample, which has their
 * details: at once while they go on. If no sample comes for another pause, they are reported
 * without one.
 */
static uint64_t end_pause(struct event_source *e)
{
	uint64_t times = e->paused;

	e->paused = event_watch_go_on(e->triggers[FIRST]);
	e->source.due = TRIGGER_NEVER;
	return times;
}

static void ask_events(struct event_source *e, struct pollfd *polled, struct asking *a, bool last)
{
	struct event_watch *trigger = e->triggers[FIRST];
	struct trigger *s = &e->source;

	if (a->now >= s->due)
		a->times += end_pause(e);
	if (last) {
		event_watch_ask_all(trigger, polled, on_event, a);
		a->times += event_watch_unreported(trigger, true);
	} else {
		event_watch_ask(trigger, polled, on_event, a);
		if (s->due == TRIGGER_NEVER && (event_watch_pause(trigger) || e->paused))
			s->due = a->now + TRIGGERS_REST_NS;
	}
	if (a->known || last) {
		a->times += e->paused;
		e->paused = 0;
	}
}

/*
 * After an event the ring is paused for a while: events are counted and do not wake the recorder.
 */
static void events_ask(struct trigger *s, struct pollfd *polled, uint64_t now, bool last)
{
	struct event_source *e = (struct event_source *)s;
	struct event_watch *trigger = e->triggers[FIRST];
	struct pd_snapshot_cause cause = {.event = ""};
	struct asking a = {.source = e, .now = now};
	const char *event;

	ask_events(e, polled, &a, last);
	say_uncounted(e);
	if (!a.times)
		return;
	if (a.known) {
		event = event_watch_event_name(trigger, a.first.event);
		snprintf(cause.event, sizeof(cause.event), "%s", event ? event : s->spec->text);
		cause.time = a.first.time;
		cause.cpu = a.first.cpu;
		cause.pid = a.first.pid;
		cause.tid = a.first.tid;
	}
	trigger_fire(s, a.times, &cause, NULL, now);
}

int trigger_of_events(const struct trigger_spec *spec, const struct trigger_place *place,
		      struct trigger **ret, struct error *err)
{
	static const struct trigger_ops ops = {
		.start = events_start,
		.revive = events_revive,
		.descriptors = events_descriptors,
		.watch = events_watch,
		.ask = events_ask,
		.unreported = events_unreported,
		.free = events_free,
	};
	struct event_source *e = NULL;
	int rc = make(&ops, spec, &e, err);

	if (rc)
		return rc;
	rc = open_side(e, FIRST, 0, spec->events.count, place, 0, err);
	if (rc) {
		events_free(&e->source);
		return rc;
	}
	event_watch_leave_out(e->triggers[FIRST], e->self);
	*ret = &e->source;
	return 0;
}

/* --- a latency -----------------------------------------------------------------------------------
 */

static void keep_sample(const struct event_watch_hit *hit, void *arg)
{
	const struct asking *a = arg;
	struct event_source *e = a->source;
	const struct latency_sample sample = {
		.time = hit->time,
		.cpu = hit->cpu,
		.pid = hit->pid,
		.tid = hit->tid,
		.ends = a->ends,
	};

	switch (hit->what) {
	case TRIGGER_HAPPENED:
		/* A sample without memory for it is lost, too. */
		if (hit->pid != e->self && latency_add(e->latency, &sample))
			latency_lost(e->latency, hit->cpu);
		break;
	case TRIGGER_FULL: latency_lost(e->latency, hit->cpu); break;
	/* TRIGGER_FULL has already reported this loss. */
	case TRIGGER_LOST: e->source.lost += hit->times; break;
	}
}

static void on_slow(const struct latency_sample *end, uint64_t took, bool sure, void *arg)
{
	struct asking *a = arg;
	const struct event_list *ends = &a->source->lists[ENDS];
	struct pd_snapshot_cause cause = {
		.time = end->time,
		.cpu = end->cpu,
		.pid = end->pid,
		.tid = end->tid,
	};
	char detail[80];

	snprintf(cause.event, sizeof(cause.event), "%s", ends->specs[0].name);
	snprintf(detail, sizeof(detail),
		 sure ? "it took %.3f ms" : "it took %.3f ms or less: events were lost",
		 (double)took / 1e6);
	trigger_fire(&a->source->source, 1, &cause, detail, a->now);
}

static bool any(const struct pollfd *polled, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (polled[i].revents)
			return true;
	return false;
}

static int latency_start(struct trigger *s, uint64_t now, struct error *err)
{
	s->due = now + LATENCY_LOOK_NS;
	return events_start(s, now, err);
}

/* Reported when it first happens; the end reports the number. */
static void say_forgotten(const struct trigger *s, uint64_t starts)
{
	if (starts)
		messages_say(s->messages, MESSAGE_WARNING,
			     "trigger %s: too many of its events have begun and not ended, so "
			     "ringtail forgot some: it may have happened more often",
			     s->spec->text);
}

/* A pass reads all rings: those that have not woken may have records, too. */
static void latency_ask(struct trigger *s, struct pollfd *polled, uint64_t now, bool last)
{
	struct event_source *e = (struct event_source *)s;
	struct asking a = {.source = e, .now = now};
	int rc;

	if (!last && now < s->due && !any(polled, events_descriptors(s)))
		return;
	for (size_t i = 0; i < SIDES; i++) {
		a.ends = i == ENDS;
		event_watch_ask_all(e->triggers[i], polled, keep_sample, &a);
		polled += event_watch_descriptors(e->triggers[i]);
		s->lost += last ? event_watch_unreported(e->triggers[i], true) : 0;
	}
	rc = last ? latency_finish(e->latency, on_slow, &a) : latency_pass(e->latency, on_slow, &a);
	if (rc)
		latency_lost(e->latency, LATENCY_ANY_CPU);
	if (!s->forgotten && !last)
		say_forgotten(s, latency_forgotten(e->latency));
	s->forgotten = latency_forgotten(e->latency);
	s->due = now + (latency_waits(e->latency) ? TRIGGERS_REST_NS : LATENCY_LOOK_NS);
}

int trigger_of_latency(const struct trigger_spec *spec, const struct trigger_place *place,
		       struct trigger **ret, struct error *err)
{
	static const struct trigger_ops ops = {
		.start = latency_start,
		.revive = events_revive,
		.descriptors = events_descriptors,
		.watch = events_watch,
		.ask = latency_ask,
		.free = events_free,
	};
	struct event_source *e = NULL;
	size_t size = place->limits->ipc_lock ? LATENCY_RING_SIZE : LATENCY_RING_SIZE_BOUND;
	int rc = make(&ops, spec, &e, err);

	if (rc)
		return rc;
	e->latency = latency_new(spec->ns);
	if (!e->latency)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = open_side(e, FIRST, 0, spec->starts, place, size, err);
	if (!rc)
		rc = open_side(e, ENDS, spec->starts, spec->events.count - spec->starts, place,
			       size, err);
	if (rc)
		events_free(&e->source);
	else
		*ret = &e->source;
	return rc;
}
