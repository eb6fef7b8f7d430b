// SPDX-License-Identifier: Apache-2.0
/*
 * The end of an output: losses, and features that are known only at the end.
 *
 * LOST_SAMPLES records report the losses. They follow the data, or, where the file cannot grow any
 * more, fill the place that is reserved before the data (data/writer/writer.h).
 */
#include "record/output/output_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "perfdata/aux_record.h"
#include "perfdata/feature.h"
#include "perfdata/snapshot_log.h"
#include "perfdata/symbols/symbols.h"
#include "record/loss/lost_samples_record.h"

/* --- losses --------------------------------------------------------------------------------------
 */

/* An event that writes a trace has no samples; its other records found no room. */
static uint16_t misc_of(const struct plan_event *event)
{
	return event->aux ? PD_MISC_LOST_RECORDS : 0;
}

/* Writes the losses of one descriptor, bypassing the tally, which counts the kernel's records. */
static int write_lost(struct output *out, const struct plan *plan, const struct open_fd *fd,
		      uint64_t lost, struct error *err)
{
	struct lost_samples_record rec;

	lost_samples_record_make(&rec, &plan->events[fd->event].attr, fd->id, fd->cpu, 0,
				 misc_of(&plan->events[fd->event]), lost);
	return sink_record(out->lanes[0].file, &rec.header, err);
}

static void add_losses(struct output *out, const struct loss *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct loss_entry *e = &from->entries[i];

		loss_add(&out->loss, e->cause, e->event, e->cpu, e->count);
	}
}

/* Adds the losses that records have reported, once: output_abandon() may follow output_finish(). */
static void add_reported_losses(struct output *out)
{
	const struct lane *lane = &out->lanes[0];

	if (out->reported)
		return;
	out->reported = true;
	if (!out->by_event)
		add_losses(out, out->lost_records ? out->lost_records : &lane->lost_records);
	add_losses(out, out->dropped ? out->dropped : &lane->dropped);
}

/*
 * Reads all counters. Returns 0, -ENOMEM, or another negative errno if any cannot be read: counters
 * and LOST records together would count losses twice.
 */
static int read_counts(const struct opened *opened, const struct plan *plan,
		       struct open_count **ret)
{
	struct open_count *now = calloc(opened->nr_fds + 1, sizeof(*now));
	int rc = now ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < opened->nr_fds; i++)
		rc = opened_count(&opened->fds[i], plan, &now[i]);
	if (!rc) {
		*ret = now;
		return 0;
	}
	free(now);
	return rc;
}

int output_count(struct output *out, const struct plan *plan, struct lost_carryover *late)
{
	const struct opened *opened = out->opened;
	int rc = read_counts(opened, plan, &out->now);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (size_t i = 0; !rc && i < opened->nr_fds; i++)
		rc = lost_carryover_credit(late, opened->fds[i].cpu,
					   out->now[i].lost - out->counted[i]);
	for (size_t i = 0; !rc && i < out->nr; i++) {
		const struct loss *reported = &out->lanes[i].lost_records;

		for (size_t j = 0; j < reported->nr; j++)
			lost_carryover_debit(late, reported->entries[j].cpu,
					     reported->entries[j].count);
	}
	return rc;
}

/*
 * Counts losses, and with @write writes them: by event and CPU if the kernel counts so, else from
 * LOST records (record/loss/loss.h).
 */
static int count_losses(struct output *out, const struct plan *plan, const struct opened *opened,
			bool write, struct error *err)
{
	struct open_count *now = out->now;
	int rc = 0;

	if (!now)
		rc = read_counts(opened, plan, &now);
	out->now = NULL;
	if (rc == -ENOMEM)
		return error_set(err, rc, "out of memory");
	out->by_event = !rc;
	rc = 0;
	for (size_t i = 0; !rc && out->by_event && i < opened->nr_fds; i++) {
		const struct open_fd *fd = &opened->fds[i];
		uint64_t lost = now[i].lost - out->counted[i];
		/* An overwrite ring always has room: its records are lost only in a pause. */
		bool paused = plan->events[fd->event].overwrite;

		if (!lost)
			continue;
		out->counted[i] = now[i].lost;
		loss_add(&out->loss, paused ? LOSS_PAUSED : LOSS_RING, fd->event, fd->cpu, lost);
		if (write)
			rc = write_lost(out, plan, fd, lost, err);
	}
	free(now);
	add_reported_losses(out);
	return rc;
}

