// SPDX-License-Identifier: Apache-2.0
#include "report/trace/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/*
 * The cache is direct-mapped: samples near each other in time mostly repeat their addresses. It
 * grows where many addresses miss; the largest size bounds memory for any number of addresses.
 */
#define CACHE_BITS_FIRST 8
#define CACHE_BITS_MAX	 14

struct frame_slot {
	const struct dso *dso; /* NULL: empty */
	uint64_t addr;
	const struct symbol *sym;
	const struct inline_chain *lines; /* of @lines_at; NULL: nothing is known */
	uint32_t pid;			  /* 0 unless the dso's symbols differ by process */
	enum { LINES_UNKNOWN, LINES_AT, LINES_BEFORE } lines_of; /* @addr, or the byte before it */
};

/* The markers of a call chain, and the cpumode of the addresses after each. */
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

static size_t cache_size(const struct frames *f)
{
	return (size_t)1 << f->cache_bits;
}

int frames_init(struct frames *f, struct trace *t)
{
	*f = (struct frames){.trace = t, .cache_bits = CACHE_BITS_FIRST};
	f->cache = calloc(cache_size(f), sizeof(*f->cache));
	if (!f->cache)
		return -ENOMEM;
	f->arch64 = unwind_arch_find(t->arch, PERF_SAMPLE_REGS_ABI_64);
	f->arch32 = unwind_arch_find(t->arch, PERF_SAMPLE_REGS_ABI_32);
	return t->cfi ? unwind_init(&f->unwind, t->state, t->cfi) : 0;
}

void frames_release(struct frames *f)
{
	unwind_release(&f->unwind);
	free(f->cache);
	free(f->frame);
	free(f->steps);
	*f = (struct frames){0};
}

static const struct symbol *look_up(const struct trace *t, const struct dso *dso, uint32_t pid,
				    uint64_t addr)
{
	const struct symbol *sym = resolver_find(t->resolver, dso, pid, addr);

	return sym ? dso_alias_symbol(t->aliases, dso, sym) : NULL;
}

/* @key: the process, where symbols differ by it; else 0. */
static struct frame_slot *slot_at(const struct frames *f, const struct dso *dso, uint32_t key,
				  uint64_t addr)
{
	uint64_t hash = (addr ^ ((uint64_t)dso->index << 40) ^ key) * 0x9e3779b97f4a7c15ull;

	return &f->cache[hash >> (64 - f->cache_bits)];
}

/* Doubles the cache. No two slots meet in the new one. Without memory, the cache stays small. */
static void grow_cache(struct frames *f)
{
	struct frame_slot *old = f->cache, *slot = calloc(2 * cache_size(f), sizeof(*slot));
	size_t n = cache_size(f);

	if (!slot)
		return;
	f->cache = slot;
	f->cache_bits++;
	for (size_t i = 0; i < n; i++)
		if (old[i].dso)
			*slot_at(f, old[i].dso, old[i].pid, old[i].addr) = old[i];
	free(old);
}

static struct frame_slot *new_slot(struct frames *f, const struct dso *dso, uint32_t key,
				   uint32_t pid, uint64_t addr)
{
	struct frame_slot *slot;

	if (++f->cache_misses > cache_size(f) / 4 && f->cache_bits < CACHE_BITS_MAX) {
		f->cache_misses = 0;
		grow_cache(f);
	}
	slot = slot_at(f, dso, key, addr);
	*slot = (struct frame_slot){
		.dso = dso,
		.addr = addr,
		.pid = key,
		.sym = look_up(f->trace, dso, pid, addr),
	};
	return slot;
}

static struct frame_slot *slot_of(struct frames *f, const struct dso *dso, uint32_t pid,
				  uint64_t addr)
{
	uint32_t key = dso->kind == DSO_ANON ? pid : 0;
	struct frame_slot *slot = slot_at(f, dso, key, addr);

	if (slot->dso != dso || slot->addr != addr || slot->pid != key)
		return new_slot(f, dso, key, pid, addr);
	return slot;
}

