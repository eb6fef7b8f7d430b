// SPDX-License-Identifier: Apache-2.0
#include "record/output/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/history/pack.h"
#include "record/pipeline/overwrite_tally.h"

static int saw_map(const struct perf_event_header *hdr, void *arg)
{
	struct lane *lane = arg;
	int rc = dso_names_add(lane->dsos, hdr);

	return rc || !lane->names ? rc : names_add(lane->names, hdr);
}

/* Returns the event of a record that ends with an IDENTIFIER. */
static unsigned int event_of(const struct opened *opened, const struct perf_event_header *hdr)
{
	uint64_t id;

	memcpy(&id, (const uint8_t *)hdr + hdr->size - sizeof(id), sizeof(id));
	for (size_t i = 0; i < opened->nr_fds; i++)
		if (opened->fds[i].id == id)
			return opened->fds[i].event;
	return LOSS_NO_EVENT;
}

int lane_count_lost(const struct opened *opened, const struct perf_event_header *hdr, int cpu,
		    struct loss *lost_records, struct loss *dropped)
{
	struct pd_record rec;

	if (pd_record_decode(hdr, NULL, &rec))
		return 0;
	if (hdr->type == PERF_RECORD_LOST)
		return loss_add(lost_records, LOSS_RING, LOSS_NO_EVENT, cpu, rec.lost.lost);
	if (hdr->misc & PD_MISC_LOST_POOL)
		return loss_add(dropped, LOSS_POOL, event_of(opened, hdr), cpu, rec.lost.lost);
	return loss_add(dropped, LOSS_PMU, LOSS_NO_EVENT, cpu, rec.lost.lost);
}

static int saw_lost(const struct perf_event_header *hdr, const struct run *run, void *arg)
{
	struct lane *lane = arg;

	if (throttle_stats_count(lane->throttles, hdr, run->cpu))
		return 0;
	return lane_count_lost(lane->opened, hdr, run->cpu, &lane->lost_records, &lane->dropped);
}

static int saw_sideband(const struct perf_event_header *hdr, void *arg)
{
	const struct lane *lane = arg;

	int rc = lane->sideband ? sideband_add(lane->sideband, hdr) : 0;

	if (!rc && lane->names && (hdr->type == PERF_RECORD_FORK || hdr->type == PERF_RECORD_EXIT))
		rc = names_add(lane->names, hdr);
	return rc;
}

/* Makes the chain of stages from its end to its beginning. */
int lane_init(struct lane *lane, const struct lane_opts *opts)
{
	struct tally_opts tally = {
		.time_at = opts->time_at,
		.map = saw_map,
		.lost = saw_lost,
		.sideband = saw_sideband,
		.arg = lane,
	};
	struct sink *next;

	*lane = (struct lane){
		.writer = opts->writer,
		.borrowed = opts->borrowed,
		.shared = opts->shared,
		.dsos = dso_names_new(opts->opened->buildid_reader, opts->own_build_ids),
		.opened = opts->opened,
		.throttles = opts->throttles,
		.meter = opts->meter,
	};
	if (opts->named)
		lane->names =
			names_new(opts->named, opts->opened->buildid_reader, opts->own_build_ids);
	if (!lane->dsos || (opts->named && !lane->names))
		return -ENOMEM;
	if (lane->names)
		tally.hits = names_hits(lane->names);
	next = lane->file = sink_file_new(opts->writer, opts->shared);
	if (next && opts->compression)
		next = lane->compress = compress_new(next, opts->compression);
	if (next && opened_overwrites(opts->opened))
		next = lane->overwrite_tally = overwrite_tally_new(opts->opened, next);
	if (next)
		lane->chain = tally_new(next, &tally);
	return lane->chain ? 0 : -ENOMEM;
}

void lane_release(struct lane *lane)
{
	sink_free(lane->chain);
	sink_free(lane->overwrite_tally);
	sink_free(lane->compress);
	sink_free(lane->file);
	if (!lane->borrowed)
		writer_close(lane->writer);
	dso_names_free(lane->dsos);
	names_free(lane->names);
	loss_release(&lane->lost_records);
	loss_release(&lane->dropped);
	*lane = (struct lane){0};
}

/* Takes the addresses of compressed samples, which no stage sees. Without memory they are missing.
 */
static void see_packed(const struct lane *lane, const struct run *run, size_t bytes)
{
	uint8_t *samples = malloc(bytes);
	struct perf_event_header hdr;

	if (samples && !packer_unpack(run->a, run->a_len, samples, bytes))
		for (size_t at = 0, size; (size = pd_record_at(samples + at, bytes - at, &hdr));
		     at += size)
			if (hdr.type == PERF_RECORD_SAMPLE)
				hits_add(names_hits(lane->names), (const void *)(samples + at));
	free(samples);
}

