// SPDX-License-Identifier: Apache-2.0
#include "report/table/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define STAGES	PERF_SAMPLE_WEIGHT_STRUCT
#define TIMES	PERF_SAMPLE_TIME
#define STACKS	PERF_SAMPLE_BRANCH_STACK

static uint64_t overhead(const struct hist *h, const struct hist_entry *e)
{
	return e->self;
}

static uint64_t children(const struct hist *h, const struct hist_entry *e)
{
	return e->children;
}

static uint64_t samples(const struct hist *h, const struct hist_entry *e)
{
	return e->samples;
}

#define MORE(name, which)                                                      \
	static uint64_t name(const struct hist *h, const struct hist_entry *e) \
	{                                                                      \
		return hist_more(h, e, which);                                 \
	}

MORE(sys, HIST_SYS)
MORE(us, HIST_US)
MORE(guest_sys, HIST_GUEST_SYS)
MORE(guest_us, HIST_GUEST_US)
MORE(weight1, HIST_WEIGHT1)
MORE(weight2, HIST_WEIGHT2)
MORE(weight3, HIST_WEIGHT3)
MORE(latency, HIST_LATENCY)
MORE(latency_children, HIST_LATENCY_CHILDREN)
MORE(branches, HIST_BRANCHES)
MORE(branches_known, HIST_BRANCHES_KNOWN)
MORE(branches_predicted, HIST_BRANCHES_PREDICTED)
MORE(branches_aborted, HIST_BRANCHES_ABORTED)
MORE(branch_cycles, HIST_BRANCH_CYCLES)

/* Names, headings and widths are those of perf. */
// clang-format off
static const struct field fields[] = {
	{"overhead",           "Overhead",  8,  FIELD_PERCENT, 0, false, false, false, overhead},
	{"overhead_sys",       "sys",       8,  FIELD_PERCENT, 0, true,  false, false, sys},
	{"overhead_us",        "usr",       8,  FIELD_PERCENT, 0, true,  false, false, us},
	{"overhead_guest_sys", "guest sys", 9,  FIELD_PERCENT, 0, true,  false, false, guest_sys},
	{"overhead_guest_us",  "guest usr", 9,  FIELD_PERCENT, 0, true,  false, false, guest_us},
	{"overhead_children",  "Children",  8,  FIELD_PERCENT, 0, false, false, true,  children},
	{"sample",             "Samples",   12, FIELD_COUNT,   0, false, false, false, samples},
	{"period",             "Period",    12, FIELD_COUNT,   0, false, false, false, overhead},
	{"weight1",            "Weight1",   8,  FIELD_AVERAGE, WEIGHTS, true,  true,  false, weight1, .of = samples},
	{"weight2",            "Weight2",   8,  FIELD_AVERAGE, STAGES,  true,  true,  false, weight2, .of = samples},
	{"weight3",            "Weight3",   8,  FIELD_AVERAGE, STAGES,  true,  true,  false, weight3, .of = samples},
	{"latency",            "Latency",   8,  FIELD_LATENCY, TIMES, true,  true,  false, latency},
	{"latency_children",   "Latency",   7,  FIELD_LATENCY, TIMES, true,  true,  true,  latency_children},
	/* Ours: of waits, and of samples of a clock. */
	{"elapsed",            "Elapsed",   13, FIELD_TIME,    0, false, false, false, overhead},
	{"callchain_branch_predicted", "Predicted", 9, FIELD_SHARE, STACKS, true, true, false, branches_predicted, .of = branches_known, .of_history = true},
	{"callchain_branch_abort", "Abort", 5, FIELD_COUNT,    STACKS, true, true, false, branches_aborted, .of_history = true},
	{"callchain_branch_cycles", "Cycles", 6, FIELD_AVERAGE, STACKS, true, true, false, branch_cycles, .of = branches, .of_history = true},
};
// clang-format on

enum { OVERHEAD = 0, CHILDREN = 5, SAMPLES = 6, PERIOD = 7, LATENCY = 11, LATENCY_CHILDREN };

double field_ratio(const struct field *f, const struct hist *h, const struct hist_entry *e)
{
	uint64_t of = e ? f->of(h, e) : 0;

	if (!of)
		return f->kind == FIELD_SHARE ? NAN : 0;
	return (f->kind == FIELD_SHARE ? 100.0 : 1.0) * (double)f->value(h, e) / (double)of;
}

const struct field *field_at(size_t index)
{
	return index < sizeof(fields) / sizeof(fields[0]) ? &fields[index] : NULL;
}

