// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/catalog/pmu.h"
#include "event/catalog/tracepoint.h"
#include "event/listing/kinds.h"

/* Appends the field that a line of a format defines, "comm: char comm[16]", if it is the event's
 * own. */
static int take_field(const char *line, struct name_list *ret)
{
	const char *end = strchr(line, ';'), *name = end;
	char term[256];

	if (strncmp(line, "\tfield:", 7) != 0 || !end)
		return 0;
	line += 7;
	while (name > line && name[-1] != ' ')
		name--;
	if (!strncmp(name, "common_", 7))
		return 0;
	snprintf(term, sizeof(term), "%.*s: %.*s", (int)strcspn(name, "[;"), name,
		 (int)(end - line), line);
	return name_list_add(ret, term);
}

/* Reads the fields of "sys:name"; none if the format cannot be read. */
static int read_fields(const struct listing_run *l, const char *full, struct name_list *ret)
{
	const char *colon = strchr(full, ':'), *root = tracepoint_root(l->env);
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", root, (int)(colon - full), full,
		 colon + 1);
	f = fopen(path, "re");
	while (f && !rc && getline(&line, &size, f) > 0)
		rc = take_field(line, ret);
	free(line);
	if (f)
		fclose(f);
	return rc;
}

/* Tracefs shows probes among the tracepoints, too, in groups of their own. */
static int give_tracepoint(struct listing_run *l, const char *name)
{
	struct listed_event e = {.kind = LISTING_TRACEPOINT, .name = name};
	struct name_list fields = {0};
	int rc = l->choice->fields ? read_fields(l, name, &fields) : 0;

	e.terms = (const char *const *)fields.names;
	e.nr_terms = fields.count;
	if (!rc)
		rc = listing_give(l, &e);
	name_list_release(&fields);
	return rc;
}

int listing_tracepoints(struct listing_run *l, struct error *err)
{
	struct tracepoint_list list = {0};
	struct error why = ERROR_INIT;
	const char *reason;
	int rc = tracepoint_find(l->env, "*", "*", &list, &why);

	if (rc == -ENOMEM)
		return rc;
	if (rc) { /* the user asked for no '*:*' */
		reason = strstr(why.text, "': ");
		error_set(err, rc, "tracepoints are not listed: %s",
			  reason ? reason + 3 : why.text);
	}
	rc = 0;
	for (size_t i = 0; !rc && i < list.count; i++)
		rc = give_tracepoint(l, list.items[i].name);
	tracepoint_list_release(&list);
	return rc;
}

/* "p:group/name /bin/prog:0x123 …", "r32:group/name …" */
static int give_probe(struct listing_run *l, char *line)
{
	char *name = strchr(line, ':'), *what, *slash;

	if (!name)
		return 0;
	name++;
	what = strchr(name, ' ');
	slash = strchr(name, '/');
	if (!what || !slash || slash > what)
		return 0;
	*what++ = '\0';
	*slash = ':';
	what[strcspn(what, "\n")] = '\0';
	return listing_give(
		l, &(struct listed_event){.kind = LISTING_PROBE, .name = name, .what = what});
}

int listing_probes(struct listing_run *l)
{
	static const char *const files[] = {"uprobe_events", "kprobe_events"};
	const char *root = tracepoint_root(l->env);
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	int rc = 0;

	for (size_t i = 0; root && !rc && i < sizeof(files) / sizeof(*files); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		f = fopen(path, "re");
		while (f && !rc && getline(&line, &size, f) > 0)
			rc = give_probe(l, line);
		if (f)
			fclose(f);
	}
	free(line);
	return rc;
}
