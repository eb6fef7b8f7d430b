// SPDX-License-Identifier: Apache-2.0
#include "report/trace/digest_early.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/sample.h"
#include "report/trace/frame.h"

/* Shorter recordings are done sooner without. */
#define SHORT ((uint64_t)2 << 20)

/* Programs that run for long have mapped what they need by then. */
#define DSOS_MAX 4096

/* So many digests may give up before it counts how many did not. */
#define VAIN 8

struct early {
	pthread_rwlock_t maps; /* guards @state, @now and @stopped */
	struct state *state;
	struct moment now; /* of the newest record in @state */
	bool stopped;	   /* the state takes no more records */
	struct resolver *resolver;
	struct cfi_tables *cfi;
	const struct unwind_arch *arch64, *arch32; /* NULL: not known */
	pthread_mutex_t lock;			   /* guards all below */
	struct early_walk *walks;		   /* one for each thread */
	size_t kept, given_up;			   /* digests */
};

struct early_walk {
	struct early_walk *next; /* in early.walks */
	pthread_t owner;
	struct early *early;
	struct unwind unwind;
	uint64_t *chain; /* of the current sample */
	size_t nr, cap;
};

static bool is_of_maps(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_HEADER_BUILD_ID: return true;
	default: return false;
	}
}

/* Applies a record. Returns 0 or a negative errno. */
static int apply(struct early *e, const struct data_record *rec)
{
	size_t dsos = state_dso_count(e->state);
	struct pd_record r;
	int rc;

	if (pd_record_decode(rec->hdr, rec->evsel, &r))
		return 0;
	if (dsos > DSOS_MAX)
		return -E2BIG;
	if (rec->hdr->type == PERF_RECORD_HEADER_BUILD_ID)
		return state_set_build_id(e->state, &r.build_id, rec->hdr->misc);
	/* Some records come late. Where that matters, the whole state gives other answers. */
	if (moment_before(e->now, rec->at))
		e->now = rec->at;
	rc = state_apply(e->state, &r, e->now);
	state_apply_build_ids(e->state, dsos);
	return rc;
}

void early_note(struct early *e, const struct data_record *rec)
{
	if (!is_of_maps(rec->hdr->type))
		return;
	pthread_rwlock_wrlock(&e->maps);
	if (!e->stopped)
		e->stopped = apply(e, rec) < 0;
	pthread_rwlock_unlock(&e->maps);
}