static bool is_name(const char *known, const char *name, size_t len)
{
	return !strncmp(known, name, len) && !known[len];
}

/* perf's other names for weights. */
static const struct {
	const char *alias, *name;
} aliases[] = {{"ins_lat", "weight2"}, {"p_stage_cyc", "weight3"}, {"retire_lat", "weight3"}};

const struct field *field_find(const char *name, size_t len)
{
	const struct field *f;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (is_name(aliases[i].alias, name, len))
			return field_find(aliases[i].name, strlen(aliases[i].name));
	for (size_t i = 0; (f = field_at(i)); i++)
		if (is_name(f->name, name, len))
			return f;
	return NULL;
}

static bool same_column(const struct column *a, const struct column *b)
{
	return a->key == b->key && a->field == b->field;
}

static bool is_in(const struct column *list, size_t nr, const struct column *c)
{
	for (size_t i = 0; i < nr; i++)
		if (same_column(&list[i], c))
			return true;
	return false;
}

/* All columns together are fewer than COLUMNS_MAX: keys are SORT_KEYS_MAX at most. */
static void add(struct column *list, size_t *nr, struct column c)
{
	if (*nr < COLUMNS_MAX && !is_in(list, *nr, &c))
		list[(*nr)++] = c;
}

static void add_field(struct column *list, size_t *nr, size_t which)
{
	add(list, nr, (struct column){.field = &fields[which]});
}

static int unknown_column(const char *what, const char *name, size_t len, struct error *err)
{
	const char *others[sizeof(fields) / sizeof(*fields) + 1] = {0};
	const struct field *f;

	for (size_t i = 0; (f = field_at(i)); i++)
		others[i] = f->name;
	return sort_key_unknown(what, name, len, others, err);
}

#define SORT_KEY "sort key"
#define FIELD	 "field"

/*
 * Parses @list behind the @nr columns of @ret. In a list of fields a name is that of a field first,
 * and one that is given twice counts once, as in perf. Returns the number of columns, or -EINVAL.
 */
static int parse(const char *list, const char *what, struct trace_fields *traces,
		 struct column *ret, size_t nr, struct error *err)
{
	const bool of_fields = !strcmp(what, FIELD);

	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ", ");
		struct column c = {.key = of_fields && field_find(s, len) ? NULL
									  : sort_key_find(s, len)};

		if (!c.key)
			c.field = field_find(s, len);
		if (!c.key && !c.field && trace_fields_get(traces, s, len, &c.key) < 0)
			return unknown_column(what, s, len, err);
		if (!of_fields && is_in(ret, nr, &c))
			return error_set(err, -EINVAL, "%s '%s' is given twice", what,
					 c.key ? c.key->name : c.field->name);
		if (nr == COLUMNS_MAX && !is_in(ret, nr, &c))
			return error_set(err, -EINVAL, "more than %d columns", COLUMNS_MAX);
		add(ret, &nr, c);
		s += len;
		if (!*s)
			return (int)nr;
	}
}

int columns_parse_sort(struct columns_spec *spec, const char *list, struct error *err)
{
	bool plus = *list == '+';
	int n = parse(list + plus, SORT_KEY, &spec->traces, spec->sort, plus ? spec->nr_sort : 0,
		      err);

	if (n < 0)
		return n;
	spec->nr_sort = (size_t)n;
	spec->sorted = true;
	return 0;
}

int columns_parse_fields(struct columns_spec *spec, const char *list, struct error *err)
{
	bool plus = *list == '+';
	int n = parse(list + plus, FIELD, &spec->traces, spec->fields, plus ? spec->nr_fields : 0,
		      err);

	if (n < 0)
		return n;
	spec->nr_fields = (size_t)n;
	spec->strict = !plus;
	return 0;
}

/* A list while its columns are resolved. */
struct resolution {
	struct column list[COLUMNS_MAX];
	size_t nr;
};

static int add_resolved(const struct sort_key *key, void *arg)
{
	struct resolution *r = arg;
	const struct column c = {.key = key};

	if (r->nr == COLUMNS_MAX && !is_in(r->list, r->nr, &c))
		return -E2BIG;
	add(r->list, &r->nr, c);
	return 0;
}

