// SPDX-License-Identifier: Apache-2.0
#include "report/trace/itrace_held.h"

#include <stdlib.h>

#define KEEP_MAX  (64u << 10) /* samples that a spare list keeps room for */
#define SPARE_MAX 8u

static struct itrace_held *take_spare(struct itrace *i)
{
	struct itrace_held *h;

	pthread_mutex_lock(&i->lock);
	h = i->spare;
	if (h) {
		i->spare = h->next;
		i->nr_spare--;
	}
	pthread_mutex_unlock(&i->lock);
	return h;
}

static bool give_spare(struct itrace_held *h)
{
	struct itrace *i = h->itrace;
	bool taken;

	pthread_mutex_lock(&i->lock);
	taken = i->nr_spare < SPARE_MAX;
	if (taken) {
		h->next = i->spare;
		i->spare = h;
		i->nr_spare++;
	}
	pthread_mutex_unlock(&i->lock);
	return taken;
}

static void held_free(struct itrace_held *h)
{
	itrace_list_release(&h->list);
	free(h);
}

struct itrace_held *itrace_held_new(struct itrace *i)
{
	struct itrace_held *h = take_spare(i);

	if (!h)
		h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->itrace = i;
	h->next = NULL;
	atomic_store_explicit(&h->holders, 1, memory_order_relaxed);
	return h;
}

void itrace_hold(struct itrace_held *h)
{
	atomic_fetch_add_explicit(&h->holders, 1, memory_order_relaxed);
}

void itrace_let_go(struct itrace_held *h)
{
	if (!h || atomic_fetch_sub_explicit(&h->holders, 1, memory_order_acq_rel) > 1)
		return;
	itrace_list_clear(&h->list);
	if (h->list.cap > KEEP_MAX || !give_spare(h))
		held_free(h);
}

void itrace_held_free_spare(struct itrace *i)
{
	for (struct itrace_held *h; (h = take_spare(i));)
		held_free(h);
}
