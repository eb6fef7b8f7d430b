// SPDX-License-Identifier: Apache-2.0
#include "render/json.h"

#include <errno.h>
#include <math.h>

#include "render/table_blocks.h"
#include "render/text.h"

json_t *json_name(const char *s)
{
	struct buf b = {0};
	json_t *ret = NULL;

	if (text_escape(&b, s) == 0)
		ret = json_stringn(b.len ? (const char *)b.data : "", b.len);
	buf_release(&b);
	return ret;
}

json_t *json_count(uint64_t n)
{
	return n <= INT64_MAX ? json_integer((json_int_t)n) : json_real((double)n);
}

json_t *json_number_or_null(uint32_t n)
{
	return n == UINT32_MAX ? json_null() : json_integer(n);
}

void json_put(json_t **object, const char *key, json_t *value)
{
	if (value && !json_object_set_new(*object, key, value)) /* frees @value where it fails */
		return;
	json_decref(*object);
	*object = NULL;
}

void json_push(json_t **array, json_t *value)
{
	if (value && !json_array_append_new(*array, value))
		return;
	json_decref(*array);
	*array = NULL;
}

static int put(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new(object, key, value) == 0 ? 0 : -ENOMEM;
}

static int put_loss(json_t *o, const struct trace_loss *l, const struct trace_loss *all)
{
	if (put(o, "lost", json_count(trace_loss_total(l, all))) ||
	    put(o, "lost_in_rings", json_count(trace_loss_rings(l, all))) ||
	    put(o, "lost_in_pmu", json_count(l->pmu)) ||
	    put(o, "lost_in_recorder", json_count(l->pool)) ||
	    put(o, "lost_in_output", json_count(l->output)) ||
	    put(o, "throttled", json_count(l->throttled)))
		return -ENOMEM;
	return 0;
}

