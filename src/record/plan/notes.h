/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a recording has to say while it goes on. Printing them is cli/'s part. */
#ifndef RINGTAIL_RECORD_PLAN_NOTES_H
#define RINGTAIL_RECORD_PLAN_NOTES_H

#include <stdbool.h>
#include <stdint.h>

enum note_level {
	NOTE_WARNING, /* the user gets something else than asked for */
	NOTE_INFO,    /* a choice made for the user */
	NOTE_DETAIL,  /* with -v */
};

struct notes {
	void (*say)(enum note_level level, const char *text, void *arg); /* NULL: nobody listens */
	void *arg;
};

void notes_say(const struct notes *n, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * One line that may be due again and again for weeks, such as that a disk is full. The first is
 * said; then one after 10 s, 20 s, 40 s, …, at last one an hour. When it has not been due for an
 * hour it is as new. All-zero at first.
 */
struct seldom {
	uint64_t said, due; /* when last, ns; due at 0: never */
	uint64_t wait;	    /* after it was said, ns */
	uint64_t held;	    /* how many were not said since */
};

/* At @now, ns of any clock that goes forward, from 1. *@ret_held: how many were not said before. */
bool seldom_due(struct seldom *s, uint64_t now, uint64_t *ret_held);

/* As notes_say(), with the number of those that were not said; they are NOTE_DETAIL. */
void notes_say_seldom(const struct notes *n, enum note_level level, struct seldom *s,
		      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
