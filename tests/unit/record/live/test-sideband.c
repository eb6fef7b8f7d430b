// SPDX-License-Identifier: Apache-2.0
/*
 * Sideband of several rings in order of time, and a log of which each snapshot gets what it needs,
 * once; an output that stands still holds up nobody.
 */
#include <pthread.h>
#include <time.h>

#include "record/live/sideband.h"
#include "task-world.h"

/* Types and times of what is emitted. */
struct order {
	uint32_t types[16];
	uint64_t times[16];
	size_t nr;
};

static int note_order(const struct perf_event_header *hdr, void *arg)
{
	const struct pd_evsel evsel = {.attr = attr};
	struct order *o = arg;

	assert_true(o->nr < 16);
	o->times[o->nr] = pd_record_time(hdr, &evsel);
	o->types[o->nr++] = hdr->type;
	return 0;
}

/* The child's new name is read from its CPU's ring before the fork from the parent's. */
static void test_order_of_rings(void **state)
{
	const uint64_t t = 5000000000ull;
	struct sideband *s = sideband_new(&attr);
	struct task_table_stats stats;
	struct order o = {0};
	size_t waiting;
	struct record r;

	(void)state;
	sideband_add(s, make_comm(&r, 1, 1, false, "init", 0));
	assert_int_equal(sideband_settle(s), 0);
	sideband_add(s, make_comm(&r, 2, 2, true, "child", t + 2));
	assert_int_equal(sideband_settle(s), 0);
	sideband_add(s, make_task(&r, PERF_RECORD_FORK, 2, 2, 1, 1, t + 1));
	assert_int_equal(sideband_settle(s), 0);
	assert_int_equal(sideband_emit(s, note_order, &o), 0);
	assert_int_equal(o.nr, 3);
	assert_int_equal(o.types[0], PERF_RECORD_COMM);
	assert_int_equal(o.types[1], PERF_RECORD_FORK);
	assert_int_equal(o.times[1], t + 1);
	assert_int_equal(o.types[2], PERF_RECORD_COMM);
	assert_int_equal(o.times[2], t + 2);
	/* Nothing of them is in doubt when all rings were visited behind a much later one. */
	sideband_add(s, make_comm(&r, 1, 1, false, "later", t + 10 * SIDEBAND_GRACE_NS));
	assert_int_equal(sideband_settle(s), 0);
	assert_int_equal(sideband_settle(s), 0);
	sideband_stats(s, &stats, &waiting);
	assert_int_equal(waiting, 1);
	assert_int_equal(stats.tasks, 2);
	o.nr = 0;
	assert_int_equal(sideband_emit(s, note_order, &o), 0);
	/* init, the fork and the child's own name, and what waits. */
	assert_int_equal(o.nr, 4);
	assert_int_equal(o.times[2], 0);
	assert_int_equal(o.times[3], t + 10 * SIDEBAND_GRACE_NS);
	sideband_free(s);
}

/* --- a log ---------------------------------------------------------------------------------------
 */

static uint64_t time_of(const struct perf_event_header *hdr)
{
	const struct pd_evsel evsel = {.attr = attr};

	return pd_record_time(hdr, &evsel);
}

/* The file that snapshots go to, as a reader sees it. */
struct file {
	struct task_table *live;
	uint64_t newest; /* time, of all snapshots before this one */
	uint64_t now;	 /* of the last record */
	bool again;
};

static int add_to_file(const struct perf_event_header *hdr, void *arg)
{
	struct file *f = arg;
	uint64_t time = time_of(hdr);

	assert_true(time >= f->now);
	f->now = time;
	if (!f->again && !(hdr->misc & PERF_RECORD_MISC_FORK_EXEC) && hdr->type == PERF_RECORD_FORK)
		assert_true(time > f->newest);
	return task_table_apply(f->live, hdr);
}

/* Whoever lives is known by name and with all pages; those that died unseen may be there too. */
static void check_file(const struct file *f, const struct world *w)
{
	struct world learnt = {0};

	assert_int_equal(task_table_emit(f->live, 0, learn, &learnt), 0);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		if (!w->tasks[tid].pid)
			continue;
		assert_int_equal(learnt.tasks[tid].pid, w->tasks[tid].pid);
		assert_string_equal(learnt.tasks[tid].comm, w->tasks[tid].comm);
		if (w->tasks[tid].pid == tid)
			assert_memory_equal(learnt.pages[tid], w->pages[tid],
					    sizeof(w->pages[tid]));
	}
}

