// SPDX-License-Identifier: Apache-2.0
#include "record/plan/trigger_spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/parse.h"

#define MS 1000000ull

/* The limits of /proc/pressure (kernel/sched/psi.c, WINDOW_MIN_US and WINDOW_MAX_US). */
#define PSI_WINDOW_MIN_MS 500
#define PSI_WINDOW_MAX_MS 10000

#define EVERY_MIN_NS (10 * MS)
#define TIME_MAX_NS  (365 * 86400000ull * MS)

static int bad_time(const char *text, const char *what, struct error *err)
{
	return error_set(err, -EINVAL, "%s: '%.32s' is no time such as 100ms or 2s", what, text);
}

static int take_time(const char *text, const char *what, uint64_t *ret, struct error *err)
{
	uint64_t ns;

	if (parse_time(text, &ns) || ns > TIME_MAX_NS)
		return bad_time(text, what, err);
	*ret = ns;
	return 0;
}

/* --- the options ---------------------------------------------------------------------------------
 */

static int take_after(struct trigger_spec *spec, char *text, struct error *err)
{
	return take_time(text, "after", &spec->after_ns, err);
}

static int take_limit(struct trigger_spec *spec, char *text, struct error *err)
{
	char *slash = strchr(text, '/');
	uint64_t n;

	if (!slash)
		return error_set(err, -EINVAL,
				 "limit: '%.32s' is no number of snapshots in a time such as 1/10s",
				 text);
	*slash = '\0';
	if (parse_u64(text, &n) || !n || n > TRIGGER_LIMIT_MAX)
		return error_set(err, -EINVAL, "limit: '%.32s' is no number from 1 to %d", text,
				 TRIGGER_LIMIT_MAX);
	spec->limit = (unsigned int)n;
	if (take_time(slash + 1, "limit", &spec->limit_ns, err))
		return -EINVAL;
	return spec->limit_ns ? 0 : bad_time(slash + 1, "limit", err);
}

static int take_reason(struct trigger_spec *spec, char *text, struct error *err)
{
	if (!*text)
		return error_set(err, -EINVAL, "reason: the text is missing");
	free(spec->reason);
	spec->reason = strdup(text);
	return spec->reason ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static const struct option {
	const char *name; /* with the comma before it */
	int (*take)(struct trigger_spec *spec, char *text, struct error *err);
} options[] = {
	{",after=", take_after},
	{",limit=", take_limit},
	{",reason=", take_reason},
};

static const struct option *option_at(const char *text)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strncmp(text, options[i].name, strlen(options[i].name)))
			return &options[i];
	return NULL;
}

/* Finds the first option outside of quotes: a filter may compare with any string. */
static char *first_option(char *text)
{
	char quote = '\0';

	for (; *text; text++) {
		if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '"' || *text == '\'')
			quote = *text;
		else if (option_at(text))
			return text;
	}
	return NULL;
}

/* Finds the next option. Quotes do not count: in a reason an apostrophe is one. */
static char *next_option(char *text)
{
	while (*text && !option_at(text))
		text++;
	return *text ? text : NULL;
}

/* Takes the options off the end of @text. */
static int take_options(struct trigger_spec *spec, char *text, struct error *err)
{
	char *at = first_option(text);
	const struct option *option = at ? option_at(at) : NULL;
	int rc = 0;

	while (!rc && option) {
		const struct option *next;
		char *value = at + strlen(option->name);

		*at = '\0';
		at = next_option(value);
		next = at ? option_at(at) : NULL;
		if (at)
			*at = '\0';
		rc = option->take(spec, value, err);
		option = next;
	}
	return rc;
}

/* Whether @comma begins an option: a word and '='. A comparison in a filter has "==". */
static bool word_behind(const char *comma)
{
	size_t len = strspn(comma + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");

	return len && comma[1 + len] == '=' && comma[2 + len] != '=';
}

static int misspelt(const char *comma, struct error *err)
{
	return error_set(err, -EINVAL, "'%.32s': options are after=, limit=, reason=", comma + 1);
}

/* --- the kinds -----------------------------------------------------------------------------------
 */

/*
 * Finds the first space outside of slashes, quotes and file names, which ends the events. NULL: the
 * text has no filter.
 */
static char *filter_in(char *text)
{
	bool slashes = false, quoted = false, begins = true;

	while (*text) {
		size_t place = begins ? event_place_length(text) : 0;

		text += place;
		begins = !place && strchr(",{", *text) && !slashes && !quoted;
		if (place)
			continue;
		slashes ^= *text == '/' && !quoted;
		quoted ^= *text == '\'';
		if (*text == ' ' && !slashes && !quoted)
			return text;
		text++;
	}
	return NULL;
}

/*
 * Finds the dots between the events of a latency, outside of quotes and not those of "../program".
 */
static char *dots_in(char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		quoted ^= *text == '\'';
		if (!quoted && text[0] == '.' && text[1] == '.' && text[2] != '/')
			return text;
	}
	return NULL;
}

