// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/catalog/pmu.h"
#include "event/listing/kinds.h"

#define TEXT_SIZE 512 /* of a file in sysfs that is shown; longer ones are truncated */

/* Reads the formats of a PMU, "event: config:0-7"; those that cannot be read are left out. */
static int read_formats(const struct listing_run *l, const char *pmu, struct name_list *ret)
{
	struct name_list files = {0};
	char path[300], text[TEXT_SIZE], term[TEXT_SIZE + 300];
	int rc = pmu_list(l->env, pmu, "format", &files);

	for (size_t i = 0; !rc && i < files.count; i++) {
		snprintf(path, sizeof(path), "format/%.255s", files.names[i]);
		if (pmu_read(l->env, pmu, path, text, sizeof(text)) < 0)
			continue;
		snprintf(term, sizeof(term), "%.255s: %s", files.names[i], text);
		rc = name_list_add(ret, term);
	}
	name_list_release(&files);
	return rc;
}

/* The software PMUs' events have names of their own; their PMUs take no terms. */
static bool is_shown_elsewhere(const char *pmu)
{
	static const char *const names[] = {"software", "tracepoint", "breakpoint"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(pmu, names[i]))
			return true;
	return false;
}

static int give_pmu(struct listing_run *l, const char *pmu)
{
	char name[300], cpus[TEXT_SIZE] = "", what[TEXT_SIZE + 64];
	struct listed_event e = {.kind = LISTING_PMU, .name = name, .what = what, .pattern = true};
	struct name_list terms = {0};
	int rc = read_formats(l, pmu, &terms);

	snprintf(name, sizeof(name), "%.255s/TERMS/", pmu);
	if (pmu_read(l->env, pmu, "cpumask", cpus, sizeof(cpus)) < 0 &&
	    pmu_read(l->env, pmu, "cpus", cpus, sizeof(cpus)) < 0)
		cpus[0] = '\0';
	snprintf(what, sizeof(what), "Any event of this PMU%s%s", *cpus ? ", on CPUs " : "", cpus);
	e.terms = (const char *const *)terms.names;
	e.nr_terms = terms.count;
	if (!rc)
		rc = listing_give(l, &e);
	name_list_release(&terms);
	return rc;
}

static int give_alias(struct listing_run *l, const char *pmu, const char *alias)
{
	char path[300], name[600], text[TEXT_SIZE] = "", unit[64] = "", what[TEXT_SIZE + 128];
	struct listed_event e = {.kind = LISTING_PMU, .name = name, .alias = alias, .what = what};

	snprintf(name, sizeof(name), "%.255s/%.255s/", pmu, alias);
	snprintf(path, sizeof(path), "events/%.255s", alias);
	if (pmu_read(l->env, pmu, path, text, sizeof(text)) < 0)
		text[0] = '\0';
	snprintf(path, sizeof(path), "events/%.240s.unit", alias);
	if (pmu_read(l->env, pmu, path, unit, sizeof(unit)) < 0)
		unit[0] = '\0';
	snprintf(what, sizeof(what), "%.255s/%s/%s%s", pmu, text, *unit ? ", in " : "", unit);
	return listing_give(l, &e);
}

int listing_pmus(struct listing_run *l)
{
	struct name_list pmus = {0}, aliases = {0};
	int rc = pmu_names(l->env, &pmus);

	for (size_t i = 0; !rc && i < pmus.count; i++) {
		if (is_shown_elsewhere(pmus.names[i]))
			continue;
		rc = pmu_alias_names(l->env, pmus.names[i], &aliases);
		for (size_t j = 0; !rc && j < aliases.count; j++)
			rc = give_alias(l, pmus.names[i], aliases.names[j]);
		if (!rc)
			rc = give_pmu(l, pmus.names[i]);
		name_list_release(&aliases);
	}
	name_list_release(&pmus);
	return rc;
}
