// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "render/json.h"
#include "render/latency/durations.h"
#include "render/latency/latency.h"

/* Adds @value, which it takes over, unless memory ran out before. */
static void put(json_t **object, const char *key, json_t *value)
{
	if (*object && value && !json_object_set_new(*object, key, value))
		return;
	json_decref(*object);
	*object = NULL;
}

static void push(json_t **array, json_t *value)
{
	if (*array && value && !json_array_append_new(*array, value))
		return;
	json_decref(*array);
	*array = NULL;
}

static json_t *number_or_null(uint32_t n)
{
	return n == UINT32_MAX ? json_null() : json_integer(n);
}

static json_t *node_json(const struct call_latency *l, const struct call_tree *t, uint32_t node)
{
	const struct call_node *n = &t->nodes[node];
	const struct function *f = &l->functions.list[n->function];
	json_t *o = json_object(), *callees = json_array();
	uint32_t *children;
	int64_t nr = call_tree_children(t, node, &children);

	put(&o, "function", json_name(f->name));
	put(&o, "dso", f->dso ? json_name(f->dso->name) : json_null());
	put(&o, "calls", json_count(n->calls));
	put(&o, "total_ns", json_count(n->total));
	put(&o, "self_ns", json_count(call_node_self(n)));
	put(&o, "longest_ns", json_count(n->longest));
	put(&o, "ends_not_seen", json_count(n->unsure));
	for (int64_t i = 0; i < nr; i++)
		push(&callees, node_json(l, t, children[i]));
	if (nr < 0) {
		json_decref(callees);
		callees = NULL;
	}
	put(&o, "callees", callees);
	free(children);
	return o;
}

static json_t *call_json(const struct call_latency *l, const struct latency_call *c)
{
	json_t *o = json_object();

	put(&o, "time_ns", json_count(c->time));
	put(&o, "duration_ns", json_count(c->ns));
	put(&o, "comm", c->comm ? json_name(c->comm) : json_null());
	put(&o, "pid", number_or_null(c->pid));
	put(&o, "tid", number_or_null(c->tid));
	put(&o, "cpu", number_or_null(c->cpu));
	put(&o, "end_cpu", number_or_null(c->end_cpu));
	put(&o, "branches", json_count(c->branches));
	put(&o, "calls_left_out", json_count(c->tree.left_out));
	put(&o, "tree", node_json(l, &c->tree, 0));
	return o;
}

static json_t *function_json(const struct call_latency *l, struct latency_function *f)
{
	json_t *o = json_object(), *slowest = json_array();

	put(&o, "function", json_name(f->name));
	put(&o, "dso", f->dso ? json_name(f->dso->name) : json_null());
	put(&o, "calls", json_count(f->ns.count));
	put(&o, "recursive", json_count(f->recursive));
	put(&o, "skipped", json_count(f->skipped));
	put(&o, "below_step", json_count(f->below));
	put(&o, "began_before", json_count(f->begun_before));
	put(&o, "lost", json_count(f->lost));
	put(&o, "not_ended", json_count(f->unended));
	put(&o, "without_times", json_count(f->untimed));
	put(&o, "ns", durations_json(&f->ns));
	put(&o, "outer_ns", json_count(f->outer));
	put(&o, "outer_self_ns", json_count(f->outer_self));
	put(&o, "histogram", durations_histogram_json(&f->ns, "calls"));
	for (size_t i = 0; i < f->slowest.nr; i++)
		push(&slowest, call_json(l, &f->slowest.calls[i]));
	put(&o, "slowest", slowest);
	return o;
}

json_t *latency_json(struct call_latency *l)
{
	json_t *o = json_object(), *functions = json_array();

	put(&o, "step_ns", json_count(l->step));
	for (size_t i = 0; i < l->nr_wanted; i++)
		push(&functions, function_json(l, &l->wanted[i]));
	put(&o, "functions", functions);
	return o;
}
