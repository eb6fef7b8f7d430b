// SPDX-License-Identifier: Apache-2.0
/*
 * Runs flight.c for a long time. A simulated life (life.h) is fed to a flight recorder in the way
 * of workers, ring by ring, at thousands of times the real rate. Memory must not grow with the
 * length of the run. Each snapshot leads to the state of the reference (world.h). Every sample in
 * it leads to the name and the file that were right when it was taken, although most of the tasks
 * are dead and their ids are in use again.
 *
 * SOAK_HOURS is the simulated time; the default is DEFAULT_HOURS. A week:
 *   SOAK_HOURS=168 build/release/tests/unit/test-record-flight-soak
 */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "life.h"
#include "record/flight/flight.h"
#include "state/state.h"

#define DEFAULT_HOURS 6.0
#define WARM_UP_HOURS 0.5
#define MEMORY	      (512u << 10) /* -M; some 3000 samples */
#define RINGS	      (2 * LIFE_CPUS)
#define SECOND	      1000000000ull
#define FLUSH	      SECOND
#define SNAPSHOTS     (300 * SECOND) /* from one to the next */

/* How much heap is in use, as the sanitizer knows it. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks;
}

static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (!f || fscanf(f, "%*u %zu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* --- a recorder with rings in plain memory -------------------------------------------------------
 */

/* Samples of each CPU, then sideband of each; worker N reads what is of CPU N. */
struct rig {
	struct life life;
	struct buf rings[RINGS];
	struct plan_event events[2];
	struct plan plan;
	struct opened opened;
	struct flight *flight;
	uint64_t sideband_max; /* bytes, at any time */
	uint64_t snapshots, checked, packed;
};

static void to_ring(const struct perf_event_header *hdr, unsigned int cpu, void *arg)
{
	struct rig *rig = arg;
	size_t ring = hdr->type == PERF_RECORD_SAMPLE ? cpu : LIFE_CPUS + cpu;

	assert_int_equal(buf_append(&rig->rings[ring], hdr, hdr->size), 0);
}

static struct rig *rig_new(uint64_t seed, int compression)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->events[0].attr = rig->events[1].attr = life_attr;
	rig->plan = (struct plan){.target = TARGET_CPUS, .events = rig->events, .nr = 2};
	rig->opened = (struct opened){.nr_rings = RINGS};
	rig->flight = flight_new(&(struct flight_opts){
		.bytes = MEMORY,
		.workers = LIFE_CPUS,
		.compression = compression,
		.plan = &rig->plan,
		.opened = &rig->opened,
	});
	assert_non_null(rig->flight);
	rig->life.seed = seed;
	rig->life.record = to_ring;
	rig->life.arg = rig;
	life_begin(&rig->life);
	return rig;
}

static void rig_free(struct rig *rig)
{
	flight_free(rig->flight);
	for (size_t i = 0; i < RINGS; i++)
		buf_release(&rig->rings[i]);
	free(rig);
}

/* What is in the ring goes to its worker, as two spans. */
static void visit_ring(struct rig *rig, size_t ring)
{
	struct buf *b = &rig->rings[ring];
	size_t cut = b->len / 16 * 8;
	struct run run = {
		.a = b->data,
		.a_len = cut,
		.b = b->data + cut,
		.b_len = b->len - cut,
		.ring = (unsigned int)ring,
		.cpu = (int)(ring % LIFE_CPUS),
	};
	struct error err = ERROR_INIT;

	if (b->len)
		assert_int_equal(sink_write(flight_sink(rig->flight, ring % LIFE_CPUS), &run, &err),
				 0);
	b->len = 0;
}

/* Life goes on while rings are visited; but not while @still. */
static void visit(struct rig *rig, bool still)
{
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < RINGS; i++) {
		visit_ring(rig, i);
		for (int k = 0; k < 5 && !still; k++)
			life_step(&rig->life);
	}
	for (size_t i = 0; i < LIFE_CPUS; i++) {
		assert_int_equal(sink_flush(flight_sink(rig->flight, i), &err), 0);
		flight_was_flushed(flight_intake(rig->flight, i));
	}
}

static void note_sideband(struct rig *rig)
{
	uint64_t bytes = sideband_bytes(flight_log(rig->flight));

	rig->sideband_max = bytes > rig->sideband_max ? bytes : rig->sideband_max;
}

static void tick(struct rig *rig)
{
	struct error err = ERROR_INIT;

	visit(rig, false);
	assert_int_equal(flight_trim(rig->flight, &err), 0);
	note_sideband(rig);
}

/* --- snapshots -----------------------------------------------------------------------------------
 */

