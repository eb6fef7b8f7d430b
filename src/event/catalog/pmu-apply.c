// SPDX-License-Identifier: Apache-2.0
/* Turns the terms of a PMU into config words. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "event/catalog/names.h"
#include "event/catalog/pmu-aux.h"
#include "event/catalog/pmu.h"
#include "event/catalog/suggest.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The number of a PMU in the upper half of a generic event's config (PERF_PMU_TYPE_SHIFT). */
#define PMU_TYPE_SHIFT 32

static const size_t word_offsets[] = {
	offsetof(struct pd_attr, config),  offsetof(struct pd_attr, config1),
	offsetof(struct pd_attr, config2), offsetof(struct pd_attr, config3),
	offsetof(struct pd_attr, config4),
};

static int set_format(const struct pmu *pmu, const struct pmu_format *format,
		      const struct term *term, struct event_spec *spec, struct error *err)
{
	unsigned int width = (unsigned int)__builtin_popcountll(format->bits);
	uint64_t max = UINT64_MAX >> (64 - width), value, word;
	char *at = (char *)&spec->attr;
	int rc;

	if (format->word >= ARRAY_SIZE(word_offsets))
		return error_set(err, -EINVAL,
				 "term '%s' of PMU '%s' needs config%u, which is unknown",
				 term->key, pmu->name, format->word);
	if (!term->value && width > 1)
		return error_set(err, -EINVAL, "term '%s' of PMU '%s' needs a value", term->key,
				 pmu->name);
	rc = term_number(term, &value, err);
	if (rc)
		return rc;
	if (value > max)
		return error_set(err, -EINVAL,
				 "term '%s' of PMU '%s': 0x%" PRIx64
				 " is too big, at most 0x%" PRIx64,
				 term->key, pmu->name, value, max);
	at += word_offsets[format->word];
	memcpy(&word, at, sizeof(word));
	/* In perf, too, the terms of other PMUs only add bits: "config=0x100000,event=0x3c". */
	if (pmu_aux_has_defaults(pmu))
		word &= ~format->bits;
	word |= pmu_bits_spread(format->bits, value);
	memcpy(at, &word, sizeof(word));
	return 0;
}

static int unknown_term(const struct pmu *pmu, const struct term *term, struct error *err)
{
	char known[256];
	size_t len = 0;

	known[0] = '\0';
	for (size_t i = 0; i < pmu->nr_formats && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
					pmu->formats[i].name);
	if (len >= sizeof(known))
		memcpy(known + sizeof(known) - 4, "...", 4);
	return error_set(err, -ENOENT, "unknown term '%.64s' of PMU '%s' (it knows %s)", term->key,
			 pmu->name, len ? known : "none of its own");
}

/* Whether the user also gives the term, apart from @event, the term that names the event. */
static bool overridden(const struct term_list *user, const struct term *event, const char *key)
{
	const struct term *term = term_find(user, key);

	return term && term != event;
}

/*
 * Applies the terms of an alias. For '?' it takes the value of the user's term of that name. The
 * user's number replaces the alias's ("cpu/mem-loads,ldlat=50/"); perf ors the two.
 */