static void set_time(const struct perf_event_header *hdr, uint64_t time)
{
	memcpy((uint8_t *)(uintptr_t)hdr + hdr->size - 24, &time, sizeof(time));
}

static void snapshot(struct sideband *s, struct file *f, const struct world *w, bool again)
{
	struct file whole = {.live = task_table_new(&attr), .again = true};

	/* A file of its own has all of it. */
	if (again)
		assert_int_equal(sideband_snapshot(s, true, add_to_file, &whole), 0);
	else
		assert_int_equal(sideband_snapshot(s, false, add_to_file, f), 0);
	check_file(again ? &whole : f, w);
	if (!again)
		f->newest = f->now;
	task_table_free(whole.live);
}

/*
 * Snapshots at random moments, while the log is settled up to random ones: each leads to the world
 * as it is, in a file of its own and behind those before it, and none tells what another did.
 */
static void test_snapshots_of_a_log(void **state)
{
	const uint64_t ms = 1000000;

	for (uint64_t round = 1; round <= 60; round++) {
		struct sideband *s = sideband_new_log(&attr);
		struct file f = {.live = task_table_new(&attr)};
		struct world w = {.tasks[1] = {1, "init"}};
		uint64_t seed = round * 104729, now = 1000 * ms;
		bool files = round % 3 == 0;
		struct record r;

		sideband_add(s, make_task(&r, PERF_RECORD_FORK, 1, 1, 0, 0, 0));
		sideband_add(s, make_comm(&r, 1, 1, false, "init", 0));
		assert_int_equal(sideband_settle(s), 0);
		for (int i = 0; i < 300; i++) {
			const struct perf_event_header *hdr = step(&w, &seed, &r);
			struct task_table_stats stats;
			size_t waiting;

			now += 1 + pick(&seed, 3 * (uint32_t)ms);
			if (hdr) {
				set_time(hdr, now);
				assert_int_equal(sideband_add(s, hdr), 0);
			}
			if (!pick(&seed, 10))
				assert_int_equal(
					sideband_settle_until(s, now - pick(&seed, 200) * ms), 0);
			if (pick(&seed, 15))
				continue;
			sideband_stats(s, &stats, &waiting);
			assert_true(sideband_bytes(s) >= waiting * 8);
			assert_true(sideband_since(s, SIZE_MAX) == 0);
			assert_true(!waiting == !sideband_since(s, 0));
			f.now = 0;
			snapshot(s, &f, &w, files);
		}
		task_table_free(f.live);
		sideband_free(s);
	}
}

struct crowd {
	struct sideband *sideband;
	unsigned int emitted, added;
};

static void *add_one(void *arg)
{
	struct crowd *crowd = arg;
	struct record r;

	sideband_add(crowd->sideband, make_comm(&r, 1, 1, false, "busy", 9000000000ull));
	return NULL;
}

/* The output takes so long that another record comes, whose writer is waited for here. */
static int emit_slowly(const struct perf_event_header *hdr, void *arg)
{
	struct crowd *crowd = arg;
	struct timespec until;
	pthread_t writer;

	crowd->emitted++;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	assert_int_equal(pthread_create(&writer, NULL, add_one, crowd), 0);
	assert_int_equal(pthread_timedjoin_np(writer, NULL, &until), 0);
	crowd->added++;
	return 0;
}

/* A snapshot to an output that stands still: writers go on, and what they add is the next one's. */
static void test_a_slow_output_holds_up_nobody(void **state)
{
	struct crowd crowd = {.sideband = sideband_new_log(&attr)};
	struct order o = {0};
	struct record r;

	(void)state;
	sideband_add(crowd.sideband, make_comm(&r, 1, 1, false, "init", 0));
	sideband_add(crowd.sideband, make_comm(&r, 2, 2, false, "other", 0));
	assert_int_equal(sideband_snapshot(crowd.sideband, false, emit_slowly, &crowd), 0);
	assert_int_equal(crowd.emitted, 2);
	assert_int_equal(crowd.added, 2);
	assert_int_equal(sideband_snapshot(crowd.sideband, false, note_order, &o), 0);
	assert_int_equal(o.nr, 2);
	assert_int_equal(o.times[0], 9000000000ull);
	sideband_free(crowd.sideband);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_rings),
		cmocka_unit_test(test_snapshots_of_a_log),
		cmocka_unit_test(test_a_slow_output_holds_up_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
