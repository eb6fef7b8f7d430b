// SPDX-License-Identifier: Apache-2.0
/*
 * Delivers records in order of time: reads until it may deliver some, delivers them, reads on.
 *
 * It may deliver records that are not newer than a limit. The limit is 0 at first, UINT64_MAX when
 * all is read, and at each FINISHED_ROUND the newest time of the earlier rounds. This is the rule
 * of tools/perf: a round drains every ring once, so records of the next round are newer than the
 * end of the last one.
 */
#include "data/order/order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/file_priv.h"
#include "data/scan/scan_priv.h"
#include "data/order/order_queue.h"

#define DEFAULT_MEMORY (32u << 20)
#define PROGRESS_STEP  4096u /* records between two calls */

struct order {
	struct data_file *df;
	struct order_opts opts;
	bool rounds; /* FINISHED_ROUND counts: there is one segment */

	struct data_scan *scan;
	unsigned int segment;	     /* of @scan */
	uint64_t done_before, total; /* bytes: of the earlier segments, of all */
	uint64_t countdown;	     /* records to the next call of progress() */
	bool all_read;

	struct queue queue;
	struct spill spill;
	struct merger merger; /* while delivering: merges the queue and the runs */
	bool delivering;
	bool taken;	/* the merger's top was delivered; advance before the next one */
	uint64_t limit; /* deliver records up to this time */

	uint64_t newest;      /* newest time among the records read */
	uint64_t round_limit; /* @newest at the last FINISHED_ROUND */
	uint64_t delivered;   /* newest time delivered; valid if @any_timed */
	bool any_timed;
	uint64_t late; /* records older than a record delivered before */
	uint64_t late_offset;
	uint32_t late_segment;
};

int order_new(struct data_file *df, const struct order_opts *opts, struct order **ret,
	      struct error *err)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return error_set(err, -ENOMEM, "out of memory");
	o->df = df;
	o->opts = *opts;
	if (!o->opts.memory)
		o->opts.memory = DEFAULT_MEMORY;
	o->rounds = df->nr_segments == 1;
	o->countdown = PROGRESS_STEP;
	spill_init(&o->spill);
	for (size_t i = 0; i < df->nr_segments; i++)
		o->total += df->segments[i].end - df->segments[i].begin;
	*ret = o;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	data_scan_free(o->scan);
	merger_release(&o->merger);
	queue_release(&o->queue);
	spill_release(&o->spill);
	free(o);
}

static void call_progress(struct order *o)
{
	uint64_t done = 0, total;

	o->countdown = PROGRESS_STEP;
	if (!o->opts.progress)
		return;
	if (o->opts.sweep) {
		sweep_progress(o->opts.sweep, &done, &total);
		o->opts.progress(done, total, o->opts.arg);
		return;
	}
	if (o->scan)
		data_scan_progress(o->scan, &done, &total);
	o->opts.progress(o->done_before + done, o->total, o->opts.arg);
}

/* Notes that the rest of a segment cannot be read, and goes on to the next segment. */
static void segment_failed(struct order *o, int rc)
{
	uint64_t at = o->scan ? scan_position(o->scan) : 0;

	if (o->opts.scan_flags & DATA_SCAN_FINDINGS)
		data_finding_add(o->df, DATA_DAMAGED, o->segment, at, "the file cannot be read: %s",
				 strerrordesc_np(-rc) ?: "?");
}

static void next_segment(struct order *o)
{
	const struct segment *s = &o->df->segments[o->segment];

	data_scan_free(o->scan);
	o->scan = NULL;
	o->done_before += s->end - s->begin;
	o->segment++;
}

/*
 * Reads the next record in file order, of all segments. Returns 1, 0 at the end, or a negative
 * errno.
 */
static int read_record(struct order *o, struct data_record *rec)
{
	if (o->opts.sweep)
		return sweep_next(o->opts.sweep, rec, &o->newest);
	while (o->segment < o->df->nr_segments) {
		int rc = 0;

		if (!o->scan)
			rc = data_scan_new(o->df, o->segment, 0, DATA_WHOLE, o->opts.scan_flags,
					   &o->scan);
		if (!rc)
			rc = data_scan_next(o->scan, rec);
		if (rc > 0 || rc == -ENOMEM)
			return rc;
		if (rc < 0)
			segment_failed(o, rc);
		next_segment(o);
	}
	return 0;
}