/* Resolves a frame whose address and mode are set. */
static void locate(struct frames *f, uint32_t pid, const struct location *loc, struct frame *ret)
{
	if (!loc->map)
		return;
	ret->dso = loc->map->dso;
	ret->addr = loc->addr;
	ret->pid = pid;
	ret->sym = slot_of(f, ret->dso, pid, loc->addr)->sym;
}

/*
 * The kernel may have symbols beyond the end of its recorded map. A symbol that belongs to another
 * map does not count: it ends before the address.
 */
static void locate_beyond_image(struct frames *f, struct moment at, struct frame *ret)
{
	const struct state *state = f->trace->state;
	const struct map *image = state_image(state);
	const struct symbol *sym;
	struct location start;

	if (!image || ret->ip < image->end)
		return;
	sym = slot_of(f, image->dso, 0, ret->ip)->sym;
	if (!sym)
		return;
	state_find(state, 0, PERF_RECORD_MISC_KERNEL, sym->start, at, &start);
	if (start.map && start.map != image)
		return;
	ret->dso = image->dso;
	ret->sym = sym;
}

static void resolve(struct frames *f, struct state_view *maps, uint8_t cpumode, uint64_t ip,
		    struct frame *ret)
{
	struct location loc;

	*ret = (struct frame){.ip = ip, .addr = ip, .cpumode = cpumode};
	state_view_find(maps, cpumode, ip, &loc);
	locate(f, maps->pid, &loc, ret);
	if (!loc.map && cpumode == PERF_RECORD_MISC_KERNEL)
		locate_beyond_image(f, maps->at, ret);
}

void frames_resolve(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		    struct frame *ret)
{
	struct state_view maps = state_view(f->trace->state, pid, at);

	resolve(f, &maps, cpumode, ip, ret);
}

/* Returns the mode of the other half of the address space; @mode itself if it has none. */
static uint8_t other_half(uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL: return PERF_RECORD_MISC_USER;
	case PERF_RECORD_MISC_USER: return PERF_RECORD_MISC_KERNEL;
	case PERF_RECORD_MISC_GUEST_KERNEL: return PERF_RECORD_MISC_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_USER: return PERF_RECORD_MISC_GUEST_KERNEL;
	}
	return cpumode;
}