/* A file that snapshots are written to, as its readers see it. */
struct file {
	struct buf sideband, samples;
	uint64_t now; /* the time of the last record of the snapshot */
	/* Newest times: up to the last mark of a round, up to that before, and so far. */
	uint64_t round, round_before, newest;
};

static void file_release(struct file *f)
{
	buf_release(&f->sideband);
	buf_release(&f->samples);
}

static uint64_t time_of(const struct perf_event_header *hdr)
{
	const struct pd_evsel evsel = {.attr = life_attr};

	return pd_record_time(hdr, &evsel);
}

static int to_file(const struct perf_event_header *hdr, void *arg)
{
	struct file *f = arg;

	assert_true(time_of(hdr) >= f->now);
	f->now = time_of(hdr);
	return buf_append(&f->sideband, hdr, hdr->size);
}

/* Adds the samples of a chunk, which may be compressed. */
static void add_chunk(struct buf *to, const struct history_chunk *chunk)
{
	struct perf_event_header hdr;
	struct buf packed = {0};

	if (!chunk->packed) {
		assert_int_equal(buf_append(to, chunk->data, chunk->len), 0);
		return;
	}
	for (size_t at = 0; at < chunk->len; at += hdr.size) {
		memcpy(&hdr, chunk->data + at, sizeof(hdr));
		assert_int_equal(
			buf_append(&packed, chunk->data + at + sizeof(hdr), hdr.size - sizeof(hdr)),
			0);
	}
	assert_int_equal(buf_zero(to, chunk->bytes), 0);
	assert_int_equal(ZSTD_decompress(to->data + to->len - chunk->bytes, chunk->bytes,
					 packed.data, packed.len),
			 chunk->bytes);
	buf_release(&packed);
}

#define for_each_record(hdr, buf, from)                       \
	for (hdr = (const void *)((buf)->data + from);        \
	     (const uint8_t *)hdr < (buf)->data + (buf)->len; \
	     hdr = (const void *)((const uint8_t *)hdr + hdr->size))

/*
 * Whoever sorts by rounds has delivered, at a mark, all that is not newer than what stood before
 * the mark before it. What is told as of the beginning of time needs no order.
 */
static void note_rounds(struct file *f, size_t sideband_from, size_t samples_from, bool marked)
{
	const struct perf_event_header *hdr;

	for_each_record(hdr, &f->sideband, sideband_from)
	{
		assert_true(!time_of(hdr) || time_of(hdr) >= f->round_before);
		f->newest = time_of(hdr) > f->newest ? time_of(hdr) : f->newest;
	}
	for_each_record(hdr, &f->samples, samples_from)
	{
		const struct life_sample *s = (const void *)(hdr + 1);

		assert_true(s->time >= f->round_before);
		f->newest = s->time > f->newest ? s->time : f->newest;
	}
	if (!marked)
		return;
	f->round_before = f->round;
	f->round = f->newest;
}

/*
 * The steps of record/snapshot.h. Nothing happens after the last visit. If it @fails, at the end,
 * the file is as before.
 */
static void take_snapshot(struct rig *rig, struct file *f, struct history_bounds bounds, bool fails)
{
	const size_t sideband_len = f->sideband.len, samples_len = f->samples.len;
	struct history *history = flight_history(rig->flight);
	struct error err = ERROR_INIT;
	struct history_figures figures;
	struct history_chunk chunk;
	uint64_t samples = 0;

	flight_visit(rig->flight, true);
	visit(rig, false);
	flight_visit(rig->flight, false);
	assert_int_equal(flight_settle(rig->flight, &err), 0);
	history_announce(history);
	visit(rig, true);
	assert_int_equal(flight_settle(rig->flight, &err), 0);
	note_sideband(rig);
	f->now = 0;
	assert_int_equal(sideband_snapshot(flight_log(rig->flight), bounds.again, to_file, f), 0);
	assert_int_equal(history_snapshot_begin(history, &bounds), 0);
	while (history_snapshot_next(history, &chunk)) {
		add_chunk(&f->samples, &chunk);
		samples += chunk.samples;
		rig->packed += chunk.packed;
	}
	if (fails) {
		history_snapshot_cancel(history);
		sideband_snapshot_cancel(flight_log(rig->flight));
		f->sideband.len = sideband_len;
		f->samples.len = samples_len;
	} else {
		history_snapshot_end(history);
		note_rounds(f, sideband_len, samples_len, !history_left_out(history));
	}
	history_figures(history, &figures);
	assert_int_equal(figures.taken, rig->life.samples);
	assert_int_equal(figures.taken, figures.written + figures.evicted + figures.held);
	assert_true(samples > 0 || bounds.since);
	rig->snapshots++;
}

/* --- what is read out of it ----------------------------------------------------------------------
 */

