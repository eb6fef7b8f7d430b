// SPDX-License-Identifier: Apache-2.0
/* Collects findings: distinct sentences, each with a count. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/file_priv.h"

int data_findings_init(struct data_file *df)
{
	return -pthread_mutex_init(&df->findings_lock, NULL);
}

void data_findings_release(struct data_file *df)
{
	pthread_mutex_destroy(&df->findings_lock);
}

static struct data_finding *find_finding(struct findings *list, enum data_severity severity,
					 unsigned int segment, const char *text)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct data_finding *n = &list->finding[i];

		if (n->severity == severity && n->segment == segment && !strcmp(n->text, text))
			return n;
	}
	return NULL;
}

/* The last two findings count all that no longer fit, one for each severity. */
static struct data_finding *overflow_finding(struct findings *list, enum data_severity severity)
{
	for (size_t i = FINDINGS_MAX - 2; i < list->nr; i++) {
		if (list->finding[i].severity == severity)
			return &list->finding[i];
	}
	return NULL;
}

static void add(struct findings *list, const struct data_finding *add)
{
	static const char more[] = "more of other kinds, not listed";
	struct data_finding *n = find_finding(list, add->severity, add->segment, add->text);

	if (!n && list->nr >= FINDINGS_MAX - 2)
		n = overflow_finding(list, add->severity);
	if (n) {
		n->count += add->count;
		return;
	}
	n = &list->finding[list->nr];
	*n = *add;
	if (list->nr >= FINDINGS_MAX - 2)
		memcpy(n->text, more, sizeof(more));
	list->nr++;
}

static void write_finding(struct data_finding *n, enum data_severity severity, unsigned int segment,
			  uint64_t offset, const char *fmt, va_list ap)
{
	*n = (struct data_finding){severity, 1, offset, segment, ""};
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
}

void data_finding_add(struct data_file *df, enum data_severity severity, unsigned int segment,
		      uint64_t offset, const char *fmt, ...)
{
	struct data_finding n;
	va_list ap;

	va_start(ap, fmt);
	write_finding(&n, severity, segment, offset, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&df->findings_lock);
	add(&df->findings, &n);
	pthread_mutex_unlock(&df->findings_lock);
}

const struct data_finding *data_findings(struct data_file *df, size_t *ret_count)
{
	*ret_count = df->findings.nr;
	return df->findings.finding;
}

struct findings *findings_new(void)
{
	return calloc(1, sizeof(struct findings));
}

void findings_free(struct findings *list)
{
	free(list);
}

void findings_add(struct findings *list, enum data_severity severity, unsigned int segment,
		  uint64_t offset, const char *fmt, ...)
{
	struct data_finding n;
	va_list ap;

	va_start(ap, fmt);
	write_finding(&n, severity, segment, offset, fmt, ap);
	va_end(ap);
	add(list, &n);
}

size_t findings_count(const struct findings *list)
{
	return list->nr;
}

void findings_merge(struct findings *list, struct data_file *df)
{
	pthread_mutex_lock(&df->findings_lock);
	for (size_t i = 0; i < list->nr; i++)
		add(&df->findings, &list->finding[i]);
	pthread_mutex_unlock(&df->findings_lock);
	list->nr = 0;
}
