// SPDX-License-Identifier: Apache-2.0
#include "export/pprof/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/stream/functions.h"
#include "export/stream/stacks.h"
#include "export/wire/intern.h"
#include "export/wire/proto.h"

/* Numbers of fields in profile.proto, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_DEFAULT_TYPE = 14
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define PAGE	  4096
#define SUMS_BITS 16

enum { TAG_COMM, TAG_PID, TAG_TID, TAG_CPU, TAG_CGROUP, NR_TAGS };

/* Labels: numbers of strings; 0, the empty string: none. */
struct pprof_labels {
	uint32_t tag[NR_TAGS];
};

/* What is known of a dso, by its number in @dsos. */
struct pprof_mapping {
	uint64_t first, last; /* addresses in samples */
	uint64_t samples;     /* innermost frames */
	bool functions, lines;
};

/* Equal samples that are not written yet. */
struct pprof_sum {
	uint32_t stack, labels, event;
	uint64_t samples, period; /* samples 0: empty */
};

struct pprof {
	const struct export_job *job;
	struct export_functions functions;
	struct export_stacks stacks;
	struct intern labels, dsos;
	struct intern_strings strings;
	struct pprof_mapping *mappings;
	size_t nr_mappings, cap_mappings;
	uint32_t nr_functions; /* written */
	uint32_t keys[NR_TAGS];
	size_t *columns; /* of events; 0: none */
	size_t nr_columns;
	uint64_t first_time, last_time;
	struct pprof_sum *sums; /* by hash */
	struct proto message;
	struct buf text;
};

/* --- strings -------------------------------------------------------------------------------------
 */

/* Returns the number of the text in @w->text. */
static uint32_t put_text(struct pprof *w)
{
	return intern_string(&w->strings, (const char *)w->text.data, w->text.len);
}

static int put_name(struct pprof *w, const char *name, uint32_t *ret)
{
	if (export_name(name, &w->text))
		return -ENOMEM;
	*ret = put_text(w);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

static int put_number(struct pprof *w, uint32_t n, uint32_t *ret)
{
	w->text.len = 0;
	if (n == UINT32_MAX) /* not recorded */
		return 0;
	if (buf_printf(&w->text, "%" PRIu32, n))
		return -ENOMEM;
	*ret = put_text(w);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

static int write_strings(struct pprof *w)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->strings.table.nr; i++) {
		size_t len;
		const char *s = intern_string_at(&w->strings, i, &len);

		proto_bytes(&w->message, PROFILE_STRING, s, len);
		rc = proto_write(&w->message, w->job->out);
	}
	return rc;
}

/* --- functions and locations, written when they are first seen -----------------------------------
 */

/* Returns the id of the function of @frame; 0: no memory. */
static uint64_t function_of(struct pprof *w, const struct frame *frame, const char *file)
{
	uint32_t function = export_function_of(&w->functions, frame), name, path = 0;
	size_t begin;

	if (function == INTERN_NONE)
		return 0;
	if (function < w->nr_functions)
		return (uint64_t)function + 1;
	if (export_function_name(export_function_at(&w->functions, function), &w->text))
		return 0;
	name = put_text(w);
	if (name == INTERN_NONE || (file && put_name(w, file, &path)))
		return 0;
	begin = proto_begin(&w->message, PROFILE_FUNCTION);
	proto_uint(&w->message, FUNCTION_ID, (uint64_t)function + 1);
	proto_uint(&w->message, FUNCTION_NAME, name);
	proto_uint(&w->message, FUNCTION_SYSTEM_NAME, name);
	proto_uint(&w->message, FUNCTION_FILE, path);
	proto_end(&w->message, begin);
	w->nr_functions++;
	return proto_write(&w->message, w->job->out) ? 0 : (uint64_t)function + 1;
}

/* Returns the id of the mapping of @dso; 0: none. */
static int mapping_of(struct pprof *w, const struct export_location *l, uint64_t *ret)
{
	struct pprof_mapping *m;
	uint32_t number;

	*ret = 0;
	if (!l->dso)
		return 0;
	number = intern_put(&w->dsos, &l->dso);
	if (number == INTERN_NONE ||
	    array_grow(&w->mappings, &w->cap_mappings, (size_t)number + 1, sizeof(*w->mappings)))
		return -ENOMEM;
	m = &w->mappings[number];
	if (number == w->nr_mappings) {
		*m = (struct pprof_mapping){.first = l->addr, .last = l->addr};
		w->nr_mappings++;
	}
	m->first = l->addr < m->first ? l->addr : m->first;
	m->last = l->addr > m->last ? l->addr : m->last;
	m->functions |= l->sym != NULL;
	m->lines |= l->lines != NULL;
	*ret = (uint64_t)number + 1;
	return 0;
}

