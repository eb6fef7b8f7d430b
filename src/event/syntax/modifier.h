/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A draft (an event during parsing), and the modifiers after an event's colon. Any thread.
 *
 * The meaning of modifiers is that of perf 6.1's get_event_modifier().
 */
#ifndef RINGTAIL_EVENT_SYNTAX_MODIFIER_H
#define RINGTAIL_EVENT_SYNTAX_MODIFIER_H

#include <stdbool.h>

#include "event/syntax/spec.h"

struct draft {
	struct event_spec spec;
	bool guest_given; /* has :G or :H, so 'u' and 'p' do not change exclude_guest */
};

/* Whether @text is not empty and all its characters are modifiers. */
bool modifier_like(const char *text);

/*
 * Checks @text for unknown and repeated characters. Returns 0, or -EINVAL with @err filled.
 */
int modifier_check(const char *text, struct error *err);

/*
 * Applies modifiers that modifier_check() accepted. With @of_group they follow a group's brace and
 * add to the event's own modifiers; without it they replace them. Returns 0, or -EINVAL if the
 * precision exceeds 3.
 */
int modifier_apply(struct draft *draft, const char *text, bool of_group, struct error *err);

#endif
