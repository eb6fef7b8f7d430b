// SPDX-License-Identifier: Apache-2.0
#include "report/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/order.h"

/* A chunk is long enough that starting a scan costs nothing, and short enough to balance workers.
 */
#define CHUNK_BYTES (16ull << 20)

/* Distinct CPUs of a hostile file are bounded by this; what is above counts as "unknown CPU". */
#define MAX_LOSS_CPUS 65536

char *trace_feature_string(const struct trace *t, unsigned int feature)
{
	const uint8_t *p;
	size_t len;
	char *s = NULL;

	if (data_feature(t->df, feature, &p, &len) < 0)
		return NULL;
	if (pd_feature_string_decode(p, len, data_swapped(t->df), &s) < 0)
		return NULL;
	return s;
}

static int open_resolver(struct trace *t, struct error *err)
{
	struct resolver_opts opts = {
		.symfs = t->opts.symfs,
		.kallsyms = t->opts.kallsyms,
		.vmlinux = t->opts.vmlinux,
		.no_demangle = t->opts.no_demangle,
	};

	t->hostname = trace_feature_string(t, HEADER_HOSTNAME);
	t->osrelease = trace_feature_string(t, HEADER_OSRELEASE);
	t->arch = trace_feature_string(t, HEADER_ARCH);
	opts.hostname = t->hostname;
	opts.osrelease = t->osrelease;
	opts.arch = t->arch;
	return resolver_new(&opts, &t->resolver, err);
}

/* Samples without a time can only be placed by reading everything in order. */
static bool has_untimed_samples(const struct pd_evlist *list)
{
	for (size_t i = 0; i < pd_evlist_count(list); i++)
		if (!(pd_evlist_at(list, i)->attr.sample_type & PERF_SAMPLE_TIME))
			return true;
	return false;
}

int trace_open(const struct trace_opts *opts, struct trace **ret, struct error *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct error ignored;
	int rc;

	if (!t)
		return error_sys(err, -ENOMEM, "%s", opts->path);
	if (!err)
		err = &ignored;
	t->opts = *opts;
	rc = data_open(opts->path, opts->force, &t->df, err);
	if (rc < 0)
		goto out;
	t->evlist = data_evlist(t->df);
	t->untimed_samples = has_untimed_samples(t->evlist);
	t->counts.nr_events = pd_evlist_count(t->evlist);
	t->counts.by_event = calloc(t->counts.nr_events + 1, sizeof(*t->counts.by_event));
	t->state = state_new();
	if (!t->counts.by_event || !t->state) {
		rc = error_sys(err, -ENOMEM, "%s", opts->path);
		goto out;
	}
	rc = tracing_load(t->df, &t->tracing, err);
	if (rc == -EBADMSG)
		data_note(t->df, DATA_DAMAGED, 0, 0, "tracing data: %s", err->text);
	else if (rc < 0 && rc != -ENOENT)
		goto out;
	rc = open_resolver(t, err);
	if (!rc && (pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_STACK_USER))
		rc = cfi_tables_new(t->resolver, &t->cfi);
out:
	if (rc < 0)
		trace_close(t);
	else
		*ret = t;
	return rc;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	cfi_tables_free(t->cfi);
	resolver_free(t->resolver);
	state_free(t->state);
	tracing_free(t->tracing);
	data_close(t->df);
	free(t->hostname);
	free(t->osrelease);
	free(t->arch);
	free(t->counts.by_event);
	free(t->counts.by_cpu);
	free(t->chunks);
	free(t->dso_group);
	free(t);
}

bool trace_damaged(const struct trace *t)
{
	size_t n;
	const struct data_note *notes = data_notes(t->df, &n);

	for (size_t i = 0; i < n; i++)
		if (notes[i].severity == DATA_DAMAGED)
			return true;
	return false;
}

/* Entry of @cpu in the ascending array, made if absent; NULL when out of memory. */
static struct trace_cpu_loss *loss_of_cpu(struct trace_counts *c, uint32_t cpu)
{
	size_t lo = 0, hi = c->nr_cpus;

	if (cpu >= MAX_LOSS_CPUS)
		cpu = UINT32_MAX;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->by_cpu[mid].cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < c->nr_cpus && c->by_cpu[lo].cpu == cpu)
		return &c->by_cpu[lo];
	if (array_grow(&c->by_cpu, &c->cap_cpus, c->nr_cpus + 1, sizeof(*c->by_cpu)) < 0)
		return NULL;
	memmove(&c->by_cpu[lo + 1], &c->by_cpu[lo], (c->nr_cpus - lo) * sizeof(*c->by_cpu));
	c->nr_cpus++;
	c->by_cpu[lo] = (struct trace_cpu_loss){.cpu = cpu};
	return &c->by_cpu[lo];
}

/* Adds what LOST, LOST_SAMPLES and THROTTLE say, by event and CPU. */
static int count_loss(struct trace *t, const struct data_record *rec)
{
	struct trace_counts *c = &t->counts;
	struct trace_event_counts *ev = NULL;
	const struct pd_evsel *evsel = rec->evsel;
	struct trace_cpu_loss *cpu;
	struct pd_record r;

	if (pd_record_decode(rec->hdr, evsel, &r) < 0)
		return 0;
	if (rec->hdr->type == PERF_RECORD_LOST)
		evsel = pd_evlist_by_id(t->evlist, r.lost.id);
	if (evsel && evsel->index < c->nr_events)
		ev = &c->by_event[evsel->index];
	cpu = loss_of_cpu(c, r.id.cpu);
	if (!cpu)
		return -ENOMEM;
	trace_loss_add(&c->loss, &r);
	trace_loss_add(&cpu->loss, &r);
	if (ev)
		trace_loss_add(&ev->loss, &r);
	return 0;
}