static json_t *event_stats(const struct pd_evsel *evsel, const struct trace_event_counts *c,
			   const struct trace_loss *all)
{
	json_t *o = json_object();

	if (!o || put(o, "name", json_name(evsel->name)) ||
	    put(o, "samples", json_count(c->samples)) || put_loss(o, &c->loss, all)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *cpu_stats(const struct trace_cpu_loss *c, const struct trace_loss *all)
{
	json_t *o = json_object();

	if (!o || put(o, "cpu", json_integer(c->cpu == UINT32_MAX ? -1 : (json_int_t)c->cpu)) ||
	    put_loss(o, &c->loss, all)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *type_counts(const struct trace_counts *c)
{
	json_t *o = json_object();

	for (uint32_t i = 0; o && i < TRACE_TYPES; i++) {
		const char *name = i + 1 < TRACE_TYPES ? pd_record_name(i) : NULL;
		char number[16];

		if (!c->by_type[i])
			continue;
		snprintf(number, sizeof(number), i + 1 < TRACE_TYPES ? "%u" : "other", i);
		if (put(o, name ? name : number, json_count(c->by_type[i]))) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

json_t *json_stats(const struct trace *t)
{
	const struct trace_counts *c = &t->counts;
	json_t *o = json_object(), *events = json_array(), *cpus = json_array();
	int rc = o && events && cpus ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < c->nr_events; i++)
		rc = json_array_append_new(
			events, event_stats(pd_evlist_at(t->evlist, i), &c->by_event[i], &c->loss));
	for (size_t i = 0; !rc && i < c->nr_cpus; i++)
		rc = json_array_append_new(cpus, cpu_stats(&c->by_cpu[i], &c->loss));
	if (rc || put(o, "records", json_count(c->records)) ||
	    put(o, "samples", json_count(c->samples)) || put_loss(o, &c->loss, &c->loss) ||
	    put(o, "first_time", json_count(c->first_time)) ||
	    put(o, "last_time", json_count(c->last_time)) || put(o, "types", type_counts(c)) ||
	    put(o, "events", json_incref(events)) || put(o, "cpus_with_loss", json_incref(cpus))) {
		json_decref(o);
		o = NULL;
	}
	json_decref(events);
	json_decref(cpus);
	return o;
}

/* Parallel stacks of a walk over a call tree, in place of recursion. */
struct tree_walk {
	const struct callgraph *g;
	uint64_t least;
};

static json_t *node_json(const struct callgraph_node *n)
{
	json_t *o = json_object();
	char addr[24], level[2] = {frame_level(n->cpumode), '\0'};

	snprintf(addr, sizeof(addr), "0x%llx",
		 (unsigned long long)(n->at_line ? n->sym->start : n->addr));
	if (!o || put(o, "symbol", n->sym ? json_name(n->sym->name) : json_null()) ||
	    put(o, "address", json_string(addr)) ||
	    put(o, "dso", n->dso ? json_name(n->dso->name) : json_null()) ||
	    put(o, "level", json_string(level)) || put(o, "period", json_count(n->total)) ||
	    put(o, "self", json_count(n->self)) || put(o, "samples", json_count(n->samples)) ||
	    (n->sym && symbol_is_inlined(n->sym) && put(o, "inlined", json_true())) ||
	    (n->at_line && put(o, "srcline", json_name((const char *)(uintptr_t)n->addr)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Adds the branches at a node of a graph with branch histories. */
static int put_branches(json_t *o, const struct callgraph_branches *b)
{
	if (b && b->to &&
	    (put(o, "branches_to", json_count(b->to)) ||
	     put(o, "predicted", b->known ? json_count(b->predicted) : json_null()) ||
	     put(o, "aborted", json_count(b->aborted))))
		return -ENOMEM;
	if (b && b->from &&
	    (put(o, "branches_from", json_count(b->from)) ||
	     put(o, "cycles", json_count(b->cycles)) ||
	     put(o, "iterations", json_count(b->iterations)) ||
	     put(o, "iteration_cycles", json_count(b->iteration_cycles))))
		return -ENOMEM;
	return 0;
}

/* Depth is bounded by --max-stack (at most 1024). */
static json_t *children_json(const struct tree_walk *w, uint32_t node)
{
	json_t *list = json_array();

	for (uint32_t c = w->g->node[node].child; list && c != CALLGRAPH_NONE;
	     c = w->g->node[c].sibling) {
		const struct callgraph_node *n = &w->g->node[c];
		json_t *o;

		if (n->total < w->least)
			break;
		o = node_json(n);
		if (!o || put_branches(o, callgraph_branches(w->g, c)) ||
		    json_array_append_new(list, o) ||
		    (n->child != CALLGRAPH_NONE && put(o, "children", children_json(w, c)))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *json_callgraph(const struct callgraph *g, uint32_t root)
{
	const struct tree_walk w = {.g = g};

	return root == CALLGRAPH_NONE ? json_array() : children_json(&w, root);
}

static int put_callgraph(json_t *o, struct report *r, size_t index, const struct hist_entry *e,
			 const struct table_opts *opts)
{
	uint64_t all = r->tables.hists[index].period;
	const struct callers_bounds bounds = {.percent = opts->graph_percent, .all = all};
	struct tree_walk w = {.least = (uint64_t)((double)all * opts->graph_percent / 100.0)};
	uint32_t root;
	int rc = report_tree(r, index, e, &bounds, &w.g, &root);

	if (rc < 0 || root == CALLGRAPH_NONE)
		return rc;
	return put(o, "callgraph", children_json(&w, root));
}

static json_t *field_json(const struct field *f, const struct hist *h, const struct hist_entry *e)
{
	uint64_t value = f->value(h, e), all = h->period;

	if (f->kind == FIELD_COUNT || f->kind == FIELD_TIME)
		return json_count(value);
	if (f->kind == FIELD_SHARE && isnan(field_ratio(f, h, e)))
		return json_null();
	if (f->kind == FIELD_AVERAGE || f->kind == FIELD_SHARE)
		return json_real(field_ratio(f, h, e));
	if (f->kind == FIELD_LATENCY)
		all = h->latency;
	return json_real(100.0 * (double)value / (double)(all ? all : 1));
}

/* Adds the fields that not every row has. */
static int put_fields(json_t *o, struct report *r, const struct hist *h, const struct hist_entry *e)
{
	const struct columns *c = r->columns;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->more)
			rc = put(o, c->shown[i].field->name, field_json(c->shown[i].field, h, e));
	return rc;
}

static int put_sums(json_t *o, struct report *r, const struct hist *h, const struct hist_entry *e);

/* Adds the sums of the other events of a group; an empty object: none there. */
static int put_members(json_t *o, struct report *r, const struct hist *h,
		       const struct hist_entry *e)
{
	json_t *list = json_array();
	int rc = list ? 0 : -ENOMEM;

	for (size_t m = 1; !rc && m < hist_members(h); m++) {
		const struct hist_entry *there = hist_member_entry(h, e, m);
		json_t *sums = json_object();

		rc = sums && there ? put_sums(sums, r, hist_member(h, m), there) : 0;
		rc = json_array_append_new(list, sums) ? -ENOMEM : rc;
	}
	if (!rc && hist_members(h) > 1)
		return put(o, "members", list);
	json_decref(list);
	return rc;
}

/* Adds the sums of row @e of @h. */
static int put_sums(json_t *o, struct report *r, const struct hist *h, const struct hist_entry *e)
{
	double all = h->period ? (double)h->period : 1;
	int rc = 0;

	if (r->opts->children)
		rc = put(o, "children_percent", json_real(100.0 * (double)e->children / all))
			     ?: put(o, "children_period", json_count(e->children));
	if (!rc)
		rc = put(o, "percent", json_real(100.0 * (double)e->self / all)) ?:
		     put(o, "period", json_count(e->self)) ?:
		     put(o, "samples", json_count(e->samples));
	return rc ?: put_fields(o, r, h, e) ?: put_members(o, r, h, e);
}

/* Returns whether some event with samples in row @e has the field of a tracepoint. */
static bool has_field(const struct report *r, const struct hist *h, const struct hist_entry *e,
		      const struct trace_field *field)
{
	for (size_t m = 0; m < hist_members(h); m++) {
		const struct hist_entry *there = hist_member_entry(h, e, m);
		size_t event = (size_t)(hist_member(h, m) - r->tables.hists);

		if (there && there->samples &&
		    trace_field_is_of(field, r->trace, pd_evlist_at(r->trace->evlist, event)))
			return true;
	}
	return false;
}

/* Adds the text of key @k, unless it is a field that no event of the row has. */
static int put_key(json_t *o, struct report *r, const struct hist *h, const struct hist_entry *e,
		   size_t k)
{
	const struct trace_field *field = h->keys[k]->field;
	struct buf text = {0};
	int rc;

	if (field && hist_members(h) > 1 && !has_field(r, h, e, field))
		return 0;
	rc = h->keys[k]->text(r->trace, hist_cells(h, e)[k], &text) ?: buf_zero(&text, 1);

	if (!rc)
		rc = put(o, h->keys[k]->name, json_name((const char *)text.data));
	buf_release(&text);
	return rc;
}

static json_t *row_json(struct report *r, size_t index, const struct hist_entry *e,
			const struct table_opts *opts)
{
	const struct hist *h = &r->tables.hists[index];
	json_t *o = json_object();
	int rc = o ? put_sums(o, r, h, e) : -ENOMEM;

	for (size_t k = 0; !rc && k < h->nr_keys; k++)
		rc = put_key(o, r, h, e, k);
	if (!rc)
		rc = put_callgraph(o, r, index, e, opts);
	if (rc) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static bool is_wanted(const struct report *r, const struct hist *h, const struct hist_entry *e,
		      const struct table_opts *opts)
{
	for (size_t m = 0; m < hist_members(h); m++) {
		const struct hist_entry *there = hist_member_entry(h, e, m);
		uint64_t all;
		uint64_t share = columns_share(r->columns, r->opts->children, hist_member(h, m),
					       there, &all);

		if (100.0 * (double)share >= opts->percent_limit * (double)all)
			return true;
	}
	return false;
}

/*
 * Makes a row of @level with all below it, from row *@i of the event on, and moves *@i behind its
 * rows. Recursion is as deep as there are keys.
 */
static json_t *nest_json(struct report *r, size_t index, size_t *i, size_t level,
			 const struct table_opts *opts)
{
	const struct hist *h = &r->tables.hists[index];
	const struct hierarchy *y = &r->tables.nests[index];
	const struct hist_entry *e = &h->entry[*i], *nest = hierarchy_row(y, e, level);
	json_t *o = json_object(), *rows = NULL;
	int rc = o ? put_sums(o, r, hierarchy_level(y, level), nest) : -ENOMEM;

	rc = rc ?: put_key(o, r, h, e, level);
	if (!rc && level + 1 == y->nr_levels) {
		rc = put_callgraph(o, r, index, e, opts);
		++*i;
	} else if (!rc) {
		rows = json_array();
		rc = put(o, "rows", rows);
		while (!rc && *i < h->nr && hierarchy_row(y, &h->entry[*i], level) == nest) {
			const struct hist_entry *row = hierarchy_row(y, &h->entry[*i], level + 1);
			json_t *below = nest_json(r, index, i, level + 1, opts);

			if (!below)
				rc = -ENOMEM;
			else if (is_wanted(r, hierarchy_level(y, level + 1), row, opts))
				rc = json_array_append(rows, below) ? -ENOMEM : 0;
			json_decref(below);
		}
	}
	if (rc) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Writes @before, then @value, and frees @value. Returns 0, -ENOMEM or -EIO. */
static int put_part(FILE *out, const char *before, json_t *value, size_t layout)
{
	int rc;

	if (!value)
		return -ENOMEM;
	fputs(before, out);
	rc = json_dumpf(value, out, layout | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	json_decref(value);
	return rc ? -EIO : 0;
}

static int put_line(FILE *out, const char *before, json_t *value)
{
	return put_part(out, before, value, JSON_COMPACT);
}

/* Writes the rows; only one, with those nested in it, is in memory at a time. */
static int put_rows(FILE *out, struct report *r, size_t index, const struct table_opts *opts)
{
	const struct hist *h = &r->tables.hists[index];
	const struct hierarchy *y = &r->tables.nests[index];
	bool first = true;
	int rc = 0;

	for (size_t i = 0; !rc && i < h->nr;) {
		const struct hist_entry *e = &h->entry[i];
		const struct hist *of = r->opts->nested ? hierarchy_level(y, 0) : h;
		const struct hist_entry *row = r->opts->nested ? hierarchy_row(y, e, 0) : e;
		bool wanted = is_wanted(r, of, row, opts);
		json_t *o;

		if (!r->opts->nested && !wanted) {
			i++;
			continue;
		}
		o = r->opts->nested ? nest_json(r, index, &i, 0, opts)
				    : row_json(r, index, &h->entry[i++], opts);
		if (!wanted && o) {
			json_decref(o);
			continue;
		}
		rc = put_line(out, first ? "\n    " : ",\n    ", o);
		first = false;
	}
	return rc;
}

json_t *json_verdict(const struct report *r, size_t index)
{
	json_t *list = json_array();
	struct verdict_list v;

	report_judge(r, index, &v);
	for (size_t i = 0; list && i < v.nr; i++) {
		const struct verdict_line *line = &v.line[i];
		json_t *o = json_object();

		if (!o || put(o, "about", json_string(verdict_about_name(line->about))) ||
		    put(o, "grave", json_boolean(line->grave)) ||
		    put(o, "percent", json_real(line->percent)) ||
		    put(o, "text", json_name(line->text)) ||
		    put(o, "remedy", *line->remedy ? json_string(line->remedy) : json_null()) ||
		    json_array_append(list, o)) {
			json_decref(list);
			list = NULL;
		}
		json_decref(o);
	}
	return list;
}

/* Writes the other events of a group. */
static int put_group(FILE *out, struct report *r, const struct hist *h)
{
	int rc = 0;

	for (size_t m = 1; !rc && m < hist_members(h); m++) {
		const struct hist *member = hist_member(h, m);
		size_t event = (size_t)(member - r->tables.hists);

		fputs(m > 1 ? ", " : ",\n   \"members\": [", out);
		rc = put_line(out, "{\"event\": ",
			      json_name(pd_evlist_at(r->trace->evlist, event)->name)) ?:
		     put_line(out, ", \"samples\": ", json_count(member->samples)) ?:
		     put_line(out, ", \"period\": ", json_count(member->period));
		fputs(m + 1 < hist_members(h) ? "}" : "}]", out);
	}
	return rc;
}

static bool has_samples(const struct hist *h)
{
	for (size_t m = 0; m < hist_members(h); m++)
		if (hist_member(h, m)->samples)
			return !h->is_member;
	return false;
}

static int put_event(FILE *out, struct report *r, size_t index, const struct table_opts *opts)
{
	const struct hist *h = &r->tables.hists[index];
	int rc = put_line(out,
			  "{\"event\": ", json_name(pd_evlist_at(r->trace->evlist, index)->name));

	if (!rc)
		rc = put_line(out, ", \"samples\": ", json_count(h->samples));
	if (!rc)
		rc = put_line(out, ", \"period\": ", json_count(h->period));
	if (!rc)
		rc = put_line(out, ",\n   \"verdict\": ", json_verdict(r, index));
	if (rc)
		return rc;
	rc = put_group(out, r, h);
	if (rc)
		return rc;
	if (r->opts->total_cycles)
		rc = put_line(out,
			      ",\n   \"cycles\": ", json_count(r->tables.blocks[index].all.cycles));
	fputs(",\n   \"rows\": [", out);
	if (!rc)
		rc = r->opts->total_cycles ? blocks_json(out, r, index, opts)
					   : put_rows(out, r, index, opts);
	fputs("]}", out);
	return rc;
}

json_t *waits_counts_json(const struct waits_counts *counts)
{
	const struct pairing_counts *p = &counts->pairing;
	const struct {
		const char *name;
		uint64_t n;
	} numbers[] = {
		{"waits", p->waits},
		{"not_ended", p->open},
		{"began_before", p->begun_before},
		{"began_before_ns", p->begun_before_ns},
		{"begins_missing", p->unbegun},
		{"ends_missing", p->unended},
		{"over_losses", p->unsure},
		{"over_losses_ns", p->unsure_ns},
	};
	json_t *o = json_object();
	int rc = o ? put(o, "wakeups_recorded", json_boolean(counts->wakeups)) : -ENOMEM;

	for (size_t i = 0; !rc && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rc = put(o, numbers[i].name, json_count(numbers[i].n));
	if (rc) {
		json_decref(o);
		return NULL;
	}
	return o;
}

int json_report(FILE *out, struct report *r, json_t *header, const struct table_opts *opts)
{
	bool first = true;
	int rc = 0;

	fputs("{\n", out);
	if (header) {
		rc = put_part(out, " \"header\": ", header, JSON_INDENT(1));
		fputs(",\n", out);
	}
	if (!rc)
		rc = put_part(out, " \"stats\": ", json_stats(r->trace), JSON_INDENT(1));
	if (!rc && r->opts->waits) {
		fputs(",\n", out);
		rc = put_part(out, " \"waits\": ", waits_counts_json(&r->waits), JSON_INDENT(1));
	}
	fputs(",\n \"tables\": [", out);
	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		if (!has_samples(&r->tables.hists[i]))
			continue;
		fputs(first ? "\n  " : ",\n  ", out);
		first = false;
		rc = put_event(out, r, i, opts);
	}
	fputs("]\n}\n", out);
	return rc;
}

int json_write(FILE *out, json_t *doc)
{
	int rc;

	if (!doc)
		return -ENOMEM;
	rc = json_dumpf(doc, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	putc('\n', out);
	json_decref(doc);
	return rc ? -EIO : 0;
}