static int resolve(struct columns_spec *spec, const char *what, struct column *list, size_t *nr,
		   const struct trace *t, struct error *err)
{
	struct resolution r = {.nr = 0};
	int rc = 0;

	for (size_t i = 0; !rc && i < *nr; i++) {
		const struct sort_key *key = list[i].key;

		if (!key || !key->field) {
			add(r.list, &r.nr, list[i]);
			continue;
		}
		rc = trace_fields_resolve(&spec->traces, key, t, what, add_resolved, &r, err);
		if (rc == -ESRCH)
			return unknown_column(what, key->name, strlen(key->name), err);
		if (rc == -E2BIG)
			return error_set(err, rc, "%s '%s': more than %d columns", what, key->name,
					 COLUMNS_MAX);
	}
	memcpy(list, r.list, r.nr * sizeof(*list));
	*nr = r.nr;
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

int columns_resolve(struct columns_spec *spec, const struct trace *t, struct error *err)
{
	int rc = resolve(spec, SORT_KEY, spec->sort, &spec->nr_sort, t, err);

	return rc ?: resolve(spec, FIELD, spec->fields, &spec->nr_fields, t, err);
}

void columns_release(struct columns_spec *spec)
{
	trace_fields_release(&spec->traces);
}

void columns_of_event(const struct columns *c, const struct trace *t, const struct pd_evsel *evsel,
		      struct columns *ret)
{
	*ret = *c;
	ret->nr_shown = 0;
	for (size_t i = 0; i < c->nr_shown; i++) {
		const struct sort_key *key = c->shown[i].key;

		if (!key || !key->field || trace_field_is_of(key->field, t, evsel))
			ret->shown[ret->nr_shown++] = c->shown[i];
	}
}

/* Returns whether the order has a field whose name begins with @name, as perf asks. */
static bool orders_by(const struct columns_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->nr_sort; i++)
		if (spec->sort[i].field && !strncmp(spec->sort[i].field->name, name, strlen(name)))
			return true;
	return false;
}

/* Adds a share and, where latencies are wanted, the same of latencies, in the user's order. */
static void add_shares(const struct columns_spec *spec, struct column *list, size_t *nr,
		       size_t share, size_t latency)
{
	if (spec->latency_first)
		add_field(list, nr, latency);
	add_field(list, nr, share);
	if (spec->latency)
		add_field(list, nr, latency);
}

static void add_all_shares(const struct columns_spec *spec, struct column *list, size_t *nr)
{
	if (spec->children)
		add_shares(spec, list, nr, CHILDREN, LATENCY_CHILDREN);
	add_shares(spec, list, nr, OVERHEAD, LATENCY);
}

/* As perf, shows the shares that the order names, and no others, before all keys. */
static void add_named_shares(const struct columns_spec *spec, struct columns *ret)
{
	static const size_t shares[] = {CHILDREN, LATENCY_CHILDREN, OVERHEAD, LATENCY};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		const struct column c = {.field = &fields[shares[i]]};

		if (is_in(spec->sort, spec->nr_sort, &c))
			add(ret->shown, &ret->nr_shown, c);
	}
}

static void arrange(const struct columns_spec *spec, struct columns *ret)
{
	bool shares = orders_by(spec, "overhead"), latencies = orders_by(spec, "latency");
	struct columns_spec plain = *spec;

	/* A share that the user names goes where it is named. */
	plain.latency = spec->latency && !shares && !latencies;
	ret->by_latency = spec->latency_first;
	if (!spec->strict && (spec->latency_first || (!shares && !latencies)))
		add_all_shares(&plain, ret->order, &ret->nr_order);
	for (size_t i = 0; i < spec->nr_sort && (spec->sorted || !spec->strict); i++)
		add(ret->order, &ret->nr_order, spec->sort[i]);

	if (!spec->strict && (spec->latency_first || !latencies))
		add_all_shares(&plain, ret->shown, &ret->nr_shown);
	else if (!spec->strict)
		add_named_shares(spec, ret);
	if (!spec->strict && spec->samples)
		add_field(ret->shown, &ret->nr_shown, SAMPLES);
	if (!spec->strict && spec->period)
		add_field(ret->shown, &ret->nr_shown, PERIOD);
	for (size_t i = 0; i < spec->nr_fields; i++)
		add(ret->shown, &ret->nr_shown, spec->fields[i]);
	for (size_t i = 0; i < ret->nr_order; i++)
		add(ret->shown, &ret->nr_shown, ret->order[i]);
	for (size_t i = 0; i < ret->nr_shown; i++)
		add(ret->order, &ret->nr_order, ret->shown[i]);
}

