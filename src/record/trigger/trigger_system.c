// SPDX-License-Identifier: Apache-2.0
/* Triggers by the state of the whole machine: pressure, load, time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/trigger/trigger.h"
#include "sys/kernel/pressure.h"

/* The kernel updates the load each 5 s; a trigger is at most this much later. */
#define LOAD_STEP_NS 1000000000ull

struct system_source {
	struct trigger source;
	int fd;	    /* of pressure; -1: none */
	bool above; /* of load: at the last check */
};

static void system_free(struct trigger *s)
{
	struct system_source *sys = (struct system_source *)s;

	if (sys->fd >= 0)
		close(sys->fd);
	rate_release(&s->rate);
	free(sys);
}

static int make(const struct trigger_ops *ops, const struct trigger_spec *spec,
		struct trigger **ret, struct error *err)
{
	struct system_source *sys = calloc(1, sizeof(*sys));

	if (!sys)
		return error_set(err, -ENOMEM, "out of memory");
	sys->fd = -1;
	*ret = &sys->source;
	if (!trigger_init(&sys->source, ops, spec))
		return 0;
	free(sys);
	return error_set(err, -ENOMEM, "out of memory");
}

/* --- pressure ------------------------------------------------------------------------------------
 */

static size_t pressure_descriptors(const struct trigger *s)
{
	return 1;
}

static void pressure_watch(const struct trigger *s, struct pollfd *ret)
{
	*ret = (struct pollfd){.fd = ((const struct system_source *)s)->fd, .events = POLLPRI};
}

static void pressure_ask(struct trigger *s, struct pollfd *polled, uint64_t now, bool last)
{
	if (polled->revents & POLLERR) {
		messages_say(s->messages, MESSAGE_WARNING, "%s: the kernel no longer reports it",
			     s->spec->text);
		polled->fd = -1;
	} else if (polled->revents & POLLPRI) {
		trigger_fire(s, 1, NULL, NULL, now);
	}
}

int trigger_of_pressure(const struct trigger_spec *spec, const struct trigger_place *place,
			struct trigger **ret, struct error *err)
{
	static const struct trigger_ops ops = {
		.descriptors = pressure_descriptors,
		.watch = pressure_watch,
		.ask = pressure_ask,
		.free = system_free,
	};
	struct trigger *s = NULL;
	int fd, rc = make(&ops, spec, &s, err);

	if (rc)
		return rc;
	fd = pressure_open(NULL, spec->resource, spec->some_ms, spec->window_ms, err);
	if (fd < 0) {
		system_free(s);
		return fd;
	}
	((struct system_source *)s)->fd = fd;
	s->open_descriptors = 1;
	*ret = s;
	return 0;
}

/* --- load ----------------------------------------------------------------------------------------
 */

static int start_now(struct trigger *s, uint64_t now, struct error *err)
{
	s->due = now;
	return 0;
}

/* Fires when the load rises above the limit, not as long as it is above. */
static void load_ask(struct trigger *s, struct pollfd *polled, uint64_t now, bool last)
{
	struct system_source *sys = (struct system_source *)s;
	char detail[32];
	double load;

	if (now < s->due)
		return;
	s->due = now + LOAD_STEP_NS;
	if (getloadavg(&load, 1) != 1)
		return;
	if (load >= s->spec->load && !sys->above) {
		snprintf(detail, sizeof(detail), "it is %.2f", load);
		trigger_fire(s, 1, NULL, detail, now);
	}
	sys->above = load >= s->spec->load;
}

int trigger_of_load(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger **ret, struct error *err)
{
	static const struct trigger_ops ops = {
		.start = start_now,
		.ask = load_ask,
		.free = system_free,
	};

	return make(&ops, spec, ret, err);
}

/* --- time ----------------------------------------------------------------------------------------
 */

static int start_later(struct trigger *s, uint64_t now, struct error *err)
{
	s->due = now + s->spec->ns;
	return 0;
}

/* Times that passed while nobody asked are skipped. */
static void time_ask(struct trigger *s, struct pollfd *polled, uint64_t now, bool last)
{
	if (now < s->due)
		return;
	s->due += ((now - s->due) / s->spec->ns + 1) * s->spec->ns;
	trigger_fire(s, 1, NULL, NULL, now);
}

int trigger_of_time(const struct trigger_spec *spec, const struct trigger_place *place,
		    struct trigger **ret, struct error *err)
{
	static const struct trigger_ops ops = {
		.start = start_later,
		.ask = time_ask,
		.free = system_free,
	};

	return make(&ops, spec, ret, err);
}
