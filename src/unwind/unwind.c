// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Direct-mapped, because samples near in time have mostly the same callers. It grows where many
 * addresses miss, because few programs have use for all of it; the largest size keeps memory flat.
 */
#define CACHE_BITS_FIRST 8
#define CACHE_BITS_MAX	 14

struct unwind_slot {
	const struct unwind_arch *arch;
	const struct dso *dso; /* NULL: empty */
	uint64_t addr;
	struct cfi_row *row; /* NULL: none, or it leads to no caller */
	/* There is call frame information for @addr, with or without a caller. */
	bool covered;
	bool start; /* there is none, and a dynamic linker starts there */
};

static size_t cache_size(const struct unwind *u)
{
	return (size_t)1 << u->cache_bits;
}

int unwind_init(struct unwind *u, const struct state *s, struct cfi_tables *t)
{
	*u = (struct unwind){.state = s, .tables = t, .cache_bits = CACHE_BITS_FIRST};
	u->cache = calloc(cache_size(u), sizeof(*u->cache));
	return u->cache ? 0 : -ENOMEM;
}

void unwind_release(struct unwind *u)
{
	for (size_t i = 0; u->cache && i < cache_size(u); i++)
		free(u->cache[i].row);
	free(u->cache);
	*u = (struct unwind){0};
}

/* The current frame of a walk. */
struct position {
	struct unwind_regs regs;
	struct unwind_stack stack;
	uint64_t pc;
	bool exact;   /* @pc is where the thread was interrupted, not a return address */
	bool guessed; /* found by the frame pointer */
	bool lost;    /* the caller is not in the copy of the stack */
};

/* The code of a frame, as far as it is known. */
struct code {
	struct location loc;
	const struct cfi_row *row; /* NULL: none */
	bool covered, start;	   /* as in struct unwind_slot */
};

/* Whether the location may have call frame information. */
static bool has_file(const struct location *loc)
{
	return loc->map && (loc->map->dso->kind == DSO_ELF || loc->map->dso->kind == DSO_VDSO);
}

static struct unwind_slot *slot_of(const struct unwind *u, const struct dso *dso, uint64_t addr)
{
	uint64_t hash = (addr ^ (uint64_t)dso->index << 40) * 0x9e3779b97f4a7c15ull;

	return &u->cache[hash >> (64 - u->cache_bits)];
}

/* Doubles the cache. No two slots meet in the new one. Without memory, the cache stays small. */
static void grow(struct unwind *u)
{
	struct unwind_slot *old = u->cache, *slot = calloc(2 * cache_size(u), sizeof(*slot));
	size_t n = cache_size(u);

	if (!slot)
		return;
	u->cache = slot;
	u->cache_bits++;
	for (size_t i = 0; i < n; i++)
		if (old[i].dso)
			*slot_of(u, old[i].dso, old[i].addr) = old[i];
	free(old);
}

/* Returns the slot for an address that is in none. */
static struct unwind_slot *new_slot(struct unwind *u, const struct dso *dso, uint64_t addr)
{
	if (++u->cache_misses > cache_size(u) / 4 && u->cache_bits < CACHE_BITS_MAX) {
		u->cache_misses = 0;
		grow(u);
	}
	return slot_of(u, dso, addr);
}

static int find_row(struct unwind *u, const struct unwind_arch *arch, struct code *code)
{
	const struct location *loc = &code->loc;
	const struct dso *dso = loc->map->dso;
	struct unwind_slot *slot = slot_of(u, dso, loc->addr);
	struct cfi_row *row = NULL;
	int rc;

	if (slot->dso != dso || slot->addr != loc->addr || slot->arch != arch) {
		rc = cfi_tables_row(u->tables, arch, dso, loc->addr, &row);
		if (rc == -ENOMEM || rc == -EAGAIN)
			return rc;
		if (rc == -ESRCH) /* the file may be found later */
			return 0;
		slot = new_slot(u, dso, loc->addr);
		free(slot->row);
		*slot = (struct unwind_slot){
			.arch = arch,
			.dso = dso,
			.addr = loc->addr,
			.row = row,
			.covered = rc != -ENOENT && rc != -ENXIO,
			.start = rc == -ENXIO,
		};
	}
	code->row = slot->row;
	code->covered = slot->covered;
	code->start = slot->start;
	return 0;
}

