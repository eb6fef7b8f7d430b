// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the stage that unwinds while recording over a recording with user stacks, in the order of
 * the file. Prints for each sample its thread, its time in ns, and its callers in user space; or
 * "kept" in place of these, if the sample keeps its stack.
 *
 * usage: online-chains FILE [MS]
 *
 * With MS it pauses after each sample whose files were not read in time: other than here, samples
 * come one after another, and the files are read meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/open/open.h"
#include "data/scan/scan.h"
#include "record/pipeline/chain_stage.h"

struct printer {
	struct sink sink;
	const struct pd_evsel *evsel; /* of the run that comes */
};

static void print_sample(const struct pd_sample *s)
{
	bool user = false, found = false;

	printf("%u %" PRIu64, s->tid, s->time);
	for (uint64_t i = 0; i < s->callchain_nr; i++) {
		if (s->callchain[i] >= PERF_CONTEXT_MAX)
			user = s->callchain[i] == PERF_CONTEXT_USER;
		else if (user)
			printf(" %" PRIx64, s->callchain[i]);
		found |= user;
	}
	printf("%s\n", found ? "" : s->user_stack_size ? " kept" : "");
}

static int printer_write(struct sink *s, const struct run *run, struct error *err)
{
	const struct perf_event_header *hdr = (const void *)run->a;
	const struct printer *p = (const struct printer *)s;
	struct pd_sample sample;

	if (hdr->type != PERF_RECORD_SAMPLE)
		return 0;
	if (hdr->size != run->a_len || pd_sample_decode(hdr, p->evsel, &sample, NULL))
		return error_set(err, -EBADMSG, "a sample of %u bytes", hdr->size);
	print_sample(&sample);
	return 0;
}

static const struct sink_ops printer_ops = {.write = printer_write};

/* Makes what a recorder knows of the events of @list. */
static void make_plan(struct pd_evlist *list, struct plan *plan, struct opened *opened)
{
	size_t nr = pd_evlist_count(list), ids = 0;

	plan->events = calloc(nr, sizeof(*plan->events));
	for (size_t i = 0; i < nr; i++)
		ids += pd_evlist_at(list, i)->nr_ids;
	opened->fds = calloc(ids + 1, sizeof(*opened->fds));
	if (!plan->events || !opened->fds)
		exit(1);
	for (; plan->nr < nr; plan->nr++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, plan->nr);

		plan->events[plan->nr].attr = evsel->attr;
		for (size_t i = 0; i < evsel->nr_ids; i++) {
			opened->fds[opened->nr_fds].id = evsel->ids[i];
			opened->fds[opened->nr_fds++].event = (unsigned int)plan->nr;
		}
	}
}

/* Pauses if a sample more than the @waited so far came too early. */
static void pause_for_files(const struct sink *stage, useconds_t usec, uint64_t *waited)
{
	struct chain_stats stats;

	chain_stage_stats(stage, &stats);
	if (stats.samples[CHAIN_WAITED] > *waited)
		usleep(usec);
	*waited = stats.samples[CHAIN_WAITED];
}

static int run_over(struct data_file *df, struct chain_maker *maker, struct sink *stage,
		    struct printer *p, useconds_t pause, struct error *err)
{
	uint64_t waited = 0;
	struct data_record rec;
	struct data_scan *scan;
	int rc = data_scan_new(df, 0, 0, DATA_WHOLE, 0, &scan);

	while (!rc && data_scan_next(scan, &rec) > 0) {
		const struct run run = {.a = (const void *)rec.hdr, .a_len = rec.hdr->size};

		p->evsel = rec.evsel;
		if (rec.hdr->type != PERF_RECORD_SAMPLE)
			chain_maker_add(rec.hdr, maker);
		if (rec.hdr->type != PERF_RECORD_AUXTRACE)
			rc = sink_write(stage, &run, err);
		if (pause)
			pause_for_files(stage, pause, &waited);
	}
	data_scan_free(scan);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct plan_opts opts;
	struct printer printer = {.sink.ops = &printer_ops};
	struct plan plan = {.opts = &opts};
	struct opened opened = {0};
	struct error err = ERROR_INIT;
	struct chain_stats stats;
	struct chain_maker *maker;
	struct data_file *df;
	struct sink *stage;
	int rc;

	if (argc < 2 || argc > 3 || data_open(argv[1], true, &df, &err)) {
		fprintf(stderr, "%s\n", err.text[0] ? err.text : "usage: online-chains FILE [MS]");
		return 1;
	}
	make_plan(data_evlist(df), &plan, &opened);
	if (chain_maker_new(&plan.events[0].attr, &maker))
		return 1;
	stage = chain_stage_new(maker, &plan, &opened, &printer.sink);
	if (!stage)
		return 1;
	rc = run_over(df, maker, stage, &printer, argc > 2 ? (useconds_t)atoi(argv[2]) * 1000 : 0,
		      &err);
	chain_stage_stats(stage, &stats);
	fprintf(stderr, "%" PRIu64 " chains, %" PRIu64 " cut, %" PRIu64 " ns\n",
		stats.samples[CHAIN_MADE], stats.cut, stats.nsec);
	sink_free(stage);
	chain_maker_free(maker);
	data_close(df);
	free(plan.events);
	free(opened.fds);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	return rc != 0;
}
