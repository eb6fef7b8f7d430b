// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/trigger_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/plural.h"
#include "record/trigger/trigger.h"

struct trigger_set {
	struct trigger **sources;
	size_t nr;
	size_t taken;  /* index of the trigger whose request was taken last */
	uint64_t rest; /* no trigger is polled before this time */
};

static const struct {
	int (*make)(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger **ret, struct error *err);
} kinds[TRIGGER_KINDS] = {
	[TRIGGER_EVENT] = {trigger_of_events}, [TRIGGER_LATENCY] = {trigger_of_latency},
	[TRIGGER_PSI] = {trigger_of_pressure}, [TRIGGER_LOAD] = {trigger_of_load},
	[TRIGGER_EVERY] = {trigger_of_time},
};

/* --- life ----------------------------------------------------------------------------------------
 */

/* The trigger being opened, for messages. */
struct opening {
	const struct trigger_spec *spec;
	const struct messages *messages;
};

static void say_which(enum message_level level, const char *text, void *arg)
{
	const struct opening *o = arg;

	messages_say(o->messages, level, "--trigger %s: %s", o->spec->text, text);
}

static int open_source(const struct trigger_spec *spec, const struct trigger_place *place,
		       struct trigger **ret, struct error *err)
{
	struct opening opening = {spec, place->messages};
	const struct messages messages = {.say = say_which, .arg = &opening};
	struct trigger_place here = *place;
	int rc;

	here.messages = &messages;
	rc = kinds[spec->kind].make(spec, &here, ret, err);
	if (rc)
		error_prefix(err, "--trigger %.128s: ", spec->text);
	else
		(*ret)->messages = place->messages;
	return rc;
}

int trigger_set_new(const struct trigger_specs *specs, const struct trigger_place *place,
		    struct trigger_set **ret, struct error *err)
{
	struct trigger_place here = *place;
	struct trigger_set *t = NULL;
	int rc = 0;

	if (!specs->nr) {
		*ret = NULL;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (t)
		t->sources = calloc(specs->nr, sizeof(*t->sources));
	if (!t || !t->sources) {
		trigger_set_free(t);
		return error_set(err, -ENOMEM, "out of memory");
	}
	while (!rc && t->nr < specs->nr) {
		rc = open_source(&specs->specs[t->nr], &here, &t->sources[t->nr], err);
		if (!rc)
			here.descriptors += t->sources[t->nr++]->open_descriptors;
	}
	if (rc)
		trigger_set_free(t);
	else
		*ret = t;
	return rc;
}

void trigger_set_free(struct trigger_set *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		t->sources[i]->ops->free(t->sources[i]);
	free(t->sources);
	free(t);
}

int trigger_set_start(struct trigger_set *t, uint64_t now, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && t && i < t->nr; i++)
		if (t->sources[i]->ops->start)
			rc = t->sources[i]->ops->start(t->sources[i], now, err);
	return rc;
}

int trigger_set_revive(struct trigger_set *t, int cpu)
{
	int rc = 0;

	for (size_t i = 0; t && i < t->nr; i++) {
		struct trigger *s = t->sources[i];
		int failed = s->ops->revive ? s->ops->revive(s, cpu) : 0;

		rc = rc ? rc : failed;
	}
	return rc;
}

/* --- waiting -------------------------------------------------------------------------------------
 */

static size_t descriptors(const struct trigger *s)
{
	return s->ops->descriptors ? s->ops->descriptors(s) : 0;
}

size_t trigger_set_descriptors(const struct trigger_set *t)
{
	size_t sum = 0;

	for (size_t i = 0; t && i < t->nr; i++)
		sum += descriptors(t->sources[i]);
	return sum;
}

void trigger_set_watch(const struct trigger_set *t, struct pollfd *ret)
{
	for (size_t i = 0; t && i < t->nr; i++) {
		if (t->sources[i]->ops->watch)
			t->sources[i]->ops->watch(t->sources[i], ret);
		ret += descriptors(t->sources[i]);
	}
}

