// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "event/catalog/names.h"
#include "event/catalog/pmu.h"
#include "event/catalog/tracepoint.h"

/* Of each PMU its own name, and its events with and without it. */
static void pmus_each(const struct event_env *env, void (*fn)(void *arg, const char *name),
		      void *arg)
{
	struct name_list pmus = {0}, aliases = {0};
	char spelled[2 * NEAREST_NAME_MAX];

	pmu_names(env, &pmus);
	for (size_t i = 0; i < pmus.count; i++) {
		snprintf(spelled, sizeof(spelled), "%.60s//", pmus.names[i]);
		fn(arg, spelled);
		pmu_alias_names(env, pmus.names[i], &aliases);
		for (size_t j = 0; j < aliases.count; j++) {
			fn(arg, aliases.names[j]);
			snprintf(spelled, sizeof(spelled), "%.60s/%.60s/", pmus.names[i],
				 aliases.names[j]);
			fn(arg, spelled);
		}
		name_list_release(&aliases);
	}
	name_list_release(&pmus);
}

struct name_taker {
	void (*fn)(void *arg, const char *name);
	void *arg;
};

static void take_generic(void *arg, const char *name, const struct generic_event *event)
{
	const struct name_taker *t = arg;

	(void)event;
	t->fn(t->arg, name);
}

static void generics_each(void (*fn)(void *arg, const char *name), void *arg)
{
	struct name_taker t = {fn, arg};

	names_each(take_generic, &t);
}

void suggest_each(const struct event_env *env, void (*fn)(void *arg, const char *name), void *arg)
{
	struct name_list names = {0};

	generics_each(fn, arg);
	pmus_each(env, fn, arg);
	tracepoint_names(env, &names);
	for (size_t i = 0; i < names.count; i++)
		fn(arg, names.names[i]);
	name_list_release(&names);
}

/* Compares names also without their system, which users often omit. */
static void consider_tracepoints(const struct event_env *env, struct nearest *nearest)
{
	struct name_list names = {0};
	bool whole = strchr(nearest->wanted, ':');

	tracepoint_names(env, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *bare = strchr(names.names[i], ':');

		if (!whole && bare)
			nearest_offer_as(nearest, bare + 1, names.names[i]);
		else
			nearest_offer(nearest, names.names[i]);
	}
	name_list_release(&names);
}

void suggest_where(const struct event_env *env, const char *name, char *out, size_t size)
{
	const char *colon = strchr(name, ':'), *root = colon ? tracepoint_root(env) : NULL;
	int len = colon ? (int)(colon - name) : 0;
	char path[PATH_MAX];

	if (!root) {
		snprintf(out, size, "'ringtail list' lists events");
		return;
	}
	snprintf(path, sizeof(path), "%s/events/%.*s", root, len, name);
	if (!len || *name == '.' || memchr(name, '/', (size_t)len) || access(path, X_OK) != 0)
		snprintf(path, sizeof(path), "%s/events", root);
	snprintf(out, size, "'ls %s' lists tracepoints", path);
}

void suggest_event(const struct event_env *env, const char *name, char *out, size_t size)
{
	struct nearest nearest;

	out[0] = '\0';
	if (!nearest_init(&nearest, name))
		return;
	generics_each(nearest_offer, &nearest);
	pmus_each(env, nearest_offer, &nearest);
	consider_tracepoints(env, &nearest);
	nearest_write(&nearest, out, size);
}

void suggest_alias(const struct event_env *env, const char *pmu, const char *name, char *out,
		   size_t size)
{
	struct name_list aliases = {0};
	struct nearest nearest;

	out[0] = '\0';
	if (!nearest_init(&nearest, name))
		return;
	pmu_alias_names(env, pmu, &aliases);
	for (size_t i = 0; i < aliases.count; i++)
		nearest_offer(&nearest, aliases.names[i]);
	name_list_release(&aliases);
	nearest_write(&nearest, out, size);
}

const char *suggest_whose(const char *event, int rc)
{
	static const char trigger[] = "is a trigger, not an event to record: give it to --trigger",
			  probe[] = "names a probe that does not exist: create it with 'perf "
				    "probe', or record uprobe:FILE:FUNCTION or kprobe:FUNCTION";
	static const struct {
		const char *prefix;
		bool any_code; /* else -ENOENT */
		const char *sentence;
	} others[] = {
		{"latency:", true, trigger}, {"psi:", true, trigger},  {"load:", true, trigger},
		{"every:", true, trigger},   {"probe:", false, probe}, {"probe_", false, probe},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(event, others[i].prefix, strlen(others[i].prefix)) &&
		    strchr(event, ':') && (others[i].any_code || rc == -ENOENT))
			return others[i].sentence;
	return NULL;
}
