// SPDX-License-Identifier: Apache-2.0
#include "record/crew.h"

#include <errno.h>
#include <hwloc.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)1 << 20)

/* --- plan ----------------------------------------------------------------------------------------
 */

/* The CPUs whose samples are wanted: of tasks that run anywhere, all. */
static int recorded_cpus(const struct plan *plan, struct cpus *ret, struct error *err)
{
	const struct cpus *from = plan->sampled.nr ? &plan->sampled : &plan->cpus;

	if (!from->nr)
		return cpus_online(ret, err);
	return cpus_copy(from, ret) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int make_masks(struct crew *crew, const char *spec, const struct plan *plan,
		      struct error *err)
{
	struct hwloc_topology *topology = NULL;
	struct cpus recorded = {0};
	int code = recorded_cpus(plan, &recorded, err);

	if (!code)
		code = reader_masks_topology(&topology, err);
	if (!code)
		code = reader_masks_new(spec, &recorded, topology, &crew->masks, err);
	if (topology)
		hwloc_topology_destroy(topology);
	cpus_release(&recorded);
	return code;
}

int crew_plan(struct crew *crew, const struct record_opts *opts, const struct plan *plan,
	      const struct notes *notes, struct error *err)
{
	int code;

	crew->report = -1;
	crew->nr = 1;
	if (!opts->threads)
		return 0;
	code = make_masks(crew, opts->threads, plan, err);
	if (code)
		return code;
	crew->nr = crew->masks.nr;
	if (crew->masks.has_rest)
		notes_say(notes, NOTE_INFO,
			  "--threads names not all CPUs that are recorded: one more thread reads "
			  "the others");
	return 0;
}

/* --- workers -------------------------------------------------------------------------------------
 */

static unsigned int worker_for(const struct crew *crew, int cpu, size_t place)
{
	for (size_t i = 0; cpu >= 0 && i < crew->masks.nr; i++)
		if (cpus_has(&crew->masks.masks[i].cpus, cpu))
			return (unsigned int)i;
	return (unsigned int)(place % crew->nr);
}

static int deal_rings(struct crew *crew, const struct opened *opened)
{
	crew->worker_of = calloc(opened->nr_rings ? opened->nr_rings : 1, sizeof(*crew->worker_of));
	if (!crew->worker_of)
		return -ENOMEM;
	for (size_t i = 0; i < opened->nr_rings; i++)
		crew->worker_of[i] = worker_for(crew, opened->rings[i].cpu, i % opened->nr_places);
	return 0;
}

static void lane_failed(void *lane, int code)
{
	lane_save(lane, code);
}

static void lane_was_flushed(void *lane)
{
	lane_note_flush(lane);
}

static bool lane_took(void *lane)
{
	return lane_measure(lane);
}

/* Chunks for half of what the worker's rings of samples hold: 4 to 64 MB. */
static size_t chunks_for(const struct crew *crew, unsigned int worker, const struct opened *opened,
			 uint64_t ring_size)
{
	size_t rings = 0, count;

	for (size_t i = 0; i < opened->nr_places; i++)
		rings += crew->worker_of[i] == worker;
	count = rings * ring_size / 2 / CHUNK_BYTES;
	return count < 4 ? 4 : count > 64 ? 64 : count;
}

static void watch_rings(struct crew *crew, size_t number, const struct lane *lane)
{
	if (lane->compress)
		compress_watch(lane->compress, 0, reader_fullness,
			       worker_reader(crew->workers[number]));
}

static int hire(struct crew *crew, unsigned int number, const struct opened *opened,
		const struct output *output, uint64_t ring_size, struct error *err)
{
	struct lane *lane = output_lane(output, number);
	const struct worker_opts opts = {
		.affinity = crew->masks.nr ? &crew->masks.masks[number].affinity : NULL,
		.chunks = chunks_for(crew, number, opened, ring_size),
		.chunk_bytes = CHUNK_BYTES,
		.sink = lane->chain,
		/* In a directory the order of one file says nothing about the others. */
		.rounds = output->nr == 1,
		.flushed = lane_was_flushed,
		.failed = lane_failed,
		.passed = lane_took,
		.arg = lane,
		.report = crew->report,
	};
	int code = worker_new(&opts, &crew->workers[number], err);

	if (!code)
		watch_rings(crew, number, lane);
	return code;
}

int crew_hire(struct crew *crew, const struct opened *opened, const struct output *output,
	      uint64_t ring_size, struct error *err)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int code = 0;

	crew->report = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew->report < 0)
		return error_sys(err, -errno, "eventfd");
	crew->workers = calloc(crew->nr, sizeof(*crew->workers));
	if (!crew->workers || deal_rings(crew, opened))
		return error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !code && i < crew->nr; i++)
		code = hire(crew, i, opened, output, ring_size, err);
	for (unsigned int i = 0; !code && i < opened->nr_rings; i++) {
		const struct open_ring *ring = &opened->rings[i];
		const struct reader_source source = {
			.memory = ring->memory,
			.page_size = page_size,
			.data_size = ring->data_size,
			.ring = i,
			.cpu = ring->cpu,
			.fds = ring->fds,
			.nr_fds = ring->nr_fds,
		};

		if (ring->memory)
			code = worker_add_ring(crew->workers[crew->worker_of[i]], &source, err);
	}
	return code;
}

