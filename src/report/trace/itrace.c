// SPDX-License-Identifier: Apache-2.0
#include "report/trace/itrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "auxtrace/decoders/decoders.h"
#include "perfdata/aux_record.h"
#include "perfdata/feature.h"
#include "report/trace/itrace_held.h"

/* Samples of a chunk are in memory at once, and some trace gives a hundred for each byte. */
#define ITRACE_CHUNK ((uint64_t)16 << 10)

void itrace_worker_release(struct itrace_worker *w)
{
	aux_loader_free(w->loader);
	findings_free(w->findings);
	if (w->decoding.decoder)
		w->ops->end(w->decoding.decoder);
	itrace_list_release(&w->list);
	*w = (struct itrace_worker){0};
}

void itrace_free(struct itrace *i)
{
	if (!i)
		return;
	itrace_held_free_spare(i);
	pthread_mutex_destroy(&i->lock);
	code_files_free(i->code);
	aux_index_release(&i->index);
	free(i);
}

/* The attributes that perf gives its events of a decoded trace. */
static struct pd_attr attr_of(enum itrace_kind kind, bool cpus)
{
	struct pd_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | (cpus ? PERF_SAMPLE_CPU : 0),
	};

	if (kind == ITRACE_INSTRUCTIONS)
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	else if (kind == ITRACE_BRANCHES)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	else if (itrace_is_operation(kind))
		attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_WEIGHT;
	if (kind != ITRACE_INSTRUCTIONS && kind != ITRACE_BRANCHES)
		attr.type = PERF_TYPE_RAW;
	return attr;
}

/* The trace of a ring of a thread does not say on which CPUs the thread ran. */
static bool has_cpus(const struct aux_index *x)
{
	for (size_t i = 0; i < x->nr_runs; i++)
		if (x->runs[i].cpu != UINT32_MAX)
			return true;
	return false;
}

/* Whether trace of that type may have samples of @kind. */
static bool may_be_in(uint32_t type, enum itrace_kind kind)
{
	if (itrace_is_operation(kind))
		return type == PD_AUXTRACE_ARM_SPE;
	if (kind == ITRACE_PTWRITE || kind == ITRACE_POWER)
		return type == PD_AUXTRACE_INTEL_PT;
	return true;
}

static uint64_t past_fields(bool chains, bool last)
{
	return (chains ? PERF_SAMPLE_CALLCHAIN : 0) | (last ? PERF_SAMPLE_BRANCH_STACK : 0);
}

static int add_events(struct itrace *i, struct pd_evlist *evlist)
{
	bool cpus = has_cpus(&i->index);

	for (enum itrace_kind kind = 0; kind < ITRACE_ERRORS; kind++) {
		struct pd_attr attr = attr_of(kind, cpus);
		int rc;

		if (!itrace_wants(&i->opts, kind) || !may_be_in(i->index.setup.type, kind))
			continue;
		rc = pd_evlist_add_made(evlist, &attr, itrace_kind_name(kind));
		if (rc)
			return rc;
		i->evsel[kind] = pd_evlist_at(evlist, pd_evlist_count(evlist) - 1);
		if (itrace_has_past(kind))
			pd_evlist_extend(evlist, i->evsel[kind],
					 past_fields(i->opts.chains, i->opts.last));
	}
	return 0;
}

/* Recorded samples get what of the past they lack. */
static void extend_events(struct itrace *i, struct pd_evlist *evlist)
{
	for (size_t n = 0; n < pd_evlist_recorded(evlist); n++)
		pd_evlist_extend(evlist, pd_evlist_at(evlist, n),
				 past_fields(i->opts.chains_recorded, i->opts.last_recorded));
}