/*
 * Reports the first misspelt option behind events. Between slashes or in a filter's quotes such
 * words are legal. Slashes in a filter or a file name mean nothing.
 */
static int check_events(const char *text, struct error *err)
{
	bool filter = false, slashes = false, begins = true;
	char quote = '\0';

	for (const char *at = text + strspn(text, " "); *at; at++) {
		size_t place = begins ? event_place_length(at) : 0;

		begins &= *at == '{';
		if (place) {
			at += place - 1;
		} else if (quote) {
			quote = *at == quote ? '\0' : quote;
		} else if (*at == '"' || *at == '\'') {
			quote = *at;
		} else if (*at == '/') {
			slashes ^= !filter;
		} else if (!slashes && *at == ' ') {
			filter = true;
		} else if (!slashes && *at == ',') {
			if (word_behind(at))
				return misspelt(at, err);
			begins = !filter;
		}
	}
	return 0;
}

static int check_latency(char *text, struct error *err)
{
	char *dots = dots_in(text);
	int rc;

	if (!dots)
		return check_events(text, err);
	*dots = '\0';
	rc = check_events(text, err);
	*dots = '.';
	return rc ? rc : check_events(dots + 2, err);
}

/* Checks the other kinds, whose values have no words. */
static int check_value(const char *text, struct error *err)
{
	const char *comma = strchr(text, ',');

	return comma && word_behind(comma) ? misspelt(comma, err) : 0;
}

static int check_options(enum trigger_kind kind, char *text, struct error *err)
{
	return kind == TRIGGER_EVENT	 ? check_events(text, err)
	       : kind == TRIGGER_LATENCY ? check_latency(text, err)
					 : check_value(text, err);
}

int trigger_spec_check_event(const struct event_spec *event, struct error *err)
{
	const struct pd_attr *attr = &event->attr;
	bool clock = attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
							  attr->config == PERF_COUNT_SW_TASK_CLOCK);

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY)
		return error_set(err, -EINVAL, "'%s' never happens", event->name);
	if (event->explicit_period ||
	    (!clock && attr->type != PERF_TYPE_HARDWARE && attr->type != PERF_TYPE_HW_CACHE &&
	     attr->type != PERF_TYPE_RAW))
		return 0;
	return error_set(
		err, -EINVAL,
		"'%s' happens all the time: give a number of events, as in 'cycles/period=N/'",
		event->name);
}

static int take_events(struct trigger_spec *spec, char *text, const struct event_env *env,
		       struct error *err)
{
	size_t first = spec->events.count;
	char *filter;
	int rc;

	text += strspn(text, " ");
	filter = filter_in(text);
	if (filter)
		*filter++ = '\0';
	rc = event_parse(&spec->events, text, env, err);
	for (size_t i = first; !rc && i < spec->events.count; i++)
		rc = trigger_spec_check_event(&spec->events.specs[i], err);
	if (filter)
		filter += strspn(filter, " ");
	if (!rc && filter && *filter)
		rc = event_set_filter(&spec->events, first, filter, err);
	return rc;
}

static int take_latency(struct trigger_spec *spec, char *text, const struct event_env *env,
			struct error *err)
{
	char *end = dots_in(text), *time = strrchr(text, '>');
	int rc;

	/* A filter may hold a '>', too: the last one begins the time. */
	if (!end || !time || time < end)
		return error_set(err, -EINVAL,
				 "give START-EVENT..END-EVENT>TIME, as in "
				 "latency:syscalls:sys_enter_fsync..syscalls:sys_exit_fsync>100ms");
	*end = *time++ = '\0';
	rc = take_time(time + strspn(time, " "), "latency", &spec->ns, err);
	if (!rc)
		rc = take_events(spec, text, env, err);
	spec->starts = spec->events.count;
	return rc ? rc : take_events(spec, end + 2, env, err);
}

