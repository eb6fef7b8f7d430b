// SPDX-License-Identifier: Apache-2.0
/* What was odd: distinct sentences, with a count of how often each was met. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"

int notes_init(struct data_file *df)
{
	return -pthread_mutex_init(&df->notes_lock, NULL);
}

void notes_release(struct data_file *df)
{
	pthread_mutex_destroy(&df->notes_lock);
}

static struct data_note *find_note(struct data_notebook *notes, enum data_severity severity,
				   unsigned int segment, const char *text)
{
	for (size_t i = 0; i < notes->nr; i++) {
		struct data_note *n = &notes->note[i];

		if (n->severity == severity && n->segment == segment && !strcmp(n->text, text))
			return n;
	}
	return NULL;
}

/* The last two notes stand for whatever no longer fits, one for each severity. */
static struct data_note *overflow_note(struct data_notebook *notes, enum data_severity severity)
{
	for (size_t i = NOTES_MAX - 2; i < notes->nr; i++) {
		if (notes->note[i].severity == severity)
			return &notes->note[i];
	}
	return NULL;
}

static void add(struct data_notebook *notes, const struct data_note *add)
{
	static const char more[] = "more of other kinds, not listed";
	struct data_note *n = find_note(notes, add->severity, add->segment, add->text);

	if (!n && notes->nr >= NOTES_MAX - 2)
		n = overflow_note(notes, add->severity);
	if (n) {
		n->count += add->count;
		return;
	}
	n = &notes->note[notes->nr];
	*n = *add;
	if (notes->nr >= NOTES_MAX - 2)
		memcpy(n->text, more, sizeof(more));
	notes->nr++;
}

static void write_note(struct data_note *n, enum data_severity severity, unsigned int segment,
		       uint64_t offset, const char *fmt, va_list ap)
{
	*n = (struct data_note){severity, 1, offset, segment, ""};
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
}

void data_note(struct data_file *df, enum data_severity severity, unsigned int segment,
	       uint64_t offset, const char *fmt, ...)
{
	struct data_note n;
	va_list ap;

	va_start(ap, fmt);
	write_note(&n, severity, segment, offset, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&df->notes_lock);
	add(&df->notes, &n);
	pthread_mutex_unlock(&df->notes_lock);
}

const struct data_note *data_notes(struct data_file *df, size_t *ret_count)
{
	*ret_count = df->notes.nr;
	return df->notes.note;
}

struct data_notebook *data_notebook_new(void)
{
	return calloc(1, sizeof(struct data_notebook));
}

void data_notebook_free(struct data_notebook *notes)
{
	free(notes);
}

void data_notebook_note(struct data_notebook *notes, enum data_severity severity,
			unsigned int segment, uint64_t offset, const char *fmt, ...)
{
	struct data_note n;
	va_list ap;

	va_start(ap, fmt);
	write_note(&n, severity, segment, offset, fmt, ap);
	va_end(ap);
	add(notes, &n);
}

void data_notebook_hand_in(struct data_notebook *notes, struct data_file *df)
{
	pthread_mutex_lock(&df->notes_lock);
	for (size_t i = 0; i < notes->nr; i++)
		add(&df->notes, &notes->note[i]);
	pthread_mutex_unlock(&df->notes_lock);
	notes->nr = 0;
}
