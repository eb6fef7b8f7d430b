// SPDX-License-Identifier: Apache-2.0
#include "render/latency/durations.h"

#include <inttypes.h>

#include "base/human.h"
#include "render/json.h"

#define BAR 40 /* columns */

const char *duration_text(uint64_t ns, char out[DURATION_SIZE - 2])
{
	static const char *const units[] = {"us", "ms", "s"};
	double v = (double)ns;
	size_t unit = 0;

	if (ns < 1000) {
		snprintf(out, DURATION_SIZE - 2, "%" PRIu64 " ns", ns);
		return out;
	}
	v /= 1000;
	while (v >= 999.5 && unit < 2) {
		v /= 1000;
		unit++;
	}
	snprintf(out, DURATION_SIZE - 2, "%.*f %s",
		 v < 9.995   ? 2
		 : v < 99.95 ? 1
			     : 0,
		 v, units[unit]);
	return out;
}

const char *duration_measured(uint64_t from, uint64_t ns, char out[DURATION_SIZE])
{
	char step[DURATION_SIZE - 2];

	if (ns >= from && ns)
		return duration_text(ns, out);
	if (!from)
		return "unknown";
	snprintf(out, DURATION_SIZE, "< %s", duration_text(from, step));
	return out;
}

void durations_percentiles(FILE *out, struct distribution *d, uint64_t step)
{
	static const struct {
		const char *name;
		double share;
	} columns[] = {{"min", 0},    {"median", 0.5},	{"p90", 0.9},
		       {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
	char text[DURATION_SIZE];

	fputc('\n', out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, "  %*s", DURATION_COLS, columns[i].name);
	fputc('\n', out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, "  %*s", DURATION_COLS,
			duration_measured(step, distribution_at(d, columns[i].share), text));
	fputc('\n', out);
}

static void put_row(FILE *out, const char *label, uint64_t n, uint64_t most)
{
	char number[HUMAN_COUNT_SIZE];
	int bar = n ? (int)((double)n / (double)most * BAR + 0.5) : 0;

	fprintf(out, "  %s %12s%s", label, human_count(n, number), n ? "  " : "");
	for (int i = 0; i < (n && !bar ? 1 : bar); i++)
		fputc('*', out);
	fputc('\n', out);
}

/* The first power of two that is not less than a step: below, lengths are not known. */
static unsigned int first_power(uint64_t step)
{
	unsigned int power = 0;

	while (power < 63 && 1ull << power < step)
		power++;
	return power;
}

void durations_histogram(FILE *out, const struct distribution *d, uint64_t step, const char *what)
{
	unsigned int first = first_power(step), last = DISTRIBUTION_POWERS - 1;
	uint64_t below = 0, most = 0;
	char from[DURATION_SIZE], label[2 * DURATION_SIZE];

	for (unsigned int i = 0; i <= first; i++)
		below += d->powers[i];
	for (unsigned int i = first + 1; i < DISTRIBUTION_POWERS; i++)
		most = d->powers[i] > most ? d->powers[i] : most;
	most = below > most ? below : most;
	while (last > first && !d->powers[last])
		last--;
	while (!below && first + 1 < last && !d->powers[first + 1])
		first++;
	fprintf(out, "\n  %*s %12s\n", DURATION_COLS + 6, "duration", what);
	if (below) {
		snprintf(label, sizeof(label), "%*s %*s", 5, "below", DURATION_COLS,
			 duration_text(1ull << first, from));
		put_row(out, label, below, most);
	}
	for (unsigned int i = first + 1; i <= last; i++) {
		snprintf(label, sizeof(label), "%*s %*s", 5, "from", DURATION_COLS,
			 duration_text(1ull << (i - 1), from));
		put_row(out, label, d->powers[i], most);
	}
}