/* Reads the index. Returns 1 if there is trace to decode, else 0 or a negative errno. */
static int open_index(struct itrace *i, const struct trace *t, struct error *err)
{
	int rc = aux_index_read(t->df, ITRACE_CHUNK, 0, &i->index, err);

	if (rc || !i->index.nr_chunks)
		return rc;
	/* The records of the test PMU are no samples. */
	if (!t->opts.itrace_asked && i->index.setup.type == AUX_SETUP_TESTPMU)
		return 0;
	i->ops = aux_decoder_for(&i->index.setup);
	if (i->ops && i->ops->begin)
		return i->ops->load ? i->ops->load(err) ?: 1 : 1;
	if (!t->opts.itrace_asked)
		return 0;
	if (i->ops && i->ops->lacks)
		return error_set(err, -ENOTSUP,
				 "%s: its trace is of the kind '%s': this ringtail was built "
				 "without %s, which decodes it",
				 t->opts.path, pd_auxtrace_type_name(i->index.setup.type),
				 i->ops->lacks);
	return error_set(err, -ENOTSUP,
			 "%s: its trace is of the kind '%s', which ringtail does not decode",
			 t->opts.path, pd_auxtrace_type_name(i->index.setup.type));
}

/*
 * Returns whether the user meant samples to be of events other than the trace's, whose PMU has a
 * type above those that the kernel names.
 */
static bool other_events_sample(const struct pd_evlist *evlist)
{
	for (size_t n = 0; n < pd_evlist_count(evlist); n++) {
		const struct pd_attr *attr = &pd_evlist_at(evlist, n)->attr;
		bool dummy =
			attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;

		if (attr->type < PERF_TYPE_MAX && !dummy && attr->sample_period)
			return true;
	}
	return false;
}

int itrace_open(struct trace *t, const struct itrace_opts *opts, struct itrace **ret,
		struct error *err)
{
	struct itrace *i;
	int rc;

	*ret = NULL;
	if (!t->opts.itrace_asked && other_events_sample(t->evlist))
		return 0;
	if (!t->opts.itrace_asked && !trace_info_is_in(t->df) &&
	    !(pd_evlist_sample_type(t->evlist) & PERF_SAMPLE_AUX))
		return 0;
	i = calloc(1, sizeof(*i));
	if (!i)
		return error_sys(err, -ENOMEM, "%s", t->opts.path);
	pthread_mutex_init(&i->lock, NULL);
	i->opts = *opts;
	i->opts.errors = true;
	i->show_errors = opts->errors;
	i->snapshot = t->opts.snapshot;
	i->snapshot_last = trace_last_snapshot(&t->opts);
	rc = open_index(i, t, err);
	if (rc < 0 && rc != -ENOMEM && !t->opts.itrace_asked) {
		/* The recorded samples are there without it. */
		data_finding_add(t->df, DATA_ODD, 0, 0, "hardware trace is not decoded: %s",
				 err->text);
		rc = 0;
	}
	if (rc <= 0) {
		itrace_free(i);
		return rc;
	}
	extend_events(i, t->evlist);
	rc = add_events(i, t->evlist);
	if (rc) {
		itrace_free(i);
		return error_sys(err, rc, "%s", t->opts.path);
	}
	*ret = i;
	return 0;
}

/* No machine has more; a damaged section may have any number. */
#define BPF_FUNCTIONS_MAX 16384u

/* The recording may have the code of BPF programs. Returns 0 or -ENOMEM. */
static int add_bpf_code(struct code_files *code, struct data_file *df)
{
	struct pd_bpf_progs v;
	const uint8_t *p;
	size_t len, nr = 0;
	int rc = 0;

	if (data_feature(df, HEADER_BPF_PROG_INFO, &p, &len))
		return 0;
	/* What comes before damage is right. */
	if (pd_feature_bpf_progs_decode(p, len, data_swapped(df), &v) == -ENOMEM)
		rc = -ENOMEM;
	for (size_t n = 0; n < v.nr; n++) {
		const struct pd_bpf_prog *prog = &v.progs[n];

		for (size_t k = 0; !rc && k < prog->nr && nr++ < BPF_FUNCTIONS_MAX; k++)
			if (prog->functions[k].code)
				rc = code_files_add(code, prog->functions[k].addr,
						    prog->functions[k].code,
						    prog->functions[k].size);
	}
	pd_bpf_progs_release(&v);
	return rc;
}