static bool is_kernel(uint8_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* Returns whether the highest bit distinguishes addresses of the kernel from those of tasks. */
static bool top_bit_tells(const struct trace *t)
{
	return t->arch && (!strcmp(t->arch, "x86_64") || !strcmp(t->arch, "aarch64"));
}

void frames_resolve_data(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t addr,
			 struct moment at, struct frame *ret)
{
	uint8_t other = other_half(cpumode);
	struct frame second;

	if (top_bit_tells(f->trace) && is_kernel(cpumode) != addr >> 63) {
		other = cpumode;
		cpumode = other_half(cpumode);
	}
	frames_resolve(f, pid, cpumode, addr, at, ret);
	if (ret->dso || other == cpumode)
		return;
	frames_resolve(f, pid, other, addr, at, &second);
	if (second.dso)
		*ret = second;
}

void frames_find_line(struct frames *f, struct frame *frame)
{
	struct frame_slot *slot;
	bool before;

	if (!f->trace->inlines || !frame->dso || !frame->sym)
		return;
	before = frame->is_return && frame->addr > frame->sym->start;
	slot = slot_of(f, frame->dso, frame->pid, frame->addr);
	if (slot->lines_of != (before ? LINES_BEFORE : LINES_AT)) {
		slot->lines = inlines_find(f->trace->inlines, frame->dso, frame->addr - before);
		slot->lines_of = before ? LINES_BEFORE : LINES_AT;
	}
	frame->lines = slot->lines;
	frame->line = slot->lines ? slot->lines->nr - 1 : 0;
}

/* Returns the frame of entry @i of the lines of @from, an inlined function. */
static struct frame inlined_frame(const struct frames *f, const struct frame *from, size_t i)
{
	struct frame ret = *from;

	ret.in = from->sym;
	ret.sym = dso_alias_symbol(f->trace->aliases, from->dso, from->lines->frame[i].sym);
	ret.line = i;
	ret.side = from->step ? FRAME_BESIDE : FRAME_OF_CHAIN;
	ret.step = NULL;
	return ret;
}

/*
 * Puts the inlined functions before the functions that have their code. If that were too many
 * frames, the outer functions keep theirs to themselves.
 */
static int add_inlined(struct frames *f)
{
	size_t expanded = 0, to = f->nr, from;

	for (; expanded < f->nr; expanded++) {
		const struct inline_chain *lines = f->frame[expanded].lines;
		size_t more = lines ? lines->nr - 1 : 0;

		if (to + more > FRAMES_MAX)
			break;
		to += more;
	}
	if (to == f->nr)
		return 0;
	if (array_grow(&f->frame, &f->cap, to, sizeof(*f->frame)) < 0)
		return -ENOMEM;
	from = f->nr;
	f->nr = to;
	while (from--) {
		struct frame frame = f->frame[from];

		f->frame[--to] = frame;
		f->leaf = to;
		for (size_t i = frame.lines && from < expanded ? frame.lines->nr - 1 : 0; i--;)
			f->frame[--to] = inlined_frame(f, &frame, i);
	}
	return 0;
}

static int find_lines(struct frames *f)
{
	if (f->inlines == FRAMES_PLAIN)
		return 0;
	for (size_t i = 0; i < f->nr; i++)
		frames_find_line(f, &f->frame[i]);
	return f->inlines == FRAMES_INLINED && f->is_chain ? add_inlined(f) : 0;
}

static int push(struct frames *f, uint8_t cpumode, uint64_t ip)
{
	if (array_grow(&f->frame, &f->cap, f->nr + 1, sizeof(*f->frame)) < 0)
		return -ENOMEM;
	resolve(f, &f->maps, cpumode, ip, &f->frame[f->nr++]);
	return 0;
}

/*
 * Finds the first address in user space below a sample in the kernel. Late in exec() this address
 * is still in the program that exec() replaced.
 */
static void resolve_entry(struct frames *f, const struct walk_sample *ws, struct frame *ret)
{
	struct location loc;

	if (!ret->dso && ws->s.cpumode == PERF_RECORD_MISC_KERNEL &&
	    state_find_replaced(f->trace->state, ws->s.pid, ret->ip, ws->rec->at, &loc))
		locate(f, ws->s.pid, &loc, ret);
}

/* Returns the mode that @marker stands for, or -1. */
static int context_mode(uint64_t marker)
{
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++)
		if (contexts[i].marker == marker)
			return contexts[i].cpumode;
	return -1;
}

/*
 * Finds the task's address in user space: the sampled address, or, if that is in the kernel, entry
 * @user of the call chain, where the kernel's walk of user space begins. The newest branch only
 * gives the beginning of the function.
 */
static uint64_t user_leaf(const struct pd_sample *s, uint64_t user)
{
	if (s->cpumode == PERF_RECORD_MISC_USER && (s->type & PERF_SAMPLE_IP))
		return s->ip;
	if (user < s->callchain_nr && s->callchain[user] < PERF_CONTEXT_MAX)
		return s->callchain[user];
	return s->branches[0].to;
}

/*
 * With hardware call stacks (LBR) only the first user frame of the kernel's walk is reliable. The
 * open branches are the callers, newest first.
 */
static int push_branch_stack(struct frames *f, const struct walk_sample *ws, uint64_t user,
			     size_t max, size_t skip)
{
	const struct pd_sample *s = &ws->s;
	int rc = 0;

	if (!skip)
		rc = push(f, PERF_RECORD_MISC_USER, user_leaf(s, user));
	for (uint64_t i = skip ? skip - 1 : 0; !rc && i < s->branch_nr && f->nr < max; i++)
		rc = push(f, PERF_RECORD_MISC_USER, s->branches[i].from);
	return rc;
}

