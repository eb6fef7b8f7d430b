// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/otlp/dictionary.h"
#include "export/otlp/fields.h"
#include "export/wire/spool.h"

#define SUMS_BITS 16

enum { ATTR_PID, ATTR_TID, ATTR_NAME, ATTR_CPU, ATTR_CGROUP, NR_ATTRS };

/* The attributes of a sample: indices; 0: none. Without padding. */
struct otlp_set {
	uint32_t attr[NR_ATTRS];
};

/* Equal samples in the spool. */
struct otlp_item {
	uint32_t stack, set;
	uint64_t samples, period;
	uint64_t zero; /* its size must divide a block */
};

/* Equal samples that are not in the spool yet. */
struct otlp_sum {
	uint32_t stack, set, event;
	uint32_t samples; /* 0: empty */
	uint64_t period;
};

/* A profile of an event: of its periods, or of the number of its samples. */
struct otlp_profile {
	uint32_t event;
	bool counts;
	struct proto head; /* all but samples */
	uint64_t samples;  /* bytes of samples */
};

struct otlp {
	const struct export_job *job;
	struct otlp_dictionary dictionary;
	struct intern sets;
	struct otlp_sum *sums; /* by hash */
	struct spool spool;    /* items, by event */
	bool *has_samples;     /* by event */
	struct otlp_profile *profiles;
	size_t nr_profiles;
	struct proto message;
	uint64_t first_time, last_time;
};

/* --- samples -------------------------------------------------------------------------------------
 */

