// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/commands.h"
#include "cli/input/command.h"
#include "data/tracing/tracing.h"
#include "render/attr_text.h"
#include "render/json.h"
#include "render/text.h"

struct evlist_args {
	struct input input;
	bool verbose, freq, group, trace_fields, json;
};

enum {
	OPT_TRACE_FIELDS = 0x7000,
	OPT_JSON,
};

static const struct argp_option options[] = {
	{"verbose", 'v', NULL, 0, "Show all fields of the events' attributes", 0},
	{"freq", 'F', NULL, 0, "Show the frequency or the period", 0},
	{"group", 'g', NULL, 0, "Show the events of a group together: {a,b}", 0},
	{"trace-fields", OPT_TRACE_FIELDS, NULL, 0, "Show the names of tracepoints' fields", 0},
	{"json", OPT_JSON, NULL, 0, "Write all of it as JSON", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct evlist_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 'v': a->verbose = true; break;
	case 'F': a->freq = true; break;
	case 'g': a->group = true; break;
	case OPT_TRACE_FIELDS: a->trace_fields = true; break;
	case OPT_JSON: a->json = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "name only one recording");
		a->input.trace.path = arg;
		break;
	case ARGP_KEY_END:
		if (a->group && (a->verbose || a->freq))
			usage_error(state, "-g cannot be combined with -v or -F: the events of a "
					   "group have attributes of their own");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool is_tracepoint(const struct pd_evsel *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT;
}

/* --- text ----------------------------------------------------------------------------------------
 */

/* A colon follows the name, and a comma each detail but the last. */
struct line {
	bool begun;
};

static void put_separator(struct line *l)
{
	putchar(l->begun ? ',' : ':');
	l->begun = true;
}

static void put_field(void *arg, const struct attr_text_field *f)
{
	put_separator(arg);
	printf(" %s: %s", f->name, f->text);
}

static void put_trace_fields(const struct trace *t, const struct pd_evsel *e, struct line *l)
{
	const char *name =
		t->tracing && is_tracepoint(e) ? tracing_field_name(t->tracing, e, 0) : NULL;

	put_separator(l);
	if (!name) {
		fputs(is_tracepoint(e) ? " (no trace field)" : " (not a tracepoint)", stdout);
		return;
	}
	fputs(" trace_fields: ", stdout);
	text_put(stdout, name, 0);
	for (size_t i = 1; (name = tracing_field_name(t->tracing, e, i)); i++) {
		put_separator(l);
		text_put(stdout, name, 0);
	}
}

static void put_group(const struct trace *t, const struct pd_evsel *leader)
{
	putchar('{');
	for (size_t i = leader->index; i < leader->index + leader->nr_members; i++) {
		if (i > leader->index)
			putchar(',');
		text_put(stdout, pd_evlist_at(t->evlist, i)->name, 0);
	}
	putchar('}');
}

static void put_event(const struct evlist_args *a, const struct trace *t, const struct pd_evsel *e)
{
	struct line l = {0};

	if (a->group && e->leader != e->index)
		return;
	if (a->group && e->nr_members > 1)
		put_group(t, e);
	else
		text_put(stdout, e->name, 0);
	if (a->verbose) {
		attr_text_each(&e->attr, put_field, &l);
	} else if (a->freq) {
		put_separator(&l);
		printf(" sample_%s=%" PRIu64, e->attr.flags & PD_ATTR_FREQ ? "freq" : "period",
		       e->attr.sample_period);
	}
	if (a->trace_fields)
		put_trace_fields(t, e, &l);
	putchar('\n');
}

static void put_all(const struct evlist_args *a, const struct trace *t)
{
	bool tip = false;

	for (size_t i = 0; i < pd_evlist_recorded(t->evlist); i++) {
		const struct pd_evsel *e = pd_evlist_at(t->evlist, i);

		put_event(a, t, e);
		tip |= is_tracepoint(e);
	}
	if (tip && !a->trace_fields && !a->input.quiet)
		puts("# Tip: use 'ringtail evlist --trace-fields' to show fields for tracepoint "
		     "events");
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

/* Fields have perf's names, but for those that perf writes as a choice. */
static const char *json_key(const struct pd_attr *a, const char *name)
{
	if (!strncmp(name, "{ sample_period", 15))
		return a->flags & PD_ATTR_FREQ ? "sample_freq" : "sample_period";
	if (!strncmp(name, "{ wakeup", 8))
		return a->flags & PD_ATTR_WATERMARK ? "wakeup_watermark" : "wakeup_events";
	if (!strncmp(name, "{ bp_addr", 9))
		return a->type == PERF_TYPE_BREAKPOINT ? "bp_addr" : "config1";
	if (!strncmp(name, "{ bp_len", 8))
		return a->type == PERF_TYPE_BREAKPOINT ? "bp_len" : "config2";
	return name;
}

struct json_attr {
	const struct pd_attr *attr;
	json_t *object;
	int rc;
};

static void add_field(void *arg, const struct attr_text_field *f)
{
	struct json_attr *j = arg;
	json_t *value = f->bits ? json_string(f->text) : json_count(f->value);

	if (!j->rc && json_object_set_new(j->object, json_key(j->attr, f->name), value))
		j->rc = -ENOMEM;
}

static int add_attr(json_t *object, const struct pd_attr *attr)
{
	struct json_attr j = {.attr = attr, .object = json_object()};

	if (json_object_set_new(object, "attr", j.object))
		return -ENOMEM;
	json_object_set_new(j.object, "type", json_count(attr->type));
	json_object_set_new(j.object, "config", json_count(attr->config));
	attr_text_each(attr, add_field, &j);
	return j.rc;
}

static int add_ids(json_t *object, const struct pd_evsel *e)
{
	json_t *ids = json_array();
	int rc = json_object_set_new(object, "ids", ids);

	for (size_t i = 0; !rc && i < e->nr_ids; i++)
		rc = json_array_append_new(ids, json_count(e->ids[i]));
	return rc ? -ENOMEM : 0;
}

static int add_trace_fields(json_t *object, const struct trace *t, const struct pd_evsel *e)
{
	json_t *fields;
	const char *name;
	int rc;

	if (!is_tracepoint(e) || !t->tracing)
		return 0;
	fields = json_array();
	rc = json_object_set_new(object, "trace_fields", fields);
	for (size_t i = 0; !rc && (name = tracing_field_name(t->tracing, e, i)); i++)
		rc = json_array_append_new(fields, json_name(name));
	return rc ? -ENOMEM : 0;
}

/* Returns NULL when memory is short. */
static json_t *event_json(const struct trace *t, const struct pd_evsel *e)
{
	json_t *object = json_object();

	if (json_object_set_new(object, "name", json_name(e->name)) ||
	    json_object_set_new(object, "leader",
				json_name(pd_evlist_at(t->evlist, e->leader)->name)) ||
	    add_ids(object, e) || add_attr(object, &e->attr) || add_trace_fields(object, t, e)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static int write_json(const struct trace *t)
{
	json_t *doc = json_object(), *events = json_array();
	int rc = json_object_set_new(doc, "events", events);

	for (size_t i = 0; !rc && i < pd_evlist_recorded(t->evlist); i++)
		rc = json_array_append_new(events, event_json(t, pd_evlist_at(t->evlist, i)));
	if (rc) {
		json_decref(doc);
		doc = NULL;
	}
	return json_write(stdout, doc);
}

static int show(void *args, struct trace *t)
{
	const struct evlist_args *a = args;
	int rc = 0;

	if (a->json)
		rc = write_json(t);
	else
		put_all(a, t);
	if (rc == -ENOMEM)
		complain("%s: %s", t->opts.path, strerror(-rc));
	return rc;
}

int cmd_evlist(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show the events of a recording.",
		.children = children,
	};
	struct evlist_args a = {0};

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	return command_run(&a.input, show, &a);
}