/* Input of a merge: the queue in memory. */
static int queue_next(void *ctx, const struct queued **ret)
{
	queue_pop(ctx);
	*ret = queue_peek(ctx);
	return 0;
}

static int begin_delivery(struct order *o, uint64_t limit)
{
	struct merge_input in = {NULL, queue_next, &o->queue};
	int rc;

	o->limit = limit;
	if (o->all_read) {
		rc = queue_sort(&o->queue);
		if (rc)
			return rc;
	} else {
		queue_settle(&o->queue);
	}
	merger_clear(&o->merger);
	in.head = queue_peek(&o->queue);
	rc = merger_add(&o->merger, in);
	if (!rc)
		rc = spill_inputs(&o->spill, &o->merger);
	o->delivering = !rc;
	return rc;
}

static void fill_record(struct order *o, const struct queued *block, struct data_record *ret)
{
	*ret = queued_record(block);
	if (o->any_timed && block->time < o->delivered) {
		if (!o->late++) {
			o->late_offset = block->offset;
			o->late_segment = block->segment;
		}
	} else {
		o->delivered = block->time;
	}
	o->any_timed = true;
}

/*
 * Gets the next record that may be delivered now. Returns 1, 0 if there is none, or a negative
 * errno.
 */
static int deliver(struct order *o, struct data_record *ret)
{
	const struct queued *block;
	int rc;

	if (o->taken) {
		o->taken = false;
		rc = merger_advance(&o->merger);
		if (rc)
			return rc;
	}
	block = merger_top(&o->merger);
	if (block && block->time <= o->limit) {
		fill_record(o, block, ret);
		o->taken = true;
		return 1;
	}
	o->delivering = false;
	return queue_compact(&o->queue);
}

/* A record without a time keeps its place in the file: behind the last delivered record. */
static void place_untimed(const struct order *o, struct data_record *rec)
{
	if (o->any_timed)
		rec->at = (struct moment){o->delivered, UINT64_MAX};
}

static int take_timed(struct order *o, const struct data_record *rec, struct error *err)
{
	/* Sorting needs the entries twice. */
	size_t entries = 2 * sizeof(struct queue_entry) * queue_count(&o->queue);

	if (rec->time > o->newest)
		o->newest = rec->time;
	if (queue_count(&o->queue) &&
	    o->queue.arena.len + entries + rec->hdr->size > o->opts.memory) {
		int rc = spill_queue(&o->spill, &o->queue, err);

		if (rc)
			return rc;
	}
	return queue_push(&o->queue, rec);
}

/* Reads one record. Returns 1 if it is to be delivered at once, 0 to go on, or a negative errno. */
static int read_on(struct order *o, struct data_record *rec, struct error *err)
{
	int rc = read_record(o, rec);

	if (rc < 0)
		return rc;
	if (!rc) {
		o->all_read = true;
		call_progress(o);
		return begin_delivery(o, UINT64_MAX);
	}
	if (!--o->countdown)
		call_progress(o);
	if (rec->time)
		return take_timed(o, rec, err);
	place_untimed(o, rec);
	if (rec->hdr->type == PERF_RECORD_FINISHED_ROUND && o->rounds) {
		rc = begin_delivery(o, o->round_limit);
		if (rc)
			return rc;
		o->round_limit = o->newest;
	}
	return 1;
}

static void finish(struct order *o)
{
	if (o->late && o->opts.scan_flags & DATA_SCAN_FINDINGS)
		data_finding_add(o->df, DATA_ODD, o->late_segment, o->late_offset,
				 "%" PRIu64 " record%s older than records of earlier rounds",
				 o->late, o->late == 1 ? " is" : "s are");
	o->late = 0;
}

int order_next(struct order *o, struct data_record *ret, struct error *err)
{
	struct error why = ERROR_INIT;
	int rc;

	do {
		if (o->delivering) {
			rc = deliver(o, ret);
		} else if (o->all_read) {
			finish(o);
			return 0;
		} else {
			rc = read_on(o, ret, &why);
		}
	} while (!rc);
	if (rc > 0)
		return rc;
	if (why.code && err)
		*err = why;
	else if (!why.code)
		error_sys(err, rc, "reading %s in time order",
			  data_segment_path(o->df, o->segment));
	return rc;
}