static int write_location(uint32_t number, const struct export_location *l,
			  const struct frame *frame, void *writer)
{
	struct pprof *w = writer;
	uint64_t functions[INLINED_MAX], mapping;
	size_t begin, line, n = (size_t)l->nr_frames;
	int rc = mapping_of(w, l, &mapping);

	for (size_t i = 0; !rc && i < n; i++) {
		const struct frame *f = &frame[i];

		functions[i] = function_of(w, f, export_file_of(f));
		rc = functions[i] ? 0 : w->job->out->rc ?: -ENOMEM;
	}
	if (rc)
		return rc;
	begin = proto_begin(&w->message, PROFILE_LOCATION);
	proto_uint(&w->message, LOCATION_ID, (uint64_t)number + 1);
	proto_uint(&w->message, LOCATION_MAPPING, mapping);
	proto_uint(&w->message, LOCATION_ADDRESS, l->addr);
	for (size_t i = 0; i < n; i++) {
		const struct frame *f = &frame[i];

		line = proto_begin(&w->message, LOCATION_LINE);
		proto_uint(&w->message, LINE_FUNCTION, functions[i]);
		proto_uint(&w->message, LINE_NUMBER, export_line_of(f));
		proto_end(&w->message, line);
	}
	proto_end(&w->message, begin);
	return proto_write(&w->message, w->job->out);
}

/* --- samples -------------------------------------------------------------------------------------
 */

