// SPDX-License-Identifier: Apache-2.0
#include "render/json.h"
#include "render/latency/durations.h"

/* Adds @value, which it takes over, unless memory ran out before. */
static void put(json_t **object, const char *key, json_t *value)
{
	if (*object && value && !json_object_set_new(*object, key, value))
		return;
	json_decref(*object);
	*object = NULL;
}

static void push(json_t **array, json_t *value)
{
	if (*array && value && !json_array_append_new(*array, value))
		return;
	json_decref(*array);
	*array = NULL;
}

json_t *durations_json(struct distribution *d)
{
	json_t *o = json_object();

	put(&o, "min", json_count(d->min));
	put(&o, "median", json_count(distribution_at(d, 0.5)));
	put(&o, "p90", json_count(distribution_at(d, 0.9)));
	put(&o, "p99", json_count(distribution_at(d, 0.99)));
	put(&o, "p99.9", json_count(distribution_at(d, 0.999)));
	put(&o, "max", json_count(d->max));
	put(&o, "sum", json_count(d->sum));
	return o;
}

json_t *durations_histogram_json(const struct distribution *d, const char *what)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < DISTRIBUTION_POWERS; i++) {
		json_t *o;

		if (!d->powers[i])
			continue;
		o = json_object();
		put(&o, "from_ns", json_count(i ? 1ull << (i - 1) : 0));
		put(&o, what, json_count(d->powers[i]));
		push(&rows, o);
	}
	return rows;
}
