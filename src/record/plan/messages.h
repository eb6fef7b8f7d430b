/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a recording has to say while it goes on. Printing them is cli/'s part. */
#ifndef RINGTAIL_RECORD_PLAN_MESSAGES_H
#define RINGTAIL_RECORD_PLAN_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

enum message_level {
	MESSAGE_WARNING, /* the user gets something else than asked for */
	MESSAGE_INFO,	 /* a choice made for the user */
	MESSAGE_DETAIL,	 /* with -v */
};

struct messages {
	void (*say)(enum message_level level, const char *text,
		    void *arg); /* NULL: nobody listens */
	void *arg;
};

/* Formats a message and passes it on. */
void messages_say(const struct messages *n, enum message_level level, const char *fmt, ...)
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

/* As messages_say(), with the number of those that were not said; they are MESSAGE_DETAIL. */
void messages_say_seldom(const struct messages *n, enum message_level level, struct seldom *s,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
