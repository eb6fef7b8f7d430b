// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

/* A name that begins with the typed text is near, however long: "context" "sched:sched_sw". */
static size_t distance_of(const struct nearest *nearest, const char *name)
{
	size_t len = strlen(nearest->wanted), other = strlen(name);

	if (len >= 4 && strncasecmp(name, nearest->wanted, len) == 0)
		return 1;
	/* The distance is at least the difference in length: most names need no comparison. */
	if ((len > other ? len - other : other - len) > nearest->limit)
		return SIZE_MAX;
	return parse_distance(name, nearest->wanted);
}

static void add_name(struct nearest *nearest, size_t distance, const char *name)
{
	size_t at = nearest->count;

	if (distance > nearest->limit || strlen(name) >= NEAREST_NAME_MAX)
		return;
	for (size_t i = 0; i < nearest->count; i++) {
		if (strcasecmp(nearest->best[i].name, name) == 0)
			return;
	}
	while (at > 0 && nearest->best[at - 1].distance > distance)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (nearest->count < NEAREST_MAX)
		nearest->count++;
	memmove(&nearest->best[at + 1], &nearest->best[at],
		(nearest->count - at - 1) * sizeof(nearest->best[0]));
	snprintf(nearest->best[at].name, NEAREST_NAME_MAX, "%s", name);
	nearest->best[at].distance = distance;
}

void nearest_offer(void *arg, const char *name)
{
	struct nearest *nearest = arg;

	add_name(nearest, distance_of(nearest, name), name);
}

void nearest_offer_as(struct nearest *nearest, const char *key, const char *name)
{
	size_t by_key = distance_of(nearest, key), by_name = distance_of(nearest, name);

	add_name(nearest, by_key < by_name ? by_key : by_name, name);
}

bool nearest_init(struct nearest *nearest, const char *wanted)
{
	return nearest_init_len(nearest, wanted, strlen(wanted));
}

bool nearest_init_len(struct nearest *nearest, const char *wanted, size_t len)
{
	*nearest = (struct nearest){0};
	if (len < 2 || len >= NEAREST_NAME_MAX)
		return false;
	memcpy(nearest->wanted, wanted, len);
	nearest->limit = len < 6 ? 1 + len / 4 : len < 12 ? len / 3 : 4;
	return true;
}

void nearest_write(struct nearest *nearest, char *out, size_t size)
{
	size_t at = 0;

	/* If one name is much nearer than the others, the others only distract. */
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
