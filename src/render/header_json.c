// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "render/header.h"
#include "render/json.h"

static int put(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new(object, key, value) == 0 ? 0 : -1;
}

static const struct {
	enum pd_feature feature;
	const char *key;
} strings[] = {
	{HEADER_HOSTNAME, "hostname"}, {HEADER_OSRELEASE, "os_release"},
	{HEADER_VERSION, "version"},   {HEADER_ARCH, "arch"},
	{HEADER_CPUDESC, "cpudesc"},   {HEADER_CPUID, "cpuid"},
};

static int put_strings(json_t *o, const struct trace *t)
{
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		char *s = trace_feature_string(t, strings[i].feature);
		int rc = s ? put(o, strings[i].key, json_name(s)) : 0;

		free(s);
		if (rc)
			return rc;
	}
	return 0;
}

static int put_numbers(json_t *o, const struct trace *t)
{
	bool swap = data_swapped(t->df);
	struct pd_nrcpus cpus;
	struct pd_sample_time times;
	const uint8_t *p;
	size_t len;
	uint64_t mem;
	int rc = 0;

	if (!data_feature(t->df, HEADER_NRCPUS, &p, &len) &&
	    !pd_feature_nrcpus_decode(p, len, swap, &cpus))
		rc = put(o, "cpus_online", json_integer(cpus.online))
			     ?: put(o, "cpus_available", json_integer(cpus.configured));
	if (!rc && !data_feature(t->df, HEADER_TOTAL_MEM, &p, &len) &&
	    !pd_feature_u64_decode(p, len, swap, &mem))
		rc = put(o, "total_memory_kb", json_count(mem));
	if (!rc && !data_feature(t->df, HEADER_SAMPLE_TIME, &p, &len) &&
	    !pd_feature_sample_time_decode(p, len, swap, &times))
		rc = put(o, "first_sample_time", json_count(times.first))
			     ?: put(o, "last_sample_time", json_count(times.last));
	return rc;
}

static int put_cmdline(json_t *o, const struct trace *t)
{
	struct pd_strings v = {0};
	const uint8_t *p;
	json_t *list;
	size_t len;
	int rc = 0;

	if (data_feature(t->df, HEADER_CMDLINE, &p, &len) < 0)
		return 0;
	list = json_array();
	if (!pd_feature_strings_decode(p, len, data_swapped(t->df), &v))
		for (size_t i = 0; !rc && i < v.nr; i++)
			rc = json_array_append_new(list, json_name(v.s[i]));
	pd_strings_release(&v);
	if (rc) {
		json_decref(list);
		return rc;
	}
	return put(o, "cmdline", list);
}

static json_t *place_json(const struct pd_auxtrace_place *p)
{
	json_t *o = json_object();
	int rc = o ? 0 : -1;

	if (!rc && p->part)
		rc = put(o, "data", json_count(p->part - 1));
	if (!rc)
		rc = put(o, "offset", json_count(p->offset)) ?: put(o, "size", json_count(p->size));
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

static int put_auxtrace_index(json_t *o, const struct trace *t)
{
	struct pd_auxtrace_index v = {0};
	const uint8_t *p;
	json_t *list;
	size_t len;
	int rc = 0;

	if (data_feature(t->df, HEADER_AUXTRACE, &p, &len) < 0)
		return 0;
	list = json_array();
	if (!pd_feature_auxtrace_decode(p, len, data_swapped(t->df), &v))
		for (size_t i = 0; !rc && i < v.nr; i++)
			rc = json_array_append_new(list, place_json(&v.places[i]));
	pd_auxtrace_index_release(&v);
	if (rc) {
		json_decref(list);
		return rc;
	}
	return put(o, "auxtrace_index", list);
}

static json_t *event_json(const struct pd_evsel *e)
{
	json_t *o = json_object(), *ids = json_array();
	int rc = o && ids ? 0 : -1;

	for (size_t i = 0; !rc && i < e->nr_ids; i++)
		rc = json_array_append_new(ids, json_count(e->ids[i]));
	if (rc || put(o, "name", json_name(e->name)) || put(o, "ids", json_incref(ids)) ||
	    put(o, "type", json_integer(e->attr.type)) ||
	    put(o, "config", json_count(e->attr.config)) ||
	    put(o, "sample_period", json_count(e->attr.sample_period)) ||
	    put(o, "freq", json_boolean(e->attr.flags & PD_ATTR_FREQ)) ||
	    put(o, "sample_type", json_count(e->attr.sample_type)) ||
	    put(o, "read_format", json_count(e->attr.read_format)) ||
	    put(o, "flags", json_count(e->attr.flags)) ||
	    put(o, "leader", json_integer(e->leader))) {
		json_decref(o);
		o = NULL;
	}
	json_decref(ids);
	return o;
}

static int put_events(json_t *o, const struct trace *t)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < pd_evlist_recorded(t->evlist); i++)
		if (json_array_append_new(list, event_json(pd_evlist_at(t->evlist, i)))) {
			json_decref(list);
			return -1;
		}
	return put(o, "events", list);
}

json_t *header_json(const struct trace *t, time_t captured)
{
	static const char *const kinds[] = {
		[DATA_FILE] = "file", [DATA_DIRECTORY] = "directory", [DATA_PIPE] = "pipe"};
	json_t *o = json_object();

	if (!o || put(o, "captured", json_integer(captured)) ||
	    put(o, "container", json_string(kinds[data_kind(t->df)])) ||
	    put(o, "other_byte_order", json_boolean(data_swapped(t->df))) || put_strings(o, t) ||
	    put_numbers(o, t) || put_cmdline(o, t) || put_auxtrace_index(o, t) ||
	    put_events(o, t) ||
	    (t->snapshots.nr_records && put(o, "snapshots", snapshots_json(t)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}
