// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/sideband_taps.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "perfdata/record.h"
#include "record/initial/mapped.h"
#include "ring/ring.h"
#include "sys/kernel/thread.h"

/* More than the records of tasks and maps take: a path, and some words. Others are not shown. */
#define RECORD_MOST 8192u

struct sideband_tap {
	const struct sideband_taps *all;
	pthread_mutex_t lock;	 /* guards @ring, while records are shown */
	struct ring ring;	 /* its tail is behind the last record shown */
	_Atomic(uint64_t) shown; /* likewise, for a look without the lock */
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
	for (size_t i = 0; taps && i < taps->nr; i++)
		pthread_mutex_destroy(&taps->taps[i].lock);
	free(taps);
}

int sideband_taps_add(struct sideband_taps *taps, void *memory, size_t page_size, size_t data_size,
		      struct sideband_tap **ret)
{
	struct sideband_tap *tap = &taps->taps[taps->nr];
	int rc = ring_init(&tap->ring, memory, (const uint8_t *)memory + page_size, data_size);

	if (rc)
		return rc;
	tap->all = taps;
	atomic_init(&tap->shown, tap->ring.tail);
	thread_mutex_init(&tap->lock);
	taps->nr++;
	*ret = tap;
	return 0;
}

/* Shows the records in the first @len bytes of @spans. */
static void show_spans(const struct sideband_taps *all, const struct ring_spans *spans, size_t len)
{
	_Alignas(uint64_t) uint8_t record[RECORD_MOST];
	struct perf_event_header hdr;

	for (size_t at = 0; len - at >= sizeof(hdr); at += hdr.size) {
		ring_spans_copy(spans, at, &hdr, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size > len - at)
			break;
		if (hdr.size > sizeof(record))
			continue;
		ring_spans_copy(spans, at, record, hdr.size);
		if (!all->own_build_ids)
			mapped_clear_build_id_marks(record, hdr.size);
		all->show((const void *)record, all->arg);
	}
}

static bool has_news(const struct sideband_tap *tap)
{
	return __atomic_load_n(&tap->ring.page->data_head, __ATOMIC_ACQUIRE) !=
	       atomic_load_explicit(&tap->shown, memory_order_acquire);
}

void sideband_tap_show(struct sideband_tap *tap)
{
	struct ring_spans spans;
	size_t len;

	if (!has_news(tap))
		return;
	pthread_mutex_lock(&tap->lock);
	len = ring_peek(&tap->ring, &spans);
	show_spans(tap->all, &spans, len);
	ring_pass(&tap->ring, len);
	atomic_store_explicit(&tap->shown, tap->ring.tail, memory_order_release);
	pthread_mutex_unlock(&tap->lock);
}

void sideband_taps_show(void *taps)
{
	struct sideband_taps *all = taps;

	for (size_t i = 0; i < all->nr; i++)
		sideband_tap_show(&all->taps[i]);
}