static int apply_alias(const struct pmu *pmu, const struct term_list *alias,
		       const struct term_list *user, const struct term *event,
		       struct event_spec *spec, struct error *err)
{
	for (size_t i = 0; i < alias->count; i++) {
		const struct term *term = &alias->items[i];
		const struct pmu_format *format;
		int rc;

		if (term->value && strcmp(term->value, "?") == 0) {
			term = term_find(user, term->key);
			if (!term)
				return error_set(err, -EINVAL, "PMU '%s': term '%s' must be given",
						 pmu->name, alias->items[i].key);
		} else if (overridden(user, event, term->key)) {
			continue;
		}
		format = pmu_format_find(pmu, term->key);
		if (format)
			rc = set_format(pmu, format, term, spec, err);
		else if (term_is_common(term))
			rc = term_apply(spec, term, false, err);
		else
			rc = unknown_term(pmu, term, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* "@NAME" */
static bool names_sink(const struct term *term)
{
	return term->key[0] == '@';
}

/* The event's name in a term: "cpu/cycles/", "cpu/event=cpu-cycles/"; NULL for other terms. */
static const char *alias_of_term(const struct pmu *pmu, const struct term *term)
{
	uint64_t number;

	if (term_is_common(term))
		return NULL;
	if (term->value && strcasecmp(term->key, "event") == 0)
		return parse_u64(term->value, &number) == -EINVAL ? term->value : NULL;
	if (pmu_format_find(pmu, term->key) || term->value || names_sink(term))
		return NULL;
	return term->key;
}

/* Limits a generic event to one kind of core: the kernel finds the PMU's number in the config. */
static int apply_generic(const struct pmu *pmu, const char *name, struct event_spec *spec)
{
	struct generic_event event;

	if (names_find(name, &event) != 0)
		return -ENOENT;
	if (event.type == PERF_TYPE_RAW) {
		spec->attr.config |= event.config;
		return 0;
	}
	if (!pmu->core || event.type == PERF_TYPE_SOFTWARE)
		return -ENOENT;
	spec->attr.type = event.type;
	spec->attr.config |= event.config | (uint64_t)pmu->type << PMU_TYPE_SHIFT;
	return 0;
}

/*
 * Looks for the alias that @term names, in sysfs by its own name, then by the one that a generic
 * name stands for. Returns 0 (@ret filled, or the generic event set), -ENOENT, -EBADMSG, -ENOMEM.
 */
static int find_alias(const struct event_env *env, const struct pmu *pmu, const char *name,
		      struct event_spec *spec, struct term_list *ret, struct error *err)
{
	struct generic_event event;
	const char *symbol;
	int rc = pmu_alias_terms(env, pmu, name, ret, err);

	if (rc != -ENOENT)
		return rc;
	if (names_find(name, &event) == 0 && event.type == PERF_TYPE_HARDWARE) {
		symbol = names_hardware_symbol(event.config);
		rc = pmu_alias_terms(env, pmu, symbol, ret, err);
		if (rc != -ENOENT)
			return rc;
	}
	return apply_generic(pmu, name, spec);
}

/*
 * Whether the user's term @key fills a '?' of the alias: apply_alias() has applied it, and it need
 * not be a term of the format.
 */
static bool is_parameter(const struct term_list *alias, const char *key)
{
	const struct term *term = term_find(alias, key);

	return term && term->value && strcmp(term->value, "?") == 0;
}

/* Applies a term of the user that is neither common nor an alias. */
static int apply_term(const struct pmu *pmu, const struct term *term, const struct term_list *alias,
		      struct event_spec *spec, struct error *err)
{
	const struct pmu_format *format = pmu_format_find(pmu, term->key);

	if (is_parameter(alias, term->key))
		return 0;
	return format ? set_format(pmu, format, term, spec, err) : unknown_term(pmu, term, err);
}

/* Applies the terms that all PMUs share. They come first, because config= sets the whole word. */
static int apply_common(const struct term_list *terms, struct event_spec *spec, const char **ret_at,
			struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < terms->count; i++) {
		*ret_at = terms->items[i].at;
		if (term_is_common(&terms->items[i]))
			rc = term_apply(spec, &terms->items[i], false, err);
	}
	return rc;
}

/* Reports a word that is no alias, with the most similar alias as a hint. */
static int unknown_alias(const struct event_env *env, const struct pmu *pmu,
			 const struct term *term, const char *name, struct error *err)
{
	char hint[256];

	suggest_alias(env, pmu->name, name, hint, sizeof(hint));
	if (!*hint)
		return unknown_term(pmu, term, err);
	return error_set(err, -ENOENT, "unknown term '%.64s' of PMU '%s'%s", name, pmu->name, hint);
}

/* Finds the one term that names an event, and applies that event. */
static int apply_event(const struct event_env *env, const struct pmu *pmu,
		       const struct term_list *terms, struct event_spec *spec,
		       struct term_list *ret_alias, const struct term **ret_event,
		       const char **ret_at, struct error *err)
{
	const struct term *event = NULL;

	for (size_t i = 0; i < terms->count; i++) {
		const char *name = alias_of_term(pmu, &terms->items[i]);
		int rc;

		if (!name)
			continue;
		*ret_at = terms->items[i].at;
		if (event)
			return error_set(err, -EINVAL, "PMU '%s': '%.64s' is a second event",
					 pmu->name, name);
		rc = find_alias(env, pmu, name, spec, ret_alias, err);
		if (rc == -ENOENT)
			return unknown_alias(env, pmu, &terms->items[i], name, err);
		if (rc)
			return rc;
		event = &terms->items[i];
		rc = apply_alias(pmu, ret_alias, terms, event, spec, err);
		if (rc)
			return rc;
	}
	*ret_event = event;
	return 0;
}

/* Keeps what the recorder needs of the PMU. */
static int keep_pmu(const struct event_env *env, const struct pmu *pmu, struct event_spec *spec,
		    struct error *err)
{
	if (pmu->cpus) {
		spec->core = pmu->core || pmu_aux_follows_tasks(pmu);
		free(spec->cpus);
		spec->cpus = strdup(pmu->cpus);
		if (!spec->cpus)
			return error_sys(err, -ENOMEM, "PMU '%s'", pmu->name);
	}
	spec->aux = pmu_has_aux(env, pmu, spec->attr.config);
	if (spec->aux) {
		free(spec->pmu);
		spec->pmu = strdup(pmu->name);
		if (!spec->pmu)
			return error_sys(err, -ENOMEM, "PMU '%s'", pmu->name);
	}
	return 0;
}

int pmu_apply(const struct event_env *env, const struct pmu *pmu, const struct term_list *terms,
	      struct event_spec *spec, const char **ret_at, struct error *err)
{
	const struct term *event = NULL;
	struct term_list alias = {0};
	int rc;

	*ret_at = NULL;
	spec->attr.type = pmu->type;
	pmu_aux_defaults(env, pmu, spec);
	rc = apply_common(terms, spec, ret_at, err);
	if (!rc)
		rc = apply_event(env, pmu, terms, spec, &alias, &event, ret_at, err);
	for (size_t i = 0; !rc && i < terms->count; i++) {
		*ret_at = terms->items[i].at;
		if (&terms->items[i] != event && !term_is_common(&terms->items[i]) &&
		    !names_sink(&terms->items[i]))
			rc = apply_term(pmu, &terms->items[i], &alias, spec, err);
	}
	for (size_t i = 0; !rc && i < terms->count; i++) {
		*ret_at = terms->items[i].at;
		if (names_sink(&terms->items[i]))
			rc = pmu_aux_sink(env, pmu, &terms->items[i], spec, err);
	}
	term_list_release(&alias);
	if (!rc)
		rc = keep_pmu(env, pmu, spec, err);
	if (!rc && spec->aux) {
		*ret_at = NULL;
		rc = pmu_aux_finish(env, pmu, terms, spec, err);
	}
	return rc;
}
