// SPDX-License-Identifier: Apache-2.0
#include "record/flight/flight.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "perfdata/codec.h"
#include "record/output/lane.h"
#include "record/initial/mapped.h"

/* The sink of one worker; only its worker uses it, but for @flushed_*. */
struct intake {
	struct sink sink;
	struct sink *tally; /* counts what is discarded; the history counts what it takes */
	struct flight *flight;
	unsigned int number;
	const struct run *run; /* during intake_write() */
	struct packer *packer; /* NULL: chunks are not packed */
	struct mapped_filter files;
	struct loss lost_records, dropped;
	_Atomic uint64_t flushed_lost, flushed_dropped; /* their sums at the last flush */
};

struct flight {
	uint64_t bytes;
	bool own_build_ids;
	uint64_t seen; /* time of the newest sample at the last flight_trim() */
	const struct opened *opened;
	struct history *history;
	struct sideband *log;
	struct loss lost_records, dropped;
	bool ended;
	struct intake *intakes;
	size_t nr;
	_Atomic unsigned int *worker_of; /* of each ring, from its first records on; or NOBODY */
	atomic_bool visiting;
};

#define NOBODY (~0u)

/* --- the sink ------------------------------------------------------------------------------------
 */

static int saw_lost(const struct perf_event_header *hdr, const struct run *run, void *arg)
{
	struct intake *in = arg;

	if (throttle_stats_count(in->flight->opened->throttles, hdr, run->cpu))
		return 0;
	return lane_count_lost(in->flight->opened, hdr, run->cpu, &in->lost_records, &in->dropped);
}

static bool is_map(const struct perf_event_header *hdr)
{
	return hdr->type == PERF_RECORD_MMAP || hdr->type == PERF_RECORD_MMAP2;
}

/* Asks when a file is mapped, because it may be gone at the snapshot. */
static void ask_for_file(struct intake *in, const struct perf_event_header *hdr)
{
	struct buildid_reader *reader = in->flight->opened->buildid_reader;
	struct mapped m;

	mapped_watch_jit(reader, hdr, &in->files);
	if (reader && mapped_decode(hdr, in->flight->own_build_ids, &m))
		mapped_ask(reader, &m, mapped_seen(&in->files, &m));
}

/* Drops FINISHED_ROUND records, because each snapshot writes its own. */
static int take_other(const struct perf_event_header *hdr, void *arg)
{
	struct intake *in = arg;
	int rc = 0;

	if (tally_is_loss(hdr->type))
		rc = saw_lost(hdr, in->run, in);
	if (is_map(hdr))
		ask_for_file(in, hdr);
	if (rc || hdr->type >= PD_FIRST_USER_RECORD)
		return rc;
	return sideband_add(in->flight->log, hdr);
}

static void pack_ring(struct intake *in, size_t ring)
{
	struct packer *p = in->packer;

	while (p && packer_may(p) && history_pack(in->flight->history, ring, packer_pack, p))
		;
}

/* Packs while a run is written, because a run may be larger than the history. */
static void pack_full(size_t ring, void *arg)
{
	struct flight *f = arg;
	size_t number = flight_worker_of(f, ring);

	if (number < f->nr)
		pack_ring(&f->intakes[number], ring);
}

static int intake_write(struct sink *s, const struct run *run, struct error *err)
{
	struct intake *in = (struct intake *)s;
	struct flight *f = in->flight;
	int rc;

	if (run->ring < f->opened->nr_rings)
		atomic_store(&f->worker_of[run->ring], in->number);
	in->run = run;
	rc = history_write(f->history, run, take_other, in);
	return rc ? error_sys(err, rc, "cannot keep records in memory") : 0;
}

static int intake_flush(struct sink *s, struct error *err)
{
	struct intake *in = (struct intake *)s;
	struct flight *f = in->flight;
	bool visiting = atomic_load(&f->visiting);

	for (size_t i = 0; i < f->opened->nr_rings; i++) {
		if (flight_worker_of(f, i) != in->number)
			continue;
		if (visiting)
			history_seal(f->history, i);
		else
			history_rest(f->history, i);
		pack_ring(in, i);
	}
	return 0;
}

/* Frees nothing: the flight owns the sink. */
static void intake_free(struct sink *s)
{
}

static const struct sink_ops intake_ops = {
	.write = intake_write,
	.flush = intake_flush,
	.free = intake_free,
};

/* --- making and freeing --------------------------------------------------------------------------
 */

static int make_intakes(struct flight *f, const struct flight_opts *opts)
{
	f->intakes = calloc(f->nr, sizeof(*f->intakes));
	for (size_t i = 0; f->intakes && i < f->nr; i++) {
		struct intake *in = &f->intakes[i];
		const struct tally_opts tally = {
			.time_at = plan_sample_time_at(opts->plan),
			.lost = saw_lost,
			.arg = in,
		};

		in->sink.ops = &intake_ops;
		in->flight = f;
		in->number = (unsigned int)i;
		in->tally = tally_new(&in->sink, &tally);
		if (opts->compression)
			in->packer = packer_new(opts->compression);
		if (!in->tally || (opts->compression && !in->packer))
			return -ENOMEM;
	}
	return f->intakes ? 0 : -ENOMEM;
}