static bool has_branch_callstack(const struct walk_sample *ws)
{
	return (ws->evsel->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) &&
	       ws->s.branch_nr;
}

/* A sample whose stack is being walked. */
struct stack_walk {
	struct frames *f;
	const struct walk_sample *ws;
	size_t kernel; /* frames that the kernel walked */
};

static int push_unwound(const struct unwind_frame *found, void *arg)
{
	struct stack_walk *w = arg;
	struct frames *f = w->f;
	struct frame *frame;

	if (array_grow(&f->frame, &f->cap, f->nr + 1, sizeof(*f->frame)) < 0)
		return -ENOMEM;
	frame = &f->frame[f->nr++];
	*frame = (struct frame){.ip = found->ip,
				.addr = found->ip,
				.cpumode = PERF_RECORD_MISC_USER,
				.guessed = found->guessed};
	locate(f, w->ws->s.pid, found->loc, frame);
	if (f->nr == w->kernel + 1)
		resolve_entry(f, w->ws, frame);
	return 0;
}

static bool has_stack(const struct frames *f, const struct walk_sample *ws)
{
	return ws->stack ? ws->stack->walked : f->trace->cfi && frames_has_stack(&ws->s);
}

/* Returns the address by which the map of a frame in a digest was found. */
static uint64_t looked_up(uint64_t word)
{
	return (word & ~DIGEST_FRAME_FLAGS) - !!(word & DIGEST_FRAME_INTERRUPTED);
}

/* Adds the frames that pass 1 has found in the copy of the stack: as push_stack() would. */
static int push_found(struct frames *f, const struct walk_sample *ws, size_t max)
{
	struct stack_walk w = {.f = f, .ws = ws, .kernel = f->nr};
	const struct digest_stack *stack = ws->stack;
	const uint64_t *word = ws->s.callchain + ws->s.callchain_nr;
	int rc = 0;

	for (size_t i = 0; !rc && i < max && i < stack->frames; i++) {
		struct location loc;
		struct unwind_frame frame = {
			.ip = word[i] & ~DIGEST_FRAME_FLAGS,
			.loc = &loc,
			.guessed = word[i] & DIGEST_FRAME_GUESSED,
		};

		state_view_find(&f->maps, PERF_RECORD_MISC_USER, looked_up(word[i]), &loc);
		loc.addr += frame.ip - looked_up(word[i]);
		rc = push_unwound(&frame, &w);
	}
	f->copy_ended = stack->ended && stack->frames <= max;
	return rc;
}

/* Adds the user part of the chain, which the kernel did not walk, from the copy of the stack. */
static int push_stack(struct frames *f, const struct walk_sample *ws, size_t max)
{
	struct stack_walk w = {.f = f, .ws = ws, .kernel = f->nr};
	struct unwind_sample s = {
		.arch = ws->s.user_regs_abi == PERF_SAMPLE_REGS_ABI_64 ? f->arch64 : f->arch32,
		.pid = ws->s.pid,
		.at = ws->rec->at,
		.regs_mask = ws->evsel->attr.sample_regs_user,
		.regs = ws->s.user_regs,
		.stack = ws->s.user_stack,
		.stack_size = ws->s.user_stack_size,
	};
	int rc;

	if (!s.arch)
		return 0;
	rc = unwind_walk(&f->unwind, &s, max, push_unwound, &w);
	f->copy_ended = f->unwind.copy_ended;
	return rc;
}

/* Adds the user part of the chain, unless there are too many frames already. */
static int push_user(struct frames *f, const struct walk_sample *ws, size_t max)
{
	if (f->nr >= FRAMES_MAX)
		return 0;
	if (max > FRAMES_MAX - f->nr)
		max = FRAMES_MAX - f->nr;
	return ws->stack ? push_found(f, ws, max) : push_stack(f, ws, max);
}