/* Returns 0, -ENOMEM or -EAGAIN. */
static int find_code(struct unwind *u, const struct unwind_sample *s, uint64_t ip, struct code *ret)
{
	ret->row = NULL;
	ret->covered = ret->start = false;
	state_view_find(&u->view, PERF_RECORD_MISC_USER, ip, &ret->loc);
	if (u->uses)
		unwind_uses_note(u->uses, &u->view, ip, &ret->loc);
	return has_file(&ret->loc) ? find_row(u, s->arch, ret) : 0;
}

static bool begin(const struct unwind_sample *s, struct position *p)
{
	*p = (struct position){.exact = true};
	if (!unwind_arch_regs(s->arch, s->regs_mask, s->regs, &p->regs, &p->pc))
		return false;
	p->stack = (struct unwind_stack){
		.data = s->stack,
		.start = p->regs.v[s->arch->sp],
		.size = s->stack_size,
	};
	return true;
}

/* Goes to the caller. Returns false at the end of the chain. */
static bool step(const struct unwind_arch *arch, const struct cfi_row *row, struct position *p)
{
	uint64_t sp = p->regs.v[arch->sp], pc = p->pc;

	if (!cfi_row_apply(row, arch, &p->stack, &p->regs, &p->pc)) {
		p->lost = true;
		return false;
	}
	if (!p->pc || !(p->regs.known >> arch->sp & 1))
		return false;
	p->exact = cfi_row_is_signal(row);
	p->guessed = false;
	/*
	 * Stacks grow down. But on machines with a link register, a leaf function has no frame of
	 * its own.
	 */
	return p->regs.v[arch->sp] > sp || (p->regs.v[arch->sp] == sp && p->pc != pc);
}

/*
 * Goes from the vdso's code to which a signal handler returns to the code that was interrupted.
 * Returns false if @p is elsewhere, or the architecture needs no help there.
 */
static bool step_by_signal(const struct unwind_arch *arch, const struct location *loc,
			   struct position *p)
{
	const struct unwind_signal_layout *l = arch->signal;
	uint64_t sp = p->regs.v[arch->sp], magic, pc;
	struct unwind_regs regs = {0};

	if (!l || p->exact || !loc->map || loc->map->dso->kind != DSO_VDSO ||
	    !unwind_stack_read(&p->stack, sp + l->magic_at, sizeof(l->magic), &magic) ||
	    magic != l->magic || !unwind_stack_read(&p->stack, sp + l->pc, arch->word, &pc))
		return false;
	for (unsigned int i = 0; i < arch->nr; i++) {
		if (!unwind_stack_read(&p->stack, sp + l->regs + i * arch->word, arch->word,
				       &regs.v[i]))
			return false;
		regs.known |= 1ull << i;
	}
	if (regs.v[arch->sp] <= sp)
		return false;
	p->regs = regs;
	p->pc = pc & arch->mask;
	p->exact = true;
	p->guessed = false;
	return true;
}

/*
 * Goes from a function of the vdso to its caller: where it has no call frame information, as on
 * arm64, its functions are leaves without a frame. Returns false elsewhere.
 */
static bool step_by_link(const struct unwind_arch *arch, const struct location *loc,
			 struct position *p)
{
	uint64_t pc = p->regs.v[arch->link] & arch->mask;

	if (!arch->link || !p->exact || !(p->regs.known >> arch->link & 1) || !pc || pc == p->pc ||
	    !loc->map || loc->map->dso->kind != DSO_VDSO)
		return false;
	p->pc = pc;
	p->exact = false;
	p->guessed = true;
	return true;
}

static bool is_text(const struct location *loc)
{
	return loc->map && loc->map->prot & PROT_EXEC;
}

