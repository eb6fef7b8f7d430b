// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "render/json.h"
#include "render/latency/durations.h"
#include "render/latency/latency.h"

static json_t *node_json(const struct call_latency *l, const struct call_tree *t, uint32_t node)
{
	const struct call_node *n = &t->nodes[node];
	const struct function *f = &l->functions.list[n->function];
	json_t *o = json_object(), *callees = json_array();
	uint32_t *children;
	int64_t nr = call_tree_children(t, node, &children);

	json_put(&o, "function", json_name(f->name));
	json_put(&o, "dso", f->dso ? json_name(f->dso->name) : json_null());
	json_put(&o, "calls", json_count(n->calls));
	json_put(&o, "total_ns", json_count(n->total));
	json_put(&o, "self_ns", json_count(call_node_self(n)));
	json_put(&o, "longest_ns", json_count(n->longest));
	json_put(&o, "ends_not_seen", json_count(n->unsure));
	for (int64_t i = 0; i < nr; i++)
		json_push(&callees, node_json(l, t, children[i]));
	if (nr < 0) {
		json_decref(callees);
		callees = NULL;
	}
	json_put(&o, "callees", callees);
	free(children);
	return o;
}

static json_t *call_json(const struct call_latency *l, const struct latency_call *c)
{
	json_t *o = json_object();

	json_put(&o, "time_ns", json_count(c->time));
	json_put(&o, "duration_ns", json_count(c->ns));
	json_put(&o, "comm", c->comm ? json_name(c->comm) : json_null());
	json_put(&o, "pid", json_number_or_null(c->pid));
	json_put(&o, "tid", json_number_or_null(c->tid));
	json_put(&o, "cpu", json_number_or_null(c->cpu));
	json_put(&o, "end_cpu", json_number_or_null(c->end_cpu));
	json_put(&o, "branches", json_count(c->branches));
	json_put(&o, "calls_left_out", json_count(c->tree.left_out));
	json_put(&o, "tree", node_json(l, &c->tree, 0));
	return o;
}

static json_t *function_json(const struct call_latency *l, struct latency_function *f)
{
	json_t *o = json_object(), *slowest = json_array();

	json_put(&o, "function", json_name(f->name));
	json_put(&o, "dso", f->dso ? json_name(f->dso->name) : json_null());
	json_put(&o, "calls", json_count(f->ns.count));
	json_put(&o, "recursive", json_count(f->recursive));
	json_put(&o, "skipped", json_count(f->skipped));
	json_put(&o, "below_step", json_count(f->below));
	json_put(&o, "began_before", json_count(f->begun_before));
	json_put(&o, "lost", json_count(f->lost));
	json_put(&o, "not_ended", json_count(f->unended));
	json_put(&o, "without_times", json_count(f->untimed));
	json_put(&o, "ns", durations_json(&f->ns));
	json_put(&o, "outer_ns", json_count(f->outer));
	json_put(&o, "outer_self_ns", json_count(f->outer_self));
	json_put(&o, "histogram", durations_histogram_json(&f->ns, "calls"));
	for (size_t i = 0; i < f->slowest.nr; i++)
		json_push(&slowest, call_json(l, &f->slowest.calls[i]));
	json_put(&o, "slowest", slowest);
	return o;
}

json_t *latency_json(struct call_latency *l)
{
	json_t *o = json_object(), *functions = json_array();

	json_put(&o, "step_ns", json_count(l->step));
	for (size_t i = 0; i < l->nr_wanted; i++)
		json_push(&functions, function_json(l, &l->wanted[i]));
	json_put(&o, "functions", functions);
	return o;
}
