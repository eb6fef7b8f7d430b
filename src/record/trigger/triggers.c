// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/triggers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/plural.h"
#include "record/trigger/trigger_source.h"

struct triggers {
	triggers_fn ask;
	void *arg;
	struct trigger_source **sources;
	size_t nr;
	uint64_t rest; /* until then */
};

static const struct {
	int (*make)(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger_source **ret, struct error *err);
} kinds[TRIGGER_KINDS] = {
	[TRIGGER_EVENT] = {trigger_of_events}, [TRIGGER_LATENCY] = {trigger_of_latency},
	[TRIGGER_PSI] = {trigger_of_pressure}, [TRIGGER_LOAD] = {trigger_of_load},
	[TRIGGER_EVERY] = {trigger_of_time},
};

/* --- life ----------------------------------------------------------------------------------------
 */

/* What there is to say while one is opened. */
struct opening {
	const struct trigger_spec *spec;
	const struct notes *notes;
};

static void say_which(enum note_level level, const char *text, void *arg)
{
	const struct opening *o = arg;

	notes_say(o->notes, level, "--trigger %s: %s", o->spec->text, text);
}

static int open_source(const struct trigger_spec *spec, const struct trigger_place *place,
		       struct trigger_source **ret, struct error *err)
{
	struct opening opening = {spec, place->notes};
	const struct notes notes = {.say = say_which, .arg = &opening};
	struct trigger_place here = *place;
	int code;

	here.notes = &notes;
	code = kinds[spec->kind].make(spec, &here, ret, err);
	if (code)
		error_prefix(err, "--trigger %.128s: ", spec->text);
	else
		(*ret)->notes = place->notes;
	return code;
}