static void check_world(const struct rig *rig, const struct file *f)
{
	const struct perf_event_header *hdr;
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	for_each_record(hdr, &f->sideband, 0) world_apply(w, &life_attr, hdr);
	world_assert_equal(w, &rig->life.now);
	free(w);
}

struct entry {
	const struct perf_event_header *hdr;
	struct moment at;
};

static int by_moment(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return moment_before(x->at, y->at) ? -1 : moment_before(y->at, x->at);
}

/* Each end is reported once, or behind the name of a task that ended before (record/live.h). */
static struct state *state_of(const struct file *f)
{
	const struct pd_evsel evsel = {.attr = life_attr};
	struct state *state = state_new();
	const struct perf_event_header *hdr;
	struct entry *entries = calloc(f->sideband.len / sizeof(*hdr) + 1, sizeof(*entries));
	uint64_t last_end = 0;
	uint32_t named = 0;
	size_t nr = 0;

	assert_true(state && entries);
	for_each_record(hdr, &f->sideband, 0)
	{
		entries[nr] = (struct entry){hdr, {time_of(hdr), nr}};
		nr++;
	}
	qsort(entries, nr, sizeof(*entries), by_moment);
	for (size_t i = 0; i < nr; i++) {
		struct pd_record rec;

		assert_int_equal(pd_record_decode(entries[i].hdr, &evsel, &rec), 0);
		assert_int_equal(state_apply(state, &rec, entries[i].at), 0);
		if (entries[i].hdr->type == PERF_RECORD_EXIT && rec.task.tid != named) {
			assert_true(rec.task.time > last_end);
			last_end = rec.task.time;
		}
		named = entries[i].hdr->type == PERF_RECORD_COMM ? rec.comm.tid : 0;
	}
	assert_int_equal(state_finish(state), 0);
	free(entries);
	return state;
}

static void check_sample(const struct state *state, const struct life_sample *s)
{
	const struct moment at = {s->time, UINT64_MAX};
	const char *comm = state_comm(state, s->pid, s->tid, at);
	struct location where;
	char file[32];

	snprintf(file, sizeof(file), "/file/%llu", (unsigned long long)s->file);
	assert_non_null(comm);
	assert_string_equal(comm, s->comm);
	assert_true(state_find(state, s->pid, PERF_RECORD_MISC_USER, s->ip, at, &where));
	assert_string_equal(where.map->dso->name, file);
	assert_int_equal(where.addr, s->pgoff);
}

/* Also: none is there twice. */
static uint64_t check_samples(const struct rig *rig, const struct file *f)
{
	bool *seen = calloc(rig->life.samples + 1, sizeof(*seen));
	struct state *state = state_of(f);
	const struct perf_event_header *hdr;
	uint64_t nr = 0;

	assert_non_null(seen);
	for_each_record(hdr, &f->samples, 0)
	{
		const struct life_sample *s = (const void *)(hdr + 1);

		assert_int_equal(hdr->type, PERF_RECORD_SAMPLE);
		assert_false(seen[s->number]);
		seen[s->number] = true;
		check_sample(state, s);
		nr++;
	}
	state_free(state);
	free(seen);
	return nr;
}

/* A snapshot that stands alone. */
static void snapshot(struct rig *rig)
{
	struct file f = {0};

	take_snapshot(rig, &f, (struct history_bounds){.again = true}, false);
	check_world(rig, &f);
	rig->checked += check_samples(rig, &f);
	file_release(&f);
}

/* --- a long run ----------------------------------------------------------------------------------
 */

struct figures {
	struct task_table_stats live;
	size_t waiting, heap, resident;
	uint64_t sideband, memory;
};

static void measure(struct rig *rig, const char *when, struct figures *ret)
{
	struct history_figures history;

	history_figures(flight_history(rig->flight), &history);
	sideband_stats(flight_log(rig->flight), &ret->live, &ret->waiting);
	ret->sideband = sideband_bytes(flight_log(rig->flight));
	ret->memory = history.memory;
	ret->heap = heap();
	ret->resident = resident();
	print_message("%-6s hour %5.1f: %zu tasks, %zu maps, %zu others; log %4llu KB, samples "
		      "%3llu KB, heap "
		      "%zu KB, resident %zu KB; %llu records so far, %llu processes\n",
		      when, (double)rig->life.time / 3600e9, ret->live.tasks, ret->live.maps,
		      ret->live.others, (unsigned long long)ret->sideband >> 10,
		      (unsigned long long)ret->memory >> 10, ret->heap >> 10, ret->resident >> 10,
		      (unsigned long long)rig->life.records,
		      (unsigned long long)rig->life.processes);
}