int itrace_code_new(const struct trace *t, struct code_files **ret)
{
	struct code_files *code = NULL;
	int rc = code_files_new(t->state, t->resolver, &code);

	if (!rc)
		rc = add_bpf_code(code, t->df);
	if (rc)
		code_files_free(code);
	else
		*ret = code;
	return rc;
}

int itrace_prepare(struct itrace *i, const struct trace *t)
{
	i->state = t->state;
	return itrace_code_new(t, &i->code);
}

/* The first error is that of the first chunk, whichever thread comes first. */
static void count_errors(struct itrace *i, const struct itrace_list *list, uint64_t chunk)
{
	const struct itrace_sample *first = NULL;
	uint64_t errors = 0, damage = 0;

	for (size_t n = list->has_errors ? list->nr : 0; n--;) {
		if (list->samples[n].kind != ITRACE_ERRORS)
			continue;
		first = &list->samples[n];
		errors++;
		damage += list->samples[n].damage;
	}
	if (!first)
		return;
	pthread_mutex_lock(&i->lock);
	if (!i->errors || chunk < i->first_chunk) {
		i->first_chunk = chunk;
		snprintf(i->first_error, sizeof(i->first_error), "%s",
			 (const char *)list->texts.data + first->text);
	}
	i->errors += errors;
	i->damage += damage;
	pthread_mutex_unlock(&i->lock);
}

/* Makes what @w lacks. Returns 0 or -ENOMEM. */
static int prepare_worker(const struct itrace *i, struct itrace_worker *w)
{
	int rc = w->loader ? 0 : aux_loader_new(&i->index, i->ops, false, &w->loader);

	if (rc)
		return rc;
	if (!w->findings)
		w->findings = findings_new();
	aux_loader_note_to(w->loader, w->findings);
	return w->findings ? 0 : -ENOMEM;
}

bool itrace_starts_run(const struct itrace *i, size_t *newest, size_t run)
{
	size_t *of_ring = &newest[i->index.runs[run].ring];
	bool starts = *of_ring && *of_ring != run + 1;

	*of_ring = run + 1;
	return starts;
}

struct findings *itrace_take_findings(struct itrace_worker *w)
{
	struct findings *ret = w->findings;

	if (!ret || !findings_count(ret))
		return NULL;
	w->findings = NULL;
	return ret;
}

/* A run may have the trace of several snapshots. */
static bool has_snapshot(const struct itrace *i, const struct aux_run *run)
{
	const struct aux_pieces *p = &i->index.pieces;

	for (size_t n = 0; !run->sampled && n < run->nr; n++) {
		uint32_t take = p->pieces[run->first + n].take;

		if (take && p->takes[take - 1].number >= i->snapshot &&
		    p->takes[take - 1].number <= i->snapshot_last)
			return true;
	}
	return !i->snapshot;
}

/* Leaves the samples of the wanted snapshot. Branches of others remain, as the past of these. */
static void select_snapshot(const struct itrace *i, const struct aux_run *run,
			    struct itrace_list *list)
{
	size_t nr = 0;

	for (size_t n = 0; n < list->nr; n++) {
		struct itrace_sample *s = &list->samples[n];

		uint64_t number = aux_index_snapshot_at(&i->index, run, s->offset);

		if (number < i->snapshot || number > i->snapshot_last) {
			if (s->kind != ITRACE_BRANCHES)
				continue;
			s->hidden = true;
		}
		list->samples[nr++] = *s;
	}
	list->nr = nr;
}