int triggers_new(const struct trigger_specs *specs, const struct trigger_place *place,
		 triggers_fn ask, void *arg, struct triggers **ret, struct error *err)
{
	struct trigger_place here = *place;
	struct triggers *t = NULL;
	int code = 0;

	if (!specs->nr) {
		*ret = NULL;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (t)
		t->sources = calloc(specs->nr, sizeof(*t->sources));
	if (!t || !t->sources) {
		triggers_free(t);
		return error_set(err, -ENOMEM, "out of memory");
	}
	t->ask = ask;
	t->arg = arg;
	while (!code && t->nr < specs->nr) {
		code = open_source(&specs->specs[t->nr], &here, &t->sources[t->nr], err);
		if (!code)
			here.descriptors += t->sources[t->nr++]->open_descriptors;
	}
	if (code)
		triggers_free(t);
	else
		*ret = t;
	return code;
}

void triggers_free(struct triggers *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		t->sources[i]->ops->free(t->sources[i]);
	free(t->sources);
	free(t);
}

int triggers_start(struct triggers *t, uint64_t now, struct error *err)
{
	int code = 0;

	for (size_t i = 0; !code && t && i < t->nr; i++)
		if (t->sources[i]->ops->start)
			code = t->sources[i]->ops->start(t->sources[i], now, err);
	return code;
}

int triggers_revive(struct triggers *t, int cpu)
{
	int code = 0;

	for (size_t i = 0; !code && t && i < t->nr; i++)
		if (t->sources[i]->ops->revive)
			code = t->sources[i]->ops->revive(t->sources[i], cpu);
	return code;
}

/* --- waiting -------------------------------------------------------------------------------------
 */

static size_t descriptors(const struct trigger_source *s)
{
	return s->ops->descriptors ? s->ops->descriptors(s) : 0;
}

size_t triggers_descriptors(const struct triggers *t)
{
	size_t sum = 0;

	for (size_t i = 0; t && i < t->nr; i++)
		sum += descriptors(t->sources[i]);
	return sum;
}

void triggers_watch(const struct triggers *t, struct pollfd *ret)
{
	for (size_t i = 0; t && i < t->nr; i++) {
		if (t->sources[i]->ops->watch)
			t->sources[i]->ops->watch(t->sources[i], ret);
		ret += descriptors(t->sources[i]);
	}
}

size_t triggers_polled(const struct triggers *t, uint64_t now)
{
	return t && now >= t->rest ? triggers_descriptors(t) : 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t triggers_due(const struct triggers *t, uint64_t now)
{
	uint64_t due = t && now < t->rest ? t->rest : TRIGGER_NEVER;

	for (size_t i = 0; t && i < t->nr; i++) {
		const struct trigger_source *s = t->sources[i];

		due = earlier(due, s->due);
		if (s->waits)
			due = earlier(due, s->at);
	}
	return due;
}

/* --- what has happened ---------------------------------------------------------------------------
 */

/* Asked for is it since it has happened, and not since after= is over. */
static void ask_for_snapshot(struct triggers *t, struct trigger_source *s, uint64_t now)
{
	s->waits = false;
	s->request.ago = now - (s->at - s->spec->after_ns);
	if (!t->ask(t->arg, &s->request))
		s->asked++;
}

static void look(struct triggers *t, struct pollfd *polled, uint64_t now, bool last)
{
	for (size_t i = 0; t && i < t->nr; i++) {
		struct trigger_source *s = t->sources[i];
		size_t nr = descriptors(s);

		for (size_t fd = 0; fd < nr; fd++)
			if (polled[fd].revents)
				t->rest = now + TRIGGERS_REST_NS;
		s->ops->ask(s, polled, now, last);
		/* While they rest, nobody fills these in. */
		for (size_t fd = 0; fd < nr; fd++)
			polled[fd].revents = 0;
		polled += nr;
		if (s->waits && (last || now >= s->at))
			ask_for_snapshot(t, s, now);
	}
}

void triggers_ask(struct triggers *t, struct pollfd *polled, uint64_t now)
{
	look(t, polled, now, false);
}

void triggers_finish(struct triggers *t, struct pollfd *polled, uint64_t now)
{
	look(t, polled, now, true);
}

/* --- telling -------------------------------------------------------------------------------------
 */

size_t triggers_nr(const struct triggers *t)
{
	return t ? t->nr : 0;
}

const char *triggers_figures_of(const struct triggers *t, size_t index,
				struct triggers_figures *ret)
{
	struct trigger_source *s = t->sources[index];
	uint64_t fired = s->fired + (s->ops->untold ? s->ops->untold(s) : 0);

	*ret = (struct triggers_figures){
		.fired = fired,
		.asked = s->asked,
		.limited = fired - s->asked - s->waits,
		.lost = s->lost,
		.forgotten = s->forgotten,
	};
	return s->spec->text;
}

void triggers_figures(const struct triggers *t, struct triggers_figures *ret)
{
	struct triggers_figures f;

	*ret = (struct triggers_figures){0};
	for (size_t i = 0; i < triggers_nr(t); i++) {
		triggers_figures_of(t, i, &f);
		ret->fired += f.fired;
		ret->asked += f.asked;
		ret->limited += f.limited;
		ret->lost += f.lost;
		ret->forgotten += f.forgotten;
	}
}

static void say_one(const char *text, const struct triggers_figures *f, const struct notes *notes)
{
	char a[HUMAN_COUNT_SIZE], b[HUMAN_COUNT_SIZE], c[HUMAN_COUNT_SIZE];

	notes_say(notes, NOTE_INFO, "trigger %s: %s time%s, %s snapshot%s asked for, %s limited",
		  text, human_count(f->fired, a), plural_s(f->fired), human_count(f->asked, b),
		  plural_s(f->asked), human_count(f->limited, c));
	if (f->lost || f->forgotten)
		notes_say(notes, NOTE_WARNING,
			  "trigger %s: %s event%s found no room and %s start%s were forgotten: it "
			  "may have happened more often",
			  text, human_count(f->lost, a), plural_s(f->lost),
			  human_count(f->forgotten, b), plural_s(f->forgotten));
}

void triggers_say(const struct triggers *t, const struct notes *notes)
{
	struct triggers_figures f;

	for (size_t i = 0; i < triggers_nr(t); i++) {
		const char *text = triggers_figures_of(t, i, &f);

		say_one(text, &f, notes);
	}
}
