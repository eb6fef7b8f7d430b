// SPDX-License-Identifier: Apache-2.0
#include "event/listing/listing.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "event/listing/kinds.h"

static const struct {
	const char *word, *title;
	const char *others[2]; /* as perf calls it, too */
} kinds[] = {
	[LISTING_HARDWARE] = {"hw", "Hardware events", {"hardware"}},
	[LISTING_SOFTWARE] = {"sw", "Software events", {"software"}},
	[LISTING_CACHE] = {"cache", "Hardware cache events", {"hwcache", "hw-cache"}},
	[LISTING_PMU] = {"pmu", "Events of PMUs", {NULL}},
	[LISTING_VENDOR] = {"vendor", "Events by the CPU vendor's names", {"pfm"}},
	[LISTING_RAW] = {"raw", "Raw events", {NULL}},
	[LISTING_BREAKPOINT] = {"breakpoint", "Hardware breakpoints", {"mem"}},
	[LISTING_PROBE] = {"probe", "Uprobes and kprobes", {"uprobe", "kprobe"}},
	[LISTING_TRACEPOINT] = {"tracepoint", "Tracepoints", {NULL}},
};

bool listing_kind_find(const char *word, enum listing_kind *ret)
{
	for (size_t i = 0; i < LISTING_KINDS; i++) {
		const char *const *other = kinds[i].others;

		if (strcmp(word, kinds[i].word) != 0 &&
		    (!other[0] || strcmp(word, other[0]) != 0) &&
		    (!other[1] || strcmp(word, other[1]) != 0))
			continue;
		*ret = (enum listing_kind)i;
		return true;
	}
	return false;
}

const char *listing_kind_word(enum listing_kind kind, const char **ret_title)
{
	if (ret_title)
		*ret_title = kinds[kind].title;
	return kinds[kind].word;
}

static bool name_matches(const char *word, const char *name)
{
	if (strpbrk(word, "*?["))
		return fnmatch(word, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, word) != NULL;
}

bool listing_matches(const char *word, const struct listed_event *event)
{
	return name_matches(word, event->name) ||
	       (event->alias && name_matches(word, event->alias));
}

int listing_give(struct listing_run *l, const struct listed_event *event)
{
	bool wanted = !l->choice->nr_words;

	for (size_t i = 0; !wanted && i < l->choice->nr_words; i++)
		wanted = listing_matches(l->choice->words[i], event);
	if (!l->rc && wanted)
		l->rc = l->fn(l->arg, event);
	return l->rc;
}

static int list_kind(struct listing_run *l, enum listing_kind kind, struct error *err)
{
	switch (kind) {
	case LISTING_PMU: return listing_pmus(l);
	case LISTING_VENDOR: return listing_vendor(l, err);
	case LISTING_RAW: return listing_raw(l);
	case LISTING_BREAKPOINT: return listing_breakpoints(l);
	case LISTING_PROBE: return listing_probes(l);
	case LISTING_TRACEPOINT: return listing_tracepoints(l, err);
	default: return listing_generic(l, kind);
	}
}

int listing_each(const struct event_env *env, const struct listing_choice *choice, listing_fn fn,
		 void *arg, struct error *err)
{
	struct listing_run l = {.env = env, .choice = choice, .fn = fn, .arg = arg};
	bool all = true;
	int rc = 0;

	for (size_t i = 0; i < LISTING_KINDS; i++)
		all &= !choice->kinds[i];
	for (size_t i = 0; !rc && i < LISTING_KINDS; i++)
		if (all || choice->kinds[i])
			rc = list_kind(&l, (enum listing_kind)i, err);
	return rc;
}