size_t trigger_set_polled(const struct trigger_set *t, uint64_t now)
{
	return t && now >= t->rest ? trigger_set_descriptors(t) : 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t trigger_set_due(const struct trigger_set *t, uint64_t now)
{
	uint64_t due = t && now < t->rest ? t->rest : TRIGGER_NEVER;

	for (size_t i = 0; t && i < t->nr; i++) {
		const struct trigger *s = t->sources[i];

		due = earlier(due, s->due);
		if (s->waits)
			due = earlier(due, s->at);
	}
	return due;
}

/* --- what happened -------------------------------------------------------------------------------
 */

static void look(struct trigger_set *t, struct pollfd *polled, uint64_t now, bool last)
{
	for (size_t i = 0; t && i < t->nr; i++) {
		struct trigger *s = t->sources[i];
		size_t nr = descriptors(s);

		for (size_t fd = 0; fd < nr; fd++)
			if (polled[fd].revents)
				t->rest = now + TRIGGERS_REST_NS;
		s->ops->ask(s, polled, now, last);
		/* While the triggers rest, poll() does not fill these. */
		for (size_t fd = 0; fd < nr; fd++)
			polled[fd].revents = 0;
		polled += nr;
		if (!s->waits || (!last && now < s->at))
			continue;
		s->ready = true;
		/* The request is as old as the event, not as the end of after=. */
		s->request.ago = now - (s->at - s->spec->after_ns);
	}
}

void trigger_set_look(struct trigger_set *t, struct pollfd *polled, uint64_t now)
{
	look(t, polled, now, false);
}

void trigger_set_finish(struct trigger_set *t, struct pollfd *polled, uint64_t now)
{
	look(t, polled, now, true);
}

const struct snapshot_request *trigger_set_take(struct trigger_set *t)
{
	for (size_t i = 0; t && i < t->nr; i++) {
		struct trigger *s = t->sources[i];

		if (!s->ready)
			continue;
		s->ready = s->waits = false;
		s->asked++;
		t->taken = i;
		return &s->request;
	}
	return NULL;
}

void trigger_set_refused(struct trigger_set *t)
{
	t->sources[t->taken]->asked--;
}

/* --- figures -------------------------------------------------------------------------------------
 */

size_t trigger_set_nr(const struct trigger_set *t)
{
	return t ? t->nr : 0;
}

const char *trigger_set_figures_of(const struct trigger_set *t, size_t index,
				   struct trigger_set_figures *ret)
{
	struct trigger *s = t->sources[index];
	uint64_t fired = s->fired + (s->ops->unreported ? s->ops->unreported(s) : 0);

	*ret = (struct trigger_set_figures){
		.fired = fired,
		.asked = s->asked,
		.limited = fired - s->asked - s->waits,
		.lost = s->lost,
		.forgotten = s->forgotten,
	};
	return s->spec->text;
}

void trigger_set_figures(const struct trigger_set *t, struct trigger_set_figures *ret)
{
	struct trigger_set_figures f;

	*ret = (struct trigger_set_figures){0};
	for (size_t i = 0; i < trigger_set_nr(t); i++) {
		trigger_set_figures_of(t, i, &f);
		ret->fired += f.fired;
		ret->asked += f.asked;
		ret->limited += f.limited;
		ret->lost += f.lost;
		ret->forgotten += f.forgotten;
	}
}

static void say_one(const char *text, const struct trigger_set_figures *f,
		    const struct messages *messages)
{
	char a[HUMAN_COUNT_SIZE], b[HUMAN_COUNT_SIZE], c[HUMAN_COUNT_SIZE];

	messages_say(messages, MESSAGE_INFO,
		     "trigger %s: %s time%s, %s snapshot%s asked for, %s limited", text,
		     human_count(f->fired, a), plural_s(f->fired), human_count(f->asked, b),
		     plural_s(f->asked), human_count(f->limited, c));
	if (f->lost || f->forgotten)
		messages_say(
			messages, MESSAGE_WARNING,
			"trigger %s: %s event%s found no room and %s start%s were forgotten: it "
			"may have happened more often",
			text, human_count(f->lost, a), plural_s(f->lost),
			human_count(f->forgotten, b), plural_s(f->forgotten));
}

void trigger_set_say(const struct trigger_set *t, const struct messages *messages)
{
	struct trigger_set_figures f;

	for (size_t i = 0; i < trigger_set_nr(t); i++) {
		const char *text = trigger_set_figures_of(t, i, &f);

		say_one(text, &f, messages);
	}
}
