// SPDX-License-Identifier: Apache-2.0
#include "record/chains/chain_maker.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock_ns.h"
#include "base/plural.h"
#include "record/chains/image_loader.h"
#include "record/chains/sample_chain.h"
#include "record/chains/task_spaces.h"
#include "unwind/unwind.h"

/* As many frames as a reporter takes of a sample (report/trace/frame.h). */
#define FRAMES_MOST 1024

struct chain_maker {
	struct task_spaces *spaces;
	struct image_loader *loader;
	const struct unwind_arch *arch64, *arch32;
	atomic_int failed; /* negative errno: maps are missing, no chain would be certain */
};

struct chain_walker {
	struct chain_maker *maker;
	struct task_spaces_view view;
	struct unwind unwind; /* of the state with the number: */
	uint64_t number;
	bool ready;		 /* @unwind is initialised */
	bool held;		 /* the spaces are acquired */
	enum chain_kept without; /* if they are not: why */
	struct chain_stats stats;
	size_t nr;
	uint64_t ips[FRAMES_MOST];
};

/* --- the maker -----------------------------------------------------------------------------------
 */

static void forgotten(void *arg)
{
	const struct chain_maker *m = arg;

	cfi_tables_forget(image_loader_tables(m->loader));
}

int chain_maker_new(const struct pd_attr *attr, struct chain_maker **ret)
{
	struct chain_maker *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return -ENOMEM;
	m->arch64 = unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_64);
	m->arch32 = unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_32);
	rc = image_loader_new(&m->loader);
	m->spaces = task_spaces_new(attr, forgotten, m);
	if (!rc && !m->spaces)
		rc = -ENOMEM;
	if (rc)
		chain_maker_free(m);
	else
		*ret = m;
	return rc;
}

void chain_maker_free(struct chain_maker *m)
{
	if (!m)
		return;
	task_spaces_free(m->spaces);
	image_loader_free(m->loader);
	free(m);
}

void chain_maker_gather_by(struct chain_maker *m, void (*gather)(void *arg), void *arg)
{
	task_spaces_gather_by(m->spaces, gather, arg);
}

static void check(struct chain_maker *m, int rc)
{
	if (rc)
		atomic_store(&m->failed, rc);
}

int chain_maker_add(const struct perf_event_header *hdr, void *maker)
{
	struct chain_maker *m = maker;

	check(m, task_spaces_add(m->spaces, hdr));
	return 0;
}

void chain_maker_settle(struct chain_maker *m)
{
	check(m, task_spaces_settle(m->spaces));
}

/* --- counts --------------------------------------------------------------------------------------
 */

void chain_stats_add(struct chain_stats *to, const struct chain_stats *from)
{
	for (size_t i = 0; i < CHAIN_REASONS; i++)
		to->samples[i] += from->samples[i];
	to->cut += from->cut;
	to->frames += from->frames;
	to->in += from->in;
	to->out += from->out;
	to->nsec += from->nsec;
}

void chain_maker_stats(struct chain_maker *m, struct chain_stats *ret)
{
	ret->hung = image_loader_hung(m->loader, &ret->hung_name);
}

static const char *const reasons[CHAIN_REASONS] = {
	[CHAIN_BEHIND] = "unwinding was behind",
	[CHAIN_WAITED] = "a file was not read in time",
	[CHAIN_NO_CODE] = "code without call frame information",
	[CHAIN_GUESSED] = "a caller was found by the frame pointer alone",
	[CHAIN_EARLY] = "older than the known maps",
	[CHAIN_LONG] = "the chain is larger than the stack",
	[CHAIN_MANY_MAPS] = "the maps of all processes take more than 128 MB",
	[CHAIN_FAILED] = "out of memory",
};

void chain_stats_say(const struct chain_stats *stats, const struct messages *messages)
{
	uint64_t all = 0, made = stats->samples[CHAIN_MADE];
	char why[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < CHAIN_REASONS; i++) {
		all += stats->samples[i];
		if (!reasons[i] || !stats->samples[i])
			continue;
		len += (size_t)snprintf(why + len, sizeof(why) - len, "%s%llu: %s", len ? "; " : "",
					(unsigned long long)stats->samples[i], reasons[i]);
	}
	if (stats->hung)
		messages_say(messages, MESSAGE_WARNING,
			     "%llu file%s did not answer within 5 s (first: %s): samples of "
			     "their code keep their stacks; see to the file system",
			     (unsigned long long)stats->hung, plural_s(stats->hung),
			     stats->hung_name ? stats->hung_name : "?");
	if (!all)
		return;
	messages_say(
		messages, MESSAGE_INFO,
		"%llu of %llu sample%s with stacks got call chains; %llu bytes became %llu%s%s%s",
		(unsigned long long)made, (unsigned long long)all, plural_s(all),
		(unsigned long long)stats->in, (unsigned long long)stats->out,
		len ? "; others keep their stacks (" : "", why, len ? ")" : "");
	if (stats->cut)
		messages_say(messages, MESSAGE_INFO,
			     "%llu call chain%s end%s where the copy of the stack does: give a "
			     "larger SIZE with --call-graph dwarf,SIZE,online",
			     (unsigned long long)stats->cut, plural_s(stats->cut),
			     stats->cut == 1 ? "s" : "");
	messages_say(messages, MESSAGE_DETAIL, "unwinding took %llu us of CPU time for %llu frames",
		     (unsigned long long)stats->nsec / 1000, (unsigned long long)stats->frames);
}

/* --- walkers -------------------------------------------------------------------------------------
 */

struct chain_walker *chain_walker_new(struct chain_maker *m)
{
	struct chain_walker *w = calloc(1, sizeof(*w));

