// SPDX-License-Identifier: Apache-2.0
#include "report/script/kept_branches.h"

#include <stdlib.h>

#include "auxtrace/itrace/samples.h"
#include "state/state.h"

#define SLOT_BITS 10
#define CALMS	  16u

/* A span of time in which no map of a process or of the kernel changes. */
struct calm {
	uint32_t number; /* 0: none */
	uint32_t pid;
	struct moment from, until;
};

struct kept_branches {
	const struct state *state;
	uint32_t calms; /* the newest number */
	struct calm calm[CALMS];
	struct kept_branch slot[1u << SLOT_BITS];
};

struct kept_branches *kept_branches_new(const struct state *s)
{
	struct kept_branches *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->state = s;
	k->calms = 1; /* the number of texts that depend on no map */
	return k;
}

void kept_branches_free(struct kept_branches *k)
{
	free(k);
}

static bool is_in(const struct calm *c, uint32_t pid, struct moment at)
{
	return c->number && c->pid == pid && !moment_before(at, c->from) &&
	       (moment_before(at, c->until) || c->until.time == UINT64_MAX);
}

/* Returns the number of the span around @at, 0 if none is known. */
static uint32_t calm_at(struct kept_branches *k, uint32_t pid, struct moment at)
{
	struct calm *c = &k->calm[pid % CALMS];

	if (is_in(c, pid, at))
		return c->number;
	/* Numbers are not used twice. */
	if (k->calms == UINT32_MAX || !state_calm(k->state, pid, at, &c->from, &c->until)) {
		c->number = 0;
		return 0;
	}
	c->pid = pid;
	c->number = ++k->calms;
	return c->number;
}

struct kept_branch *kept_branches_find(struct kept_branches *k, const struct walk_sample *ws,
				       bool places)
{
	const struct pd_sample *s = &ws->s;
	uint64_t hash = (s->ip ^ s->addr << 20 ^ s->addr >> 12) * 0x9e3779b97f4a7c15ull;
	struct kept_branch *slot = &k->slot[hash >> (64 - SLOT_BITS)];
	uint32_t flags = ws->made->flags, cpumode = s->cpumode, calm = 1;

	if (cpumode != PERF_RECORD_MISC_USER && cpumode != PERF_RECORD_MISC_KERNEL)
		return NULL; /* of a guest */
	if (places)
		calm = calm_at(k, s->pid, ws->rec->at);
	if (!calm)
		return NULL;
	if (slot->ip == s->ip && slot->addr == s->addr && slot->flags == flags &&
	    slot->calm == calm && slot->period == s->period && slot->cpumode == cpumode)
		return slot;
	slot->ip = s->ip;
	slot->addr = s->addr;
	slot->period = s->period;
	slot->flags = flags;
	slot->cpumode = cpumode;
	slot->calm = calm;
	slot->len = 0;
	return slot;
}
