// SPDX-License-Identifier: Apache-2.0
#include "report/frame.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/*
 * Direct-mapped: a sample's neighbours in time mostly repeat its addresses, and a fixed size keeps
 * memory flat whatever the number of addresses.
 */
#define CACHE_BITS 14

struct cache_slot {
	const struct dso *dso; /* NULL: empty */
	uint64_t addr;
	const struct symbol *sym;
	uint32_t pid; /* 0 unless the dso's symbols differ by process */
};

struct frame_cache {
	struct cache_slot slot[1u << CACHE_BITS];
};

/* The markers of a call chain, and the mode of the addresses behind each. */
static const struct {
	uint64_t marker;
	uint8_t cpumode;
} contexts[] = {
	{PERF_CONTEXT_HV, PERF_RECORD_MISC_HYPERVISOR},
	{PERF_CONTEXT_KERNEL, PERF_RECORD_MISC_KERNEL},
	{PERF_CONTEXT_USER, PERF_RECORD_MISC_USER},
	{PERF_CONTEXT_GUEST, PERF_RECORD_MISC_GUEST_KERNEL},
	{PERF_CONTEXT_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_KERNEL},
	{PERF_CONTEXT_GUEST_USER, PERF_RECORD_MISC_GUEST_USER},
};

static const char levels[] = {
	[PERF_RECORD_MISC_CPUMODE_UNKNOWN] = '?',
	[PERF_RECORD_MISC_KERNEL] = 'k',
	[PERF_RECORD_MISC_USER] = '.',
	[PERF_RECORD_MISC_HYPERVISOR] = 'H',
	[PERF_RECORD_MISC_GUEST_KERNEL] = 'g',
	[PERF_RECORD_MISC_GUEST_USER] = 'u',
};

char frame_level(uint8_t cpumode)
{
	return cpumode < sizeof(levels) ? levels[cpumode] : '?';
}

int frames_init(struct frames *f, struct trace *t)
{
	*f = (struct frames){.trace = t, .cache = calloc(1, sizeof(*f->cache))};
	return f->cache ? 0 : -ENOMEM;
}

void frames_release(struct frames *f)
{
	free(f->cache);
	free(f->frame);
	*f = (struct frames){0};
}

static const struct symbol *find_symbol(struct frames *f, const struct dso *dso, uint32_t pid,
					uint64_t addr)
{
	uint32_t key = dso->kind == DSO_ANON ? pid : 0;
	uint64_t hash = (addr ^ ((uint64_t)dso->index << 40) ^ key) * 0x9e3779b97f4a7c15ull;
	struct cache_slot *slot = &f->cache->slot[hash >> (64 - CACHE_BITS)];

	if (slot->dso != dso || slot->addr != addr || slot->pid != key)
		*slot = (struct cache_slot){
			.dso = dso,
			.addr = addr,
			.pid = key,
			.sym = resolver_find(f->trace->resolver, dso, pid, addr),
		};
	return slot->sym;
}

void frames_resolve(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		    struct frame *ret)
{
	struct location loc;

	*ret = (struct frame){.ip = ip, .addr = ip, .cpumode = cpumode};
	if (!state_find(f->trace->state, pid, cpumode, ip, at, &loc))
		return;
	ret->dso = loc.map->dso;
	ret->addr = loc.addr;
	ret->sym = find_symbol(f, ret->dso, pid, loc.addr);
}

static int push(struct frames *f, const struct walk_sample *ws, uint8_t cpumode, uint64_t ip)
{
	if (array_grow(&f->frame, &f->cap, f->nr + 1, sizeof(*f->frame)) < 0)
		return -ENOMEM;
	frames_resolve(f, ws->s.pid, cpumode, ip, ws->rec->at, &f->frame[f->nr++]);
	return 0;
}

/* The mode that @marker announces, or -1. */
static int context_mode(uint64_t marker)
{
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++)
		if (contexts[i].marker == marker)
			return contexts[i].cpumode;
	return -1;
}

/*
 * With hardware call stacks (LBR) the kernel's walk of user frames is worth nothing: the branches
 * that are still open are the callers, the newest first.
 */
static int push_branch_stack(struct frames *f, const struct walk_sample *ws, size_t max)
{
	const struct pd_sample *s = &ws->s;
	int rc = push(f, ws, PERF_RECORD_MISC_USER, s->branches[0].to);

	for (uint64_t i = 0; !rc && i < s->branch_nr && f->nr < max; i++)
		rc = push(f, ws, PERF_RECORD_MISC_USER, s->branches[i].from);
	return rc;
}

static bool has_branch_callstack(const struct walk_sample *ws)
{
	return (ws->evsel->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) &&
	       ws->s.branch_nr;
}

int frames_of_chain(struct frames *f, const struct walk_sample *ws, size_t max)
{
	uint8_t cpumode = PERF_RECORD_MISC_USER;

	f->nr = 0;
	for (uint64_t i = 0; i < ws->s.callchain_nr && f->nr < max; i++) {
		uint64_t ip = ws->s.callchain[i];
		int mode;

		if (ip < PERF_CONTEXT_MAX) {
			if (push(f, ws, cpumode, ip) < 0)
				return -ENOMEM;
			continue;
		}
		mode = context_mode(ip);
		if (mode < 0) { /* the chain is corrupt */
			f->nr = 0;
			return 0;
		}
		cpumode = mode;
		if (mode == PERF_RECORD_MISC_USER && has_branch_callstack(ws))
			return push_branch_stack(f, ws, max);
	}
	return 0;
}

int frames_of_sample(struct frames *f, const struct walk_sample *ws, size_t max)
{
	int rc;

	f->nr = 0;
	if (ws->s.callchain_nr && max > 1) {
		rc = frames_of_chain(f, ws, max);
		if (rc < 0 || f->nr)
			return rc;
	}
	if (!(ws->s.type & (PERF_SAMPLE_IP)))
		return 0;
	return push(f, ws, ws->s.cpumode, ws->s.ip);
}
