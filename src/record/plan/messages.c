// SPDX-License-Identifier: Apache-2.0
#include "record/plan/messages.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock_ns.h"
#include "base/plural.h"

#define WAIT_LEAST 10000000000ull   /* ns */
#define WAIT_MOST  3600000000000ull /* ns */

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

bool rate_limit_due(struct rate_limit *l, uint64_t now, uint64_t *ret_suppressed)
{
	bool first = !l->due || now - l->due >= WAIT_MOST;

	l->due = now;
	if (!first && now - l->printed < l->wait) {
		l->suppressed++;
		return false;
	}
	l->wait = first ? WAIT_LEAST : 2 * l->wait < WAIT_MOST ? 2 * l->wait : WAIT_MOST;
	l->printed = now;
	*ret_suppressed = l->suppressed;
	l->suppressed = 0;
	return true;
}

void messages_say_limited(const struct messages *n, enum message_level level, struct rate_limit *l,
			  const char *fmt, ...)
{
	char text[TEXT_SIZE - 64];
	uint64_t suppressed;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!rate_limit_due(l, now_ns(CLOCK_MONOTONIC) + 1, &suppressed))
		messages_say(n, MESSAGE_DETAIL, "%s", text);
	else if (suppressed)
		messages_say(n, level, "%s (and %llu more time%s since the last such message)",
			     text, (unsigned long long)suppressed, plural_s(suppressed));
	else
		messages_say(n, level, "%s", text);
}