	if (w)
		w->maker = m;
	return w;
}

void chain_walker_free(struct chain_walker *w)
{
	if (!w)
		return;
	if (w->ready)
		unwind_release(&w->unwind);
	free(w);
}

const struct chain_stats *chain_walker_stats(const struct chain_walker *w)
{
	return &w->stats;
}

bool chain_walker_begin(struct chain_walker *w)
{
	struct chain_maker *m = w->maker;
	int rc = atomic_load(&m->failed);

	if (!rc)
		rc = task_spaces_acquire(m->spaces, &w->view);
	w->without = rc == -E2BIG ? CHAIN_MANY_MAPS : CHAIN_FAILED;
	if (rc)
		return false;
	w->held = true;
	if (w->ready && w->number == w->view.number)
		return true;
	/* Cached rows are of dsos that are gone. */
	if (w->ready)
		unwind_release(&w->unwind);
	w->ready = !unwind_init(&w->unwind, w->view.state, image_loader_tables(m->loader));
	w->number = w->view.number;
	if (w->ready)
		return true;
	unwind_release(&w->unwind);
	chain_walker_end(w);
	return false;
}

void chain_walker_end(struct chain_walker *w)
{
	if (w->held)
		task_spaces_release(w->maker->spaces);
	w->held = false;
}

static int keep_ip(const struct unwind_frame *frame, void *arg)
{
	struct chain_walker *w = arg;

	w->ips[w->nr++] = frame->ip;
	return 0;
}

/* Walks the stack of @s. Returns 0, or a negative errno of unwind_walk(). */
static int walk(struct chain_walker *w, const struct pd_sample *s, const struct pd_evsel *evsel)
{
	const struct chain_maker *m = w->maker;
	const struct unwind_sample from = {
		.arch = s->user_regs_abi == PERF_SAMPLE_REGS_ABI_64 ? m->arch64 : m->arch32,
		.pid = s->pid,
		.at = {s->time, UINT64_MAX},
		.regs_mask = evsel->attr.sample_regs_user,
		.regs = s->user_regs,
		.stack = s->user_stack,
		.stack_size = s->user_stack_size,
	};
	size_t kernel = 0;

	for (uint64_t i = 0; i < s->callchain_nr; i++)
		kernel += s->callchain[i] < PERF_CONTEXT_MAX;
	w->nr = 0;
	if (!from.arch || kernel >= FRAMES_MOST)
		return -ENOTSUP;
	return unwind_walk(&w->unwind, &from, FRAMES_MOST - kernel, keep_ip, w);
}

/* Waits for files without the maps. Returns whether a walk may find more then. */
static bool wait_for_files(struct chain_walker *w, uint64_t deadline)
{
	uint64_t ms = ms_until(deadline);
	bool served;

	if (!ms)
		return false;
	chain_walker_end(w);
	served = image_loader_wait(w->maker->loader, (unsigned int)ms);
	return chain_walker_begin(w) && served;
}

static enum chain_kept make_chain(struct chain_walker *w, const struct pd_sample *s,
				  const struct pd_evsel *evsel, uint64_t deadline)
{
	int rc;

	do {
		/* While files are waited for, the history of maps may be made again. */
		if (s->time < w->view.since)
			return CHAIN_EARLY;
		rc = walk(w, s, evsel);
	} while (rc == -EAGAIN && deadline && wait_for_files(w, deadline));
	if (rc == -EAGAIN)
		return CHAIN_WAITED;
	if (rc)
		return rc == -ENOMEM ? CHAIN_FAILED : CHAIN_NO_CODE;
	if (!w->nr || w->unwind.no_rules)
		return CHAIN_NO_CODE;
	return w->unwind.guessed ? CHAIN_GUESSED : CHAIN_MADE;
}

static size_t put(struct chain_walker *w, const struct perf_event_header *hdr,
		  const struct pd_sample *s, const struct pd_evsel *evsel, bool keep_regs,
		  uint64_t deadline, uint8_t *out)
{
	enum chain_kept kept = w->held ? make_chain(w, s, evsel, deadline) : w->without;
	size_t size = 0;

	if (kept == CHAIN_MADE) {
		unsigned int regs =
			(unsigned int)__builtin_popcountll(evsel->attr.sample_regs_user);

		size = sample_chain_put(hdr, s, regs, keep_regs, w->ips, w->nr, out);
		if (!size)
			kept = CHAIN_LONG;
	}
	if (size) {
		w->stats.cut += w->unwind.copy_ended;
		w->stats.frames += w->nr;
	} else {
		memcpy(out, hdr, hdr->size);
		size = hdr->size;
	}
	w->stats.samples[kept]++;
	w->stats.in += hdr->size;
	w->stats.out += size;
	return size;
}

size_t chain_walker_put(struct chain_walker *w, const struct perf_event_header *hdr,
			const struct pd_evsel *evsel, bool keep_regs, uint64_t deadline,
			uint8_t *out)
{
	struct pd_sample s;

	if (pd_sample_decode(hdr, evsel, &s, NULL) || !sample_chain_fits(&s)) {
		memcpy(out, hdr, hdr->size);
		return hdr->size;
	}
	return put(w, hdr, &s, evsel, keep_regs, deadline, out);
}

void chain_walker_skip(struct chain_walker *w, const struct perf_event_header *hdr,
		       const struct pd_evsel *evsel)
{
	struct pd_sample s;

	if (pd_sample_decode(hdr, evsel, &s, NULL) || !sample_chain_fits(&s))
		return;
	w->stats.samples[CHAIN_BEHIND]++;
	w->stats.in += hdr->size;
	w->stats.out += hdr->size;
}
