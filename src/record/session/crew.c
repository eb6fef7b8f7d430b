// SPDX-License-Identifier: Apache-2.0
#include "base/clock_ns.h"
#include "record/initial/mapped.h"
#include "record/session/crew.h"
#include "record/session/service_status.h"

#include <errno.h>
#include <hwloc.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/plural.h"
#include "sys/kernel/memory.h"
#include "sys/kernel/priority.h"

#define START_MS  1000 /* that the start waits for readers */
#define BREATH_MS 100  /* longest time between two calls of service_status_alive() */

/* Buffer memory, if its size is not given: the lesser of this and a 16th of memory. */
#define BUFFER_BYTES ((uint64_t)256 << 20)
#define BUFFER_SHARE 16

/* A program, its debug file, the list of maps, and a directory. */
#define CHAIN_DESCRIPTORS 4

/* --- plan ----------------------------------------------------------------------------------------
 */

/* The CPUs whose samples are wanted; all, if the tasks may run anywhere. */
static int recorded_cpus(const struct plan *plan, struct cpus *ret, struct error *err)
{
	const struct cpus *from = plan->sampled.nr ? &plan->sampled : &plan->cpus;

	if (!from->nr)
		return cpus_online(ret, err);
	return cpus_copy(from, ret) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int masks_of(const char *spec, const struct cpus *recorded, struct reader_masks *ret,
		    struct error *err)
{
	struct hwloc_topology *topology = NULL;
	int rc = reader_masks_topology(&topology, err);

	if (!rc)
		rc = reader_masks_new(spec, recorded, topology, ret, err);
	if (topology)
		hwloc_topology_destroy(topology);
	return rc;
}

static int make_masks(struct crew *crew, const char *spec, const struct plan *plan,
		      struct error *err)
{
	struct cpus recorded = {0};
	int rc = recorded_cpus(plan, &recorded, err);

	if (!rc)
		rc = masks_of(spec, &recorded, &crew->masks, err);
	cpus_release(&recorded);
	return rc;
}

/* Covers all CPUs, because sideband rings are on all. */
static int make_places(struct crew *crew, const char *layout, struct error *err)
{
	struct cpus online = {0};
	int rc = cpus_online(&online, err);

	if (!rc)
		rc = masks_of(layout, &online, &crew->places, err);
	cpus_release(&online);
	return rc;
}

static void plan_least(struct crew *crew, uint64_t asked, const struct plan *plan,
		       const struct messages *messages)
{
	uint64_t most = plan->ring_size / 4;

	crew->least = asked < most ? asked : most;
	if (crew->least < asked)
		messages_say(messages, MESSAGE_INFO,
			     "--mmap-flush is lowered to %llu KB, a quarter of a ring",
			     (unsigned long long)most / 1024);
}

static void plan_buffers(struct crew *crew, uint64_t asked, const struct messages *messages)
{
	uint64_t memory = memory_total();
	uint64_t total = asked;

	if (!total)
		total = memory / BUFFER_SHARE < BUFFER_BYTES ? memory / BUFFER_SHARE : BUFFER_BYTES;
	crew->buffer = total / crew->nr;
	if (crew->buffer >= FIFO_MIN)
		return;
	crew->buffer = FIFO_MIN;
	if (asked)
		messages_say(messages, MESSAGE_INFO,
			     "--buffer-memory is raised to %zu KB: %zu KB for each of %zu thread%s",
			     crew->nr * FIFO_MIN / 1024, FIFO_MIN / 1024, crew->nr,
			     plural_s(crew->nr));
}

static int check_realtime(int priority, struct error *err)
{
	struct rlimit limit = {0};
	int rc = priority ? priority_may_realtime(priority) : 0;

	if (rc != -EPERM)
		return rc ? error_sys(err, rc, "-r %d", priority) : 0;
	getrlimit(RLIMIT_RTPRIO, &limit);
	return error_set(err, rc,
			 "-r %d needs CAP_SYS_NICE, or RLIMIT_RTPRIO at %d or above (it is %llu; "
			 "'ulimit -r'), and a cgroup with a real-time share",
			 priority, priority, (unsigned long long)limit.rlim_cur);
}

int crew_plan(struct crew *crew, const struct reader_opts *opts, const struct output_opts *output,
	      const struct plan *plan, const struct messages *messages, struct error *err)
{
	int rc;

	crew->report = -1;
	crew->nr = 1;
	crew->realtime = opts->realtime;
	crew->unbuffered = plan->unbuffered;
	crew->unwinds = plan->opts->sample.online;
	rc = check_realtime(opts->realtime, err);
	if (rc)
		return rc;
	rc = opts->threads ? make_masks(crew, opts->threads, plan, err) : 0;
	if (!rc && opts->affinity)
		rc = make_places(crew, opts->affinity, err);
	if (rc)
		return rc;
	plan_least(crew, opts->mmap_flush, plan, messages);
	if (crew->masks.nr)
		crew->nr = crew->masks.nr;
	/*
	 * Holding does not work for overwrite rings, whose contents belong to the output being
	 * finished. Nor does it with several workers: records of one may need names that are on
	 * their way through another.
	 */
	crew->hold = output->rotation.size && !output->memory.bytes && crew->nr == 1 &&
		     !plan_overwrites(plan);
	plan_buffers(crew, opts->buffer_memory, messages);
	if (crew->masks.has_rest)
		messages_say(messages, MESSAGE_INFO,
			     "--threads leaves out some recorded CPUs: one more thread reads them");
	return 0;
}

size_t crew_descriptors(const struct crew *crew)
{
	/* A file, an epoll, a timer, and a descriptor for requests; files to unwind by. */
	return 4 * crew->nr + (crew->unwinds ? CHAIN_DESCRIPTORS : 0);
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

static const struct cpus *place_for(const struct crew *crew, int cpu)
{
	for (size_t i = 0; cpu >= 0 && i < crew->places.nr; i++)
		if (cpus_has(&crew->places.masks[i].cpus, cpu))
			return &crew->places.masks[i].affinity;
	return NULL;
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

static void lane_failed(void *lane, int rc)
{
	lane_save(lane, rc);
}

static void lane_was_flushed(void *lane)
{
	lane_note_flush(lane);
}

static void lane_was_given(void *lane, const struct run *run)
{
	lane_discard(lane, run);
}

static bool lane_took(void *lane)
{
	lane_make_room(lane);
	return lane_measure(lane);
}

static void watch_rings(struct crew *crew, size_t number, const struct lane *lane)
{
	struct fifo *fifo = worker_fifo(crew->workers[number]);

	if (!lane->compress)
		return;
	compress_watch(lane->compress, fifo_bytes(fifo), fifo);
	compress_bound(lane->compress, COMPRESS_CPU_MAX);
}

/*
 * @rounds: write marks of rounds. A directory has none, because the order in one file says nothing
 * about the others; nor has a recording with overwrite rings, whose drains bring records older than
 * those written before.
 */
static void write_to_lane(const struct crew *crew, struct lane *lane, bool rounds,
			  struct worker_opts *opts)
{
	opts->sink = lane->chain;
	opts->rounds = rounds;
	opts->unbuffered = crew->unbuffered;
	opts->flushed = lane_was_flushed;
	opts->failed = lane_failed;
	opts->discard = lane_was_given;
	opts->passed = lane_took;
	/* With --aio it would wait for the writes that the writer has in flight. */
	opts->direct =
		!opts->number && !writer_is_stream(lane->writer) && !writer_aio(lane->writer);
	opts->hold = crew->hold;
	opts->arg = lane;
}

/* Only the main thread writes the output. */
static void write_to_memory(const struct crew *crew, unsigned int number, struct worker_opts *opts)
{
	opts->sink = flight_sink(crew->flight, number);
	opts->flushed = flight_was_flushed;
	opts->discard = flight_discard;
	opts->arg = flight_intake(crew->flight, number);
}

/* Called by writers. Frequencies go by the ids that the events had at the start. */
static void fixup(void *fixup_arg, int cpu, uint8_t *records, size_t len)
{
	const struct crew *crew = fixup_arg;

	if (!crew->own_build_ids)
		mapped_clear_build_id_marks(records, len);
	if (crew->renumber)
		renumber_records(crew->renumber, records, len);
	if (crew->frequency)
		frequency_fix_periods(crew->frequency, records, len);
	if (crew->late)
		lost_carryover_apply(crew->late, cpu, records, len);
}

static int hire(struct crew *crew, unsigned int number, const struct opened *opened,
		const struct output *output, struct error *err)
{
	struct lane *lane = output_lane(output, number);
	struct worker_opts opts = {
		.number = number,
		.affinity = crew->masks.nr ? &crew->masks.masks[number].affinity : NULL,
		.realtime = crew->realtime,
		.least = crew->least,
		.buffer = crew->buffer,
		.shed = crew->sheds[number],
		.report = crew->report,
		.fixup = fixup,
		.fixup_arg = crew,
	};
	int rc;

	if (crew->flight)
		write_to_memory(crew, number, &opts);
	else
		write_to_lane(crew, lane, output->nr == 1 && !opened_overwrites(opened), &opts);
	if (crew->chain_stages) {
		chain_stage_retarget(crew->chain_stages[number], opts.sink);
		opts.sink = crew->chain_stages[number];
	}
	rc = worker_new(&opts, &crew->workers[number], err);
	if (!rc && crew->chain_stages)
		chain_stage_watch(crew->chain_stages[number], worker_fifo(crew->workers[number]));
	if (!rc)
		watch_rings(crew, number, lane);
	if (!rc && crew->flight)
		flight_watch(crew->flight, number, crew->buffer,
			     worker_fifo(crew->workers[number]));
	return rc;
}

static int make_sheds(struct crew *crew, const struct plan *plan, const struct opened *opened)
{
	crew->sheds = calloc(crew->nr, sizeof(*crew->sheds));
	for (size_t i = 0; crew->sheds && i < crew->nr; i++) {
		crew->sheds[i] = shed_new(plan, opened, crew->renumber);
		if (!crew->sheds[i])
			return -ENOMEM;
	}
	return crew->sheds ? 0 : -ENOMEM;
}

/* The stages that make call chains of user stacks; all workers share their maker. */
static int make_chains(struct crew *crew, const struct plan *plan, const struct opened *opened,
		       struct error *err)
{
	int rc = chain_maker_new(&plan->events[0].attr, &crew->chains);

	if (rc)
		return error_sys(err, rc, "--call-graph dwarf,online: cannot start its thread");
	crew->taps = sideband_taps_new(opened->nr_rings, crew->own_build_ids, chain_maker_add,
				       crew->chains);
	if (!crew->taps)
		return error_set(err, -ENOMEM, "out of memory");
	crew->chain_stages = calloc(crew->nr, sizeof(*crew->chain_stages));
	for (size_t i = 0; crew->chain_stages && i < crew->nr; i++) {
		crew->chain_stages[i] = chain_stage_new(crew->chains, plan, opened, NULL);
		if (!crew->chain_stages[i])
			return error_set(err, -ENOMEM, "out of memory");
	}
	return crew->chain_stages ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/*
 * Whether nothing in a ring needs its reader at once, so that no record of it wakes the reader. The
 * AUX events of CPUs are stopped by nobody but a snapshot and the session, whose flush drains the
 * ring; the reader would only get in the way of a snapshot that stops them.
 */
static bool wakes_nobody(const struct plan *plan, const struct open_ring *ring)
{
	return ring->kind == RING_AUX && plan->aux_mode == AUX_SNAPSHOT &&
	       plan->target == TARGET_CPUS;
}

/*
 * Returns how many of the ring's events wake its reader. Those that outlive the tasks to record do
 * not: they never hang up, so the recording would not end with the tasks.
 */
static size_t wakers_of(const struct plan *plan, const struct open_ring *ring)
{
	return wakes_nobody(plan, ring) ? 0 : ring->nr_fds - ring->nr_lasting;
}

/* Gives ring @index to its worker, with a tap if stacks are unwound and it has sideband. */
static int give_ring(struct crew *crew, const struct plan *plan, const struct open_ring *ring,
		     unsigned int index, struct error *err)
{
	struct reader_source source = {
		.memory = ring->memory,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.data_size = ring->data_size,
		.ring = index,
		.cpu = ring->cpu,
		.fds = ring->fds,
		.nr_fds = wakers_of(plan, ring),
		/* A turn of an area is found while its task is away: soon after the switch. */
		.sideband = ring->kind == RING_SIDEBAND ||
			    (ring->kind == RING_AUX && plan->aux_mode != AUX_FULL),
		.aux = aux_areas_of(&crew->aux, index),
		.run_on = place_for(crew, ring->cpu),
		.overwritten = ring->kind == RING_OVERWRITTEN,
	};
	int rc = 0;

	if (crew->taps && ring->kind == RING_SIDEBAND)
		rc = sideband_taps_add(crew->taps, source.memory, source.page_size,
				       source.data_size, &source.tap);
	return rc ? error_set(err, rc, "cannot read a ring of %zu bytes", source.data_size)
		  : worker_add_ring(crew->workers[crew->worker_of[index]], &source, err);
}

int crew_hire(struct crew *crew, const struct plan *plan, const struct opened *opened,
	      const struct output *output, struct error *err)
{
	int rc = 0;

	crew->own_build_ids = plan_build_ids(plan);
	crew->report = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew->report < 0)
		return error_sys(err, -errno, "eventfd");
	if (aux_areas_init(&crew->aux, plan, opened))
		return error_set(err, -ENOMEM, "out of memory");
	crew->workers = calloc(crew->nr, sizeof(*crew->workers));
	if (!crew->workers || deal_rings(crew, opened) || make_sheds(crew, plan, opened))
		return error_set(err, -ENOMEM, "out of memory");
	if (crew->unwinds)
		rc = make_chains(crew, plan, opened, err);
	for (unsigned int i = 0; !rc && i < crew->nr; i++)
		rc = hire(crew, i, opened, output, err);
	for (unsigned int i = 0; !rc && i < opened->nr_rings; i++)
		if (opened->rings[i].memory)
			rc = give_ring(crew, plan, &opened->rings[i], i, err);
	return rc;
}

int crew_start(struct crew *crew, struct error *err)
{
	const uint64_t deadline = now_ms() + START_MS;
	int rc = 0;

	/* Not before: what existed before the recording is older than what the taps show. */
	if (crew->chains)
		chain_maker_gather_by(crew->chains, sideband_taps_show, crew->taps);
	for (size_t i = 0; !rc && i < crew->nr; i++)
		rc = worker_start(crew->workers[i], err);
	/* What is recorded begins when all rings are read. A CPU may be another's for longer. */
	for (size_t i = 0; !rc && i < crew->nr; i++)
		worker_await(crew->workers[i], deadline);
	crew->running = true;
	crew->whole = !rc;
	return rc;
}

void crew_breathe(const struct crew *crew)
{
	if (crew->service)
		service_status_alive(crew->service);
}

/* Waits for a report, for @ms (negative: forever) or BREATH_MS. Returns the value of poll(). */
static int wait_a_while(const struct crew *crew, int64_t ms)
{
	struct pollfd report = {.fd = crew->report, .events = POLLIN};

	if (crew->service && (ms < 0 || ms > BREATH_MS))
		ms = BREATH_MS;
	crew_breathe(crew);
	return poll(&report, 1, (int)ms);
}

void crew_ask(struct crew *crew, enum worker_command command)
{
	for (size_t i = 0; i < crew->nr; i++)
		worker_ask(crew->workers[i], command);
}

int crew_await(struct crew *crew, struct error *err)
{
	return crew_await_unless(crew, NULL, NULL, err);
}

int crew_await_unless(struct crew *crew, bool (*ends)(void *arg), void *arg, struct error *err)
{
	for (;;) {
		struct worker_view view = crew_view(crew);

		if (view.code)
			return error_set(err, view.code, "a thread that reads rings has failed");
		if (view.flushed)
			return 0;
		if (ends && ends(arg))
			return 1;
		if (wait_a_while(crew, ends ? BREATH_MS : -1) < 0 && errno != EINTR)
			return error_sys(err, -errno, "poll");
	}
}

void crew_hold(struct crew *crew, bool hold)
{
	for (size_t i = 0; i < crew->nr; i++)
		worker_hold(crew->workers[i], hold);
}

void crew_retarget(struct crew *crew, const struct output *output)
{
	for (size_t i = 0; i < crew->nr; i++) {
		struct lane *lane = output_lane(output, i);

		if (crew->chain_stages)
			chain_stage_retarget(crew->chain_stages[i], lane->chain);
		worker_retarget(crew->workers[i],
				crew->chain_stages ? crew->chain_stages[i] : lane->chain, lane);
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

enum crew_end crew_drain(struct crew *crew, int64_t ms, bool rotates)
{
	uint64_t deadline = now_ms() + (uint64_t)ms;

	if (!crew->running)
		return CREW_ENDED;
	crew_ask(crew, WORKER_FINISH);
	for (;;) {
		struct worker_view view = crew_view(crew);
		int64_t left = ms < 0 ? -1 : (int64_t)ms_until(deadline);

		if (view.ended)
			return CREW_ENDED;
		if (view.full && crew->hold && rotates)
			return CREW_FULL;
		if (!left)
			return CREW_LATE;
		wait_a_while(crew, left);
	}
}

size_t crew_backlog(const struct crew *crew)
{
	size_t bytes = 0;

	for (size_t i = 0; i < crew->nr; i++)
		bytes += fifo_fullness(worker_fifo(crew->workers[i])) * (crew->buffer / 100) +
			 worker_handed(crew->workers[i]);
	return bytes;
}

int crew_dismiss(struct crew *crew, struct error *err)
{
	struct error one = ERROR_INIT;
	int rc = 0;

	if (!crew->running)
		return 0;
	crew->running = false;
	crew_hold(crew, false);
	crew_ask(crew, WORKER_FINISH);
	while (crew->whole && crew->service && !crew_view(crew).ended)
		wait_a_while(crew, -1);
	for (size_t i = 0; i < crew->nr; i++) {
		if (worker_join(crew->workers[i], &one) && !rc) {
			rc = one.code;
			if (err)
				*err = one;
		}
	}
	return rc;
}

void crew_release(struct crew *crew)
{
	crew_dismiss(crew, NULL);
	for (size_t i = 0; crew->workers && i < crew->nr; i++)
		worker_free(crew->workers[i]);
	for (size_t i = 0; crew->sheds && i < crew->nr; i++)
		shed_free(crew->sheds[i]);
	for (size_t i = 0; crew->chain_stages && i < crew->nr; i++)
		sink_free(crew->chain_stages[i]);
	chain_maker_free(crew->chains);
	aux_areas_release(&crew->aux);
	sideband_taps_free(crew->taps);
	free(crew->chain_stages);
	free(crew->sheds);
	free(crew->workers);
	free(crew->worker_of);
	reader_masks_release(&crew->masks);
	reader_masks_release(&crew->places);
	if (crew->report >= 0)
		close(crew->report);
	*crew = (struct crew){.report = -1};
}

/* --- figures -------------------------------------------------------------------------------------
 */

size_t crew_buffer_bytes(const struct crew *crew)
{
	return crew->nr * crew->buffer;
}

uint64_t crew_overwritten(const struct crew *crew)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < crew->nr; i++)
		bytes += overwrite_drain_stats(worker_overwrite_drain(crew->workers[i]))
				 ->overwritten;
	return bytes;
}

bool crew_chains(const struct crew *crew, struct chain_stats *ret)
{
	struct chain_stats one;

	*ret = (struct chain_stats){0};
	for (size_t i = 0; crew->chain_stages && i < crew->nr; i++) {
		chain_stage_stats(crew->chain_stages[i], &one);
		chain_stats_add(ret, &one);
	}
	if (crew->chain_stages)
		chain_maker_stats(crew->chains, ret);
	return crew->chain_stages;
}

int crew_truncated_stacks(const struct crew *crew, struct loss *ret)
{
	int rc = 0;

	for (size_t i = 0; !rc && crew->sheds && i < crew->nr; i++)
		rc = shed_truncated(crew->sheds[i], ret);
	return rc;
}

/* Prints a set in the usual form: "0-3,5". */
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
		       const struct messages *messages)
{
	struct buf cpus = {0}, affinity = {0};
	size_t samples = 0, sideband = 0;

	for (size_t i = 0; i < opened->nr_rings; i++) {
		if (crew->worker_of[i] != worker || !opened->rings[i].memory)
			continue;
		sideband += opened->rings[i].kind == RING_SIDEBAND;
		samples += opened->rings[i].kind == RING_SAMPLES ||
			   opened->rings[i].kind == RING_OVERWRITTEN;
	}
	cpus_print(&crew->masks.masks[worker].cpus, &cpus);
	cpus_print(&crew->masks.masks[worker].affinity, &affinity);
	messages_say(
		messages, MESSAGE_DETAIL,
		"thread %u reads CPUs %.*s (%zu rings of samples, %zu of sideband), runs on %.*s",
		worker, (int)cpus.len, (const char *)cpus.data, samples, sideband,
		(int)affinity.len, (const char *)affinity.data);
	buf_release(&cpus);
	buf_release(&affinity);
}

void crew_say_plan(const struct crew *crew, const struct opened *opened,
		   const struct messages *messages)
{
	for (unsigned int i = 0; i < crew->masks.nr; i++)
		say_worker(crew, i, opened, messages);
}

static void say_moves(const struct crew *crew, const struct messages *messages)
{
	for (unsigned int i = 0; crew->places.nr && i < crew->nr; i++) {
		uint64_t moves = reader_stats(worker_reader(crew->workers[i]))->moves;

		messages_say(messages, MESSAGE_DETAIL,
			     "thread %u moved %llu time%s to the CPU of a ring", i,
			     (unsigned long long)moves, plural_s(moves));
	}
}

static void say_compressed(unsigned int worker, const struct lane *lane,
			   const struct messages *messages)
{
	struct compress_level all;

	if (!lane->compress)
		return;
	all = compress_total(compress_stats(lane->compress));
	messages_say(messages, MESSAGE_DETAIL,
		     "thread %u: %llu bytes of records compressed to %llu", worker,
		     (unsigned long long)all.in, (unsigned long long)all.out);
}

void crew_say_done(const struct crew *crew, const struct output *output,
		   const struct messages *messages)
{
	say_moves(crew, messages);
	for (unsigned int i = 0; i < crew->nr; i++) {
		const struct reader_stats *r = reader_stats(worker_reader(crew->workers[i]));
		const struct overwrite_drain_stats *d =
			overwrite_drain_stats(worker_overwrite_drain(crew->workers[i]));
		const struct lane *lane = output_lane(output, i);

		messages_say(
			messages, MESSAGE_DETAIL,
			"thread %u: %llu bytes taken in %llu passes, in %llu pieces (%llu times "
			"there was no room for one), %llu bytes written",
			i, (unsigned long long)r->bytes, (unsigned long long)r->passes,
			(unsigned long long)r->pieces, (unsigned long long)r->full,
			(unsigned long long)lane_bytes(lane));
		say_compressed(i, lane, messages);
		if (d->drains)
			messages_say(messages, MESSAGE_DETAIL,
				     "thread %u: %llu bytes taken in %llu dumps, %llu overwritten",
				     i, (unsigned long long)d->taken, (unsigned long long)d->drains,
				     (unsigned long long)d->overwritten);
	}
}
