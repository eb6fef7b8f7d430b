// SPDX-License-Identifier: Apache-2.0
/*
 * top-symbols FILE: prints the ten functions of a recording that have the most samples.
 *
 *   cc -o top-symbols top-symbols.c $(pkg-config --cflags --libs ringtail)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringtail/ringtail.h>

#define SHOWN 10
#define SLOTS 65536 /* functions that are told apart, at most */

struct function {
	const char *name; /* the recording's: it stays valid until that is closed */
	const char *dso;
	unsigned long samples;
};

struct count {
	struct function functions[SLOTS];
	unsigned long samples;
};

/* The slot of a function. Strings of one recording are the same if their addresses are. */
static struct function *find(struct count *count, const char *name, const char *dso)
{
	size_t slot = ((uintptr_t)name ^ (uintptr_t)dso) / 8 % SLOTS;

	for (size_t i = 0; i < SLOTS; i++, slot = (slot + 1) % SLOTS) {
		struct function *f = &count->functions[slot];

		if (!f->samples)
			*f = (struct function){name, dso, 0};
		if (f->name == name && f->dso == dso)
			return f;
	}
	return NULL;
}

static int count_samples(struct ringtail_recording *recording, struct count *count,
			 struct ringtail_error *err)
{
	const struct ringtail_walk_opts opts = {
		.size = sizeof(opts),
		.order = RINGTAIL_TIME_ORDER,
		.samples = true,
		.max_stack = 1,
	};
	const struct ringtail_record *record;
	const struct ringtail_frame *frame;
	struct ringtail_walk *walk;
	int rc = ringtail_walk_new(recording, &opts, &walk, err);

	if (rc)
		return rc;
	while ((rc = ringtail_walk_next(walk, &record, err)) > 0) {
		struct function *f;

		rc = ringtail_walk_frames(walk, &frame, err);
		if (rc < 0)
			break;
		f = rc ? find(count, frame->symbol, frame->dso) : find(count, NULL, NULL);
		if (f)
			f->samples++;
		count->samples++;
	}
	ringtail_walk_free(walk);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static void print(struct count *count)
{
	qsort(count->functions, SLOTS, sizeof(count->functions[0]), compare);
	printf("%lu samples\n", count->samples);
	for (int i = 0; i < SHOWN && count->functions[i].samples; i++) {
		const struct function *f = &count->functions[i];

		printf("%8lu  %s  %s\n", f->samples, f->dso ? f->dso : "[unknown]",
		       f->name ? f->name : "[unknown]");
	}
}

int main(int argc, char **argv)
{
	struct ringtail_recording *recording = NULL;
	struct ringtail_error err = {0};
	struct count *count;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: top-symbols FILE\n");
		return 2;
	}
	count = calloc(1, sizeof(*count));
	if (!count)
		return 1;
	rc = ringtail_recording_open(argv[1], NULL, &recording, &err);
	if (!rc)
		rc = count_samples(recording, count, &err);
	if (rc)
		fprintf(stderr, "top-symbols: %s\n", err.text);
	else
		print(count);
	ringtail_recording_close(recording);
	free(count);
	return rc ? 1 : 0;
}
