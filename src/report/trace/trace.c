// SPDX-License-Identifier: Apache-2.0
#include "report/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/human.h"
#include "base/plural.h"
#include "data/file/findings.h"
#include "data/open/open.h"
#include "data/order/order.h"
#include "data/scan/sweep.h"
#include "report/trace/counts.h"
#include "report/trace/digest_early.h"
#include "report/trace/itrace.h"
#include "report/trace/jit.h"
#include "report/trace/trace_origin.h"
#include "state/cpu_tasks.h"
#include "symbol/types/types.h"
#include "sys/kernel/cpus.h"

#define WORKER_BYTES (16u << 20) /* of a worker: its window, decompressor and rows */

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

/* Returns the path of a file that "record --kcore" puts into a directory; NULL: none. */
static char *kcore_file(const char *recording, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/kcore_dir/%s", recording, name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

/* A damaged topology is none; the header shows that. */
static void read_topology(struct trace *t)
{
	bool swap = data_swapped(t->df);
	struct pd_nrcpus nr = {0};
	const uint8_t *p;
	size_t len;

	if (!data_feature(t->df, HEADER_NRCPUS, &p, &len))
		pd_feature_nrcpus_decode(p, len, swap, &nr);
	t->nr_cpus = nr.configured;
	if (data_feature(t->df, HEADER_CPU_TOPOLOGY, &p, &len) < 0)
		return;
	if (pd_feature_cpu_topology_decode(p, len, swap, nr.configured, &t->topology) < 0)
		pd_cpu_topology_release(&t->topology);
}

uint64_t trace_last_snapshot(const struct trace_opts *opts)
{
	return opts->snapshot_last ? opts->snapshot_last : opts->snapshot;
}

bool trace_wants_snapshot(const struct trace_opts *opts, uint64_t number)
{
	return !opts->snapshot || (number >= opts->snapshot && number <= trace_last_snapshot(opts));
}

int trace_socket(const struct trace *t, uint32_t cpu)
{
	return cpu < t->topology.nr_ids ? t->topology.ids[cpu].socket : -1;
}

bool trace_has_switches(const struct trace *t)
{
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		if (pd_evlist_at(t->evlist, i)->attr.flags & PD_ATTR_CONTEXT_SWITCH)
			return true;
	return false;
}

uint32_t trace_parallelism(const struct trace *t, const struct pd_sample *s)
{
	const struct parallelism *p = state_parallelism(t->state);
	uint32_t n = parallelism_at(p, s->time);

	if (p->wide && !s->tid)
		return n;
	if (t->nr_cpus && n > t->nr_cpus)
		n = t->nr_cpus; /* records were lost */
	return n ? n : 1;
}

uint64_t trace_latency(const struct trace *t, const struct pd_sample *s)
{
	const struct parallelism *p = state_parallelism(t->state);
	uint32_t n = trace_parallelism(t, s);

	if (p->wide && !s->tid)
		return n ? 0 : s->period * TRACE_LATENCY_UNIT / (p->cpus ? p->cpus : 1);
	return s->period * TRACE_LATENCY_UNIT / n;
}

/* A damaged table costs its names only. */
static int read_symbols(struct trace *t, struct error *err)
{
	const uint8_t *p;
	size_t len;
	int rc;

	if (data_feature(t->df, HEADER_RINGTAIL_SYMBOLS, &p, &len))
		return 0;
	rc = recorded_symbols_new(p, len, &t->symbols);
	if (rc == -ENOMEM)
		return error_sys(err, rc, "%s", t->opts.path);
	if (rc || recorded_symbols_damaged(t->symbols))
		data_finding_add(t->df, DATA_DAMAGED, 0, 0, PD_SYMBOLS_DAMAGED);
	return 0;
}

int trace_new_resolver(const struct trace *t, struct resolver **ret, struct error *err)
{
	const struct resolver_opts opts = {
		.symfs = t->opts.symfs,
		/* The user's list, or vmlinux, goes before. */
		.kallsyms = t->opts.kallsyms || t->opts.vmlinux ? t->opts.kallsyms : t->kallsyms,
		.vmlinux = t->opts.vmlinux,
		.no_demangle = t->opts.no_demangle,
		.no_demangle_kernel = t->opts.no_demangle_kernel,
		.ignore_vmlinux = t->opts.ignore_vmlinux,
		.pool = t->opts.pool,
		.recorded = t->symbols,
		.kcore = t->kcore,
		.hostname = t->hostname,
		.osrelease = t->osrelease,
		.arch = t->arch,
		.origin = t->origin,
	};

	return resolver_new(&opts, ret, err);
}

static int open_resolver(struct trace *t, struct error *err)
{
	int rc = read_symbols(t, err);

	if (!rc && trace_find_origin(t, &t->origin))
		rc = error_sys(err, -ENOMEM, "%s", t->opts.path);
	if (rc)
		return rc;
	t->hostname = trace_feature_string(t, HEADER_HOSTNAME);
	t->osrelease = trace_feature_string(t, HEADER_OSRELEASE);
	t->arch = trace_feature_string(t, HEADER_ARCH);
	t->kcore = kcore_file(t->opts.path, "kcore");
	t->kallsyms = kcore_file(t->opts.path, "kallsyms");
	return trace_new_resolver(t, &t->resolver, err);
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
	if (opts->itrace)
		rc = itrace_open(t, opts->itrace, &t->itrace, err);
	if (rc < 0)
		goto out;
	read_topology(t);
	t->state = state_new();
	if (counts_init(&t->counts, pd_evlist_recorded(t->evlist)) < 0 || !t->state) {
		rc = error_sys(err, -ENOMEM, "%s", opts->path);
		goto out;
	}
	if (t->itrace) {
		state_keep_cpu_tasks(t->state);
		state_keep_code_changes(t->state);
	}
	rc = tracing_load(t->df, &t->tracing, err);
	if (rc == -EBADMSG)
		data_finding_add(t->df, DATA_DAMAGED, 0, 0, "tracing data: %s", err->text);
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

int trace_want_lines(struct trace *t)
{
	const struct inlines_opts opts = {
		.demangle = !t->opts.no_demangle,
		.full_paths = t->opts.full_paths,
	};

	return t->inlines ? 0 : inlines_new(t->resolver, &opts, &t->inlines);
}

int trace_want_types(struct trace *t)
{
	const struct map *image = state_image(t->state);

	return t->types ? 0 : data_types_new(t->resolver, image ? image->dso : NULL, &t->types);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	cfi_tables_free(t->cfi);
	inlines_free(t->inlines);
	data_types_free(t->types);
	itrace_free(t->itrace);
	resolver_free(t->resolver);
	recorded_symbols_free(t->symbols);
	state_free(t->state);
	tracing_free(t->tracing);
	data_close(t->df);
	free(t->hostname);
	free(t->osrelease);
	free(t->arch);
	free(t->kcore);
	free(t->kallsyms);
	pd_cpu_topology_release(&t->topology);
	counts_release(&t->counts);
	snapshots_release(&t->snapshots);
	for (size_t i = 0; i < t->nr_chunks; i++) {
		digest_release(&t->chunks[i].digest);
		free(t->chunks[i].uses);
		findings_free(t->chunks[i].findings);
	}
	free(t->chunks);
	dso_alias_free(t->aliases);
	free(t);
}

unsigned int trace_workers(const struct trace *t)
{
	unsigned int n = t->opts.workers ?: cpus_usable("");
	size_t most = t->opts.max_memory / WORKER_BYTES;

	if (t->opts.max_memory && n > most)
		n = most ? (unsigned int)most : 1;
	return n > SWEEP_WORKERS_MAX ? SWEEP_WORKERS_MAX : n;
}

bool trace_damaged(const struct trace *t)
{
	size_t n;
	const struct data_finding *findings = data_findings(t->df, &n);

	for (size_t i = 0; i < n; i++)
		if (findings[i].severity == DATA_DAMAGED)
			return true;
	return false;
}

static void progress(uint64_t done, uint64_t total, void *arg)
{
	struct trace *t = arg;

	if (t->opts.progress)
		t->opts.progress(1, done, total, t->opts.progress_arg);
}

static int take_build_id(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	return state_set_build_id(arg, id, misc);
}

int trace_take_build_ids(const struct trace *t, struct state *s)
{
	const uint8_t *p;
	size_t len;

	if (data_feature(t->df, HEADER_BUILD_ID, &p, &len) < 0)
		return 0;
	return pd_feature_build_ids_decode(p, len, data_swapped(t->df), take_build_id, s);
}

static int take_build_ids(struct trace *t)
{
	int rc = trace_take_build_ids(t, t->state);

	if (rc != -EBADMSG)
		return rc;
	data_finding_add(t->df, DATA_ODD, 0, 0, "the table of build-ids is damaged");
	return 0;
}

/*
 * Limit for the memory of the state. A real recording, compressed or not, needs far less. It stops
 * small files that unpack to millions of different records.
 */
#define STATE_MIN  ((uint64_t)256 << 20)
#define STATE_RATE 128 /* bytes of state for each byte of the recording */

static size_t state_bytes(const struct trace *t)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = data_bytes(t->df);

	if (t->opts.state_bytes)
		return t->opts.state_bytes;
	if (t->opts.max_memory)
		return t->opts.max_memory / 2;
	bytes = bytes < UINT64_MAX / STATE_RATE ? bytes * STATE_RATE : UINT64_MAX;
	if (bytes < STATE_MIN)
		bytes = STATE_MIN;
	return bytes < memory / 2 ? bytes : memory / 2;
}

/* Keeps the place of the first record that the state had no memory for. */
static void note_first_refused(struct trace *t, const struct data_record *rec)
{
	if (!t->refused_at && state_refused(t->state)) {
		t->refused_segment = rec->segment;
		t->refused_at = rec->offset;
	}
}

static void note_refused(struct trace *t)
{
	uint64_t refused = state_refused(t->state);
	char count[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	if (refused)
		data_finding_add(
			t->df, DATA_DAMAGED, t->refused_segment, t->refused_at,
			"%s record%s of maps, names and threads ignored, beginning with this one: "
			"they need more than %s of memory; symbols of samples may be wrong",
			human_count(refused, count), plural_s(refused),
			human_size(state_bytes(t), size));
}

static int apply_known(struct trace *t, const struct data_record *rec)
{
	struct pd_record r;
	int rc = pd_record_decode(rec->hdr, rec->evsel, &r);

	if (rc == -ENOTSUP)
		return 0;
	if (rc < 0) {
		const char *name = pd_record_name(rec->hdr->type);

		data_finding_add(t->df, DATA_DAMAGED, rec->segment, rec->offset,
				 "%s record of %u bytes: its contents do not fit it",
				 name ? name : "unknown", rec->hdr->size);
		return 0;
	}
	if (rec->hdr->type == PERF_RECORD_HEADER_EVENT_TYPE)
		return snapshots_add(&t->snapshots, rec);
	if (rec->hdr->type == PERF_RECORD_HEADER_BUILD_ID)
		return state_set_build_id(t->state, &r.build_id, rec->hdr->misc);
	rc = jit_maps_apply(t->jit, rec->at);
	if (!rc)
		rc = state_apply(t->state, &r, rec->at);
	return rc ? rc : jit_maps_note(t->jit, &r, rec->at);
}

static int apply_record(struct trace *t, const struct data_record *rec)
{
	int rc = apply_known(t, rec);

	note_first_refused(t, rec);
	return rc;
}

/* Counts and digest of one part of the file. */
struct trace_part {
	const struct pd_evlist *evlist;
	struct trace_counts counts;
	struct digest digest;
	struct cpu_tasks tasks;
	struct parallelism parallelism;
	/* Unwind the stacks for @digest; NULL: nothing does. */
	struct early *early;
	struct early_walk *walk; /* of the part's thread, from its first sample on */
	struct unwind_uses *uses;
	bool keeps_tasks, keeps_parallelism;
	const atomic_bool *stop; /* as in struct trace_opts */
};

/* Limit for the digests of all parts; pass 2 walks further parts. */
#define DIGEST_BYTES (16u << 20)

/* Whether the samples of a part go into a digest. */
static bool wants_digest(const struct trace *t)
{
	if (t->digest == DIGEST_NONE || t->opts.snapshot)
		return false;
	return t->digest != DIGEST_STACKS ||
	       (t->early && !early_is_vain(t->early) &&
		atomic_load_explicit(&t->digest_bytes, memory_order_relaxed) < DIGEST_BYTES);
}

static void *part_new(void *arg)
{
	struct trace *t = arg;
	struct trace_part *part = calloc(1, sizeof(*part));

	if (part && !counts_init(&part->counts, pd_evlist_recorded(t->evlist))) {
		part->evlist = t->evlist;
		part->digest.given_up = !wants_digest(t);
		part->digest.chains = t->digest == DIGEST_CHAINS || t->digest == DIGEST_STACKS;
		part->early = t->digest == DIGEST_STACKS ? t->early : NULL;
		part->keeps_tasks = t->itrace;
		part->keeps_parallelism = t->parallelism;
		part->stop = t->opts.stop;
		return part;
	}
	free(part);
	return NULL;
}

/* Limit for the switches of a part, whose size may be that of the whole file. */
#define PART_TASKS_BYTES ((size_t)8 << 20)

/*
 * Takes a switch, if it can be taken in any order. There are more of them than of all other
 * sideband. Returns 1 if it must be applied in the order of time, else 0 or -ENOMEM.
 */
static int take_switch(struct trace_part *part, const struct data_record *rec)
{
	struct pd_record r;
	int rc;

	if (!rec->time || pd_record_decode(rec->hdr, rec->evsel, &r) ||
	    cpu_tasks_memory(&part->tasks) + parallelism_memory(&part->parallelism) >
		    PART_TASKS_BYTES)
		return 1;
	rc = part->keeps_tasks ? cpu_tasks_take(&part->tasks, &r, rec->time) : 0;
	if (!rc && part->keeps_parallelism)
		rc = parallelism_take(&part->parallelism, &r, rec->time);
	return rc;
}

/* Adds a sample to the digest, with the callers in its copy of the stack. */
static void add_stack(struct trace_part *part, const struct data_record *rec)
{
	if (part->digest.given_up)
		return;
	if (!part->walk) {
		part->walk = early_walk_mine(part->early);
		part->uses = calloc(1, sizeof(*part->uses));
	}
	if (part->walk && part->uses)
		early_add(part->walk, rec, &part->digest, part->uses);
	else
		digest_give_up(&part->digest);
}

/* Counts a sample, and notes its thread if the number of running threads is wanted. */
static int take_sample(struct trace_part *part, const struct data_record *rec)
{
	struct pd_sample s;

	if (part->early)
		add_stack(part, rec);
	else
		digest_add(&part->digest, rec);
	if (!part->keeps_parallelism || !rec->evsel ||
	    pd_sample_decode(rec->hdr, rec->evsel, &s, NULL) < 0)
		return 0;
	return parallelism_take_sample(&part->parallelism, s.cpu, s.tid);
}

/* Pass 1 keeps what must be applied in the order of time. */
static int part_take(const struct data_record *rec, void *arg)
{
	struct trace_part *part = arg;
	int rc;

	if (rec->hdr->type == PERF_RECORD_SAMPLE) {
		counts_add_sample(&part->counts, rec);
		return take_sample(part, rec);
	}
	rc = counts_add_other(&part->counts, rec, part->evlist);
	if (rc < 0)
		return rc;
	if (part->early)
		early_note(part->early, rec);
	if (part->stop && atomic_load_explicit(part->stop, memory_order_relaxed))
		return -ECANCELED;
	switch (rec->hdr->type) {
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: return take_switch(part, rec);
	default: return 1;
	}
}

/* Adds the chunk of @part, which takes over the contents of the digest. */
static int add_chunk(struct trace *t, struct trace_part *part)
{
	struct digest *digest = &part->digest;
	struct trace_chunk *chunk;
	size_t bytes;

	if (array_grow(&t->chunks, &t->cap_chunks, t->nr_chunks + 1, sizeof(*t->chunks)))
		return -ENOMEM;
	chunk = &t->chunks[t->nr_chunks++];
	*chunk = (struct trace_chunk){
		.sample_bytes = part->counts.sample_bytes,
		.first_time = part->counts.first_time,
		.last_time = part->counts.last_time,
		.digest.given_up = true,
	};
	digest_seal(digest);
	bytes = digest_bytes(digest) + (part->uses ? sizeof(*part->uses) : 0);
	if (digest->given_up ||
	    atomic_load_explicit(&t->digest_bytes, memory_order_relaxed) + bytes > DIGEST_BYTES)
		return 0;
	atomic_fetch_add_explicit(&t->digest_bytes, bytes, memory_order_relaxed);
	chunk->digest = *digest;
	chunk->uses = part->uses;
	part->uses = NULL;
	*digest = (struct digest){0};
	return 0;
}

static int part_end(void *arg, bool valid, void *trace)
{
	struct trace *t = trace;
	struct trace_part *part = arg;
	int rc = valid ? counts_merge(&t->counts, &part->counts) : 0;

	if (part->walk)
		early_count(part->early, !part->digest.given_up);
	if (valid && !rc)
		rc = add_chunk(t, part);
	if (valid && !rc)
		rc = state_add_cpu_tasks(t->state, &part->tasks);
	if (valid && !rc && part->keeps_parallelism)
		rc = state_add_parallelism(t->state, &part->parallelism);
	parallelism_release(&part->parallelism);
	cpu_tasks_release(&part->tasks);
	digest_release(&part->digest);
	free(part->uses);
	counts_release(&part->counts);
	free(part);
	return rc;
}

/* Gives the chunks their runs: the sweep has a run for each valid part. */
static void place_chunks(struct trace *t, const struct sweep *sweep)
{
	size_t nr;
	const struct sweep_run *runs = sweep_runs(sweep, &nr);

	for (size_t i = 0; i < nr; i++)
		t->chunks[i].run = runs[i];
}

/* Adds the chunks of the hardware trace, behind those of the file. */
static int add_itrace_chunks(struct trace *t)
{
	uint64_t nr = t->itrace->index.nr_chunks;

	if (array_grow(&t->chunks, &t->cap_chunks, t->nr_chunks + nr, sizeof(*t->chunks)))
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		t->chunks[t->nr_chunks++] = (struct trace_chunk){
			.run.from = i, .is_itrace = true, .digest.given_up = true};
	return itrace_prepare(t->itrace, t);
}

/* Applies the records that @sweep keeps to the state. */
static int build_state(struct trace *t, struct sweep *sweep, struct error *err)
{
	struct order_opts opts = {
		.sweep = sweep,
		.scan_flags = DATA_SCAN_FINDINGS,
		.progress = progress,
		.arg = t,
	};
	struct order *order = NULL;
	struct data_record rec;
	int rc = order_new(t->df, &opts, &order, err);

	if (rc < 0)
		return rc;
	t->jit = jit_maps_new(t->state, t->resolver, t->evlist);
	if (!t->jit) {
		order_free(order);
		return error_sys(err, -ENOMEM, "%s", t->opts.path);
	}
	while ((rc = order_next(order, &rec, err)) > 0) {
		rc = apply_record(t, &rec);
		if (rc < 0) {
			error_sys(err, rc, "%s", t->opts.path);
			break;
		}
	}
	if (!rc && jit_maps_apply(t->jit, (struct moment){UINT64_MAX, 0}))
		rc = error_sys(err, -ENOMEM, "%s", t->opts.path);
	jit_maps_free(t->jit);
	t->jit = NULL;
	order_free(order);
	return rc;
}

/* Checks that the recording has the wanted snapshot. */
static int check_snapshot(struct trace *t, struct error *err)
{
	uint64_t first = 0, last = 0;
	size_t nr = snapshots_count(&t->snapshots, &first, &last);

	if (!t->opts.snapshot ||
	    snapshots_have(&t->snapshots, t->opts.snapshot, trace_last_snapshot(&t->opts)))
		return 0;
	if (!nr)
		return error_set(err, -ENOENT,
				 "%s: has no snapshots; only recordings made with -M have them",
				 t->opts.path);
	if (nr == 1)
		return error_set(err, -ENOENT,
				 "%s: has no snapshot %" PRIu64 "; the only one in it is %" PRIu64,
				 t->opts.path, t->opts.snapshot, first);
	return error_set(err, -ENOENT,
			 "%s: has no snapshot %" PRIu64 ": there are %zu, %" PRIu64 " to %" PRIu64,
			 t->opts.path, t->opts.snapshot, nr, first, last);
}

/* Bytes of a chunk, where slices of time are made of them, and the most chunks. */
#define SHORT_CHUNK ((uint64_t)256 << 10)
#define MANY_CHUNKS 16384

/* Returns the bytes of a chunk; 0: as many as are good for walking each once. */
static uint64_t chunk_bytes(const struct trace *t)
{
	uint64_t bytes = data_bytes(t->df) / MANY_CHUNKS;

	if (!t->by_time)
		return 0;
	return bytes > SHORT_CHUNK ? bytes : SHORT_CHUNK;
}

/* Drops the digests whose stacks were unwound by maps that did not hold. */
static void check_stacks(struct trace *t)
{
	for (size_t i = 0; i < t->nr_chunks; i++) {
		struct trace_chunk *chunk = &t->chunks[i];

		if (chunk->uses && !unwind_uses_hold(chunk->uses, t->state))
			digest_give_up(&chunk->digest);
		free(chunk->uses);
		chunk->uses = NULL;
	}
}

int trace_prepare(struct trace *t, struct error *err)
{
	const struct sweep_opts opts = {
		.workers = trace_workers(t),
		.part_bytes = chunk_bytes(t),
		.scan_flags = DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS,
		.part_new = part_new,
		.take = part_take,
		.part_end = part_end,
		.arg = t,
	};
	struct sweep *sweep = NULL;
	int rc = t->digest == DIGEST_STACKS && !t->opts.snapshot
			 ? early_new(t, state_bytes(t), &t->early)
			 : 0;

	if (!rc)
		rc = sweep_new(t->df, &opts, &sweep);
	if (rc < 0) {
		error_sys(err, rc, "%s", t->opts.path);
		goto out;
	}
	state_limit(t->state, state_bytes(t));
	if (t->parallelism)
		state_keep_parallelism(t->state);
	if (t->namespaces)
		state_keep_namespaces(t->state);
	rc = build_state(t, sweep, err);
	if (rc < 0)
		goto out;
	place_chunks(t, sweep);
	snapshots_finish(&t->snapshots);
	rc = check_snapshot(t, err);
	if (rc < 0)
		goto out;
	rc = take_build_ids(t);
	note_refused(t);
	if (!rc)
		rc = state_finish(t->state);
	if (!rc)
		rc = dso_alias_new(t->state, &t->aliases);
	if (!rc && t->itrace)
		rc = add_itrace_chunks(t);
	if (rc < 0)
		error_sys(err, rc, "%s", t->opts.path);
out:
	sweep_free(sweep);
	/* Until then a thread may still walk a part in vain. */
	if (rc >= 0)
		check_stacks(t);
	early_free(t->early);
	t->early = NULL;
	return rc;
}

bool trace_loss_share(const struct trace *t, uint64_t lost, double *ret)
{
	const struct trace_counts *c = &t->counts;
	uint64_t taken = c->taken_known ? c->taken : c->samples;

	if (t->snapshots.nr_records && !c->taken_known)
		return false;
	*ret = 100.0 * (double)lost / ((double)lost + (double)taken);
	return true;
}
