// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a recording of which everything is shown: its header, every record and sample, the
 * packets of its hardware trace, and tables, flat and by call chains. Two tables must be the same:
 * the one that is made of the counts of pass 1 where they do, and the one for which every sample is
 * looked at again.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/aux_packet.h"
#include "render/dump.h"
#include "render/header.h"
#include "render/json.h"
#include "render/lines.h"
#include "render/stats.h"
#include "render/table.h"
#include "report/aux/packets.h"

#define FRAMES 127

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is printed, to be read to its end. */
struct text {
	char *p;
	size_t len;
	FILE *out;
};

static void text_begin(struct text *t)
{
	*t = (struct text){0};
	t->out = open_memstream(&t->p, &t->len);
	if (!t->out)
		abort();
}

static void text_end(struct text *t)
{
	if (fclose(t->out))
		abort();
}

/* One CPU, hence one thread: a finding is the same each time. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 0;
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

static struct trace *open_trace(const char *path, uint64_t snapshot)
{
	/* No file of this machine is looked at. */
	struct trace_opts opts = {
		.path = path,
		.force = true,
		.symfs = "/dev/null/none",
		.kallsyms = "/dev/null",
		.snapshot = snapshot,
		.always_early = true,
	};
	struct trace *t;

	return trace_open(&opts, &t, NULL) ? NULL : t;
}

static void show_records(struct trace *t, FILE *out)
{
	struct data_record rec;
	struct data_scan *scan;

	for (unsigned int i = 0; i < data_segments(t->df); i++) {
		if (data_scan_new(t->df, i, 0, DATA_WHOLE, DATA_SCAN_CONTAINERS, &scan))
			continue;
		while (data_scan_next(scan, &rec) > 0)
			dump_record(out, NULL, &rec);
		data_scan_free(scan);
	}
}

static void show_header(const char *path)
{
	struct trace *t = open_trace(path, 0);
	struct text text;

	if (!t)
		return;
	text_begin(&text);
	header_render(text.out, t, 0, true);
	json_write(text.out, header_json(t, 0));
	show_records(t, text.out);
	text_end(&text);
	free(text.p);
	trace_close(t);
}

static int put_sample(const struct trace *t, const struct script_sample *s, struct outbuf *out,
		      void *lines)
{
	lines_put(lines, out, t, s);
	return 0;
}

static void show_samples(const char *path)
{
	struct trace *t = open_trace(path, 0);
	struct script_opts opts = {.max_stack = FRAMES};
	struct lines lines;
	struct text text;
	struct format_out out = {0};

	if (!t)
		return;
	text_begin(&text);
	if (!trace_prepare(t, NULL)) {
		for (int i = 0; i < SCRIPT_TYPES; i++)
			opts.fields.of[i] = UINT64_MAX;
		lines_init(&lines, t, &(struct lines_opts){.ns = true});
		opts.in_sequence = true; /* all fields are shown */
		out.file = text.out;
		script_run(t, &opts, put_sample, &lines, &out, NULL);
		/* with the log of snapshots, which is known now */
		header_render(text.out, t, 0, false);
		json_write(text.out, header_json(t, 0));
		stats_render(text.out, t);
		json_write(text.out, json_stats(t));
	}
	text_end(&text);
	free(text.p);
	trace_close(t);
}

struct how {
	bool digest, json;
	uint64_t snapshot;
};

/* Returns the table as text, NULL if there is none. */
static char *show_table(const char *path, const struct report_opts *opts, struct how how)
{
	static const struct table_opts table = {.graph_limit = 0};
	struct trace *t = open_trace(path, how.snapshot);
	struct report *r = NULL;
	struct text text;

	if (!t)
		return NULL;
	text_begin(&text);
	t->digest = how.digest ? report_takes_digests(t, opts) : DIGEST_NONE;
	if (!trace_prepare(t, NULL) && !report_run(t, opts, &r, NULL)) {
		if (how.json)
			json_report(text.out, r, NULL, &table);
		else
			table_render(text.out, r, &table);
	}
	text_end(&text);
	report_free(r);
	trace_close(t);
	return text.p;
}

static void set_columns(struct report_opts *opts, const char *sort, const char *fields)
{
	struct columns_spec spec = {.children = opts->children};

	if (columns_parse_sort(&spec, sort, NULL) < 0 ||
	    columns_parse_fields(&spec, fields, NULL) < 0)
		abort();
	opts->nr_keys = (size_t)columns_arrange(&spec, &opts->columns, opts->keys, NULL);
}

/* The table is the same whether pass 1 makes digests or pass 2 walks all samples. */
static void show_both(const char *path, const struct report_opts *opts)
{
	char *quick = show_table(path, opts, (struct how){.digest = true});
	char *whole = show_table(path, opts, (struct how){0});

	if (!quick != !whole || (quick && strcmp(quick, whole)))
		abort();
	free(quick);
	free(whole);
}

static void show_tables(const char *path)
{
	struct report_opts flat = {.max_stack = FRAMES}, tree = {.max_stack = FRAMES,
								 .children = true,
								 .graph = REPORT_GRAPH_CALLEE};
	struct report_opts chains = {.max_stack = FRAMES, .graph = REPORT_GRAPH_CALLER};

	set_columns(&flat, "comm,dso,sym", "+sample,overhead_us");
	set_columns(&chains, "comm,dso,sym", "+sample");
	set_columns(&tree, "event,cpu,pid,tid,comm,dso,sym", "+overhead_sys");
	show_both(path, &flat);
	show_both(path, &chains);
	free(show_table(path, &tree, (struct how){.snapshot = 1}));
	tree.graph = REPORT_GRAPH_CALLER;
	free(show_table(path, &tree, (struct how){.json = true}));
}

static void begin_run(const struct aux_index *x, const struct aux_run *run, void *out)
{
	aux_run_render(out, x, run);
}

static int put_packet(const struct aux_run *run, uint64_t offset, const uint8_t *bytes,
		      const struct aux_packet *packet, void *out)
{
	aux_packet_render(out, run, offset, bytes, packet);
	return 0;
}

static void show_packets(const char *path)
{
	const struct filter_ranges all = {0};
	struct trace *t = open_trace(path, 0);
	struct aux_packets_opts opts = {
		.cpus = &all, .tids = &all, .begin = begin_run, .packet = put_packet};
	struct text text;

	if (!t)
		return;
	text_begin(&text);
	opts.arg = text.out;
	aux_packets(t->df, &opts, NULL);
	text_end(&text);
	free(text.p);
	trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		show_header(path);
		show_samples(path);
		show_tables(path);
		show_packets(path);
	}
	close(fd);
	return 0;
}
