// SPDX-License-Identifier: Apache-2.0
#include "record/plan/messages.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock_ns.h"
#include "base/plural.h"

#define SELDOM_LEAST 10000000000ull   /* ns */
#define SELDOM_MOST  3600000000000ull /* ns */

#define TEXT_SIZE 1024

void messages_say(const struct messages *n, enum message_level level, const char *fmt, ...)
{
	char text[TEXT_SIZE];
	va_list ap;

	if (!n || !n->say)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n->say(level, text, n->arg);
}

bool seldom_due(struct seldom *s, uint64_t now, uint64_t *ret_held)
{
	bool new = !s->due || now - s->due >= SELDOM_MOST;

	s->due = now;
	if (!new &&now - s->said < s->wait) {
		s->held++;
		return false;
	}
	s->wait = new ? SELDOM_LEAST : 2 * s->wait < SELDOM_MOST ? 2 * s->wait : SELDOM_MOST;
	s->said = now;
	*ret_held = s->held;
	s->held = 0;
	return true;
}

void messages_say_seldom(const struct messages *n, enum message_level level, struct seldom *s,
			 const char *fmt, ...)
{
	char text[TEXT_SIZE - 64];
	uint64_t held;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!seldom_due(s, now_ns(CLOCK_MONOTONIC) + 1, &held))
		messages_say(n, MESSAGE_DETAIL, "%s", text);
	else if (held)
		messages_say(n, level, "%s (and %llu time%s since it was said last)", text,
			     (unsigned long long)held, plural_s(held));
	else
		messages_say(n, level, "%s", text);
}
