// SPDX-License-Identifier: Apache-2.0
/*
 * uprobe:FILE:FUNCTION[+OFFSET], uretprobe:FILE:FUNCTION, kprobe:FUNCTION[+OFFSET],
 * kretprobe:FUNCTION. The kernel has PMUs of these names, with the place in config1 and config2:
 * perf_event_open(2); kernel/events/core.c, perf_uprobe_event_init() (6.1).
 *
 * A uprobe's config1 is a pointer to the path. A pointer means nothing in a file, so it stays 0
 * here, and record/ sets it when it opens the event.
 */
#include "event/parse/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/parse/resolve.h"

static const struct probe_kind {
	const char *prefix, *pmu;
	bool returns, user;
} kinds[] = {
	{"uprobe:", "uprobe", false, true},
	{"uretprobe:", "uprobe", true, true},
	{"kprobe:", "kprobe", false, false},
	{"kretprobe:", "kprobe", true, false},
};

static const struct probe_kind *kind_of(const char *text)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

size_t event_probe_prefix(const char *text)
{
	const struct probe_kind *kind = kind_of(text);

	return kind ? strlen(kind->prefix) : 0;
}

int event_scan_probe(struct parser *parser, const char *prefix, struct place_text *ret)
{
	const struct probe_kind *kind = kind_of(prefix);

	return place_scan_function(parser, kind->user, ret);
}

static int set_returns(const struct pmu *pmu, struct pd_attr *attr, struct error *err)
{
	for (size_t i = 0; i < pmu->nr_formats; i++) {
		if (strcmp(pmu->formats[i].name, "retprobe") != 0 || pmu->formats[i].word)
			continue;
		attr->config |= pmu->formats[i].bits;
		return 0;
	}
	return error_set(err, -EBADMSG,
			 "PMU '%s' cannot probe returns: sysfs lists no format 'retprobe' for it",
			 pmu->name);
}

static int set_pmu(struct parser *parser, const struct probe_kind *kind, struct pd_attr *attr)
{
	struct pmu pmu;
	int rc = pmu_load(parser->env, kind->pmu, &pmu, parser->err);

	if (rc == -ENOENT)
		return error_set(parser->err, rc, "this kernel has no %ss for events (CONFIG_%s)",
				 kind->pmu, kind->user ? "UPROBE_EVENTS" : "KPROBE_EVENTS");
	if (rc)
		return rc;
	attr->type = pmu.type;
	rc = kind->returns ? set_returns(&pmu, attr, parser->err) : 0;
	pmu_release(&pmu);
	return rc;
}

static int set_place(struct parser *parser, const struct probe_kind *kind,
		     const struct place_text *text, struct event_spec *spec)
{
	struct event_symbol symbol;
	int rc = place_find(parser, text, &spec->place.file, &symbol);

	if (rc)
		return rc;
	if (!symbol.function)
		return error_set(parser->err, -EINVAL,
				 "'%.128s' is no code: to watch a variable, use the breakpoint "
				 "mem:%s%s%.128s",
				 text->name, text->file ? text->file : "", text->file ? ":" : "",
				 text->name);
	if (kind->returns && text->plus)
		return error_set(parser->err, -EINVAL,
				 "a return belongs to a whole function: leave out the offset");
	spec->place.probe = kind->user;
	spec->place.kernel = !kind->user;
	spec->attr.config2 = (kind->user ? symbol.offset : symbol.address) + text->plus;
	return 0;
}

int event_add_probe(struct parser *parser, const struct event_words *words,
		    const struct place_text *text)
{
	const struct probe_kind *kind = kind_of(words->head);
	size_t first = parser->count;
	struct draft *draft = parser_add(parser, words);
	int rc;

	if (!draft)
		return error_sys(parser->err, -ENOMEM, "event list");
	rc = set_pmu(parser, kind, &draft->spec.attr);
	if (!rc)
		rc = set_place(parser, kind, text, &draft->spec);
	if (rc)
		return rc;
	draft->spec.each = true;
	draft->spec.attr.sample_period = 1;
	rc = event_apply_terms(parser, words, draft, true);
	return rc ? rc : event_apply_modifiers(parser, first, words->modifiers);
}