/* --- finishing -----------------------------------------------------------------------------------
 */

/* Lists the AUXTRACE records of all files. A stream has none: perf fails at a list in it. */
static int list_traces(const struct output *out, struct pd_auxtrace_index *ret)
{
	size_t nr, capacity = 0;

	for (size_t i = 0; i < out->nr; i++) {
		const uint64_t *at = sink_file_traces(out->lanes[i].file, &nr);

		if (array_grow(&ret->places, &capacity, ret->nr + nr, sizeof(*ret->places)))
			return -ENOMEM;
		for (size_t j = 0; j < nr; j++)
			ret->places[ret->nr++] = (struct pd_auxtrace_place){
				.offset = at[j],
				.size = sizeof(struct pd_auxtrace_record),
				.part = (uint32_t)i,
			};
	}
	return 0;
}

static int add_trace_index(const struct output *out, struct feature_set *set, struct buf *b)
{
	struct pd_auxtrace_index index = {0};
	int rc = out->pipe ? 0 : list_traces(out, &index);

	if (!rc && index.nr)
		rc = pd_feature_auxtrace_encode(b, &index);
	if (!rc && index.nr)
		rc = feature_set_add(set, HEADER_AUXTRACE, b);
	pd_auxtrace_index_release(&index);
	return rc;
}

static uint64_t names_budget(const struct output *out)
{
	uint64_t share = output_size(out) / RECORD_SYMBOLS_SHARE;
	uint64_t least = out->symbols.lines ? RECORD_LINES_LEAST : RECORD_SYMBOLS_LEAST;

	if (out->symbols.budget)
		return out->symbols.budget;
	if (share < least)
		return least;
	return share < RECORD_SYMBOLS_MOST ? share : RECORD_SYMBOLS_MOST;
}

/* In a pipe stream the table is records, which perf skips; it warns of unknown features. */
static int send_names(struct output *out, const struct buf *table)
{
	struct perf_event_header hdr;
	struct buf b = {0};
	int rc = pd_symbols_put_records(&b, table->data, table->len, false);

	for (size_t at = 0, size; !rc && (size = pd_record_at(b.data + at, b.len - at, &hdr));
	     at += size)
		rc = sink_record(out->lanes[0].file, (const void *)(b.data + at), NULL);
	buf_release(&b);
	return rc;
}

/* Adds the names of the functions that samples hit. Without them the output is whole, too. */
static int add_names(struct output *out, struct feature_set *set, struct buf *b)
{
	struct names *names = out->lanes[0].names;
	const struct names_opts opts = {
		.budget = names_budget(out),
		.lines = out->symbols.lines,
		.vmlinux = out->symbols.vmlinux,
		.ms = out->symbols.lines ? RECORD_LINES_MS : RECORD_NAMES_MS,
		.wait = out->wait,
	};
	int rc;

	if (!names)
		return 0;
	out->lanes[0].names = NULL;
	names_table(names, &opts, b, &out->names);
	if (!out->names.table.functions)
		return 0;
	rc = out->pipe ? send_names(out, b) : feature_set_add(set, HEADER_RINGTAIL_SYMBOLS, b);
	if (rc != -ENOMEM)
		return rc;
	out->names.no_memory = true;
	return 0;
}