int columns_arrange(const struct columns_spec *spec, struct columns *ret,
		    const struct sort_key **ret_keys, struct error *err)
{
	int nr = 0;

	*ret = (struct columns){0};
	arrange(spec, ret);
	for (size_t i = 0; i < ret->nr_order; i++) {
		if (!ret->order[i].key)
			continue;
		if (nr == SORT_KEYS_MAX)
			return error_set(err, -EINVAL, "more than %d sort keys", SORT_KEYS_MAX);
		if (spec->children && ret->order[i].key->of_branch)
			return error_set(
				err, -EINVAL,
				"%s is of branches, which have no callers: leave out --children",
				ret->order[i].key->name);
		ret_keys[nr++] = ret->order[i].key;
	}
	return nr;
}

int columns_check(const struct columns *c, const struct pd_evlist *list, struct error *err)
{
	uint64_t has = pd_evlist_sample_type(list);

	for (size_t i = 0; pd_evlist_count(list) && i < c->nr_shown; i++) {
		const struct field *f = c->shown[i].field;

		if (f && f->needs && !(f->needs & has))
			return error_set(
				err, -EINVAL,
				"--fields %s: the samples of this recording have no such field",
				f->name);
	}
	return 0;
}

bool columns_need_more(const struct columns *c)
{
	for (size_t i = 0; i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->more)
			return true;
	return false;
}

bool columns_need_whole(const struct columns *c)
{
	for (size_t i = 0; i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->whole)
			return true;
	return false;
}

const struct field *columns_need_history(const struct columns *c)
{
	for (size_t i = 0; i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->of_history)
			return c->shown[i].field;
	return NULL;
}

bool columns_need_latency(const struct columns *c)
{
	for (size_t i = 0; i < c->nr_shown; i++)
		if (c->shown[i].field && c->shown[i].field->kind == FIELD_LATENCY)
			return true;
	return false;
}

uint64_t columns_share(const struct columns *c, bool of_children, const struct hist *h,
		       const struct hist_entry *e, uint64_t *ret_all)
{
	*ret_all = c->by_latency ? h->latency : h->period;
	if (!e)
		return 0;
	if (c->by_latency)
		return of_children ? latency_children(h, e) : latency(h, e);
	return of_children ? e->children : e->self;
}

struct column_sort {
	const struct columns *columns;
	const struct hist *h;
	const struct trace *trace;
	bool children, depth;
};

static uint64_t member_value(const struct hist *h, const struct hist_entry *e, size_t m,
			     const struct field *f)
{
	const struct hist_entry *there = hist_member_entry(h, e, m);

	return there ? f->value(hist_member(h, m), there) : 0;
}

static int compare_member(const struct column_sort *c, const struct field *f,
			  const struct hist_entry *a, const struct hist_entry *b, size_t m)
{
	uint64_t x = member_value(c->h, a, m, f), y = member_value(c->h, b, m, f);

	return x == y ? 0 : x > y ? -1 : 1;
}

/* As in perf, rows of equal sums with callees are ordered by the depth of their graphs. */
static int compare_field(const struct column_sort *c, const struct field *f,
			 const struct hist_entry *a, const struct hist_entry *b)
{
	size_t first;
	int rc;

	if ((f->children && !c->children) || f->of_history)
		return 0;
	first = c->columns->first_member < hist_members(c->h) ? c->columns->first_member : 0;
	rc = compare_member(c, f, a, b, first);
	for (size_t m = 1; !rc && m < hist_members(c->h); m++)
		rc = compare_member(c, f, a, b, m);
	if (rc)
		return rc;
	if (f == &fields[CHILDREN] && c->depth && a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	return 0;
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct hist_entry *a = pa, *b = pb;
	const struct column_sort *c = arg;
	size_t k = 0;

	for (size_t i = 0; i < c->columns->nr_order; i++) {
		const struct column *by = &c->columns->order[i];
		int rc;

		if (by->key && (k == c->h->nr_keys || by->key != c->h->keys[k]))
			continue;
		if (by->key) {
			rc = by->key->compare(c->trace, hist_cells(c->h, a)[k],
					      hist_cells(c->h, b)[k]);
			k++;
		} else {
			rc = compare_field(c, by->field, a, b);
		}
		if (rc)
			return rc;
	}
	return 0;
}

int columns_compare(const struct columns *c, const struct hist *h, const struct trace *t,
		    const struct hist_entry *a, const struct hist_entry *b)
{
	struct column_sort sort = {.columns = c, .h = h, .trace = t};

	return compare_rows(a, b, &sort);
}

int columns_sort(const struct columns *c, struct hist *h, const struct trace *t, bool children,
		 bool depth)
{
	struct column_sort context = {
		.columns = c, .h = h, .trace = t, .children = children, .depth = depth};

	return hist_sort_by(h, compare_rows, &context);
}
