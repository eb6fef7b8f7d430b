// SPDX-License-Identifier: Apache-2.0
/* What was odd: distinct sentences, with a count of how often each was met. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/file.h"

int notes_init(struct notes *notes)
{
	return -pthread_mutex_init(&notes->lock, NULL);
}

void notes_release(struct notes *notes)
{
	pthread_mutex_destroy(&notes->lock);
}

static struct data_note *find_note(struct notes *notes, enum data_severity severity,
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
static struct data_note *overflow_note(struct notes *notes, enum data_severity severity)
{
	for (size_t i = NOTES_MAX - 2; i < notes->nr; i++) {
		if (notes->note[i].severity == severity)
			return &notes->note[i];
	}
	return NULL;
}

void data_note(struct data_file *df, enum data_severity severity, unsigned int segment,
	       uint64_t offset, const char *fmt, ...)
{
	static const char more[] = "more of other kinds, not listed";
	struct notes *notes = &df->notes;
	struct data_note *n;
	char text[sizeof(n->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);

	pthread_mutex_lock(&notes->lock);
	n = find_note(notes, severity, segment, text);
	if (!n && notes->nr >= NOTES_MAX - 2)
		n = overflow_note(notes, severity);
	if (n) {
		n->count++;
	} else {
		n = &notes->note[notes->nr];
		*n = (struct data_note){severity, 1, offset, segment, ""};
		memcpy(n->text, notes->nr < NOTES_MAX - 2 ? text : more,
		       notes->nr < NOTES_MAX - 2 ? sizeof(text) : sizeof(more));
		notes->nr++;
	}
	pthread_mutex_unlock(&notes->lock);
}

const struct data_note *data_notes(struct data_file *df, size_t *ret_count)
{
	*ret_count = df->notes.nr;
	return df->notes.note;
}
