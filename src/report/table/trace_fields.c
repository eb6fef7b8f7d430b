// SPDX-License-Identifier: Apache-2.0
#include "report/table/trace_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/keys_priv.h"

struct trace_field {
	struct sort_key key; /* its name is @name */
	struct trace_field *next;
	char *name;		      /* as given */
	char *event;		      /* NULL: any */
	char *field;		      /* "*": all */
	bool plain;		      /* the value as recorded, not as the event prints it */
	const struct pd_evsel *evsel; /* after trace_fields_resolve(), if @event is given */
};

static void field_free(struct trace_field *f)
{
	free(f->name);
	free(f->event);
	free(f->field);
	free(f);
}

void trace_fields_release(struct trace_fields *set)
{
	struct trace_field *f;

	while ((f = set->first)) {
		set->first = f->next;
		field_free(f);
	}
}

bool trace_field_is_of(const struct trace_field *f, const struct trace *t,
		       const struct pd_evsel *evsel)
{
	if (f->evsel)
		return f->evsel == evsel;
	return t->tracing && tracing_has_field(t->tracing, evsel, f->field);
}

/* a: the text; b: the number, for the order. */
static int field_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct tracing_raw raw = {
		.evsel = src->ws->evsel, .p = src->ws->s.raw, .size = src->ws->s.raw_size};
	const struct trace_field *f = src->field;
	struct buf text = {0};
	int64_t n = 0;
	int rc = 0;

	if (raw.p && trace_field_is_of(f, src->trace, raw.evsel)) {
		rc = tracing_print_field(src->trace->tracing, &raw, f->field,
					 f->plain || src->trace->opts.raw_tracing, &text);
		tracing_number(src->trace->tracing, &raw, f->field, &n);
	}
	*ret = (struct hist_cell){
		.a = (uintptr_t)strpool_intern_len(
			src->names->pool, text.len ? (const char *)text.data : "", text.len),
		.b = (uint64_t)n,
	};
	buf_release(&text);
	return rc ?: ret->a ? 0 : -ENOMEM;
}

static int field_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	const int64_t x = (int64_t)a.b, y = (int64_t)b.b;

	return x != y ? (x < y ? -1 : 1) : key_compare_strings(t, a, b);
}

/* Returns whether @name may be EVENT.FIELD: events have ':' and '%' in their names, too. */
static bool may_be_field(const char *name, size_t len)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-:.%*/";

	return len && strspn(name, chars) >= len;
}

/* Splits "EVENT.FIELD/raw". Returns 0, -EINVAL or -ENOMEM. */
static int split(struct trace_field *f)
{
	static const char prefix[] = "trace:";
	char *event = NULL, *field = strdup(f->name), *dot, *option;
	int rc = field ? 0 : -ENOMEM;

	if (rc)
		return rc;
	dot = strchr(field, '.');
	option = strchr(dot ?: field, '/');
	if (option && strcmp(option, "/raw"))
		rc = -EINVAL;
	if (option)
		*option = '\0';
	f->plain = option;
	if (dot) {
		*dot = '\0';
		event = field;
		field = strdup(dot + 1);
	} else if (!strncmp(field, prefix, sizeof(prefix) - 1)) {
		memmove(field, field + sizeof(prefix) - 1, strlen(field) - sizeof(prefix) + 2);
	}
	f->event = event;
	f->field = field;
	if (field && !event && !strcmp(field, "trace_fields"))
		strcpy(field, "*");
	else if (field && !event && !strcmp(field, "*"))
		rc = -EINVAL;
	return !field ? -ENOMEM : *field && (!event || *event) ? rc : -EINVAL;
}

static int field_new(const char *name, size_t len, struct trace_field **ret)
{
	struct trace_field *f = calloc(1, sizeof(*f));
	int rc = -ENOMEM;

	if (!f)
		return -ENOMEM;
	f->name = strndup(name, len);
	if (f->name)
		rc = split(f);
	if (rc) {
		field_free(f);
		return rc;
	}
	f->key = (struct sort_key){
		.name = f->name,
		.header = f->field,
		.right = true,
		.needs = PERF_SAMPLE_RAW,
		.is_string = true,
		.cell = field_cell,
		.text = key_string_text,
		.compare = field_compare,
		.whole = true,
		.alone = true,
		.field = f,
	};
	*ret = f;
	return 0;
}