static void init_locks(struct early *e)
{
	pthread_rwlockattr_t attr;

	pthread_mutex_init(&e->lock, NULL);
	pthread_rwlockattr_init(&attr);
	/* Threads that unwind all the time would keep a record waiting. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&e->maps, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static int open_state(struct early *e, const struct trace *t, size_t bytes)
{
	int rc;

	e->state = state_new();
	if (!e->state)
		return -ENOMEM;
	state_limit(e->state, bytes);
	rc = trace_take_build_ids(t, e->state);
	if (rc == -ENOMEM)
		return rc;
	rc = trace_new_resolver(t, &e->resolver, NULL);
	return rc ? rc : cfi_tables_new(e->resolver, &e->cfi);
}

int early_new(const struct trace *t, size_t state_bytes, struct early **ret)
{
	struct early *e;
	int rc;

	*ret = NULL;
	if ((data_bytes(t->df) < SHORT && !t->opts.always_early) || t->opts.pool)
		return 0;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	init_locks(e);
	e->arch64 = unwind_arch_find(t->arch, PERF_SAMPLE_REGS_ABI_64);
	e->arch32 = unwind_arch_find(t->arch, PERF_SAMPLE_REGS_ABI_32);
	rc = open_state(e, t, state_bytes);
	if (rc)
		early_free(e);
	else
		*ret = e;
	return rc;
}

static void walk_free(struct early_walk *w)
{
	unwind_release(&w->unwind);
	free(w->chain);
	free(w);
}

void early_free(struct early *e)
{
	if (!e)
		return;
	while (e->walks) {
		struct early_walk *w = e->walks;

		e->walks = w->next;
		walk_free(w);
	}
	cfi_tables_free(e->cfi);
	resolver_free(e->resolver);
	state_free(e->state);
	pthread_rwlock_destroy(&e->maps);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static struct early_walk *walk_new(struct early *e)
{
	struct early_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->early = e;
	w->owner = pthread_self();
	if (!unwind_init(&w->unwind, e->state, e->cfi))
		return w;
	walk_free(w);
	return NULL;
}

struct early_walk *early_walk_mine(struct early *e)
{
	struct early_walk *w;

	pthread_mutex_lock(&e->lock);
	w = e->walks;
	while (w && !pthread_equal(w->owner, pthread_self()))
		w = w->next;
	if (!w) {
		w = walk_new(e);
		if (w) {
			w->next = e->walks;
			e->walks = w;
		}
	}
	pthread_mutex_unlock(&e->lock);
	return w;
}

void early_count(struct early *e, bool kept)
{
	pthread_mutex_lock(&e->lock);
	*(kept ? &e->kept : &e->given_up) += 1;
	pthread_mutex_unlock(&e->lock);
}

bool early_is_vain(struct early *e)
{
	bool vain;

	pthread_mutex_lock(&e->lock);
	vain = e->given_up > VAIN + e->kept;
	pthread_mutex_unlock(&e->lock);
	return vain;
}

static int add_words(struct early_walk *w, const uint64_t *words, size_t nr)
{
	if (array_grow(&w->chain, &w->cap, w->nr + nr, sizeof(*w->chain)))
		return -ENOMEM;
	if (nr)
		memcpy(w->chain + w->nr, words, nr * sizeof(*words));
	w->nr += nr;
	return 0;
}

static int add_frame(const struct unwind_frame *frame, void *arg)
{
	struct early_walk *w = arg;
	uint64_t word = frame->ip;

	if (word & DIGEST_FRAME_FLAGS)
		return -ERANGE;
	if (frame->guessed)
		word |= DIGEST_FRAME_GUESSED;
	if (frame->interrupted)
		word |= DIGEST_FRAME_INTERRUPTED;
	return add_words(w, &word, 1);
}

/* Whether some record says what the process runs. Under the lock of the maps. */
static bool knows_process(const struct early_walk *w, const struct pd_sample *s, struct moment at)
{
	struct state_view v = state_view(w->early->state, s->pid, at);
	struct location loc;

	return s->cpumode != PERF_RECORD_MISC_USER ||
	       state_view_find(&v, PERF_RECORD_MISC_USER, s->ip, &loc);
}

/* Appends the frames of the copy of the stack. */
static int add_stack(struct early_walk *w, const struct data_record *rec, const struct pd_sample *s,
		     struct digest_stack *stack)
{
	struct early *e = w->early;
	bool wide = s->user_regs_abi == PERF_SAMPLE_REGS_ABI_64;
	struct unwind_sample us = {
		.arch = wide ? e->arch64 : e->arch32,
		.pid = s->pid,
		.at = rec->at,
		.regs_mask = rec->evsel->attr.sample_regs_user,
		.regs = s->user_regs,
		.stack = s->user_stack,
		.stack_size = s->user_stack_size,
	};
	size_t before = w->nr;
	int rc;

	stack->walked = true;
	if (!us.arch)
		return 0;
	pthread_rwlock_rdlock(&e->maps);
	rc = knows_process(w, s, rec->at) ? unwind_walk(&w->unwind, &us, FRAMES_MAX, add_frame, w)
					  : -ESRCH;
	pthread_rwlock_unlock(&e->maps);
	stack->ended = w->unwind.copy_ended;
	stack->frames = (uint32_t)(w->nr - before);
	return rc;
}

static int find_chain(struct early_walk *w, const struct data_record *rec,
		      const struct pd_sample *s, struct digest_stack *stack)
{
	w->nr = 0;
	stack->copied = s->user_stack_size;
	stack->full = s->user_stack_size >= rec->evsel->attr.sample_stack_user;
	if (add_words(w, s->callchain, s->callchain_nr))
		return -ENOMEM;
	return frames_has_stack(s) ? add_stack(w, rec, s, stack) : 0;
}

void early_add(struct early_walk *w, const struct data_record *rec, struct digest *d,
	       struct unwind_uses *uses)
{
	struct digest_stack stack = {0};
	struct pd_sample s;

	if (d->given_up)
		return;
	w->unwind.uses = uses;
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &s, NULL) < 0 ||
	    find_chain(w, rec, &s, &stack) || uses->full) {
		digest_give_up(d);
		return;
	}
	s.callchain = w->chain;
	s.callchain_nr = w->nr;
	digest_add_sample(d, rec, &s, &stack);
}
