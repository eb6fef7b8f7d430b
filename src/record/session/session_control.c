// SPDX-License-Identifier: Apache-2.0
#include "record/session/session_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ns.h"
#include "record/control/control_socket.h"
#include "record/plan/clock.h"

/* --- enable, disable -----------------------------------------------------------------------------
 */

/* Whether the event has the given name. A plan may have written it out as "NAME:u". */
static bool event_is(const struct plan_event *event, const char *name, bool exactly)
{
	size_t len = strlen(name);
	const char *rest = event->name + len;

	if (event->dummy || strncmp(event->name, name, len))
		return false;
	return !*rest || (!exactly && *rest == ':' && !rest[1 + strspn(rest + 1, "ukhGHpPSDWeIb")]);
}

static int no_event(const struct plan *plan, const char *name, struct error *err)
{
	struct buf names = {0};

	for (size_t i = 0; i < plan->nr; i++)
		if (!plan->events[i].dummy)
			buf_printf(&names, "%s%s", names.len ? ", " : "", plan->events[i].name);
	error_set(err, -ENOENT, "no event '%.128s'; there is: %.*s", name, (int)names.len,
		  (const char *)names.data);
	buf_release(&names);
	return -ENOENT;
}

/*
 * Whether an event needs no switch of its own. Members of a group follow their leader. A member
 * that was disabled itself would stay so when its leader is enabled; so only "enable" is for
 * members, too.
 */
static bool follows(const struct plan_event *event, bool on)
{
	return !on && !event->members;
}

static int switch_event(struct session_control *sc, unsigned int index, bool on, struct error *err)
{
	bool resumes = on && !sc->running[index] && sc->parts.plan->events[index].aux;
	int rc;

	/* First, so that a reader does not start again what is being switched off. */
	aux_areas_switch(sc->parts.aux, (int)index, on);
	rc = opened_switch(sc->parts.opened, sc->parts.plan, index, on, err);
	if (rc)
		aux_areas_switch(sc->parts.aux, (int)index, sc->running[index]);
	else
		sc->running[index] = on;
	if (!rc && resumes)
		sc->parts.aux->resumed = clock_now(sc->parts.clock);
	return rc;
}

int session_control_switch(struct session_control *sc, bool on, struct error *err)
{
	const struct plan *plan = sc->parts.plan;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < plan->nr; i++)
		if (!plan->events[i].dummy && !follows(&plan->events[i], on))
			rc = switch_event(sc, i, on, err);
	return rc;
}

/* Switches all events of that name; if there are none, all with that name and modifiers. */
static int switch_named(struct session_control *sc, const char *name, bool on, struct error *err)
{
	const struct plan *plan = sc->parts.plan;
	size_t found = 0;
	int rc = 0;

	for (int exactly = 1; !found && exactly >= 0; exactly--) {
		for (unsigned int i = 0; !rc && i < plan->nr; i++) {
			if (!event_is(&plan->events[i], name, exactly))
				continue;
			rc = switch_event(sc, i, on, err);
			found++;
		}
	}
	return found ? rc : no_event(plan, name, err);
}

static int switch_events(struct session_control *sc, const char *name, bool on, struct error *err)
{
	int rc = name ? switch_named(sc, name, on, err) : session_control_switch(sc, on, err);

	if (!rc)
		messages_say(sc->messages, MESSAGE_DETAIL, "control: %s%s %s",
			     name ? "event " : "events", name ? name : "",
			     on ? "enabled" : "disabled");
	return rc;
}

/* --- evlist, stats -------------------------------------------------------------------------------
 */

/* Adds ", type = 0, …" in the form of the caller's printer. */
static int add_fields(const struct session_control *sc, const struct plan_event *event,
		      struct buf *text)
{
	char *fields = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	if (!sc->opts->control.attr_text)
		return buf_printf(text, "%s\n", event->name);
	out = open_memstream(&fields, &size);
	if (!out)
		return -ENOMEM;
	sc->opts->control.attr_text(out, &event->attr);
	rc = fclose(out) ? -ENOMEM : buf_printf(text, "%s%s\n", event->name, fields);
	free(fields);
	return rc;
}

/* Adds "a", or "{a,b}" for a leader; members have no line of their own. */
static int add_group(const struct plan *plan, unsigned int leader, struct buf *text)
{
	const struct plan_event *event = &plan->events[leader];
	int rc;

	if (event->leader != leader)
		return 0;
	rc = buf_printf(text, "%s%s", event->members > 1 ? "{" : "", event->name);
	for (unsigned int i = 0; !rc && i < plan->nr; i++)
		if (i != leader && plan->events[i].leader == leader)
			rc = buf_printf(text, ",%s", plan->events[i].name);
	return rc ? rc : buf_printf(text, "%s\n", event->members > 1 ? "}" : "");
}

