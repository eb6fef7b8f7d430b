// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/sideband_taps.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/initial/mapped.h"
#include "ring/ring.h"
#include "sys/kernel/thread.h"

struct sideband_tap {
	const struct sideband_taps *all;
	/* Guards @ring and @kept. While it is held, bytes are only copied. */
	pthread_mutex_t lock;
	struct ring ring; /* its tail is behind the last record copied */
	uint8_t *kept;	  /* records that are not shown yet; as large as the ring */
	size_t kept_len;
	pthread_mutex_t turn; /* who shows records; guards @taken. It may be held for long. */
	uint8_t *taken;	      /* the records that are being shown; the room changes with @kept */
	_Atomic(uint64_t) copied, shown; /* positions in the ring, for a look without a lock */
};

struct sideband_taps {
	record_emit_fn *show;
	void *arg;
	bool own_build_ids;
	size_t nr;
	struct sideband_tap taps[];
};

struct sideband_taps *sideband_taps_new(size_t nr, bool own_build_ids, record_emit_fn *show,
					void *arg)
{
	struct sideband_taps *taps = calloc(1, sizeof(*taps) + nr * sizeof(taps->taps[0]));

	if (!taps)
		return NULL;
	taps->show = show;
	taps->arg = arg;
	taps->own_build_ids = own_build_ids;
	return taps;
}

void sideband_taps_free(struct sideband_taps *taps)
{
	for (size_t i = 0; taps && i < taps->nr; i++) {
		pthread_mutex_destroy(&taps->taps[i].lock);
		pthread_mutex_destroy(&taps->taps[i].turn);
		free(taps->taps[i].kept);
		free(taps->taps[i].taken);
	}
	free(taps);
}

int sideband_taps_add(struct sideband_taps *taps, void *memory, size_t page_size, size_t data_size,
		      struct sideband_tap **ret)
{
	struct sideband_tap *tap = &taps->taps[taps->nr];
	int rc = ring_init(&tap->ring, memory, (const uint8_t *)memory + page_size, data_size);

	if (rc)
		return rc;
	tap->kept = malloc(data_size);
	tap->taken = malloc(data_size);
	if (!tap->kept || !tap->taken) {
		free(tap->kept);
		free(tap->taken);
		return -ENOMEM;
	}
	/* So that a reader takes no page faults. */
	memset(tap->kept, 0, data_size);
	memset(tap->taken, 0, data_size);
	tap->all = taps;
	atomic_init(&tap->copied, tap->ring.tail);
	atomic_init(&tap->shown, tap->ring.tail);
	thread_mutex_init(&tap->lock);
	thread_mutex_init(&tap->turn);
	taps->nr++;
	*ret = tap;
	return 0;
}

/* --- from the ring to the room -------------------------------------------------------------------
 */

static uint64_t head_of(const struct sideband_tap *tap)
{
	return __atomic_load_n(&tap->ring.page->data_head, __ATOMIC_ACQUIRE);
}

/* Copies what is new, if there is room for all of it. The lock is held. Returns whether there was.
 */
static bool copy_news(struct sideband_tap *tap)
{
	struct ring_spans spans;
	size_t len = ring_peek(&tap->ring, &spans);

	if (len > tap->ring.size - tap->kept_len)
		return false;
	ring_spans_copy(&spans, 0, tap->kept + tap->kept_len, len);
	tap->kept_len += len;
	ring_pass(&tap->ring, len);
	atomic_store_explicit(&tap->copied, tap->ring.tail, memory_order_release);
	return true;
}

/* --- from the room to who is shown ---------------------------------------------------------------
 */

/* Shows the records at @p; the mark of build-ids is taken from them if others asked for these. */
static void show_records(const struct sideband_taps *all, uint8_t *p, size_t len)
{
	struct perf_event_header hdr;

	if (!all->own_build_ids)
		mapped_clear_build_id_marks(p, len);
	for (size_t at = 0; pd_record_at(p + at, len - at, &hdr); at += hdr.size)
		all->show((const void *)(p + at), all->arg);
}

/* Shows what is kept, and what is new in the ring. It is the caller's turn. */
static void show_all(struct sideband_tap *tap)
{
	bool all;

	do {
		uint64_t until;
		uint8_t *room;
		size_t len;

		pthread_mutex_lock(&tap->lock);
		all = copy_news(tap);
		room = tap->kept;
		len = tap->kept_len;
		until = tap->ring.tail;
		tap->kept = tap->taken;
		tap->kept_len = 0;
		tap->taken = room;
		pthread_mutex_unlock(&tap->lock);
		show_records(tap->all, room, len);
		atomic_store_explicit(&tap->shown, until, memory_order_release);
	} while (!all);
}

void sideband_tap_show(struct sideband_tap *tap)
{
	if (head_of(tap) == atomic_load_explicit(&tap->shown, memory_order_acquire))
		return;
	pthread_mutex_lock(&tap->turn);
	show_all(tap);
	pthread_mutex_unlock(&tap->turn);
}

void sideband_tap_keep(struct sideband_tap *tap)
{
	bool kept;

	if (head_of(tap) == atomic_load_explicit(&tap->copied, memory_order_acquire))
		return;
	pthread_mutex_lock(&tap->lock);
	kept = copy_news(tap);
	pthread_mutex_unlock(&tap->lock);
	if (!kept)
		sideband_tap_show(tap);
}

void sideband_taps_show(void *taps)
{
	struct sideband_taps *all = taps;

	for (size_t i = 0; i < all->nr; i++)
		sideband_tap_show(&all->taps[i]);
}
