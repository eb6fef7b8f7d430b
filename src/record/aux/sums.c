// SPDX-License-Identifier: Apache-2.0
#include "record/aux/sums.h"

void aux_sums_get(const struct aux_areas *a, struct aux_sums *ret)
{
	*ret = (struct aux_sums){.areas = a->nr, .mode = a->nr ? a->areas->mode : AUX_NONE};
	for (size_t i = 0; i < a->nr; i++) {
		const struct aux_area *area = &a->areas[i];

		ret->drained += area->bytes;
		ret->truncated += area->truncated;
		ret->partial += area->partial;
		ret->collisions += area->collisions;
		ret->restarts += area->restarts;
		ret->unreported += area->unreported;
		ret->lost_records += area->lost_records;
	}
}

void aux_sums_encode(const struct aux_area *area, struct pd_snapshot_record *ret)
{
	static const enum pd_aux_mode modes[] = {
		[AUX_FULL] = PD_AUX_FULL,
		[AUX_SNAPSHOT] = PD_AUX_SNAPSHOT,
		[AUX_SAMPLE] = PD_AUX_SAMPLE,
	};
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.aux =
			{
				.idx = area->index,
				.cpu = (uint32_t)area->cpu,
				.tid = (uint32_t)area->task,
				.mode = modes[area->mode],
				.written = area->bytes,
				.area = area->ring.size,
				.truncated = area->truncated,
				.restarts = area->restarts,
				.unreported = area->unreported,
				.lost_records = area->lost_records,
			},
	};

	pd_snapshot_encode(&log, ret);
}
