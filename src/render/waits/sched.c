// SPDX-License-Identifier: Apache-2.0
#include "render/waits/sched.h"

#include <inttypes.h>

#include "base/clock_ns.h"
#include "render/json.h"
#include "render/text.h"

#define NAME_COLS 16

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void put_numbers(FILE *out, const struct sched_row *row)
{
	fprintf(out, " %8" PRIu64 " %12.3f %6" PRIu64 " %8" PRIu64 " %9.3f %9.3f ", row->switches,
		ms(row->ran_ns), row->migrations, row->delays,
		row->delays ? ms(row->delay_ns) / (double)row->delays : 0, ms(row->max_ns));
	if (row->max_at)
		fprintf(out, "%8" PRIu64 ".%06" PRIu64, (uint64_t)(row->max_at / NS_PER_SEC),
			(uint64_t)(row->max_at % NS_PER_SEC / 1000));
	else
		fprintf(out, "%15s", "-");
	fprintf(out, " %9" PRIu64 " %12.3f\n", row->preempted, ms(row->preempted_ns));
}

static void put_head(FILE *out, const char *what)
{
	fprintf(out, "# %-*s %8s %12s %6s %8s %9s %9s %15s %9s %12s\n", NAME_COLS + 8, what,
		"Switches", "Ran ms", "Migr.", "Delays", "Avg ms", "Max ms", "Max at s",
		"Preempted", "for ms");
}

void sched_render(FILE *out, const struct sched_report *r)
{
	put_head(out, "Thread");
	for (size_t i = 0; i < r->threads.nr; i++) {
		const struct sched_row *row = &r->threads.row[i];

		fputs("  ", out);
		text_put(out, row->comm ?: "?", -NAME_COLS);
		fprintf(out, " %7d", (int)row->tid);
		put_numbers(out, row);
	}
	fputs("#\n", out);
	put_head(out, "CPU");
	for (size_t i = 0; i < r->cpus.nr; i++) {
		fprintf(out, "  %*u", NAME_COLS + 8, r->cpus.row[i].cpu);
		put_numbers(out, &r->cpus.row[i]);
	}
	fprintf(out, "  %*s", NAME_COLS + 8, "all");
	put_numbers(out, &r->all);
}

static void put_counts(json_t **o, const struct sched_row *row)
{
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{"switches", row->switches},	 {"runs", row->runs},
		{"ran_ns", row->ran_ns},	 {"migrations", row->migrations},
		{"delays", row->delays},	 {"delay_ns", row->delay_ns},
		{"max_delay_ns", row->max_ns},	 {"max_delay_at_ns", row->max_at},
		{"preempted", row->preempted},	 {"preempted_ns", row->preempted_ns},
		{"blocked_ns", row->blocked_ns},
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_put(o, counts[i].name, json_count(counts[i].n));
}

static json_t *rows_json(const struct sched_rows *rows, bool threads)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < rows->nr; i++) {
		const struct sched_row *row = &rows->row[i];
		json_t *o = json_object();

		if (threads) {
			json_put(&o, "comm", row->comm ? json_name(row->comm) : json_null());
			json_put(&o, "pid", json_count(row->pid));
			json_put(&o, "tid", json_count(row->tid));
		} else {
			json_put(&o, "cpu", json_count(row->cpu));
		}
		put_counts(&o, row);
		if (!o || json_array_append_new(list, o)) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

json_t *sched_json(const struct sched_report *r)
{
	json_t *o = json_object(), *all = json_object();

	put_counts(&all, &r->all);
	json_put(&o, "waits", waits_counts_json(&r->counts));
	json_put(&o, "all", all);
	json_put(&o, "threads", rows_json(&r->threads, true));
	json_put(&o, "cpus", rows_json(&r->cpus, false));
	return o;
}