static int labels_of(struct pprof *w, const struct export_sample *s, uint32_t *ret)
{
	const struct pd_sample *p = &s->ws->s;
	struct pprof_labels labels = {0};
	const char *cgroup;
	int rc;

	if (export_comm(s->comm, p->tid, &w->text))
		return -ENOMEM;
	labels.tag[TAG_COMM] = put_text(w);
	rc = labels.tag[TAG_COMM] == INTERN_NONE ? -ENOMEM : 0;
	rc = rc ?: put_number(w, p->pid, &labels.tag[TAG_PID]);
	rc = rc ?: put_number(w, p->tid, &labels.tag[TAG_TID]);
	rc = rc ?: put_number(w, p->cpu, &labels.tag[TAG_CPU]);
	cgroup =
		p->type & PERF_SAMPLE_CGROUP ? state_cgroup(w->job->trace->state, p->cgroup) : NULL;
	if (!rc && cgroup)
		rc = put_name(w, cgroup, &labels.tag[TAG_CGROUP]);
	if (rc)
		return rc;
	*ret = intern_put(&w->labels, &labels);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

static int write_sum(struct pprof *w, struct pprof_sum *sum)
{
	struct proto *m = &w->message;
	const struct pprof_labels *labels = intern_at(&w->labels, sum->labels);
	size_t begin = proto_begin(m, PROFILE_SAMPLE);
	size_t part = proto_begin(m, SAMPLE_LOCATIONS);

	for (uint32_t at = sum->stack; at != INTERN_NONE;) {
		const struct export_node *node = export_stack_at(&w->stacks, at);

		proto_varint(m, (uint64_t)node->location + 1);
		at = node->parent;
	}
	proto_end(m, part);
	part = proto_begin(m, SAMPLE_VALUES);
	proto_varint(m, sum->samples);
	for (size_t i = 1; i <= w->nr_columns; i++)
		proto_varint(m, i == w->columns[sum->event] ? sum->period : 0);
	proto_end(m, part);
	for (size_t i = 0; i < NR_TAGS; i++) {
		if (!labels->tag[i])
			continue;
		part = proto_begin(m, SAMPLE_LABEL);
		proto_uint(m, LABEL_KEY, w->keys[i]);
		proto_uint(m, LABEL_STRING, labels->tag[i]);
		proto_end(m, part);
	}
	proto_end(m, begin);
	sum->samples = 0;
	return proto_write(m, w->job->out);
}

static void count_mapping(struct pprof *w, const struct export_sample *s)
{
	const struct dso *dso = s->nr_frames ? s->frame[0].dso : NULL;
	uint32_t number = dso && dso->kind == DSO_ELF ? intern_put(&w->dsos, &dso) : INTERN_NONE;

	if (number < w->nr_mappings)
		w->mappings[number].samples++;
}

static int pprof_sample(void *writer, const struct export_sample *s)
{
	struct pprof *w = writer;
	const struct pd_sample *p = &s->ws->s;
	struct pprof_sum new = {.event = s->ws->evsel->index, .samples = 1, .period = p->period},
			 *at;
	int rc = export_stack_of(&w->stacks, s->frame, s->nr_frames, write_location, w, &new.stack);

	rc = rc ?: labels_of(w, s, &new.labels);
	if (rc)
		return rc;
	count_mapping(w, s);
	if (new.period > INT64_MAX)
		new.period = INT64_MAX;
	if (p->time && (!w->first_time || p->time < w->first_time))
		w->first_time = p->time;
	if (p->time > w->last_time)
		w->last_time = p->time;
	/* Without the random key, so that a recording always gives the same output. */
	at = &w->sums[hash_bytes(0, &new, 3 * sizeof(uint32_t)) >> (64 - SUMS_BITS)];
	if (at->samples && at->stack == new.stack && at->labels == new.labels &&
	    at->event == new.event && at->period <= INT64_MAX - new.period) {
		at->samples++;
		at->period += new.period;
		return 0;
	}
	rc = at->samples ? write_sum(w, at) : 0;
	*at = new;
	return rc;
}

/* --- beginning and end ---------------------------------------------------------------------------
 */

static bool is_dummy(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static const char *unit_of(const struct pd_attr *attr)
{
	return export_is_time(attr) ? "nanoseconds" : "count";
}

static int write_type(struct pprof *w, unsigned int field, const char *name, const char *unit,
		      uint32_t *ret_name)
{
	uint32_t unit_text;
	size_t begin;
	int rc = put_name(w, name, ret_name) ?: put_name(w, unit, &unit_text);

	if (rc)
		return rc;
	begin = proto_begin(&w->message, field);
	proto_uint(&w->message, TYPE_TYPE, *ret_name);
	proto_uint(&w->message, TYPE_UNIT, unit_text);
	proto_end(&w->message, begin);
	return proto_write(&w->message, w->job->out);
}

/* Writes the types of values. The first event is what readers show first. */
static int write_types(struct pprof *w)
{
	const struct pd_evlist *list = w->job->trace->evlist;
	const char *only = w->job->opts->event;
	uint32_t name;
	int rc = write_type(w, PROFILE_SAMPLE_TYPE, "samples", "count", &name);

	for (size_t i = 0; !rc && i < pd_evlist_count(list); i++) {
		const struct pd_evsel *e = pd_evlist_at(list, i);

		if (is_dummy(&e->attr) || (only && strcmp(only, e->name) != 0))
			continue;
		w->columns[i] = ++w->nr_columns;
		rc = write_type(w, PROFILE_SAMPLE_TYPE, e->name, unit_of(&e->attr), &name);
		if (rc || w->nr_columns > 1)
			continue;
		proto_uint(&w->message, PROFILE_DEFAULT_TYPE, name);
		if (e->attr.flags & PD_ATTR_FREQ)
			continue;
		proto_uint(&w->message, PROFILE_PERIOD,
			   e->attr.sample_period < INT64_MAX ? e->attr.sample_period : INT64_MAX);
		rc = write_type(w, PROFILE_PERIOD_TYPE, e->name, unit_of(&e->attr), &name);
	}
	return rc;
}

static void pprof_free(void *writer)
{
	struct pprof *w = writer;

	if (!w)
		return;
	export_functions_release(&w->functions);
	export_stacks_release(&w->stacks);
	intern_release(&w->labels);
	intern_release(&w->dsos);
	intern_strings_release(&w->strings);
	proto_release(&w->message);
	buf_release(&w->text);
	free(w->mappings);
	free(w->columns);
	free(w->sums);
	free(w);
}

static int pprof_open(const struct export_job *job, void **ret)
{
	static const char *const tags[NR_TAGS] = {"comm", "pid", "tid", "cpu", "cgroup"};
	struct pprof *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	*w = (struct pprof){
		.job = job,
		.functions = EXPORT_FUNCTIONS_INIT,
		.stacks = EXPORT_STACKS_INIT,
		.labels = {.size = sizeof(struct pprof_labels)},
		.dsos = {.size = sizeof(const struct dso *)},
		.columns = calloc(pd_evlist_count(job->trace->evlist) + 1, sizeof(*w->columns)),
		.sums = calloc((size_t)1 << SUMS_BITS, sizeof(*w->sums)),
	};
	*ret = w;
	/* String 0 must be empty. */
	if (!w->columns || !w->sums || intern_string(&w->strings, "", 0) == INTERN_NONE)
		return -ENOMEM;
	rc = out_begin_gzip(job->out);
	for (size_t i = 0; !rc && i < NR_TAGS; i++)
		rc = put_name(w, tags[i], &w->keys[i]);
	return rc ?: write_types(w);
}

static int put_build_id(struct pprof *w, const struct dso *dso, uint32_t *ret)
{
	*ret = export_build_id(dso, &w->text) ? INTERN_NONE : put_text(w);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

/*
 * Addresses of a file are offsets in it, wherever processes have mapped it, so offset and address
 * of its mapping are the same.
 */
static int write_mapping(struct pprof *w, uint32_t number)
{
	const struct pprof_mapping *m = &w->mappings[number];
	const struct dso *const *dso = intern_at(&w->dsos, number);
	struct proto *p = &w->message;
	uint64_t start = m->first & ~(uint64_t)(PAGE - 1), limit = (m->last | (PAGE - 1)) + 1;
	uint32_t name, build_id;
	size_t begin;
	int rc = put_name(w, (*dso)->line_name, &name) ?: put_build_id(w, *dso, &build_id);

	if (rc)
		return rc;
	begin = proto_begin(p, PROFILE_MAPPING);
	proto_uint(p, MAPPING_ID, (uint64_t)number + 1);
	proto_uint(p, MAPPING_START, start);
	proto_uint(p, MAPPING_LIMIT, limit ? limit : UINT64_MAX);
	proto_uint(p, MAPPING_OFFSET, (*dso)->kind == DSO_ELF ? start : 0);
	proto_uint(p, MAPPING_FILE, name);
	proto_uint(p, MAPPING_BUILD_ID, build_id);
	proto_uint(p, MAPPING_HAS_FUNCTIONS, m->functions);
	proto_uint(p, MAPPING_HAS_FILES, m->lines);
	proto_uint(p, MAPPING_HAS_LINES, m->lines);
	proto_uint(p, MAPPING_HAS_INLINES, w->job->opts->inlined);
	proto_end(p, begin);
	return proto_write(p, w->job->out);
}

/* Readers take the first mapping for the program: the file with most samples. */
static int write_mappings(struct pprof *w)
{
	uint32_t main = 0;
	int rc = 0;

	for (uint32_t i = 1; i < w->nr_mappings; i++)
		if (w->mappings[i].samples > w->mappings[main].samples)
			main = i;
	if (w->nr_mappings)
		rc = write_mapping(w, main);
	for (uint32_t i = 0; !rc && i < w->nr_mappings; i++)
		if (i != main)
			rc = write_mapping(w, i);
	return rc;
}

static int pprof_close(void *writer)
{
	struct pprof *w = writer;
	int rc = 0;

	for (size_t i = 0; !rc && i < (size_t)1 << SUMS_BITS; i++)
		if (w->sums[i].samples)
			rc = write_sum(w, &w->sums[i]);
	if (!rc)
		rc = write_mappings(w);
	if (rc)
		return rc;
	proto_uint(&w->message, PROFILE_DURATION, w->last_time - w->first_time);
	rc = proto_write(&w->message, w->job->out);
	return rc ?: write_strings(w) ?: out_end_gzip(w->job->out);
}

const struct export_format export_pprof = {
	.name = "pprof",
	.about = "go tool pprof, and what else reads profile.proto",
	.binary = true,
	.waits = true,
	.open = pprof_open,
	.sample = pprof_sample,
	.close = pprof_close,
	.free = pprof_free,
};