int trace_fields_get(struct trace_fields *set, const char *name, size_t len,
		     const struct sort_key **ret)
{
	struct trace_field *f, **at = &set->first;
	int rc;

	for (; *at; at = &(*at)->next) {
		f = *at;
		if (strlen(f->name) == len && !memcmp(f->name, name, len)) {
			*ret = &f->key;
			return 0;
		}
	}
	rc = may_be_field(name, len) ? field_new(name, len, &f) : -EINVAL;
	if (!rc) {
		*at = f;
		*ret = &f->key;
	}
	return rc;
}

/* As perf: "%1" is the first event; a name with ':' is the whole name, others are a part. */
static int find_event(struct trace_field *f, const struct trace *t, const char *what,
		      struct error *err)
{
	const struct pd_evsel *found = NULL;
	size_t nr = pd_evlist_count(t->evlist), number = 0;

	if (f->event[0] == '%')
		number = strtoul(f->event + 1, NULL, 10);
	for (size_t i = 0; i < nr; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(t->evlist, i);

		if (f->event[0] == '%'	    ? i + 1 != number
		    : strchr(f->event, ':') ? !!strcmp(evsel->name, f->event)
					    : !strstr(evsel->name, f->event))
			continue;
		if (found)
			return error_set(err, -ENOENT, "%s '%s': both %s and %s are such events",
					 what, f->name, found->name, evsel->name);
		found = evsel;
	}
	if (!found || !t->tracing || !tracing_field_name(t->tracing, found, 0))
		return error_set(err, -ENOENT,
				 "%s '%s': the recording has no such tracepoint, or not its format",
				 what, f->name);
	f->evsel = found;
	return 0;
}

/* Calls @fn for the key of each field of @evsel. */
static int each_field(struct trace_fields *set, const struct trace_field *all,
		      const struct trace *t, const struct pd_evsel *evsel, trace_field_fn fn,
		      void *arg, struct error *err)
{
	const char *name;
	int rc = 0;

	for (size_t i = 0; !rc && (name = tracing_field_name(t->tracing, evsel, i)); i++) {
		const struct sort_key *key;
		char *full;

		if (asprintf(&full, "%s%s%s%s", all->event ?: "", all->event ? "." : "", name,
			     all->plain ? "/raw" : "") < 0)
			return -ENOMEM;
		rc = trace_fields_get(set, full, strlen(full), &key);
		free(full);
		if (rc == -EINVAL)
			return error_set(err, -ENOENT,
					 "'%s': field '%s' of %s has a name that is no key: name "
					 "the fields that you want",
					 all->name, name, evsel->name);
		if (!rc && all->event)
			((struct trace_field *)key->field)->evsel = evsel;
		if (!rc)
			rc = fn(key, arg);
	}
	return rc;
}

static bool has_field(const struct trace_field *f, const struct trace *t)
{
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		if (trace_field_is_of(f, t, pd_evlist_at(t->evlist, i)))
			return true;
	return false;
}

int trace_fields_resolve(struct trace_fields *set, const struct sort_key *key,
			 const struct trace *t, const char *what, trace_field_fn fn, void *arg,
			 struct error *err)
{
	struct trace_field *f = (struct trace_field *)key->field;
	int rc = f->event ? find_event(f, t, what, err) : 0;

	if (rc)
		return rc;
	if (!strcmp(f->field, "*")) {
		for (size_t i = 0; !rc && t->tracing && i < pd_evlist_count(t->evlist); i++) {
			const struct pd_evsel *evsel = pd_evlist_at(t->evlist, i);

			if (!f->evsel || f->evsel == evsel)
				rc = each_field(set, f, t, evsel, fn, arg, err);
		}
		return rc;
	}
	if (f->event && !tracing_has_field(t->tracing, f->evsel, f->field))
		return error_set(err, -ENOENT, "%s '%s': %s has no field '%s'", what, f->name,
				 f->evsel->name, f->field);
	return f->event || has_field(f, t) ? fn(key, arg) : -ESRCH;
}
