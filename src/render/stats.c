// SPDX-License-Identifier: Apache-2.0
#include "render/stats.h"

#include <inttypes.h>

#include "render/text.h"

static void put_count(FILE *out, const char *name, uint64_t n, uint64_t all)
{
	fprintf(out, "%16s events: %10" PRIu64, name, n);
	if (all)
		fprintf(out, "  (%4.1f%%)", 100.0 * (double)n / (double)all);
	putc('\n', out);
}

static void put_lost(FILE *out, uint64_t lost)
{
	if (lost)
		fprintf(out, "%16s samples: %9" PRIu64 "\n", "LOST", lost);
}

static void put_aggregate(FILE *out, const struct trace_counts *c)
{
	char unknown[24];

	fputs("\nAggregated stats:\n", out);
	put_count(out, "TOTAL", c->records, 0);
	for (uint32_t type = 0; type + 1 < TRACE_TYPES; type++) {
		const char *name = pd_record_name(type);

		if (!c->by_type[type])
			continue;
		if (!name) {
			snprintf(unknown, sizeof(unknown), "type %u", type);
			name = unknown;
		}
		put_count(out, name, c->by_type[type], c->records);
	}
	if (c->by_type[TRACE_TYPES - 1])
		put_count(out, "UNKNOWN", c->by_type[TRACE_TYPES - 1], c->records);
	put_lost(out, trace_loss_total(&c->loss, &c->loss));
}

void stats_render(FILE *out, const struct trace *t)
{
	const struct trace_counts *c = &t->counts;

	put_aggregate(out, c);
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct trace_event_counts *e = &c->by_event[i];

		if (!e->samples && !trace_loss_total(&e->loss, &c->loss))
			continue;
		text_put(out, pd_evlist_at(t->evlist, i)->name, 0);
		fputs(" stats:\n", out);
		put_count(out, "SAMPLE", e->samples, 0);
		put_lost(out, trace_loss_total(&e->loss, &c->loss));
	}
	if (c->unknown_samples)
		put_count(out, "unknown SAMPLE", c->unknown_samples, 0);
}
