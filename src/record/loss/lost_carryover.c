// SPDX-License-Identifier: Apache-2.0
#include "record/loss/lost_carryover.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/record.h"

/* The array moves only while the writers are stopped. */
struct lost_carryover {
	_Atomic uint64_t *due; /* by CPU, -1 first */
	size_t nr, capacity;
};

struct lost_carryover *lost_carryover_new(void)
{
	return calloc(1, sizeof(struct lost_carryover));
}

void lost_carryover_free(struct lost_carryover *l)
{
	if (l)
		free(l->due);
	free(l);
}

int lost_carryover_credit(struct lost_carryover *l, int cpu, uint64_t counted)
{
	size_t at = (size_t)(cpu + 1);

	if (array_grow(&l->due, &l->capacity, at + 1, sizeof(*l->due)))
		return -ENOMEM;
	while (l->nr <= at)
		atomic_init(&l->due[l->nr++], 0);
	atomic_fetch_add(&l->due[at], counted);
	return 0;
}

/* Takes up to @n from what is due for @cpu. Returns how much it took. */
static uint64_t take(struct lost_carryover *l, int cpu, uint64_t n)
{
	size_t at = (size_t)(cpu + 1);
	uint64_t due, taken;

	if (at >= l->nr)
		return 0;
	due = atomic_load(&l->due[at]);
	do {
		taken = n < due ? n : due;
	} while (taken && !atomic_compare_exchange_weak(&l->due[at], &due, due - taken));
	return taken;
}

void lost_carryover_debit(struct lost_carryover *l, int cpu, uint64_t reported)
{
	take(l, cpu, reported);
}

/* Lowers the count, at offset @at, of @p, a LOST record with header @hdr. */
static void lower_count(struct lost_carryover *l, int cpu, uint8_t *p, struct perf_event_header hdr,
			size_t at)
{
	uint64_t n;

	memcpy(&n, p + at, sizeof(n));
	n -= take(l, cpu, n);
	memcpy(p + at, &n, sizeof(n));
	if (n)
		return;
	/*
	 * Readers warn about a LOST record even if its count is 0, and about filler records that
	 * are this small (PD_PASSED_OVER_MIN). A LOST_SAMPLES record adds its count, 0, and has the
	 * trailer at the same place, behind a word that readers skip.
	 */
	hdr.type = PERF_RECORD_LOST_SAMPLES;
	memcpy(p, &hdr, sizeof(hdr));
	memset(p + sizeof(hdr), 0, sizeof(uint64_t));
}

void lost_carryover_apply(struct lost_carryover *l, int cpu, uint8_t *p, size_t len)
{
	const size_t at = sizeof(struct perf_event_header) + sizeof(uint64_t); /* behind the id */
	struct perf_event_header hdr;
	size_t size;

	if ((size_t)(cpu + 1) >= l->nr || !atomic_load(&l->due[cpu + 1]))
		return;
	for (; (size = pd_record_at(p, len, &hdr)); p += size, len -= size)
		if (hdr.type == PERF_RECORD_LOST && size >= at + sizeof(uint64_t))
			lower_count(l, cpu, p, hdr, at);
}