/* Goes to the caller by the frame pointer. Returns false if that gives no possible frame. */
static bool step_by_fp(const struct unwind_arch *arch, struct position *p)
{
	uint64_t fp = p->regs.v[arch->fp], sp = p->regs.v[arch->sp], up, pc;

	if (!arch->fp || !(p->regs.known >> arch->fp & 1) || fp % arch->word || fp < sp ||
	    !unwind_stack_read(&p->stack, fp, arch->word, &up) ||
	    !unwind_stack_read(&p->stack, fp + arch->word, arch->word, &pc) || !pc)
		return false;
	/* The code may have changed all other registers. */
	p->regs.known = 1ull << arch->sp | 1ull << arch->fp;
	p->regs.v[arch->sp] = fp + 2ull * arch->word;
	p->regs.v[arch->fp] = up;
	p->pc = pc & arch->mask;
	p->exact = false;
	p->guessed = true;
	return true;
}

/*
 * Tries the frame pointer, which code without call frame information may still keep. Accepts the
 * result if it is in text and a plausible frame follows above it: another frame in text, or the end
 * of the chain (no caller by the call frame information, or a frame pointer of 0). Returns 1 with
 * @p moved, 0 if there is no such frame, or as find_code() does.
 */
static int guess(struct unwind *u, const struct unwind_sample *s, struct position *p)
{
	struct position caller = *p, above;
	struct code code;
	int rc;

	if (!step_by_fp(s->arch, &caller))
		return 0;
	rc = find_code(u, s, caller.pc - 1, &code);
	if (rc < 0 || !is_text(&code.loc))
		return rc;
	above = caller;
	if (code.row ? !step(s->arch, code.row, &above)
		     : !code.covered && caller.regs.v[s->arch->fp] && !step_by_fp(s->arch, &above))
		return 0;
	if (above.pc != caller.pc) {
		rc = find_code(u, s, above.exact ? above.pc : above.pc - 1, &code);
		if (rc < 0 || !is_text(&code.loc))
			return rc;
	}
	*p = caller;
	return 1;
}

/*
 * Goes from @p, which is in @code, to its caller. Returns 1, 0 at the end of the chain, or as
 * find_code() does.
 */
static int go_up(struct unwind *u, const struct unwind_sample *s, const struct code *code,
		 struct position *p)
{
	int rc;

	if (code->row)
		return step(s->arch, code->row, p);
	if (code->covered)
		return 0;
	if (is_text(&code->loc) && step_by_link(s->arch, &code->loc, p))
		return 1;
	rc = is_text(&code->loc) ? guess(u, s, p) : 0;
	u->no_rules |= !rc && !code->start;
	return rc;
}

int unwind_walk(struct unwind *u, const struct unwind_sample *s, size_t max, unwind_fn fn,
		void *arg)
{
	struct unwind_frame frame;
	struct position p;
	struct code code;
	bool signal;
	int rc = 0;

	u->view = state_view(u->state, s->pid, s->at);
	u->copy_ended = u->no_rules = u->guessed = false;
	if (!begin(s, &p))
		return 0;
	for (size_t i = 0; i < max; i++) {
		frame = (struct unwind_frame){
			.ip = p.exact ? p.pc : p.pc - 1,
			.loc = &code.loc,
			.guessed = p.guessed,
		};
		u->guessed |= p.guessed;
		rc = find_code(u, s, frame.ip, &code);
		if (rc < 0)
			return rc;
		signal = step_by_signal(s->arch, &code.loc, &p);
		/*
		 * A signal handler returns to this code. Nothing called it, so this is its exact
		 * address.
		 */
		if (signal || (code.row && !p.exact && cfi_row_is_signal(code.row))) {
			frame.ip++;
			code.loc.addr++;
			frame.interrupted = true;
		}
		rc = fn(&frame, arg);
		if (rc < 0)
			return rc;
		if (signal)
			continue;
		rc = go_up(u, s, &code, &p);
		if (rc <= 0) {
			u->copy_ended = p.lost;
			return rc;
		}
	}
	return 0;
}
