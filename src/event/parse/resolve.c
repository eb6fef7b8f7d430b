// SPDX-License-Identifier: Apache-2.0
/*
 * Resolves the words of an event. It tries in this order: generic names and rNNN, TYPE:CONFIG, a
 * PMU with terms, an alias of any PMU, a tracepoint, and last the vendors' names.
 */
#include "event/parse/resolve.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "event/catalog/names.h"
#include "event/catalog/suggest.h"
#include "event/catalog/tracepoint.h"
#include "event/catalog/vendor.h"

#define PMU_TYPE_SHIFT 32

static int no_memory(struct parser *parser)
{
	return error_sys(parser->err, -ENOMEM, "event list");
}

int event_apply_terms(struct parser *parser, const struct event_words *words, struct draft *draft,
		      bool tracepoint)
{
	for (size_t i = 0; i < words->terms.count; i++) {
		const struct term *term = &words->terms.items[i];
		int rc;

		parser->fault = term->at;
		if (!term_is_common(term))
			return error_set(parser->err, -ENOENT, "unknown term '%.64s' of '%.64s'",
					 term->key, words->head);
		rc = term_apply(&draft->spec, term, tracepoint, parser->err);
		if (rc)
			return rc;
	}
	parser->fault = NULL;
	return 0;
}

int event_apply_modifiers(struct parser *parser, size_t first, const char *text)
{
	int rc;

	if (!text)
		return 0;
	rc = modifier_check(text, parser->err);
	for (size_t i = first; !rc && i < parser->count; i++)
		rc = modifier_apply(&parser->drafts[i], text, false, parser->err);
	return rc;
}

/* Refuses modifiers in two places: "cycles:u" or "cycles/…/u", not both. */
static int one_modifier(struct parser *parser, const struct event_words *words, const char *inner,
			const char **ret)
{
	if (inner && words->modifiers)
		return error_set(
			parser->err, -EINVAL,
			"modifiers stand before and after the slashes: leave out one of them");
	*ret = inner ? inner : words->modifiers;
	return 0;
}

static int load_cores(struct parser *parser)
{
	if (parser->cores_read)
		return 0;
	parser->cores_read = true;
	return pmu_load_hybrid(parser->env, &parser->cores, &parser->nr_cores);
}

/* Adds a generic event for the cores of PMU @core; NULL: for any core, as the kernel chooses. */
static int add_generic_on(struct parser *parser, const struct event_words *words,
			  const struct generic_event *event, const struct pmu *core)
{
	struct draft *draft = parser_add(parser, words);

	if (!draft)
		return no_memory(parser);
	draft->spec.attr.type = event->type;
	draft->spec.attr.config = event->config;
	if (core) {
		if (event->type == PERF_TYPE_RAW)
			draft->spec.attr.type = core->type;
		else
			draft->spec.attr.config |= (uint64_t)core->type << PMU_TYPE_SHIFT;
		draft->spec.core = true;
		draft->spec.cpus = strdup(core->cpus);
		if (!draft->spec.cpus)
			return no_memory(parser);
		free(draft->spec.name);
		if (asprintf(&draft->spec.name, "%s/%s/", core->name, words->written) < 0) {
			draft->spec.name = NULL;
			return no_memory(parser);
		}
	}
	return event_apply_terms(parser, words, draft, false);
}

static int add_generic(struct parser *parser, const struct event_words *words,
		       const struct generic_event *event, const char *inner)
{
	size_t first = parser->count;
	const char *modifiers = NULL;
	int rc = one_modifier(parser, words, inner, &modifiers);

	if (!rc && event->type != PERF_TYPE_SOFTWARE) {
		if (load_cores(parser) != 0)
			return no_memory(parser);
		parser->group_generic = true;
	}
	if (rc)
		return rc;
	if (event->type == PERF_TYPE_SOFTWARE || !parser->nr_cores)
		rc = add_generic_on(parser, words, event, NULL);
	else if (parser->in_group)
		rc = add_generic_on(parser, words, event, &parser->cores[parser->group_core]);
	else
		for (size_t i = 0; !rc && i < parser->nr_cores; i++)
			rc = add_generic_on(parser, words, event, &parser->cores[i]);
	return rc ? rc : event_apply_modifiers(parser, first, modifiers);
}