static int list_events(const struct session_control *sc, enum control_list list, struct buf *text,
		       struct error *err)
{
	const struct plan *plan = sc->parts.plan;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < plan->nr; i++) {
		const struct plan_event *event = &plan->events[i];

		if (event->dummy)
			continue;
		switch (list) {
		case CONTROL_LIST_NAMES: rc = buf_printf(text, "%s\n", event->name); break;
		case CONTROL_LIST_FIELDS: rc = add_fields(sc, event, text); break;
		case CONTROL_LIST_GROUPS: rc = add_group(plan, i, text); break;
		case CONTROL_LIST_FREQ:
			rc = buf_printf(text, "%s: %s=%llu\n", event->name,
					event->attr.flags & PD_ATTR_FREQ ? "sample_freq"
									 : "sample_period",
					(unsigned long long)event->attr.sample_period);
			break;
		}
	}
	return rc ? error_set(err, rc, "out of memory") : 0;
}

/* Whether an event counts now; members of a group follow their leader. */
static bool is_running(const struct session_control *sc, unsigned int index)
{
	return sc->running[index] && sc->running[sc->parts.plan->events[index].leader];
}

/* Counts the samples that were taken, not those that a snapshot wrote. */
static void memory_stats(struct flight *flight, struct control_figures *ret, uint64_t *ret_lost,
			 uint64_t *ret_dropped)
{
	struct history_figures f;

	history_figures(flight_history(flight), &f);
	flight_losses(flight, ret_lost, ret_dropped);
	ret->samples = f.taken;
	ret->memory = true;
	ret->held_bytes = f.bytes;
	ret->held_memory = f.memory;
	ret->held_samples = f.samples;
	ret->held_seconds = (double)(f.last - f.first) / 1e9;
}

static void trigger_stats(struct session_control *sc, struct control_figures *ret)
{
	const struct trigger_set *triggers = sc->parts.triggers;
	struct trigger_set_figures f;

	trigger_set_figures(triggers, &f);
	ret->triggered = f.fired;
	ret->limited = f.limited;
	ret->forgotten = f.forgotten;
	ret->nr_triggers = trigger_set_nr(triggers);
	ret->triggers = sc->triggers;
	for (size_t i = 0; i < ret->nr_triggers; i++) {
		sc->triggers[i].text = trigger_set_figures_of(triggers, i, &f);
		sc->triggers[i].times = f.fired;
		sc->triggers[i].snapshots = f.asked;
		sc->triggers[i].limited = f.limited;
		sc->triggers[i].forgotten = f.forgotten;
	}
}

void session_control_figures(struct session_control *sc, struct control_figures *ret)
{
	const struct session_parts *p = &sc->parts;
	struct throttle_stats_figures throttled;
	uint64_t lost = 0, dropped = 0;

	for (size_t i = 0; i < p->output->nr; i++) {
		struct lane_view view = lane_view(&p->output->lanes[i]);

		ret->samples += view.samples;
		ret->bytes += view.bytes;
		lost += view.lost;
		dropped += view.dropped;
	}
	ret->samples += p->rotation->samples;
	if (p->flight)
		memory_stats(p->flight, ret, &lost, &dropped);
	if (p->budget->frequency) {
		ret->budget = true;
		ret->cpu = p->budget->law.usage;
		ret->share = p->budget->law.share;
	}
	trigger_stats(sc, ret);
	throttle_stats_figures(p->opened->throttles, &throttled);
	ret->throttled = throttled.times;
	ret->throttled_seconds = (double)throttled.nsec / 1e9;
	ret->bytes += p->rotation->bytes;
	/*
	 * Uses the kernel's counters, which are exact by now, or the LOST records up to the last
	 * flush.
	 */
	ret->lost = lost + p->rotation->loss.total;
	opened_lost(p->opened, p->plan, &ret->lost);
	ret->lost += dropped;
	ret->seconds = (double)(now_ns(CLOCK_MONOTONIC) - sc->began) / 1e9;
	for (size_t i = 0; i < p->opened->nr_rings; i++)
		ret->rings += p->opened->rings[i].memory &&
			      (p->opened->rings[i].kind == RING_SAMPLES ||
			       p->opened->rings[i].kind == RING_OVERWRITTEN);
	ret->threads = p->threads;
	ret->missed_cpus = hotplug_missed(p->hotplug);
	for (unsigned int i = 0; i < p->plan->nr; i++) {
		ret->events += !p->plan->events[i].dummy;
		ret->enabled += !p->plan->events[i].dummy && is_running(sc, i);
	}
}