static void live_until(struct rig *rig, uint64_t time)
{
	uint64_t flush = rig->life.time + FLUSH;
	uint64_t next = (rig->life.time / SNAPSHOTS + 1) * SNAPSHOTS;

	while (rig->life.time < time) {
		life_step(&rig->life);
		if (rig->life.time >= flush) {
			tick(rig);
			flush = rig->life.time + FLUSH;
		}
		if (rig->life.time >= next) {
			snapshot(rig);
			next += SNAPSHOTS;
		}
	}
}

/* Of what is alive there is as much as there was, and of bytes no more, but for chance. */
static void check_flat(const struct figures *before, const struct figures *after)
{
	assert_true(after->live.tasks < 2 * before->live.tasks);
	assert_true(after->live.maps < 2 * before->live.maps);
	assert_true(after->live.others < before->live.others + 100);
	assert_true(after->sideband < MEMORY);
	assert_true(after->memory < MEMORY + 2 * HISTORY_CHUNK);
	assert_true(after->heap < before->heap + before->heap / 4);
	if (!__sanitizer_get_current_allocated_bytes)
		assert_true(after->resident < before->resident + before->resident / 4);
}

static double hours(void)
{
	const char *given = getenv("SOAK_HOURS");

	return given ? strtod(given, NULL) : DEFAULT_HOURS;
}

static void long_life(int compression)
{
	struct rig *rig = rig_new(1, compression);
	struct figures start, middle, end;
	struct history_figures history;

	live_until(rig, (uint64_t)(WARM_UP_HOURS * 3600e9));
	rig->sideband_max = 0;
	measure(rig, "start", &start);
	live_until(rig, (uint64_t)((WARM_UP_HOURS + hours() / 2) * 3600e9));
	measure(rig, "middle", &middle);
	live_until(rig, (uint64_t)((WARM_UP_HOURS + hours()) * 3600e9));
	measure(rig, "end", &end);
	check_flat(&start, &middle);
	check_flat(&start, &end);
	history_figures(flight_history(rig->flight), &history);
	assert_true(history.evicted > 0);
	/* Storms have filled the half of memory that is the most for it, and were trimmed to that.
	 */
	assert_uint_in_range(rig->sideband_max, MEMORY / 2, MEMORY / 4 * 3);
	print_message("%llu snapshots, %llu samples in them are right; at most %llu KB of log\n",
		      (unsigned long long)rig->snapshots, (unsigned long long)rig->checked,
		      (unsigned long long)rig->sideband_max >> 10);
	rig_free(rig);
}

static void test_a_long_life(void **state)
{
	long_life(0);
}

/* Samples reach many times as far back then, and with them what is known of the dead. */
static void test_a_long_life_compressed(void **state)
{
	long_life(1);
}

static uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

/* Of everything, of the last so many seconds, or of the last so many bytes. */
static struct history_bounds pick_bounds(const struct rig *rig, uint64_t *seed)
{
	struct history_bounds bounds = {0};
	uint64_t back = (1 + pick(seed, 60)) * SECOND;

	switch (pick(seed, 4)) {
	case 0: bounds.since = back < rig->life.time ? rig->life.time - back : 1; break;
	case 1: bounds.bytes = 1 + pick(seed, 200000); break;
	}
	return bounds;
}

static void live_for(struct rig *rig, uint64_t time)
{
	uint64_t until = rig->life.time + time, flush;

	while (rig->life.time < until) {
		for (flush = rig->life.time + FLUSH; rig->life.time < flush;)
			life_step(&rig->life);
		tick(rig);
	}
}

/*
 * Snapshots that are appended to one file, at all distances, with all bounds, some of which fail:
 * each sample that was written is there once.
 */
static void test_snapshots_in_one_file(void **state)
{
	for (uint64_t round = 1; round <= 10; round++) {
		uint64_t seed = round * 7919, nr;
		struct rig *rig = rig_new(seed, round % 2);
		struct file f = {0};
		struct history_figures figures;

		for (int i = 0; i < 50; i++) {
			live_for(rig, SECOND << pick(&seed, 7));
			take_snapshot(rig, &f, pick_bounds(rig, &seed), !pick(&seed, 5));
		}
		nr = check_samples(rig, &f);
		history_figures(flight_history(rig->flight), &figures);
		assert_int_equal(nr, figures.written);
		assert_true(figures.evicted > 0 || rig->packed);
		assert_true(!rig->packed == !(round % 2));
		file_release(&f);
		rig_free(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_long_life),
		cmocka_unit_test(test_a_long_life_compressed),
		cmocka_unit_test(test_snapshots_in_one_file),
	};

	/* Files that the test keeps in memory are not to lie among what the recorder keeps. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
