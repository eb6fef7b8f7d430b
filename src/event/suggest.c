// SPDX-License-Identifier: Apache-2.0
#include "event/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "event/names.h"
#include "event/pmu.h"
#include "event/tracepoint.h"

#define MAX_SUGGESTIONS 3
#define MAX_NAME	64

struct nearest {
	const char *wanted;
	size_t limit; /* names further away than this say nothing */
	struct {
		char name[MAX_NAME];
		size_t distance;
	} best[MAX_SUGGESTIONS];
	size_t count;
};

/* A name that begins with what was typed is near however long it is: "context" "sched:sched_sw". */
static size_t distance_of(const struct nearest *nearest, const char *name)
{
	size_t len = strlen(nearest->wanted);

	if (len >= 4 && strncasecmp(name, nearest->wanted, len) == 0)
		return 1;
	return parse_distance(name, nearest->wanted);
}

static void consider(void *arg, const char *name)
{
	struct nearest *nearest = arg;
	size_t distance, at = nearest->count;

	if (strlen(name) >= MAX_NAME)
		return;
	distance = distance_of(nearest, name);
	if (distance > nearest->limit)
		return;
	for (size_t i = 0; i < nearest->count; i++) {
		if (strcasecmp(nearest->best[i].name, name) == 0)
			return;
	}
	while (at > 0 && nearest->best[at - 1].distance > distance)
		at--;
	if (at == MAX_SUGGESTIONS)
		return;
	if (nearest->count < MAX_SUGGESTIONS)
		nearest->count++;
	memmove(&nearest->best[at + 1], &nearest->best[at],
		(nearest->count - at - 1) * sizeof(nearest->best[0]));
	snprintf(nearest->best[at].name, MAX_NAME, "%s", name);
	nearest->best[at].distance = distance;
}

static void consider_pmus(const struct event_env *env, struct nearest *nearest)
{
	struct name_list pmus = {0}, aliases = {0};
	char spelled[2 * MAX_NAME];

	pmu_names(env, &pmus);
	for (size_t i = 0; i < pmus.count; i++) {
		snprintf(spelled, sizeof(spelled), "%.60s//", pmus.names[i]);
		consider(nearest, spelled);
		pmu_alias_names(env, pmus.names[i], &aliases);
		for (size_t j = 0; j < aliases.count; j++) {
			consider(nearest, aliases.names[j]);
			snprintf(spelled, sizeof(spelled), "%.60s/%.60s/", pmus.names[i],
				 aliases.names[j]);
			consider(nearest, spelled);
		}
		name_list_release(&aliases);
	}
	name_list_release(&pmus);
}

/* Also by the name without the system: people forget the first half. */
static void consider_tracepoints(const struct event_env *env, struct nearest *nearest)
{
	struct name_list names = {0};
	const char *colon = strchr(nearest->wanted, ':');

	tracepoint_names(env, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *bare = strchr(names.names[i], ':');

		if (!colon && bare && strcasecmp(bare + 1, nearest->wanted) == 0) {
			/* The whole name, at the distance of what was typed. */
			struct nearest exact = *nearest;

			exact.wanted = names.names[i];
			consider(&exact, names.names[i]);
			exact.wanted = nearest->wanted;
			*nearest = exact;
			continue;
		}
		consider(nearest, names.names[i]);
	}
	name_list_release(&names);
}

/* False: the name is too short or too long for anything to be near it. */
static bool nearest_init(struct nearest *nearest, const char *name)
{
	size_t len = strlen(name);

	*nearest = (struct nearest){.wanted = name};
	if (len < 2 || len >= MAX_NAME)
		return false;
	nearest->limit = len < 6 ? 1 + len / 4 : len < 12 ? len / 3 : 4;
	return true;
}

static void write_nearest(struct nearest *nearest, char *out, size_t size)
{
	size_t at = 0;

	/* Where one name is much nearer than the others, those only distract. */
	while (nearest->count > 1 &&
	       nearest->best[nearest->count - 1].distance > nearest->best[0].distance + 1)
		nearest->count--;
	for (size_t i = 0; i < nearest->count && at < size; i++) {
		bool last = i + 1 == nearest->count;
		const char *before = i == 0 ? "; did you mean " : last ? " or " : ", ";

		at += (size_t)snprintf(out + at, size - at, "%s'%s'%s", before,
				       nearest->best[i].name, last ? "?" : "");
	}
}

void suggest_event(const struct event_env *env, const char *name, char *out, size_t size)
{
	struct nearest nearest;

	out[0] = '\0';
	if (!nearest_init(&nearest, name))
		return;
	names_each(consider, &nearest);
	consider_pmus(env, &nearest);
	consider_tracepoints(env, &nearest);
	write_nearest(&nearest, out, size);
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
		consider(&nearest, aliases.names[i]);
	name_list_release(&aliases);
	write_nearest(&nearest, out, size);
}