static void finish_list(struct itrace *i, struct itrace_worker *w)
{
	if (i->snapshot)
		select_snapshot(i, &i->index.runs[w->list.run], &w->list);
	count_errors(i, &w->list, w->chunk);
}

int itrace_decode_chunk(struct itrace *i, struct itrace_worker *w, uint64_t chunk)
{
	const struct aux_run *run = aux_index_run_of(&i->index, chunk);
	struct aux_stretch stretch;
	int rc;

	w->ops = i->ops;
	w->chunk = chunk;
	w->decoding.more = false;
	itrace_list_clear(&w->list);
	if (!has_snapshot(i, run))
		return 0;
	rc = prepare_worker(i, w);
	if (!rc)
		rc = aux_loader_load(w->loader, chunk, &stretch);
	if (rc <= 0)
		return rc;
	w->setup = aux_index_setup(&i->index, run->ring);
	w->list.run = (size_t)(run - i->index.runs);
	rc = itrace_decode(&i->opts, i->ops, &w->setup, &stretch, code_files_source(i->code),
			   &w->decoding, &w->list);
	finish_list(i, w);
	return rc;
}

int itrace_decode_rest(struct itrace *i, struct itrace_worker *w)
{
	int rc;

	itrace_list_clear(&w->list);
	rc = itrace_decode_more(&i->opts, i->ops, &w->decoding, &w->list);
	finish_list(i, w);
	return rc;
}

bool itrace_in_order(const struct itrace *i)
{
	return i && itrace_opts_need_past(&i->opts);
}

void itrace_add_past(struct itrace_past *past, struct walk_sample *ws)
{
	uint64_t wanted = past && ws->evsel ? ws->evsel->added_type : 0;

	ws->s.type |= wanted;
	if (wanted & PERF_SAMPLE_BRANCH_STACK)
		ws->s.branch_nr = itrace_past_branches(past, ws->s.tid, ws->s.cpu, &ws->s.branches);
	if (wanted & PERF_SAMPLE_CALLCHAIN)
		ws->s.callchain_nr = itrace_past_chain(past, ws->s.tid, ws->s.cpu, ws->s.ip,
						       !ws->made, &ws->s.callchain);
}

/* Records of the same time tell what the code was. */
static struct moment moment_of(const struct itrace_sample *sample)
{
	return (struct moment){sample->time ? sample->time : UINT64_MAX, UINT64_MAX};
}

/* What a function gets of a sample. Much of it is zero for all, so it is made once for many. */
struct visited {
	struct perf_event_header hdr;
	struct data_record rec;
	struct walk_sample ws;
};

static void visited_init(struct visited *v)
{
	*v = (struct visited){.hdr = {.type = PERF_RECORD_SAMPLE, .size = sizeof(v->hdr)}};
	v->rec.hdr = &v->hdr;
	v->ws.rec = &v->rec;
}

static void set_sample(const struct itrace *i, const struct itrace_sample *from,
		       struct pd_sample *to)
{
	bool operation = itrace_is_operation(from->kind);

	to->type = i->evsel[from->kind] ? i->evsel[from->kind]->attr.sample_type : 0;
	to->cpumode = from->cpumode;
	to->misc = from->cpumode;
	to->ip = from->ip;
	to->pid = from->pid;
	to->tid = from->tid;
	to->time = from->time;
	to->addr = from->addr;
	to->cpu = from->cpu;
	to->period = from->period;
	to->weight = operation ? from->weight : 0;
	to->phys_addr = operation ? from->phys : 0;
}