/* Adds the features that are known only at the end. */
static int end_features(struct output *out, struct feature_set *set)
{
	struct pd_sample_time time = {out->tally.first, out->tally.last};
	struct compress_stats compression;
	struct buf b = {0};
	int rc = 0;

	if (!out->no_build_ids)
		rc = dso_names_build_ids(out->lanes[0].dsos,
					 out->wait ? &out->wait->patience : NULL, &b);

	if (!rc && b.len)
		rc = feature_set_add(set, HEADER_BUILD_ID, &b);
	if (!rc && time.last) {
		rc = pd_feature_sample_time_encode(&b, &time);
		if (!rc)
			rc = feature_set_add(set, HEADER_SAMPLE_TIME, &b);
	}
	if (!rc && output_compression(out, &compression))
		rc = output_add_compression(set, &compression);
	if (!rc)
		rc = add_trace_index(out, set, &b);
	if (!rc)
		rc = add_names(out, set, &b);
	buf_release(&b);
	return rc;
}

/* Flushes all lanes into their files, and completes the parts. */
static int flush_lanes(struct output *out, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < out->nr; i++) {
		rc = lane_flush(&out->lanes[i], err);
		if (!rc && i && out->directory)
			rc = writer_finish(out->lanes[i].writer, NULL, 0, err);
	}
	return rc;
}

/* Adds the counts of all lanes to the first and to out->tally, once for an output. */
static int gather(struct output *out)
{
	int rc = 0;

	if (out->gathered)
		return 0;
	out->gathered = true;
	for (size_t i = 0; i < out->nr; i++) {
		if (i && lane_merge(&out->lanes[0], &out->lanes[i]))
			rc = -ENOMEM;
		tally_add(&out->tally, tally_get(out->lanes[i].chain));
	}
	return rc;
}

/* With -M: writes the totals that losses relate to, which include samples in no snapshot. */
static int write_totals(struct output *out, struct error *err)
{
	struct pd_snapshot_log log = {.kind = PD_SNAPSHOT_TOTALS};
	struct pd_snapshot_record record;
	struct history_figures f;

	if (!out->history)
		return 0;
	history_figures(out->history, &f);
	log.totals = (struct pd_snapshot_totals){
		.taken = f.taken - out->taken,
		.written = f.written,
		.passed = f.evicted,
		.held = f.held,
		.counted = out->by_event,
	};
	out->taken = f.taken;
	pd_snapshot_encode(&log, &record);
	return sink_record(out->lanes[0].file, &record.header, err);
}

/* If this fails, the file stays as of the last flush, without the losses. */
static int write_losses(struct output *out, const struct plan *plan, const struct opened *opened,
			struct error *err)
{
	int rc;

	out->lanes[0].saved = true;
	rc = count_losses(out, plan, opened, true, err);
	if (!rc)
		rc = write_totals(out, err);
	if (!rc)
		rc = lane_flush(&out->lanes[0], err);
	out->losses_written = !rc;
	return rc;
}

int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err)
{
	struct feature_set set = {0};
	int rc;

	output_rest(out, false);
	rc = flush_lanes(out, err);
	if (!rc && gather(out))
		rc = error_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = write_losses(out, plan, opened, err);
	if (rc)
		return rc;
	rc = end_features(out, &set);
	if (rc)
		error_sys(err, rc, "the features at the end of the output");
	else
		rc = writer_finish(out->lanes[0].writer, set.features, set.count, err);
	feature_set_release(&set);
	return rc ? rc : output_publish(out, true, err);
}

/* --- abandoning ----------------------------------------------------------------------------------
 */

/*
 * Ends the file of @lane where its records end, whichever lane failed. Without this perf fails at
 * the filler that hides the rest of an unfinished file.
 */
static void end_file(struct lane *lane)
{
	if (!lane->saved && lane_flush(lane, NULL))
		lane_save(lane, -ENOSPC);
	writer_finish(lane->writer, NULL, 0, NULL);
}

_Static_assert(sizeof(struct lost_samples_record) <= WRITER_PLACE_SIZE,
	       "a place holds any LOST_SAMPLES record");