/* Adds TYPE:CONFIG[:modifiers], both numbers. Returns -ENOENT without a text for another form. */
static int add_numeric(struct parser *parser, const struct event_words *words, const char *type,
		       const char *rest)
{
	char config[32];
	const char *colon = strchr(rest, ':'), *modifiers = NULL;
	size_t len = colon ? (size_t)(colon - rest) : strlen(rest), first = parser->count;
	uint64_t type_number, config_number;
	struct draft *draft;
	int rc;

	if (len >= sizeof(config))
		return -ENOENT;
	memcpy(config, rest, len);
	config[len] = '\0';
	if (parse_u64(type, &type_number) != 0 || parse_u64(config, &config_number) != 0)
		return -ENOENT;
	if (type_number > UINT32_MAX)
		return error_set(parser->err, -EINVAL, "type %" PRIu64 " does not fit 32 bits",
				 type_number);
	rc = one_modifier(parser, words, colon ? colon + 1 : NULL, &modifiers);
	if (rc)
		return rc;
	draft = parser_add(parser, words);
	if (!draft)
		return no_memory(parser);
	draft->spec.attr.type = (uint32_t)type_number;
	draft->spec.attr.config = config_number;
	rc = event_apply_terms(parser, words, draft, false);
	return rc ? rc : event_apply_modifiers(parser, first, modifiers);
}

static int add_pmu_event(struct parser *parser, const struct event_words *words, const char *name,
			 const struct term_list *terms)
{
	struct draft *draft;
	struct pmu pmu;
	int rc = pmu_load(parser->env, name, &pmu, parser->err);

	if (rc)
		return rc;
	draft = parser_add(parser, words);
	if (draft)
		rc = pmu_apply(parser->env, &pmu, terms, &draft->spec, &parser->fault, parser->err);
	else
		rc = no_memory(parser);
	if (!rc)
		parser->fault = NULL;
	pmu_release(&pmu);
	return rc;
}

/*
 * Whether @wanted selects the PMU @name: as its name without "uncore_" and number ("uncore_imc" or
 * "imc" for uncore_imc_0 and uncore_imc_1), or as a pattern.
 */
static bool pmu_stands_for(const char *wanted, const char *name)
{
	static const char uncore[] = "uncore_";
	size_t len = strlen(wanted);

	if (strpbrk(wanted, "*?["))
		return fnmatch(wanted, name, 0) == 0;
	if (strncmp(name, uncore, sizeof(uncore) - 1) == 0 &&
	    strncmp(wanted, uncore, sizeof(uncore) - 1) != 0)
		name += sizeof(uncore) - 1;
	if (strncmp(name, wanted, len) != 0)
		return false;
	name += len;
	if (*name == '_')
		name++;
	return !name[strspn(name, "0123456789")];
}

/* Adds PMU/terms/ for each PMU that the name selects. Returns -ENOENT without a text for none. */
static int add_pmu(struct parser *parser, const struct event_words *words)
{
	struct name_list names = {0};
	size_t first = parser->count;
	int rc = add_pmu_event(parser, words, words->head, &words->terms);

	if (rc == -ENOENT && parser->count == first) {
		if (pmu_names(parser->env, &names) != 0)
			rc = no_memory(parser);
		for (size_t i = 0; (!rc || rc == -ENOENT) && i < names.count; i++) {
			if (pmu_stands_for(words->head, names.names[i]))
				rc = add_pmu_event(parser, words, names.names[i], &words->terms);
			if (rc == -ENOENT && parser->count > first)
				break; /* this PMU lacks a term */
		}
		name_list_release(&names);
	}
	return rc ? rc : event_apply_modifiers(parser, first, words->modifiers);
}

/* Joins the user's terms with one for the alias that named the event. */
static int terms_with_alias(const struct event_words *words, const char *alias,
			    struct term_list *ret)
{
	struct term *items = calloc(words->terms.count + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	if (words->terms.count)
		memcpy(items, words->terms.items, words->terms.count * sizeof(*items));
	items[words->terms.count] = (struct term){.key = (char *)alias, .at = words->start};
	*ret = (struct term_list){items, words->terms.count + 1, 0};
	return 0;
}

static bool pmu_has_alias(struct parser *parser, const char *pmu_name, const char *alias)
{
	struct pmu pmu = {.name = (char *)pmu_name};
	struct term_list terms = {0};
	int rc = pmu_alias_terms(parser->env, &pmu, alias, &terms, NULL);

	term_list_release(&terms);
	return rc == 0 || rc == -EBADMSG;
}

/* Adds an alias for every PMU that has it. Returns -ENOENT without a text if none has. */
static int add_alias(struct parser *parser, const struct event_words *words, const char *alias,
		     const char *inner)
{
	struct name_list names = {0};
	struct term_list terms = {0};
	size_t first = parser->count;
	const char *modifiers = NULL;
	int rc;

	if (pmu_names(parser->env, &names) != 0 || terms_with_alias(words, alias, &terms) != 0) {
		name_list_release(&names);
		return no_memory(parser);
	}
	rc = 0;
	for (size_t i = 0; !rc && i < names.count; i++) {
		if (pmu_has_alias(parser, names.names[i], alias))
			rc = add_pmu_event(parser, words, names.names[i], &terms);
	}
	name_list_release(&names);
	free(terms.items);
	if (rc)
		return rc;
	if (parser->count == first)
		return -ENOENT;
	rc = one_modifier(parser, words, inner, &modifiers);
	return rc ? rc : event_apply_modifiers(parser, first, modifiers);
}

static bool is_pattern(const char *s)
{
	return strpbrk(s, "*?[");
}

/*
 * Returns whether the tracepoint @found, "sys:name", is none that a pattern means: ftrace:function
 * is each call of a kernel function, others of ftrace never occur, and the kernel lets nobody
 * sample the end of its own interrupt work (arch/x86/include/asm/trace/irq_vectors.h).
 */
static bool is_left_out(const char *found, const char *sys, const char *name)
{
	if (is_pattern(sys) && !strncmp(found, "ftrace:", 7))
		return true;
	return (is_pattern(sys) || is_pattern(name)) && !strcmp(found, "irq_vectors:irq_work_exit");
}

/* Finds sys:name, both of which may be patterns. Returns as tracepoint_find() does. */
static int find_tracepoints(struct parser *parser, const char *sys, const char *name,
			    struct tracepoint_list *ret)
{
	int rc = tracepoint_find(parser->env, sys, name, ret, parser->err);
	size_t kept = 0;