static int visit(const struct itrace *i, const struct itrace_list *list,
		 const struct itrace_sample *sample, struct itrace_past *past, struct visited *v,
		 walk_fn fn, void *arg)
{
	const struct pd_evsel *evsel = i->evsel[sample->kind];
	uint32_t pid;

	if (sample->hidden || (sample->kind == ITRACE_ERRORS ? !i->show_errors : !evsel))
		return 0;
	v->hdr.misc = sample->cpumode;
	v->rec.evsel = v->ws.evsel = evsel;
	v->rec.offset = sample->offset;
	v->rec.time = sample->time;
	v->rec.at = moment_of(sample);
	v->ws.made = sample;
	v->ws.run = list->run;
	v->ws.text = sample->text == ITRACE_NO_TEXT ? NULL
						    : (const char *)list->texts.data + sample->text;
	set_sample(i, sample, &v->ws.s);
	/* The context of some traces names threads. */
	if (sample->pid == UINT32_MAX && sample->tid != UINT32_MAX &&
	    state_pid(i->state, sample->tid, v->rec.at, &pid))
		v->ws.s.pid = pid;
	itrace_add_past(past, &v->ws);
	return fn(&v->ws, arg);
}

int itrace_visit(const struct itrace *i, const struct itrace_list *list,
		 const struct itrace_sample *sample, struct itrace_past *past, walk_fn fn,
		 void *arg)
{
	struct visited v;

	visited_init(&v);
	return visit(i, list, sample, past, &v, fn, arg);
}

int itrace_visit_part(const struct itrace *i, const struct itrace_list *list, size_t from,
		      size_t nr, walk_fn fn, void *arg)
{
	struct visited v;
	int rc = 0;

	visited_init(&v);
	for (size_t n = from; rc >= 0 && n < from + nr; n++)
		rc = visit(i, list, &list->samples[n], NULL, &v, fn, arg);
	return rc;
}

static struct digest_entry digest_entry_of(const struct itrace *i, const struct itrace_sample *s)
{
	struct moment at = moment_of(s);

	return (struct digest_entry){
		.evsel = i->evsel[s->kind],
		.ip = s->ip,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
		.cpumode = s->cpumode,
		.first = at,
		.last = at,
		.samples = 1,
		.period = s->period,
	};
}

/* Adds @s to the entry @e, if it is the one of an equal sample. */
static bool add_to_entry(struct digest_entry *e, const struct pd_evsel *evsel,
			 const struct itrace_sample *s)
{
	struct moment at = moment_of(s);

	if (e->ip != s->ip || e->tid != s->tid || e->pid != s->pid || e->cpu != s->cpu ||
	    e->cpumode != s->cpumode || e->evsel != evsel)
		return false;
	if (moment_before(at, e->first))
		e->first = at;
	if (moment_before(e->last, at))
		e->last = at;
	e->samples++;
	e->period += s->period;
	return true;
}

#define CACHE_BITS 10

void itrace_digest(const struct itrace *i, const struct itrace_list *list, struct digest *ret)
{
	/* Entries by address and thread, as trace has few. 0: none, else the number plus one. */
	uint16_t cache[1u << CACHE_BITS] = {0};

	digest_clear(ret);
	for (size_t n = 0; n < list->nr && !ret->given_up; n++) {
		const struct itrace_sample *s = &list->samples[n];
		const struct pd_evsel *evsel = i->evsel[s->kind];
		uint64_t key = s->ip ^ s->ip >> CACHE_BITS ^ (uint64_t)s->tid << 3;
		uint16_t *at = &cache[key & ((1u << CACHE_BITS) - 1)];
		struct digest_entry e;

		if (!evsel || s->hidden || (*at && add_to_entry(&ret->entry[*at - 1], evsel, s)))
			continue;
		/* Whose the thread is, is asked at each time. */
		if (s->pid == UINT32_MAX && s->tid != UINT32_MAX) {
			digest_release(ret);
			ret->given_up = true;
			return;
		}
		e = digest_entry_of(i, s);
		digest_add_entry(ret, &e);
		*at = (uint16_t)(ret->last + 1);
	}
}

int itrace_visit_all(const struct itrace *i, const struct itrace_list *list, walk_fn fn, void *arg)
{
	return itrace_visit_part(i, list, 0, list->nr, fn, arg);
}