static int print_figures(struct session_control *sc, bool json, struct buf *text)
{
	struct control_figures figures = {0};

	session_control_figures(sc, &figures);
	figures.unread = control_stats(sc->control)->unread;
	return control_figures_print(&figures, json, text);
}

/* --- commands ------------------------------------------------------------------------------------
 */

int session_control_run(struct session_control *sc, const struct control_command *command,
			struct buf *text, struct error *err)
{
	switch (command->verb) {
	case CONTROL_ENABLE: return switch_events(sc, command->event, true, err);
	case CONTROL_DISABLE: return switch_events(sc, command->event, false, err);
	case CONTROL_EVLIST: return list_events(sc, command->list, text, err);
	case CONTROL_STATS: return print_figures(sc, command->json, text);
	case CONTROL_HELP: return control_command_help(text);
	case CONTROL_STOP: sc->stop = true; return 0;
	case CONTROL_PING: return 0;
	case CONTROL_SNAPSHOT:
	case CONTROL_ROTATE: break;
	}
	return error_set(err, -EINVAL, "unknown command");
}

/* --- life ----------------------------------------------------------------------------------------
 */

int session_control_init(struct session_control *sc, const struct record_opts *opts,
			 const struct messages *messages, struct error *err)
{
	struct control_spec spec;
	int rc;

	sc->opts = opts;
	sc->messages = messages;
	if (!opts->control.spec && opts->control.no_socket)
		return 0;
	rc = control_new(messages, &sc->control, err);
	if (!rc && opts->control.spec)
		rc = control_spec_parse(opts->control.spec, &spec, err);
	if (!rc && opts->control.spec)
		rc = control_add(sc->control, &spec, err);
	return rc;
}

/* A missing control socket is not fatal. */
static void make_socket(struct session_control *sc)
{
	const char *base = control_socket_base();
	/* Recordings that wait for commands, most likely of 'ringtail ctl'. */
	bool wanted = !sc->opts->control.spec &&
		      (sc->opts->plan.start_disabled || sc->opts->output.memory.bytes);
	enum message_level level = wanted ? MESSAGE_WARNING : MESSAGE_DETAIL;
	struct error err = ERROR_INIT;

	if (!base)
		messages_say(
			sc->messages, level,
			"no commands by 'ringtail ctl': XDG_RUNTIME_DIR names no directory of this "
			"user for the socket; set it, or use --control=fifo:PATH, or signals");
	else if (control_listen(sc->control, base, &err))
		messages_say(sc->messages, level, "no commands by 'ringtail ctl': %s", err.text);
}

int session_control_start(struct session_control *sc, const struct session_parts *parts,
			  struct error *err)
{
	sc->parts = *parts;
	sc->began = now_ns(CLOCK_MONOTONIC);
	sc->running = calloc(parts->plan->nr ? parts->plan->nr : 1, sizeof(*sc->running));
	sc->triggers = calloc(trigger_set_nr(parts->triggers) + 1, sizeof(*sc->triggers));
	if (!sc->running || !sc->triggers)
		return error_set(err, -ENOMEM, "out of memory");
	if (sc->control && !sc->opts->control.no_socket)
		make_socket(sc);
	return 0;
}

void session_control_enabled(struct session_control *sc)
{
	for (size_t i = 0; i < sc->parts.plan->nr; i++)
		sc->running[i] = true;
}

int session_control_fd(const struct session_control *sc)
{
	return sc->control ? control_fd(sc->control) : -1;
}

void session_control_read(struct session_control *sc)
{
	if (sc->control)
		control_read(sc->control);
}

bool session_control_next(struct session_control *sc, struct control_command *ret)
{
	return sc->control && control_next(sc->control, ret);
}

void session_control_answer(struct session_control *sc, uint64_t ticket, struct buf *text,
			    const struct error *err)
{
	control_answer(sc->control, ticket, text, err);
}

void session_control_release(struct session_control *sc)
{
	const struct control_stats *stats = sc->control ? control_stats(sc->control) : NULL;

	if (stats && stats->unread)
		messages_say(sc->messages, MESSAGE_DETAIL, "control: %llu answers were not read",
			     (unsigned long long)stats->unread);
	control_free(sc->control);
	free(sc->running);
	free(sc->triggers);
	*sc = (struct session_control){0};
}