static int set_of(struct otlp *w, const struct export_sample *s, uint32_t *ret)
{
	const struct pd_sample *p = &s->ws->s;
	struct otlp_dictionary *d = &w->dictionary;
	struct otlp_set set = {0};
	const char *cgroup = NULL;
	int rc = export_comm(s->comm, p->tid, &d->text);

	rc = rc ?: otlp_attribute_text(d, "thread.name", &set.attr[ATTR_NAME]);
	if (!rc && p->pid != UINT32_MAX)
		rc = otlp_attribute_number(d, "process.pid", p->pid, &set.attr[ATTR_PID]);
	if (!rc && p->tid != UINT32_MAX)
		rc = otlp_attribute_number(d, "thread.id", p->tid, &set.attr[ATTR_TID]);
	if (!rc && p->cpu != UINT32_MAX)
		rc = otlp_attribute_number(d, "cpu.logical_number", p->cpu, &set.attr[ATTR_CPU]);
	if (p->type & PERF_SAMPLE_CGROUP)
		cgroup = state_cgroup(w->job->trace->state, p->cgroup);
	if (!rc && cgroup)
		rc = export_name(cgroup, &d->text)
			     ?: otlp_attribute_text(d, "process.linux.cgroup",
						    &set.attr[ATTR_CGROUP]);
	if (rc)
		return rc;
	*ret = intern_put(&w->sets, &set);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

static int spool_sum(struct otlp *w, struct otlp_sum *sum)
{
	const struct otlp_item item = {
		.stack = sum->stack,
		.set = sum->set,
		.samples = sum->samples,
		.period = sum->period,
	};

	sum->samples = 0;
	return spool_add(&w->spool, sum->event, &item, sizeof(item));
}

static int otlp_sample(void *writer, const struct export_sample *s)
{
	struct otlp *w = writer;
	const struct pd_sample *p = &s->ws->s;
	struct otlp_sum new = {.event = s->ws->evsel->index, .samples = 1, .period = p->period},
			*at;
	int rc = otlp_stack(&w->dictionary, s, &new.stack);

	rc = rc ?: set_of(w, s, &new.set);
	if (rc)
		return rc;
	if (new.period > INT64_MAX)
		new.period = INT64_MAX;
	if (p->time && (!w->first_time || p->time < w->first_time))
		w->first_time = p->time;
	if (p->time > w->last_time)
		w->last_time = p->time;
	w->has_samples[new.event] = true;
	/* Without the random key, so that a recording always gives the same output. */
	at = &w->sums[hash_bytes(0, &new, 3 * sizeof(uint32_t)) >> (64 - SUMS_BITS)];
	if (at->samples && at->stack == new.stack && at->set == new.set && at->event == new.event &&
	    at->samples < UINT32_MAX && at->period <= INT64_MAX - new.period) {
		at->samples++;
		at->period += new.period;
		return 0;
	}
	rc = at->samples ? spool_sum(w, at) : 0;
	*at = new;
	return rc;
}

/* --- profiles ------------------------------------------------------------------------------------
 */

/* Encodes a sample in @w->message. */
static void encode_sample(struct otlp *w, const struct otlp_item *item, bool counts)
{
	const struct otlp_set *set = intern_at(&w->sets, item->set);
	struct proto *m = &w->message;
	size_t begin = proto_begin(m, PROFILE_SAMPLE), part;

	proto_uint(m, SAMPLE_STACK, item->stack);
	part = proto_begin(m, SAMPLE_ATTRIBUTES);
	for (size_t i = 0; i < NR_ATTRS; i++)
		if (set->attr[i])
			proto_varint(m, set->attr[i]);
	proto_end(m, part);
	part = proto_begin(m, SAMPLE_VALUES);
	proto_varint(m, counts ? item->samples : item->period);
	proto_end(m, part);
	proto_end(m, begin);
}

/* What walks of the spool need. */
struct otlp_walk {
	struct otlp *w;
	struct otlp_profile *profile;
};

static int measure_sample(const void *item, void *arg)
{
	const struct otlp_walk *walk = arg;
	struct proto *m = &walk->w->message;

	encode_sample(walk->w, item, walk->profile->counts);
	walk->profile->samples += m->b.len;
	m->b.len = 0;
	return m->rc;
}

static int write_sample(const void *item, void *arg)
{
	const struct otlp_walk *walk = arg;

	encode_sample(walk->w, item, walk->profile->counts);
	return proto_write(&walk->w->message, walk->w->job->out);
}

static int put_type(struct otlp *w, struct proto *p, unsigned int field, const char *type,
		    const char *unit)
{
	uint32_t type_text, unit_text;
	size_t begin;
	int rc = otlp_string(&w->dictionary, type, &type_text)
			 ?: otlp_string(&w->dictionary, unit, &unit_text);

	if (rc)
		return rc;
	begin = proto_begin(p, field);
	proto_uint(p, TYPE_TYPE, type_text);
	proto_uint(p, TYPE_UNIT, unit_text);
	proto_end(p, begin);
	return p->rc;
}

/* Returns the time of day of the first sample, ns; 0: the recording does not tell. */
static uint64_t time_of_day(const struct otlp *w)
{
	const struct trace *t = w->job->trace;
	struct pd_clock_data data;
	const uint8_t *p;
	size_t len;

	if (data_feature(t->df, HEADER_CLOCK_DATA, &p, &len) ||
	    pd_feature_clock_data_decode(p, len, data_swapped(t->df), &data))
		return 0;
	return data.wall_clock_ns + (w->first_time - data.clockid_time_ns);
}

/* Encodes what a profile has beside its samples. */
static int put_head(struct otlp *w, struct otlp_profile *profile)
{
	const struct pd_evsel *e = pd_evlist_at(w->job->trace->evlist, profile->event);
	const char *unit = export_is_time(&e->attr) ? "nanoseconds" : "count";
	struct proto *p = &profile->head;
	uint32_t name;
	size_t part;
	int rc = put_type(w, p, PROFILE_TYPE, profile->counts ? "samples" : e->name,
			  profile->counts ? "count" : unit);

	if (time_of_day(w))
		proto_fixed64(p, PROFILE_TIME, time_of_day(w));
	proto_uint(p, PROFILE_DURATION, w->last_time - w->first_time);
	if (!rc && !(e->attr.flags & PD_ATTR_FREQ)) {
		rc = put_type(w, p, PROFILE_PERIOD_TYPE, e->name, unit);
		proto_uint(p, PROFILE_PERIOD,
			   e->attr.sample_period < INT64_MAX ? e->attr.sample_period : INT64_MAX);
	}
	rc = rc ?: export_name(e->name, &w->dictionary.text);
	rc = rc ?: otlp_attribute_text(&w->dictionary, "perf.event", &name);
	if (rc)
		return rc;
	part = proto_begin(p, PROFILE_ATTRIBUTES);
	proto_varint(p, name);
	proto_end(p, part);
	return p->rc;
}

/* Adds a profile, and measures its samples. */
static int add_profile(struct otlp *w, uint32_t event, bool counts)
{
	struct otlp_profile *profile = &w->profiles[w->nr_profiles++];
	struct otlp_walk walk = {w, profile};
	int rc;

	*profile = (struct otlp_profile){.event = event, .counts = counts};
	rc = put_head(w, profile);
	return rc ?: spool_each(&w->spool, event, sizeof(struct otlp_item), measure_sample, &walk);
}

/* Returns the bytes of a field of @n bytes. */
static uint64_t field_size(struct otlp *w, unsigned int field, uint64_t n)
{
	uint64_t head;

	proto_length(&w->message, field, n);
	head = w->message.b.len;
	w->message.b.len = 0;
	return head + n;
}

/* --- the file ------------------------------------------------------------------------------------
 */

/* Encodes what is known of the machine. */
static int put_resource(struct otlp *w, struct proto *p)
{
	const char *host = w->job->trace->hostname;
	size_t resource = proto_begin(p, RESOURCE_PROFILES_RESOURCE), pair, value;
	const struct {
		const char *key, *value;
	} attributes[] = {{"os.type", "linux"}, {"host.name", host}};

	for (size_t i = 0; i < 2; i++) {
		if (!attributes[i].value)
			continue;
		if (export_name(attributes[i].value, &w->dictionary.text))
			return -ENOMEM;
		pair = proto_begin(p, RESOURCE_ATTRIBUTES);
		proto_bytes(p, PAIR_KEY, attributes[i].key, strlen(attributes[i].key));
		value = proto_begin(p, PAIR_VALUE);
		proto_bytes(p, ANY_STRING, w->dictionary.text.data, w->dictionary.text.len);
		proto_end(p, value);
		proto_end(p, pair);
	}
	proto_end(p, resource);
	return p->rc;
}

static int write_profile(struct otlp *w, struct otlp_profile *profile)
{
	struct otlp_walk walk = {w, profile};

	proto_length(&w->message, SCOPE_PROFILES_PROFILES, profile->head.b.len + profile->samples);
	proto_raw(&w->message, profile->head.b.data, profile->head.b.len);
	return proto_write(&w->message, w->job->out)
		       ?: spool_each(&w->spool, profile->event, sizeof(struct otlp_item),
				     write_sample, &walk);
}

/* Writes the messages around the profiles, whose lengths are known by now, and the profiles. */
static int write_profiles(struct otlp *w, struct proto *resource, struct proto *scope)
{
	uint64_t size = 0, scope_size;
	size_t begin = proto_begin(scope, SCOPE_PROFILES_SCOPE);
	int rc;

	proto_bytes(scope, SCOPE_NAME, "ringtail", 8);
	proto_end(scope, begin);
	rc = put_resource(w, resource) ?: scope->rc;
	for (size_t i = 0; i < w->nr_profiles; i++)
		size += field_size(w, SCOPE_PROFILES_PROFILES,
				   w->profiles[i].head.b.len + w->profiles[i].samples);
	size += scope->b.len;
	scope_size = field_size(w, RESOURCE_PROFILES_SCOPES, size);
	proto_length(&w->message, DATA_RESOURCE_PROFILES, resource->b.len + scope_size);
	proto_raw(&w->message, resource->b.data, resource->b.len);
	proto_length(&w->message, RESOURCE_PROFILES_SCOPES, size);
	proto_raw(&w->message, scope->b.data, scope->b.len);
	rc = rc ?: proto_write(&w->message, w->job->out);
	for (size_t i = 0; !rc && i < w->nr_profiles; i++)
		rc = write_profile(w, &w->profiles[i]);
	return rc;
}

static int otlp_close(void *writer)
{
	struct otlp *w = writer;
	struct proto resource = {0}, scope = {0};
	struct proto *dictionary = &w->dictionary.encoded;
	size_t nr_events = pd_evlist_count(w->job->trace->evlist);
	int rc = 0;

	for (size_t i = 0; !rc && i < (size_t)1 << SUMS_BITS; i++)
		if (w->sums[i].samples)
			rc = spool_sum(w, &w->sums[i]);
	for (uint32_t i = 0; !rc && i < nr_events; i++)
		if (w->has_samples[i])
			rc = add_profile(w, i, false) ?: add_profile(w, i, true);
	rc = rc ?: otlp_dictionary_end(&w->dictionary);
	rc = rc ?: write_profiles(w, &resource, &scope);
	proto_release(&resource);
	proto_release(&scope);
	if (rc)
		return rc;
	proto_length(&w->message, DATA_DICTIONARY, dictionary->b.len);
	return proto_write(&w->message, w->job->out) ?: proto_write(dictionary, w->job->out);
}

static int otlp_open(const struct export_job *job, void **ret)
{
	size_t nr_events = pd_evlist_count(job->trace->evlist);
	struct otlp *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct otlp){
		.job = job,
		.dictionary = OTLP_DICTIONARY_INIT,
		.sets = {.size = sizeof(struct otlp_set)},
		.sums = calloc((size_t)1 << SUMS_BITS, sizeof(*w->sums)),
		.spool = {.err = job->err},
		.has_samples = calloc(nr_events + 1, sizeof(*w->has_samples)),
		.profiles = calloc(2 * nr_events + 1, sizeof(*w->profiles)),
	};
	*ret = w;
	if (!w->sums || !w->has_samples || !w->profiles)
		return -ENOMEM;
	return otlp_dictionary_begin(&w->dictionary);
}

static void otlp_free(void *writer)
{
	struct otlp *w = writer;

	if (!w)
		return;
	for (size_t i = 0; i < w->nr_profiles; i++)
		proto_release(&w->profiles[i].head);
	otlp_dictionary_release(&w->dictionary);
	intern_release(&w->sets);
	spool_release(&w->spool);
	proto_release(&w->message);
	free(w->sums);
	free(w->has_samples);
	free(w->profiles);
	free(w);
}

const struct export_format export_otlp = {
	.name = "otlp",
	.about = "OpenTelemetry: ProfilesData of profiles.v1development",
	.binary = true,
	.waits = true,
	.open = otlp_open,
	.sample = otlp_sample,
	.close = otlp_close,
	.free = otlp_free,
};
