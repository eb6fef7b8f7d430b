// SPDX-License-Identifier: Apache-2.0
#include "event/syntax/modifier.h"

#include <errno.h>
#include <string.h>

#define EXCLUDE_LEVELS (PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV)
#define EXCLUDE_GH     (PD_ATTR_EXCLUDE_HOST | PD_ATTR_EXCLUDE_GUEST)
#define PRECISE_MAX    3

static const char known[] = "ukhGHpPSDIWe";

bool modifier_like(const char *text)
{
	return *text && !text[strspn(text, known)];
}

int modifier_check(const char *text, struct error *err)
{
	if (!*text)
		return error_set(err, -EINVAL, "no modifier after ':'");
	for (const char *p = text; *p; p++) {
		if (*p == 'b')
			return error_set(err, -EINVAL,
					 "modifier 'b' counts through BPF, which takes no samples: "
					 "leave it out");
		if (!strchr(known, *p))
			return error_set(err, -EINVAL,
					 "unknown modifier '%c' in ':%.32s' (known: %s)", *p, text,
					 known);
		if (*p != 'p' && strchr(p + 1, *p))
			return error_set(err, -EINVAL, "modifier '%c' occurs twice in ':%.32s'", *p,
					 text);
	}
	return 0;
}

/* The first of u, k, h excludes all levels; each then includes its own. */
static void include_level(uint64_t *flags, uint64_t level)
{
	if (!(*flags & EXCLUDE_LEVELS))
		*flags |= EXCLUDE_LEVELS;
	*flags &= ~level;
}

static void include_side(struct draft *draft, uint64_t *flags, uint64_t side)
{
	if (!draft->guest_given)
		*flags |= EXCLUDE_GH;
	draft->guest_given = true;
	*flags &= ~side;
}

static void apply_one(struct draft *draft, uint64_t *flags, char modifier)
{
	struct event_spec *spec = &draft->spec;

	switch (modifier) {
	case 'u':
		include_level(flags, PD_ATTR_EXCLUDE_USER);
		if (!draft->guest_given)
			*flags |= PD_ATTR_EXCLUDE_GUEST;
		spec->modifier_given = true;
		break;
	case 'k':
		include_level(flags, PD_ATTR_EXCLUDE_KERNEL);
		spec->modifier_given = true;
		break;
	case 'h':
		include_level(flags, PD_ATTR_EXCLUDE_HV);
		spec->modifier_given = true;
		break;
	case 'G': include_side(draft, flags, PD_ATTR_EXCLUDE_GUEST); break;
	case 'H': include_side(draft, flags, PD_ATTR_EXCLUDE_HOST); break;
	case 'p': /* counted by the caller; precise events cannot tell guests apart */
		if (!draft->guest_given)
			*flags |= PD_ATTR_EXCLUDE_GUEST;
		break;
	case 'P': spec->precise_max = true; break;
	case 'S': spec->sample_read = true; break;
	case 'D': spec->pinned_group = true; break;
	case 'I': *flags |= PD_ATTR_EXCLUDE_IDLE; break;
	case 'W': spec->weak_group = true; break;
	case 'e': *flags |= PD_ATTR_EXCLUSIVE; break;
	}
}

int modifier_apply(struct draft *draft, const char *text, bool of_group, struct error *err)
{
	struct pd_attr *attr = &draft->spec.attr;
	uint64_t flags = attr->flags;
	unsigned int precise = 0;

	if (of_group)
		precise = (flags & PD_ATTR_PRECISE_IP) >> PD_ATTR_PRECISE_IP_SHIFT;
	else
		/*
		 * An event's own modifiers replace the default that excludes guests: as in perf,
		 * 'cycles:k' counts guests.
		 */
		flags &= ~(EXCLUDE_LEVELS | EXCLUDE_GH);

	for (const char *p = text; *p; p++) {
		precise += *p == 'p';
		apply_one(draft, &flags, *p);
	}
	if (precise > PRECISE_MAX)
		return error_set(err, -EINVAL, "precision ':%.*s' is too high, at most ':ppp'",
				 precise < 16 ? (int)precise : 16, "pppppppppppppppp");
	flags &= ~PD_ATTR_PRECISE_IP;
	attr->flags = flags | (uint64_t)precise << PD_ATTR_PRECISE_IP_SHIFT;
	return 0;
}