static void count_sample(struct trace_counts *c, const struct data_record *rec)
{
	c->samples++;
	if (rec->evsel && rec->evsel->index < c->nr_events)
		c->by_event[rec->evsel->index].samples++;
	else
		c->unknown_samples++;
	if (!rec->time)
		return;
	if (!c->first_time || rec->time < c->first_time)
		c->first_time = rec->time;
	if (rec->time > c->last_time)
		c->last_time = rec->time;
}

/* Begins a new chunk at @rec where the last one of its segment has grown long enough. */
static int split_chunks(struct trace *t, const struct data_record *rec)
{
	struct trace_chunk *last = t->nr_chunks ? &t->chunks[t->nr_chunks - 1] : NULL;
	bool same = last && last->segment == rec->segment;

	if (rec->inner || rec->hdr->type == PERF_RECORD_COMPRESSED ||
	    rec->hdr->type == PERF_RECORD_COMPRESSED2)
		t->counts.compressed = true;
	if (same && (t->counts.compressed || rec->offset < last->from + CHUNK_BYTES))
		return 0;
	if (array_grow(&t->chunks, &t->cap_chunks, t->nr_chunks + 1, sizeof(*t->chunks)) < 0)
		return -ENOMEM;
	if (same)
		t->chunks[t->nr_chunks - 1].to = rec->offset;
	t->chunks[t->nr_chunks++] = (struct trace_chunk){
		.segment = rec->segment,
		.from = same ? rec->offset : 0,
		.to = DATA_WHOLE,
	};
	return 0;
}

static int seen(const struct data_record *rec, void *arg)
{
	struct trace *t = arg;
	struct trace_counts *c = &t->counts;
	uint32_t type = rec->hdr->type;

	c->records++;
	c->by_type[type < TRACE_TYPES ? type : TRACE_TYPES - 1]++;
	if (type == PERF_RECORD_SAMPLE)
		count_sample(c, rec);
	else if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES ||
		 type == PERF_RECORD_THROTTLE)
		if (count_loss(t, rec) < 0)
			return -ENOMEM;
	return split_chunks(t, rec);
}

static void progress(uint64_t done, uint64_t total, void *arg)
{
	struct trace *t = arg;

	if (t->opts.progress)
		t->opts.progress(1, done, total, t->opts.progress_arg);
}

static int take_build_id(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	struct trace *t = arg;

	return state_set_build_id(t->state, id, misc);
}

static int take_build_ids(struct trace *t)
{
	const uint8_t *p;
	size_t len;
	int rc;

	if (data_feature(t->df, HEADER_BUILD_ID, &p, &len) < 0)
		return 0;
	rc = pd_feature_build_ids_decode(p, len, data_swapped(t->df), take_build_id, t);
	if (rc == -EBADMSG) {
		data_note(t->df, DATA_ODD, 0, 0, "the table of build-ids is damaged");
		rc = 0;
	}
	return rc;
}

static int apply_record(struct trace *t, const struct data_record *rec)
{
	struct pd_record r;
	int rc = pd_record_decode(rec->hdr, rec->evsel, &r);

	if (rc == -ENOTSUP)
		return 0;
	if (rc < 0) {
		const char *name = pd_record_name(rec->hdr->type);

		data_note(t->df, DATA_DAMAGED, rec->segment, rec->offset,
			  "%s record of %u bytes does not hold what it says",
			  name ? name : "unknown", rec->hdr->size);
		return 0;
	}
	if (rec->hdr->type == PERF_RECORD_HEADER_BUILD_ID)
		return state_set_build_id(t->state, &r.build_id, rec->hdr->misc);
	return state_apply(t->state, &r, rec->at);
}

/* Dsos of one short name are one row of a table, as perf has it. */
static int group_dsos(struct trace *t)
{
	size_t n = state_dso_count(t->state), cap = 16, mask;
	uint32_t *table;

	while (cap < n * 2)
		cap *= 2;
	mask = cap - 1;
	table = calloc(cap, sizeof(*table));
	t->dso_group = calloc(n + 1, sizeof(*t->dso_group));
	if (!table || !t->dso_group) {
		free(table);
		return -ENOMEM;
	}
	t->nr_dsos = n;
	for (size_t i = 0; i < n; i++) {
		const char *name = state_dso_at(t->state, i)->short_name;
		size_t at = 5381;

		for (const char *s = name; *s; s++)
			at = at * 33 + (unsigned char)*s;
		for (at &= mask; table[at]; at = (at + 1) & mask)
			if (!strcmp(state_dso_at(t->state, table[at] - 1)->short_name, name))
				break;
		if (!table[at])
			table[at] = i + 1;
		t->dso_group[i] = table[at] - 1;
	}
	free(table);
	return 0;
}

int trace_prepare(struct trace *t, struct error *err)
{
	struct order_opts opts = {
		.sideband_only = true,
		.scan_flags = DATA_SCAN_NOTES | DATA_SCAN_CONTAINERS,
		.seen = seen,
		.progress = progress,
		.arg = t,
	};
	struct order *order = NULL;
	struct data_record rec;
	int rc = order_new(t->df, &opts, &order, err);

	if (rc < 0)
		return rc;
	while ((rc = order_next(order, &rec, err)) > 0) {
		rc = apply_record(t, &rec);
		if (rc < 0) {
			error_sys(err, rc, "%s", t->opts.path);
			break;
		}
	}
	order_free(order);
	if (rc < 0)
		return rc;
	rc = take_build_ids(t);
	if (!rc)
		rc = state_finish(t->state);
	if (!rc)
		rc = group_dsos(t);
	return rc < 0 ? error_sys(err, rc, "%s", t->opts.path) : 0;
}