static int take_window(struct trigger_spec *spec, char *text, struct error *err)
{
	char *slash = strchr(text, '/');
	uint64_t some, window;

	if (slash)
		*slash = '\0';
	if (!slash || parse_u64(text, &some) || parse_u64(slash + 1, &window))
		return error_set(err, -EINVAL,
				 "give the stall and the window in milliseconds, "
				 "SOME_MS/WINDOW_MS, as in 150/1000");
	if (window < PSI_WINDOW_MIN_MS || window > PSI_WINDOW_MAX_MS || !some || some > window)
		return error_set(
			err, -EINVAL,
			"the kernel takes windows of %d to %d ms, and stalls of 1 ms up to "
			"the window",
			PSI_WINDOW_MIN_MS, PSI_WINDOW_MAX_MS);
	spec->some_ms = (unsigned int)some;
	spec->window_ms = (unsigned int)window;
	return 0;
}

static int take_psi(struct trigger_spec *spec, char *text, const struct event_env *env,
		    struct error *err)
{
	static const char *const resources[] = {"cpu", "memory", "io"};
	size_t len = strcspn(text, ":");

	for (size_t i = 0; text[len] && i < sizeof(resources) / sizeof(resources[0]); i++) {
		if (strlen(resources[i]) != len || strncmp(resources[i], text, len))
			continue;
		spec->resource = resources[i];
		return take_window(spec, text + len + 1, err);
	}
	return error_set(err, -EINVAL,
			 "give cpu, memory or io, and a stall, as in psi:io:150/1000");
}

static int take_load(struct trigger_spec *spec, char *text, const struct event_env *env,
		     struct error *err)
{
	char *end;

	/* strtod() also accepts "inf", "nan" and hexadecimal numbers. */
	spec->load = strtod(text, &end);
	if (!*text || text[strspn(text, "0123456789.")] || *end || spec->load > 1e6)
		return error_set(err, -EINVAL, "'%.32s' is no load such as 8 or 1.5", text);
	return 0;
}

static int take_every(struct trigger_spec *spec, char *text, const struct event_env *env,
		      struct error *err)
{
	int rc = take_time(text, "every", &spec->ns, err);

	if (!rc && spec->ns < EVERY_MIN_NS)
		rc = error_set(err, -EINVAL, "every: the shortest time is 10 ms");
	return rc;
}

static const struct kind {
	const char *prefix;
	int (*take)(struct trigger_spec *spec, char *text, const struct event_env *env,
		    struct error *err);
	bool unlimited; /* without limit= */
} kinds[] = {
	[TRIGGER_LATENCY] = {"latency:", take_latency, false},
	[TRIGGER_PSI] = {"psi:", take_psi, false},
	[TRIGGER_LOAD] = {"load:", take_load, false},
	[TRIGGER_EVERY] = {"every:", take_every, true},
	[TRIGGER_EVENT] = {"", take_events, false}, /* all other texts */
};

static enum trigger_kind kind_of(const char *text)
{
	for (enum trigger_kind kind = 0; kind < TRIGGER_KINDS; kind++)
		if (kind != TRIGGER_EVENT &&
		    !strncmp(text, kinds[kind].prefix, strlen(kinds[kind].prefix)))
			return kind;
	return TRIGGER_EVENT;
}

/* --- a whole spec --------------------------------------------------------------------------------
 */

static void spec_release(struct trigger_spec *spec)
{
	event_list_release(&spec->events);
	free(spec->text);
	free(spec->reason);
}

static int take(struct trigger_spec *spec, char *text, const struct event_env *env,
		struct error *err)
{
	enum trigger_kind kind = kind_of(text);
	int rc;

	spec->kind = kind;
	if (!kinds[kind].unlimited) {
		spec->limit = TRIGGER_LIMIT;
		spec->limit_ns = TRIGGER_LIMIT_NS;
	}
	rc = take_options(spec, text, err);
	if (!rc)
		rc = check_options(kind, text + strlen(kinds[kind].prefix), err);
	if (rc)
		return rc;
	spec->text = strdup(text);
	if (!spec->text)
		return error_set(err, -ENOMEM, "out of memory");
	return kinds[kind].take(spec, text + strlen(kinds[kind].prefix), env, err);
}

int trigger_specs_add(struct trigger_specs *list, const char *text, const struct event_env *env,
		      struct error *err)
{
	struct trigger_spec spec = {0};
	char *copy = strdup(text);
	int rc = copy ? take(&spec, copy, env, err) : error_set(err, -ENOMEM, "out of memory");

	if (!rc) {
		rc = array_grow(&list->specs, &list->capacity, list->nr + 1, sizeof(spec));
		if (rc)
			error_set(err, rc, "out of memory");
	}
	if (rc)
		spec_release(&spec);
	else
		list->specs[list->nr++] = spec;
	free(copy);
	return rc;
}

void trigger_specs_release(struct trigger_specs *list)
{
	for (size_t i = 0; i < list->nr; i++)
		spec_release(&list->specs[i]);
	free(list->specs);
	*list = (struct trigger_specs){0};
}
