/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a running recording, formatted here and printed by cli/.
 *
 * The caller owns struct messages. say() runs in the thread that calls messages_say().
 */
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
	/* Prints one line without its newline; NULL: messages are dropped. */
	void (*say)(enum message_level level, const char *text, void *arg);
	void *arg;
};

/* Formats a message and passes it to @n (may be NULL), at most 1023 bytes of it. */
void messages_say(const struct messages *n, enum message_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Limits a message that may recur for weeks, such as a full disk. The first is printed, then one
 * after 10 s, 20 s, 40 s and so on, at last one an hour. After an hour without it the limit starts
 * anew. All zero at first.
 */
struct rate_limit {
	uint64_t printed, due; /* when last, ns; due 0: never */
	uint64_t wait;	       /* ns until the next is printed */
	uint64_t suppressed;   /* since the last printed one */
};

/*
 * The message is due at @now, ns of a monotonic clock, from 1. Returns true if it may be printed,
 * with the number suppressed before it in *@ret_suppressed.
 */
bool rate_limit_due(struct rate_limit *l, uint64_t now, uint64_t *ret_suppressed);

/*
 * As messages_say(), limited by @l, and with the number of suppressed ones. A suppressed message
 * has level MESSAGE_DETAIL.
 */
void messages_say_limited(const struct messages *n, enum message_level level, struct rate_limit *l,
			  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