	for (size_t i = 0; !rc && i < ret->count; i++) {
		if (is_left_out(ret->items[i].name, sys, name))
			free(ret->items[i].name);
		else
			ret->items[kept++] = ret->items[i];
	}
	ret->count = kept;
	if (!rc && !kept)
		rc = error_set(parser->err, -ENOENT, "no tracepoint fits '%s:%s'", sys, name);
	return rc;
}

/* Adds sys:name[:modifiers]; both may be patterns. */
static int add_tracepoints(struct parser *parser, const struct event_words *words, const char *sys,
			   const char *rest)
{
	struct tracepoint_list found = {0};
	const char *colon = strchr(rest, ':'), *modifiers = NULL;
	char *name = colon ? strndup(rest, (size_t)(colon - rest)) : strdup(rest);
	size_t first = parser->count;
	int rc;

	if (!name)
		return no_memory(parser);
	rc = find_tracepoints(parser, sys, name, &found);
	free(name);
	if (rc == -ENOMEM)
		no_memory(parser);
	if (!rc)
		rc = one_modifier(parser, words, colon ? colon + 1 : NULL, &modifiers);
	for (size_t i = 0; !rc && i < found.count; i++) {
		struct draft *draft = parser_add(parser, words);

		if (!draft) {
			rc = no_memory(parser);
			break;
		}
		/* As in perf: readers split the name, so it has no modifiers. */
		free(draft->spec.name);
		draft->spec.name = found.items[i].name;
		found.items[i].name = NULL;
		draft->spec.attr.type = PERF_TYPE_TRACEPOINT;
		draft->spec.attr.config = found.items[i].id;
		draft->spec.attr.sample_period = 1;
		draft->spec.each = true;
		rc = event_apply_terms(parser, words, draft, true);
	}
	tracepoint_list_release(&found);
	return rc ? rc : event_apply_modifiers(parser, first, modifiers);
}

/* Looks up the first @len characters of @name. */
static int find_vendor_prefix(const char *name, size_t len, struct pd_attr *attr, struct error *err)
{
	char *head = strndup(name, len);
	int rc = head ? vendor_find(head, attr, err) : -ENOMEM;

	free(head);
	return rc;
}

/*
 * Looks up a vendor's name. Its last part may be modifiers or a unit mask. Modifiers are tried
 * first if it is in lower case, because no unit mask is. *@ret_inner: the modifiers, or NULL.
 */
static int find_vendor(const char *name, struct pd_attr *attr, const char **ret_inner,
		       struct error *err)
{
	const char *colon = strrchr(name, ':');
	bool likely = colon && colon[1] && !colon[1 + strspn(colon + 1, "ukhp")];
	int rc = -ENOENT;

