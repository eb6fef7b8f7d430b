// SPDX-License-Identifier: Apache-2.0
#include "render/json.h"
#include "render/latency/durations.h"

json_t *durations_json(struct distribution *d)
{
	json_t *o = json_object();

	json_put(&o, "min", json_count(d->min));
	json_put(&o, "median", json_count(distribution_at(d, 0.5)));
	json_put(&o, "p90", json_count(distribution_at(d, 0.9)));
	json_put(&o, "p99", json_count(distribution_at(d, 0.99)));
	json_put(&o, "p99.9", json_count(distribution_at(d, 0.999)));
	json_put(&o, "max", json_count(d->max));
	json_put(&o, "sum", json_count(d->sum));
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
		json_put(&o, "from_ns", json_count(i ? 1ull << (i - 1) : 0));
		json_put(&o, what, json_count(d->powers[i]));
		json_push(&rows, o);
	}
	return rows;
}