struct flight *flight_new(const struct flight_opts *opts)
{
	const struct opened *opened = opts->opened;
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->bytes = opts->bytes;
	f->own_build_ids = plan_build_ids(opts->plan);
	f->opened = opened;
	f->nr = opts->workers;
	f->worker_of = malloc((opened->nr_rings + 1) * sizeof(*f->worker_of));
	for (size_t i = 0; f->worker_of && i < opened->nr_rings; i++)
		atomic_init(&f->worker_of[i], NOBODY);
	f->history = history_new(f->bytes, opened->nr_rings, plan_sample_time_at(opts->plan));
	f->log = sideband_new_log(&opts->plan->events[0].attr);
	if (f->history && opts->compression)
		history_on_full(f->history, pack_full, f);
	if (f->worker_of && f->history && f->log && !make_intakes(f, opts))
		return f;
	flight_free(f);
	return NULL;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	for (size_t i = 0; f->intakes && i < f->nr; i++) {
		sink_free(f->intakes[i].tally);
		packer_free(f->intakes[i].packer);
		loss_release(&f->intakes[i].lost_records);
		loss_release(&f->intakes[i].dropped);
	}
	free(f->intakes);
	free(f->worker_of);
	loss_release(&f->lost_records);
	loss_release(&f->dropped);
	sideband_free(f->log);
	history_free(f->history);
	free(f);
}

uint64_t flight_least(const struct plan *plan, size_t workers)
{
	size_t rings = plan_sample_rings(plan);

	return HISTORY_RECORD_MAX * (rings > workers ? rings : workers);
}

/* --- for workers ---------------------------------------------------------------------------------
 */

struct sink *flight_sink(struct flight *f, size_t number)
{
	return &f->intakes[number].sink;
}

void flight_watch(struct flight *f, size_t number, size_t room, struct fifo *fifo)
{
	if (f->intakes[number].packer)
		packer_watch(f->intakes[number].packer, room, fifo);
}

void *flight_intake(struct flight *f, size_t number)
{
	return &f->intakes[number];
}

void flight_was_flushed(void *intake)
{
	struct intake *in = intake;

	atomic_store(&in->flushed_lost, in->lost_records.total);
	atomic_store(&in->flushed_dropped, in->dropped.total);
}

void flight_discard(void *intake, const struct run *run)
{
	tally_discard(((struct intake *)intake)->tally, run);
}

size_t flight_worker_of(const struct flight *f, size_t ring)
{
	return atomic_load(&f->worker_of[ring]);
}

/* --- the main thread -----------------------------------------------------------------------------
 */

int flight_add_initial(const struct perf_event_header *hdr, void *flight)
{
	struct flight *f = flight;

	/* No worker runs yet. */
	if (is_map(hdr))
		ask_for_file(&f->intakes[0], hdr);
	return sideband_add(f->log, hdr);
}

int flight_settle(struct flight *f, struct error *err)
{
	if (sideband_settle_until(f->log, history_oldest(f->history)))
		return error_set(err, -ENOMEM, "out of memory");
	history_reserve(f->history, sideband_bytes(f->log));
	return 0;
}

/*
 * Evicts no samples newer than @seen: the log cannot drop sideband that came since the last time,
 * because older records may still come.
 */
int flight_trim(struct flight *f, struct error *err)
{
	struct history_figures figures;
	uint64_t most = f->bytes / 2, time;

	if (sideband_bytes(f->log) > most) {
		time = sideband_since(f->log, most);
		history_forget(f->history, time < f->seen ? time : f->seen);
	}
	history_figures(f->history, &figures);
	f->seen = figures.last;
	return flight_settle(f, err);
}

void flight_visit(struct flight *f, bool on)
{
	atomic_store(&f->visiting, on);
}

void flight_seal(struct flight *f)
{
	for (size_t i = 0; i < f->opened->nr_rings; i++)
		history_seal(f->history, i);
}

struct history *flight_history(struct flight *f)
{
	return f->history;
}

struct sideband *flight_log(struct flight *f)
{
	return f->log;
}

bool flight_compression(const struct flight *f, struct compress_stats *ret)
{
	*ret = (struct compress_stats){0};
	for (size_t i = 0; i < f->nr; i++)
		if (f->intakes[i].packer)
			compress_stats_add(ret, packer_stats(f->intakes[i].packer));
	return f->nr && f->intakes[0].packer;
}

uint64_t flight_overhead(const struct flight *f)
{
	struct compress_stats stats;

	return flight_compression(f, &stats) ? stats.memory : 0;
}

int flight_end(struct flight *f)
{
	int rc = 0;

	if (f->ended)
		return 0;
	f->ended = true;
	for (size_t i = 0; !rc && i < f->nr; i++) {
		rc = loss_merge(&f->lost_records, &f->intakes[i].lost_records);
		if (!rc)
			rc = loss_merge(&f->dropped, &f->intakes[i].dropped);
	}
	return rc;
}

const struct loss *flight_lost_records(const struct flight *f)
{
	return &f->lost_records;
}

const struct loss *flight_dropped(const struct flight *f)
{
	return &f->dropped;
}

void flight_losses(struct flight *f, uint64_t *ret_lost, uint64_t *ret_dropped)
{
	*ret_lost = *ret_dropped = 0;
	for (size_t i = 0; i < f->nr; i++) {
		*ret_lost += atomic_load(&f->intakes[i].flushed_lost);
		*ret_dropped += atomic_load(&f->intakes[i].flushed_dropped);
	}
}
