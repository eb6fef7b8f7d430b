/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event while it is being parsed, and the modifiers behind its colon. Semantics as perf 6.1's
 * get_event_modifier().
 */
#ifndef RINGTAIL_EVENT_SYNTAX_MODIFIER_H
#define RINGTAIL_EVENT_SYNTAX_MODIFIER_H

#include <stdbool.h>

#include "event/syntax/spec.h"

struct draft {
	struct event_spec spec;
	bool guest_given; /* :G or :H: 'u' and 'p' then leave exclude_guest alone */
};

/* True if @text is not empty and all its characters are modifiers. */
bool modifier_like(const char *text);

/*
 * Refuses unknown and repeated characters. Returns 0 or -EINVAL with a sentence in @err.
 */
int modifier_check(const char *text, struct error *err);

/*
 * Applies modifiers that modifier_check() accepted. @of_group: the text stands behind a group's
 * brace and adds to what the event has; else it sets afresh. Returns 0, or -EINVAL for a
 * precision above 3.
 */
int modifier_apply(struct draft *draft, const char *text, bool of_group, struct error *err);

#endif