/* Adds the frames that the kernel recorded, without those from the copy of the stack. */
static size_t count_recorded(const struct walk_sample *ws)
{
	size_t n = 0;

	for (uint64_t i = 0; i < ws->s.callchain_nr; i++) {
		if (ws->s.callchain[i] < PERF_CONTEXT_MAX)
			n++;
		else if (ws->s.callchain[i] == PERF_CONTEXT_USER && has_branch_callstack(ws))
			return n + 1 + ws->s.branch_nr;
	}
	return n;
}

static int find_chain(struct frames *f, const struct walk_sample *ws, size_t max)
{
	size_t recorded = f->outermost ? count_recorded(ws) : 0;
	size_t skip = recorded > max ? recorded - max : 0;
	uint8_t cpumode = PERF_RECORD_MISC_USER;

	f->nr = 0;
	f->maps = state_view(f->trace->state, ws->s.pid, ws->rec->at);
	f->copy_ended = false;
	f->leafless = skip;
	for (uint64_t i = 0; i < ws->s.callchain_nr && f->nr < max; i++) {
		uint64_t ip = ws->s.callchain[i];
		int mode;

		if (ip < PERF_CONTEXT_MAX) {
			if (skip) {
				skip--;
				continue;
			}
			if (push(f, cpumode, ip) < 0)
				return -ENOMEM;
			f->frame[f->nr - 1].is_return =
				i && ws->s.callchain[i - 1] < PERF_CONTEXT_MAX;
			if (i && ws->s.callchain[i - 1] == PERF_CONTEXT_USER)
				resolve_entry(f, ws, &f->frame[f->nr - 1]);
			continue;
		}
		mode = context_mode(ip);
		if (mode < 0) { /* the chain is corrupt */
			f->nr = 0;
			return 0;
		}
		cpumode = mode;
		if (mode == PERF_RECORD_MISC_USER && has_branch_callstack(ws))
			return push_branch_stack(f, ws, i + 1, max, skip);
	}
	return has_stack(f, ws) ? push_user(f, ws, max) : 0;
}

/* Puts the two frames of each step before those of the chain, of which @covered are left out. */
static int prepend_steps(struct frames *f, const struct walk_sample *ws, size_t nr, size_t covered)
{
	const struct pd_sample *s = &ws->s;
	size_t chain = f->nr - covered;

	if (array_grow(&f->frame, &f->cap, 2 * nr + chain, sizeof(*f->frame)) < 0)
		return -ENOMEM;
	memmove(f->frame + 2 * nr, f->frame + covered, chain * sizeof(*f->frame));
	f->nr = 2 * nr + chain;
	for (size_t i = 0; i < nr; i++) {
		const struct branch_step *step = &f->steps[i];
		struct frame *to = &f->frame[2 * i], *from = to + 1;

		frames_resolve_data(f, s->pid, s->cpumode, step->to, ws->rec->at, to);
		frames_resolve_data(f, s->pid, s->cpumode, step->from, ws->rec->at, from);
		to->side = FRAME_TO;
		from->side = FRAME_FROM;
		to->step = from->step = step;
	}
	return 0;
}

/* Adds the branches of the branch stack, unless that is the chain itself. */
static int add_history(struct frames *f, const struct walk_sample *ws, size_t max)
{
	size_t nr = ws->s.branch_nr < max ? ws->s.branch_nr : max, covered;
	uint64_t ips[FRAMES_MAX];

	if (!f->history || f->leafless || has_branch_callstack(ws))
		return 0;
	if (nr > (FRAMES_MAX - f->nr) / 2)
		nr = (FRAMES_MAX - f->nr) / 2;
	if (!nr)
		return 0;
	if (array_grow(&f->steps, &f->cap_steps, nr, sizeof(*f->steps)) < 0)
		return -ENOMEM;
	nr = branch_history_steps(ws->s.branches, nr, f->steps);
	for (size_t i = 0; i < f->nr; i++)
		ips[i] = f->frame[i].ip;
	covered = branch_history_overlap(f->steps, nr, ips, f->nr);
	f->leafless = true;
	f->has_history = true;
	return prepend_steps(f, ws, nr, covered);
}

