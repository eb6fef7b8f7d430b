// SPDX-License-Identifier: Apache-2.0
#include "record/lane.h"

#include <errno.h>

#include "perfdata/record.h"

static int saw_map(const struct perf_event_header *hdr, void *arg)
{
	return dso_names_add(((struct lane *)arg)->dsos, hdr);
}

static int saw_lost(const struct perf_event_header *hdr, int cpu, void *arg)
{
	struct lane *lane = arg;
	struct pd_record rec;

	if (pd_record_decode(hdr, NULL, &rec))
		return 0;
	if (hdr->type == PERF_RECORD_LOST)
		return loss_add(&lane->lost_records, LOSS_RING, LOSS_NO_EVENT, cpu, rec.lost.lost);
	return loss_add(&lane->dropped, LOSS_PMU, LOSS_NO_EVENT, cpu, rec.lost.lost);
}

static int saw_sideband(const struct perf_event_header *hdr, void *arg)
{
	const struct lane *lane = arg;

	return lane->sideband ? sideband_add(lane->sideband, hdr) : 0;
}

/* From the end of the chain to its beginning. */
int lane_init(struct lane *lane, struct writer *writer, int compression, unsigned int time_at,
	      struct meter *meter)
{
	const struct tally_opts tally = {
		.time_at = time_at,
		.map = saw_map,
		.lost = saw_lost,
		.sideband = saw_sideband,
		.arg = lane,
	};
	struct sink *next;

	*lane = (struct lane){.writer = writer, .dsos = dso_names_new(), .meter = meter};
	if (!lane->dsos)
		return -ENOMEM;
	next = lane->file = sink_file_new(writer);
	if (next && compression)
		next = lane->compress = compress_new(next, compression);
	if (next)
		lane->chain = tally_new(next, &tally);
	return lane->chain ? 0 : -ENOMEM;
}

void lane_release(struct lane *lane)
{
	sink_free(lane->chain);
	sink_free(lane->compress);
	sink_free(lane->file);
	writer_close(lane->writer);
	dso_names_free(lane->dsos);
	loss_release(&lane->lost_records);
	loss_release(&lane->dropped);
	*lane = (struct lane){0};
}

bool lane_measure(struct lane *lane)
{
	uint64_t size = writer_data_size(lane->writer), limit = atomic_load(&lane->meter->limit);
	uint64_t more = size - lane->metered;

	lane->metered = size;
	return atomic_fetch_add(&lane->meter->bytes, more) + more >= limit && limit;
}

void lane_note_flush(struct lane *lane)
{
	atomic_store(&lane->flushed_bytes, writer_data_size(lane->writer));
	atomic_store(&lane->flushed_records, tally_get(lane->chain)->records);
	atomic_store(&lane->flushed_samples, tally_get(lane->chain)->passed);
	atomic_store(&lane->flushed_lost, lane->lost_records.total);
	atomic_store(&lane->flushed_dropped, lane->dropped.total);
}

int lane_flush(struct lane *lane, struct error *err)
{
	int code = sink_flush(lane->chain, err);

	if (!code)
		lane_note_flush(lane);
	return code;
}

void lane_save(struct lane *lane, int code)
{
	bool full = code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
	uint64_t rescued = 0;
	int rescue = -EINVAL;

	if (lane->saved)
		return;
	lane->saved = true;
	/*
	 * A flush makes room for itself by giving up what of the last append is in the file. The
	 * samples in compressed records are not counted.
	 */
	if (full && !lane->compress)
		rescue = writer_rescue(lane->writer, &rescued);
	if (rescue == -EINVAL) {
		lane_flush(lane, NULL);
		return;
	}
	atomic_fetch_add(&lane->flushed_samples, rescued);
	atomic_store(&lane->flushed_bytes, writer_data_size(lane->writer));
}

struct part lane_flushed_size(const struct lane *lane)
{
	return (struct part){
		.bytes = atomic_load(&lane->flushed_bytes),
		.records = atomic_load(&lane->flushed_records),
	};
}

struct lane_view lane_view(const struct lane *lane)
{
	return (struct lane_view){
		.samples = atomic_load(&lane->flushed_samples),
		.bytes = atomic_load(&lane->flushed_bytes),
		.lost = atomic_load(&lane->flushed_lost),
		.dropped = atomic_load(&lane->flushed_dropped),
	};
}

int lane_merge(struct lane *to, const struct lane *from)
{
	int code = loss_merge(&to->lost_records, &from->lost_records);

	if (!code)
		code = loss_merge(&to->dropped, &from->dropped);
	return code ? code : dso_names_merge(to->dsos, from->dsos);
}
