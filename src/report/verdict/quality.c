// SPDX-License-Identifier: Apache-2.0
#include "report/verdict/quality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void quality_release(struct quality *q)
{
	free(q->by_dso);
	free(q->cpus);
	*q = (struct quality){0};
}

static int want_dsos(struct quality *q, size_t nr)
{
	if (q->by_dso)
		return 0;
	q->by_dso = calloc(nr + 1, sizeof(*q->by_dso));
	q->nr_dsos = nr;
	return q->by_dso ? 0 : -ENOMEM;
}

static int want_cpus(struct quality *q, size_t bytes)
{
	uint8_t *cpus;

	if (bytes <= q->cpu_bytes)
		return 0;
	cpus = realloc(q->cpus, bytes);
	if (!cpus)
		return -ENOMEM;
	memset(cpus + q->cpu_bytes, 0, bytes - q->cpu_bytes);
	q->cpus = cpus;
	q->cpu_bytes = bytes;
	return 0;
}

int quality_add(struct quality *q, const struct state *s, const struct frame *own,
		const struct pd_sample *sample, uint64_t samples)
{
	uint32_t cpu = sample->cpu;

	q->samples += samples;
	if (cpu < QUALITY_CPUS) {
		if (want_cpus(q, cpu / 8 + 1) < 0)
			return -ENOMEM;
		q->cpus[cpu / 8] |= (uint8_t)(1 << cpu % 8);
	}
	if (own->sym)
		return 0;
	if (want_dsos(q, state_dso_count(s)) < 0)
		return -ENOMEM;
	q->unresolved += samples;
	if (!sample->pid && own->cpumode == PERF_RECORD_MISC_USER)
		q->foreign += samples;
	q->by_dso[own->dso ? own->dso->index : q->nr_dsos] += samples;
	return 0;
}

static void add_walked(struct quality *q, const struct frame *chain, size_t nr, uint64_t samples)
{
	bool any = false, astray = false;

	for (size_t i = 1; i < nr; i++) {
		bool caller = chain[i].cpumode == PERF_RECORD_MISC_USER &&
			      chain[i - 1].cpumode == PERF_RECORD_MISC_USER;

		/* The outermost frame may be unmapped: a program's entry point has no caller. */
		if (caller && !chain[i].dso && (!any || i + 1 < nr))
			astray = true;
		any |= caller;
	}
	q->walked += any ? samples : 0;
	q->astray += astray ? samples : 0;
}

static void add_length(struct quality *q, const struct walk_sample *ws, size_t max_stack,
		       uint64_t samples)
{
	size_t limit = ws->evsel->attr.sample_max_stack ?: QUALITY_MAX_STACK;
	size_t n = 0;

	q->chains += samples;
	if (ws->s.callchain_nr < limit && ws->s.callchain_nr <= max_stack)
		return;
	for (uint64_t i = 0; i < ws->s.callchain_nr; i++)
		n += ws->s.callchain[i] < PERF_CONTEXT_MAX;
	q->full += n >= limit ? samples : 0;
	q->longer += n > max_stack ? samples : 0;
}

static bool has_copy(const struct walk_sample *ws)
{
	return ws->stack ? ws->stack->copied : ws->s.user_stack_size;
}

static bool is_full(const struct walk_sample *ws)
{
	return ws->stack ? ws->stack->full
			 : ws->s.user_stack_size >= ws->evsel->attr.sample_stack_user;
}

void quality_add_chain(struct quality *q, const struct frames *f, const struct walk_sample *ws,
		       size_t max_stack, uint64_t samples)
{
	q->frames += f->nr * samples;
	for (size_t i = 0; i < f->nr; i++)
		q->unresolved_frames += f->frame[i].sym ? 0 : samples;
	if (ws->s.callchain_nr)
		add_length(q, ws, max_stack, samples);
	if (!f->trace->cfi) {
		add_walked(q, f->frame, f->nr, samples);
	} else if (has_copy(ws)) {
		q->copies += samples;
		if (f->copy_ended && is_full(ws))
			q->cut += samples;
	}
}

int quality_merge(struct quality *q, const struct quality *from)
{
	if ((from->by_dso && want_dsos(q, from->nr_dsos) < 0) || want_cpus(q, from->cpu_bytes) < 0)
		return -ENOMEM;
	q->samples += from->samples;
	q->unresolved += from->unresolved;
	q->foreign += from->foreign;
	q->frames += from->frames;
	q->unresolved_frames += from->unresolved_frames;
	q->walked += from->walked;
	q->astray += from->astray;
	q->chains += from->chains;
	q->full += from->full;
	q->longer += from->longer;
	q->copies += from->copies;
	q->cut += from->cut;
	for (size_t i = 0; from->by_dso && i <= q->nr_dsos; i++)
		q->by_dso[i] += from->by_dso[i];
	for (size_t i = 0; i < from->cpu_bytes; i++)
		q->cpus[i] |= from->cpus[i];
	return 0;
}

const struct dso *quality_most(const struct quality *q, const struct state *s,
			       uint64_t *ret_samples)
{
	size_t most = q->nr_dsos;

	*ret_samples = 0;
	if (!q->by_dso)
		return NULL;
	for (size_t i = 0; i < q->nr_dsos; i++)
		if (q->by_dso[i] > q->by_dso[most])
			most = i;
	*ret_samples = q->by_dso[most];
	return most < q->nr_dsos ? state_dso_at(s, most) : NULL;
}

bool quality_has_cpu(const struct quality *q, uint32_t cpu)
{
	return cpu / 8 < q->cpu_bytes && q->cpus[cpu / 8] >> cpu % 8 & 1;
}