static bool is_of_ring(const struct loss_entry *e)
{
	return e->cause == LOSS_RING || e->cause == LOSS_PAUSED;
}

/* Makes records for losses in rings, by event and CPU as far as there is room for them. */
static int put_ring_losses(const struct output *out, const struct plan *plan, struct buf *b)
{
	size_t room = writer_preface_size(out->lanes[0].writer);
	struct lost_samples_record rec;
	uint64_t rest = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < out->loss.nr; i++) {
		const struct loss_entry *e = &out->loss.entries[i];

		if (!is_of_ring(e))
			continue;
		/* Two more records may follow: the rest, and what the output did not take. */
		if (e->event == LOSS_NO_EVENT || b->len + 3 * sizeof(rec) > room) {
			rest += e->count;
			continue;
		}
		lost_samples_record_make(&rec, &plan->events[e->event].attr,
					 pd_evlist_at(out->list, e->event)->ids[0], e->cpu, 0,
					 misc_of(&plan->events[e->event]), e->count);
		rc = buf_append(b, &rec, rec.header.size);
	}
	if (rc || !rest)
		return rc;
	lost_samples_record_make(&rec, &plan->events[0].attr, 0, -1, 0, 0, rest);
	return buf_append(b, &rec, rec.header.size);
}

/* Writes losses not yet in the file to the place before the data: the file cannot grow any more. */
static void write_preface_losses(struct output *out, const struct plan *plan, uint64_t not_written)
{
	const struct pd_snapshot_log trace = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.aux = {.idx = UINT32_MAX,
			.cpu = UINT32_MAX,
			.tid = UINT32_MAX,
			.mode = PD_AUX_MODES,
			.lost = out->trace_lost},
	};
	struct pd_snapshot_record sums;
	struct lost_samples_record rec;
	struct buf b = {0};
	int rc = 0;

	if (!out->losses_written)
		rc = put_ring_losses(out, plan, &b);
	if (!rc && not_written) {
		lost_samples_record_make(&rec, &plan->events[0].attr, 0, -1, 0, PD_MISC_LOST_OUTPUT,
					 not_written);
		rc = buf_append(&b, &rec, rec.header.size);
	}
	pd_snapshot_encode(&trace, &sums);
	if (!rc && out->trace_lost &&
	    b.len + sums.header.size <= writer_preface_size(out->lanes[0].writer))
		rc = buf_append(&b, &sums, sums.header.size);
	if (!rc && b.len)
		writer_preface(out->lanes[0].writer, b.data, b.len, NULL);
	buf_release(&b);
}

void output_abandon(struct output *out, const struct plan *plan, const struct opened *opened)
{
	struct lane_view all = {0};
	uint64_t lost, dropped;

	output_rest(out, false);
	for (size_t i = 0; i < out->nr; i++) {
		struct lane *lane = &out->lanes[i];
		struct lane_view one;

		if (!lane->chain)
			return;
		if (i && out->directory)
			end_file(lane);
		one = lane_view(lane);
		all.samples += one.samples;
		all.trace += one.trace;
		all.dropped += one.dropped;
		out->at_least |= lane->stale && one.samples;
	}
	all.samples -= output_deleted_samples(out);
	gather(out);
	count_losses(out, plan, opened, false, NULL);
	lost = out->tally.samples - all.samples;
	/* What was written has some bytes more, as padding. */
	if (out->trace_taken > all.trace)
		out->trace_lost = out->trace_taken - all.trace;
	loss_add(&out->loss, LOSS_OUTPUT, LOSS_NO_EVENT, -1, lost);
	/* With -M no lane counts dropped samples, and a snapshot fails as a whole. */
	dropped = out->dropped ? 0 : out->lanes[0].dropped.total;
	write_preface_losses(out, plan, lost + (dropped > all.dropped ? dropped - all.dropped : 0));
	out->tally.samples = all.samples;
	out->tally.trace = all.trace;
}