int frames_of_chain(struct frames *f, const struct walk_sample *ws, size_t max)
{
	int rc;

	f->has_history = false;
	rc = find_chain(f, ws, max) ?: add_history(f, ws, max);
	f->leaf = 0;
	f->is_chain = f->nr;
	return rc ? rc : find_lines(f);
}

int frames_of_sample(struct frames *f, const struct walk_sample *ws, size_t max)
{
	int rc;

	f->nr = f->leaf = 0;
	f->leafless = false;
	f->has_history = false;
	f->is_chain = false;
	if ((ws->s.callchain_nr || has_stack(f, ws) || (f->history && ws->s.branch_nr)) && max) {
		rc = frames_of_chain(f, ws, max);
		if (rc < 0 || f->nr)
			return rc;
	}
	if (!(ws->s.type & (PERF_SAMPLE_IP)))
		return 0;
	f->maps = state_view(f->trace->state, ws->s.pid, ws->rec->at);
	rc = push(f, ws->s.cpumode, ws->s.ip);
	return rc ? rc : find_lines(f);
}

enum digest_kind frames_digest(const struct trace *t)
{
	if (t->itrace)
		return DIGEST_NONE;
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		if (pd_evlist_at(t->evlist, i)->attr.branch_sample_type &
		    PERF_SAMPLE_BRANCH_CALL_STACK)
			return DIGEST_NONE;
	return t->cfi ? DIGEST_STACKS : DIGEST_CHAINS;
}

/*
 * Whether all addresses of the entry's process and of the kernel are where they were: most
 * processes run long after their last map.
 */
static bool is_calm(const struct trace *t, const struct digest_entry *e)
{
	struct moment from, until;

	return state_calm(t->state, e->pid, e->first, &from, &until) &&
	       moment_before(e->last, until);
}

/* The samples of an entry, for frame_is_steady(). */
struct steady_span {
	const struct trace *trace;
	const struct digest_entry *entry;
	bool calm;
};

static bool frame_is_steady(const struct steady_span *s, uint8_t cpumode, uint64_t ip)
{
	const struct digest_entry *e = s->entry;

	if (s->calm && (cpumode == PERF_RECORD_MISC_USER || cpumode == PERF_RECORD_MISC_KERNEL))
		return true;
	return state_steady(s->trace->state, e->pid, e->tid, cpumode, ip, e->first, e->last);
}

/* Whether the frames from the copy of the stack are where they were. */
static bool stack_is_steady(const struct steady_span *s, const struct digest *d)
{
	const struct digest_entry *e = s->entry;
	const uint64_t *chain = digest_chain(d, e);

	for (uint32_t i = e->chain_nr - e->stack.frames; i < e->chain_nr; i++)
		if (!frame_is_steady(s, PERF_RECORD_MISC_USER, looked_up(chain[i])))
			return false;
	return true;
}

bool frames_are_steady(const struct trace *t, const struct digest *d, const struct digest_entry *e)
{
	const uint64_t *chain = digest_chain(d, e);
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	struct steady_span s = {.trace = t, .entry = e};

	if (e->samples == 1)
		return true;
	if (!state_steady(t->state, e->pid, e->tid, e->cpumode, e->ip, e->first, e->last))
		return false;
	s.calm = is_calm(t, e);
	for (uint32_t i = 0; i < e->chain_nr - e->stack.frames; i++) {
		int mode = chain[i] < PERF_CONTEXT_MAX ? cpumode : context_mode(chain[i]);

		if (mode < 0) /* the chain is corrupt, and has no frames */
			return true;
		cpumode = (uint8_t)mode;
		if (chain[i] < PERF_CONTEXT_MAX && !frame_is_steady(&s, cpumode, chain[i]))
			return false;
	}
	return stack_is_steady(&s, d);
}