	if (likely)
		rc = find_vendor_prefix(name, (size_t)(colon - name), attr, err);
	if (!rc || rc == -ENOMEM)
		goto out;
	likely = false;
	rc = vendor_find(name, attr, err);
	if (rc && colon && modifier_like(colon + 1)) {
		likely = true;
		rc = find_vendor_prefix(name, (size_t)(colon - name), attr, err);
	}
out:
	*ret_inner = likely ? colon + 1 : NULL;
	return rc;
}

/*
 * Adds a vendor's event. Returns -ENOENT without a text if no table of this machine has it,
 * -ELIBACC if the library that has the tables is missing.
 */
static int add_vendor(struct parser *parser, const struct event_words *words)
{
	const uint64_t levels = PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
	struct pd_attr attr = {0};
	const char *inner, *modifiers = NULL;
	size_t first = parser->count;
	struct draft *draft;
	int rc = find_vendor(words->head, &attr, &inner, parser->err);

	if (rc)
		return rc == -ENOMEM ? no_memory(parser) : rc;
	draft = parser_add(parser, words);
	if (!draft)
		return no_memory(parser);
	attr.flags |= draft->spec.attr.flags;
	draft->spec.attr = attr;
	draft->spec.explicit_period = attr.sample_period != 0;
	draft->spec.modifier_given = attr.flags & levels;
	rc = event_apply_terms(parser, words, draft, false);
	if (!rc)
		rc = one_modifier(parser, words, inner, &modifiers);
	return rc ? rc : event_apply_modifiers(parser, first, modifiers);
}

static int unknown_event(struct parser *parser, const struct event_words *words)
{
	char hint[256], where[192];

	suggest_event(parser->env, words->head, hint, sizeof(hint));
	if (words->slashes)
		return error_set(parser->err, -ENOENT,
				 "no PMU '%.64s' on this machine, and no event of that name%s%s "
				 "'ls %s/bus/event_source/devices' lists PMUs",
				 words->head, hint, *hint ? "" : ";",
				 parser->env && parser->env->sysfs ? parser->env->sysfs : "/sys");
	suggest_where(parser->env, words->head, where, sizeof(where));
	return error_set(parser->err, -ENOENT, "unknown event%s '%.64s'%s%s %s",
			 strchr(words->head, ':') ? " or tracepoint" : "", words->head, hint,
			 *hint ? "" : ";", where);
}

/* Tries each meaning of a name with at most one colon. @name is the part before the colon. */
static int resolve_known(struct parser *parser, const struct event_words *words, const char *name,
			 const char *rest)
{
	struct generic_event event;
	int rc = names_find(name, &event);

	/* Text behind a colon that is no modifier may still be the name of a tracepoint. */
	if (!rc && (!rest || modifier_like(rest) || !*rest))
		return add_generic(parser, words, &event, rest);
	if (rc == -EINVAL)
		return error_set(parser->err, -EINVAL, "'%.64s' is no event: %s", name,
				 name[0] == 'r' ? "more than 64 bits"
						: "the cache has no such operation");
	if (rest) {
		rc = add_numeric(parser, words, name, rest);
		if (rc != -ENOENT)
			return rc;
	} else if (words->slashes) {
		size_t first = parser->count;

		rc = add_pmu(parser, words);
		if (rc != -ENOENT || parser->count > first)
			return rc;
	}
	if (rest && !modifier_like(rest))
		return -ENOENT;
	return add_alias(parser, words, name, rest);
}

/* Resolves a name that resolve_known() did not find. */
static int resolve_other(struct parser *parser, const struct event_words *words, const char *name,
			 const char *rest)
{
	struct error tracepoint = ERROR_INIT, library = ERROR_INIT, unknown = ERROR_INIT;
	struct generic_event event;
	size_t first = parser->count;
	int rc;

	if (rest) {
		rc = add_tracepoints(parser, words, name, rest);
		if ((rc != -ENOENT && rc != -EACCES && rc != -ENXIO) || parser->count > first)
			return rc;
		if (parser->err)
			tracepoint = *parser->err;
	}
	rc = add_vendor(parser, words);
	if (rc == -ELIBACC && parser->err)
		library = *parser->err;
	else if ((rc != -ENOENT && rc != -ELIBACC) || parser->count > first)
		return rc;
	if (rest && names_find(name, &event) == 0)
		return modifier_check(rest, parser->err);
	/* The advice about tracefs would mislead users who did not mean a tracepoint. */
	if (rest && !modifier_like(rest) && tracepoint.code == -EACCES)
		return error_set(parser->err, -EACCES, "%s", tracepoint.text);
	if (rest && !modifier_like(rest) && tracepoint.code == -ENXIO)
		return error_set(parser->err, -ENOENT, "%s", tracepoint.text);
	rc = unknown_event(parser, words);
	if (!library.code)
		return rc;
	unknown = *parser->err;
	return error_set(parser->err, rc, "%s; events of vendors cannot be looked up: %s",
			 unknown.text, library.text);
}

int event_resolve(struct parser *parser, const struct event_words *words)
{
	const char *colon = strchr(words->head, ':'), *rest = colon ? colon + 1 : NULL;
	size_t first = parser->count;
	char *name;
	int rc;

	name = colon ? strndup(words->head, (size_t)(colon - words->head)) : strdup(words->head);
	if (!name)
		return no_memory(parser);
	rc = resolve_known(parser, words, name, rest);
	if (rc == -ENOENT && parser->count == first && !parser->fault)
		rc = resolve_other(parser, words, name, rest);
	free(name);
	return rc;
}