int lane_write_packed(struct lane *lane, const struct run *run, const struct tally *counts,
		      size_t bytes, struct error *err)
{
	if (lane->names)
		see_packed(lane, run, bytes);
	return tally_passed_by(lane->chain, counts, compress_pass(lane->compress, run, bytes, err));
}

void lane_discard(struct lane *lane, const struct run *run)
{
	tally_discard(lane->chain, run);
}

uint64_t lane_bytes(const struct lane *lane)
{
	return lane->shared ? sink_file_bytes(lane->file) : writer_data_size(lane->writer);
}

int lane_rest(struct lane *lane, bool rests)
{
	return lane->shared ? 0 : writer_rest(lane->writer, rests);
}

int lane_mark(const struct lane *lane, struct lane_mark *ret)
{
	*ret = (struct lane_mark){.counts = *tally_get(lane->chain)};
	if (lane->compress)
		ret->compression = *compress_stats(lane->compress);
	return lane->shared ? -ENOTSUP : writer_mark_new(lane->writer, &ret->writer);
}

void lane_mark_release(struct lane_mark *mark)
{
	writer_mark_free(mark->writer);
	*mark = (struct lane_mark){0};
}

int lane_roll_back(struct lane *lane, const struct lane_mark *mark, struct error *err)
{
	int rc = writer_roll_back(lane->writer, mark->writer, err);

	if (rc)
		return rc;
	sink_file_rolled_back(lane->file);
	tally_restore(lane->chain, &mark->counts);
	if (lane->compress)
		compress_restore(lane->compress, &mark->compression);
	lane_note_flush(lane);
	lane_measure(lane);
	return 0;
}

void lane_make_room(struct lane *lane)
{
	if (lane->names)
		names_make_room(lane->names);
}

bool lane_measure(struct lane *lane)
{
	uint64_t size = lane_bytes(lane), limit = atomic_load(&lane->meter->limit);
	uint64_t more = size - lane->metered;

	lane->metered = size;
	return atomic_fetch_add(&lane->meter->bytes, more) + more >= limit && limit;
}

void lane_note_flush(struct lane *lane)
{
	atomic_store(&lane->flushed_bytes, lane_bytes(lane));
	atomic_store(&lane->flushed_records, tally_get(lane->chain)->records);
	atomic_store(&lane->flushed_samples, tally_get(lane->chain)->passed);
	atomic_store(&lane->flushed_trace, tally_get(lane->chain)->passed_trace);
	atomic_store(&lane->flushed_lost, lane->lost_records.total);
	atomic_store(&lane->flushed_dropped, lane->dropped.total);
}

int lane_flush(struct lane *lane, struct error *err)
{
	int rc = sink_flush(lane->chain, err);

	if (!rc)
		lane_note_flush(lane);
	return rc;
}

void lane_save(struct lane *lane, int cause)
{
	bool full = cause == -ENOSPC || cause == -EDQUOT || cause == -EFBIG, flush;
	struct writer_rescued rescued = {0};
	int rc;

	if (lane->saved)
		return;
	lane->saved = true;
	/* A full disk has no room for what waits in memory, nor for a retry of a write in flight.
	 */
	flush = lane->shared || (!full && !writer_aio(lane->writer));
	if ((flush && !lane_flush(lane, NULL)) || lane->shared)
		return;
	rc = writer_rescue(lane->writer, &rescued);
	if (rc == -ESTALE) { /* another process has truncated the file */
		writer_remains(lane->writer, &rescued);
		atomic_store(&lane->flushed_records, rescued.records);
		atomic_store(&lane->flushed_samples, rescued.samples);
		atomic_store(&lane->flushed_dropped, rescued.lost);
		atomic_store(&lane->flushed_trace, rescued.trace);
		lane->stale = true;
	}
	if (rc)
		return;
	atomic_fetch_add(&lane->flushed_records, rescued.records);
	atomic_fetch_add(&lane->flushed_samples, rescued.samples);
	atomic_fetch_add(&lane->flushed_dropped, rescued.lost);
	atomic_fetch_add(&lane->flushed_trace, rescued.trace);
	atomic_store(&lane->flushed_bytes, lane_bytes(lane));
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
		.trace = atomic_load(&lane->flushed_trace),
		.dropped = atomic_load(&lane->flushed_dropped),
	};
}

int lane_merge(struct lane *to, const struct lane *from)
{
	int rc = loss_merge(&to->lost_records, &from->lost_records);

	if (!rc)
		rc = loss_merge(&to->dropped, &from->dropped);
	if (!rc && to->names && from->names)
		rc = names_merge(to->names, from->names);
	return rc ? rc : dso_names_merge(to->dsos, from->dsos);
}