int crew_start(struct crew *crew, struct error *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < crew->nr; i++)
		code = worker_start(crew->workers[i], err);
	crew->running = true;
	return code;
}

void crew_ask(struct crew *crew, enum worker_command command)
{
	for (size_t i = 0; i < crew->nr; i++)
		worker_ask(crew->workers[i], command);
}

int crew_await(struct crew *crew, struct error *err)
{
	struct pollfd report = {.fd = crew->report, .events = POLLIN};

	for (;;) {
		struct worker_view view = crew_view(crew);

		if (view.code)
			return error_set(err, view.code, "a thread that reads rings has failed");
		if (view.flushed)
			return 0;
		if (poll(&report, 1, -1) < 0 && errno != EINTR)
			return error_sys(err, -errno, "poll");
	}
}

void crew_retarget(struct crew *crew, const struct output *output)
{
	for (size_t i = 0; i < crew->nr; i++) {
		struct lane *lane = output_lane(output, i);

		worker_retarget(crew->workers[i], lane->chain, lane);
		watch_rings(crew, i, lane);
	}
}

void crew_resume(struct crew *crew)
{
	for (size_t i = 0; i < crew->nr; i++)
		worker_resume(crew->workers[i]);
}

struct worker_view crew_view(struct crew *crew)
{
	struct worker_view all = {.flushed = true, .hung_up = true, .ended = true};
	uint64_t notices;
	ssize_t n = read(crew->report, &notices, sizeof(notices));

	(void)n;
	for (size_t i = 0; i < crew->nr; i++) {
		struct worker_view one = worker_view(crew->workers[i]);

		all.flushed &= one.flushed;
		all.hung_up &= one.hung_up;
		all.ended &= one.ended;
		all.full |= one.full;
		if (!all.code)
			all.code = one.code;
	}
	return all;
}

int crew_dismiss(struct crew *crew, struct error *err)
{
	struct error one = ERROR_INIT;
	int code = 0;

	if (!crew->running)
		return 0;
	crew->running = false;
	crew_ask(crew, WORKER_DRAIN);
	for (size_t i = 0; i < crew->nr; i++) {
		if (worker_join(crew->workers[i], &one) && !code) {
			code = one.code;
			if (err)
				*err = one;
		}
	}
	return code;
}

void crew_release(struct crew *crew)
{
	crew_dismiss(crew, NULL);
	for (size_t i = 0; crew->workers && i < crew->nr; i++)
		worker_free(crew->workers[i]);
	free(crew->workers);
	free(crew->worker_of);
	reader_masks_release(&crew->masks);
	if (crew->report >= 0)
		close(crew->report);
	*crew = (struct crew){.report = -1};
}

/* --- what to say ---------------------------------------------------------------------------------
 */

size_t crew_pool_bytes(const struct crew *crew)
{
	size_t bytes = 0;

	for (size_t i = 0; i < crew->nr; i++)
		bytes += worker_pool_bytes(crew->workers[i]);
	return bytes;
}

/* A set as people write it: "0-3,5". */
static void cpus_print(const struct cpus *set, struct buf *b)
{
	for (size_t i = 0, last; i < set->nr; i = last + 1) {
		for (last = i; last + 1 < set->nr && set->ids[last + 1] == set->ids[last] + 1;)
			last++;
		buf_printf(b, "%s%d", i ? "," : "", set->ids[i]);
		if (last > i)
			buf_printf(b, "-%d", set->ids[last]);
	}
}

static void say_worker(const struct crew *crew, unsigned int worker, const struct opened *opened,
		       const struct notes *notes)
{
	struct buf cpus = {0}, affinity = {0};
	size_t samples = 0, sideband = 0;

	for (size_t i = 0; i < opened->nr_rings; i++) {
		if (crew->worker_of[i] != worker || !opened->rings[i].memory)
			continue;
		samples += i < opened->nr_places;
		sideband += i >= opened->nr_places;
	}
	cpus_print(&crew->masks.masks[worker].cpus, &cpus);
	cpus_print(&crew->masks.masks[worker].affinity, &affinity);
	notes_say(notes, NOTE_DETAIL,
		  "thread %u reads CPUs %.*s (%zu rings of samples, %zu of sideband), runs on %.*s",
		  worker, (int)cpus.len, (const char *)cpus.data, samples, sideband,
		  (int)affinity.len, (const char *)affinity.data);
	buf_release(&cpus);
	buf_release(&affinity);
}

void crew_say_plan(const struct crew *crew, const struct opened *opened, const struct notes *notes)
{
	for (unsigned int i = 0; i < crew->masks.nr; i++)
		say_worker(crew, i, opened, notes);
}

void crew_say_done(const struct crew *crew, const struct output *output, const struct notes *notes)
{
	for (unsigned int i = 0; i < crew->nr; i++) {
		const struct reader_stats *r = reader_stats(worker_reader(crew->workers[i]));
		const struct lane *lane = output_lane(output, i);

		notes_say(notes, NOTE_DETAIL,
			  "thread %u: %llu bytes taken in %llu passes, in %llu chunks (%llu times "
			  "none was free), %llu bytes written",
			  i, (unsigned long long)r->bytes, (unsigned long long)r->passes,
			  (unsigned long long)r->chunks, (unsigned long long)r->pool_empty,
			  (unsigned long long)writer_data_size(lane->writer));
	}
}
