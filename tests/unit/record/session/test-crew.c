// SPDX-License-Identifier: Apache-2.0
/*
 * Crews of one or two workers, with rings in plain memory: the plan, who reads which ring, all
 * commands, a full output, a disk that is full, and the change of outputs. At the end each sample
 * that was in a ring is in a file, or counted as lost.
 */
#include <poll.h>

#include "made-recording.h"
#include "record/session/crew.h"

struct working {
	struct made *m;
	struct crew crew;
	struct output out;
	struct reader_opts readers;
	struct cpus online;
};

static void plan_crew(struct working *w)
{
	struct error err = ERROR_INIT;

	if (crew_plan(&w->crew, &w->readers, &w->m->opts.output, &w->m->plan, &w->m->messages,
		      &err))
		fail_msg("%s", err.text);
}

static void hire(struct working *w)
{
	struct error err = ERROR_INIT;

	made_output(w->m, &w->out, w->crew.nr);
	if (crew_hire(&w->crew, &w->m->plan, &w->m->opened, &w->out, &err))
		fail_msg("%s", err.text);
	if (crew_start(&w->crew, &err))
		fail_msg("%s", err.text);
}

/* One worker, that runs. */
static void begin(struct working *w, struct made *m)
{
	*w = (struct working){.m = m, .readers.buffer_memory = FIFO_MIN};
	plan_crew(w);
	hire(w);
}

/*
 * Two workers, a ring of its CPU for each, and a directory. Returns false where only one CPU is
 * online.
 */
static bool begin_two(struct working *w, struct made *m)
{
	*w = (struct working){.m = m, .readers = {.threads = "cpu", .buffer_memory = 2 * FIFO_MIN}};
	assert_int_equal(cpus_online(&w->online, NULL), 0);
	if (w->online.nr < 2) {
		cpus_release(&w->online);
		return false;
	}
	m->plan.sampled = w->online;
	m->plan.sampled.nr = 2;
	for (size_t i = 0; i < 2; i++)
		m->rings[i].cpu = w->online.ids[1 - i];
	m->opts.output.directory = true;
	plan_crew(w);
	assert_int_equal(w->crew.nr, 2);
	hire(w);
	return true;
}

static void finish(struct working *w)
{
	struct error err = ERROR_INIT;

	if (crew_dismiss(&w->crew, &err))
		fail_msg("%s", err.text);
	if (output_finish(&w->out, &w->m->plan, &w->m->opened, &err))
		fail_msg("%s", err.text);
}

static void end(struct working *w)
{
	crew_release(&w->crew);
	output_release(&w->out);
	cpus_release(&w->online);
}

static void do_all(struct working *w, enum worker_command command)
{
	struct error err = ERROR_INIT;

	crew_ask(&w->crew, command);
	if (crew_await(&w->crew, &err))
		fail_msg("%s", err.text);
}

/* --- the plan ------------------------------------------------------------------------------------
 */

static void test_plan(void **state)
{
	struct made *m = *state;
	struct working w = {.m = m};

	m->opts.output.rotation.size = 1 << 20;
	plan_crew(&w);
	assert_int_equal(w.crew.nr, 1);
	assert_int_equal(w.crew.report, -1);
	assert_true(w.crew.hold);
	assert_true(crew_buffer_bytes(&w.crew) >= FIFO_MIN);
	assert_int_equal(crew_drain(&w.crew, -1, false), CREW_ENDED);
	assert_int_equal(crew_dismiss(&w.crew, NULL), 0);
	crew_release(&w.crew);

	/* The writer is not held where samples stay in memory, nor where rings are overwritten. */
	m->opts.output.memory.bytes = 1 << 20;
	plan_crew(&w);
	assert_false(w.crew.hold);
	crew_release(&w.crew);
	m->opts.output.memory.bytes = 0;
	m->events[1].overwrite = true;
	plan_crew(&w);
	assert_false(w.crew.hold);
	assert_int_equal(m->said.len, 0);
	crew_release(&w.crew);
}

/* What the rings or the threads do not allow is changed, with a message. */
static void test_plan_is_bounded(void **state)
{
	struct made *m = *state;
	struct working w = {.m = m};

	w.readers.mmap_flush = MADE_RING / 4;
	w.readers.buffer_memory = 64 << 20;
	plan_crew(&w);
	assert_int_equal(w.crew.least, MADE_RING / 4);
	assert_int_equal(crew_buffer_bytes(&w.crew), 64 << 20);
	assert_int_equal(m->said.len, 0);
	crew_release(&w.crew);
	w.readers.mmap_flush++;
	w.readers.buffer_memory = 1;
	plan_crew(&w);
	assert_int_equal(w.crew.least, MADE_RING / 4);
	assert_int_equal(crew_buffer_bytes(&w.crew), FIFO_MIN);
	assert_true(made_said(m, "--mmap-flush is lowered to 64 KB"));
	assert_true(made_said(m, "--buffer-memory is raised to"));
	crew_release(&w.crew);
}

static void test_plan_is_refused(void **state)
{
	struct made *m = *state;
	struct reader_opts readers = {.threads = "no such layout"};
	struct error err = ERROR_INIT;
	struct crew crew = {0};

	assert_int_equal(crew_plan(&crew, &readers, &m->opts.output, &m->plan, &m->messages, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "no such layout"));
	crew_release(&crew);
	readers = (struct reader_opts){.affinity = "no such layout"};
	assert_int_equal(crew_plan(&crew, &readers, &m->opts.output, &m->plan, &m->messages, &err),
			 -EINVAL);
	crew_release(&crew);
	crew_release(&crew);
}

/* --- work ----------------------------------------------------------------------------------------
 */

static void test_flush(void **state)
{
	struct made *m = *state;
	struct working w;

	begin(&w, m);
	for (unsigned int i = 0; i < 10; i++) {
		made_fill_samples(m, i % 2, 100 + i);
		do_all(&w, WORKER_FLUSH);
		assert_int_equal(lane_view(output_lane(&w.out, 0)).samples, m->samples);
		made_all_there(m);
	}
	assert_int_equal(crew_view(&w.crew).code, 0);
	made_fill_samples(m, 0, 1000);
	finish(&w);
	made_all_there(m);
	crew_say_done(&w.crew, &w.out, &m->messages);
	assert_true(made_said(m, "thread 0: "));
	assert_int_equal(crew_overwritten(&w.crew), 0);
	end(&w);
}

/* A ring is read by the worker of its CPU; other rings are dealt out. */
static void test_rings_are_dealt(void **state)
{
	struct made *m = *state;
	struct open_ring rings[6];
	struct working w;

	memset(rings, 0, sizeof(rings)); /* not mapped */
	if (!begin_two(&w, m))
		skip();
	assert_int_equal(w.crew.worker_of[0], 1);
	assert_int_equal(w.crew.worker_of[1], 0);
	made_fill_samples(m, 0, 10);
	made_fill_samples(m, 1, 20);
	do_all(&w, WORKER_FLUSH);
	assert_int_equal(lane_view(output_lane(&w.out, 0)).samples, 20);
	assert_int_equal(lane_view(output_lane(&w.out, 1)).samples, 10);
	crew_say_plan(&w.crew, &m->opened, &m->messages);
	assert_true(made_said(m, "thread 1 reads CPUs"));
	finish(&w);
	made_all_there(m);
	crew_release(&w.crew);
	output_release(&w.out);

	plan_crew(&w);
	for (size_t i = 0; i < 6; i++)
		rings[i].cpu = i < 3 ? -1 : 100000 + (int)i;
	m->opened.rings = rings;
	m->opened.nr_rings = 6;
	m->opened.nr_places = 3;
	hire(&w);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(w.crew.worker_of[i], i % 3 % 2);
	finish(&w);
	end(&w);
}

/* True from the third call on. */
static bool third_call(void *calls)
{
	return ++*(int *)calls >= 3;
}

/* While the writer is held, nothing is done, and waiting for it can be ended. */
static void test_hold(void **state)
{
	struct made *m = *state;
	struct error err = ERROR_INIT;
	struct working w;
	int calls = 0;

	begin(&w, m);
	crew_hold(&w.crew, true);
	made_fill_samples(m, 0, 10);
	crew_ask(&w.crew, WORKER_FLUSH);
	assert_int_equal(crew_await_unless(&w.crew, third_call, &calls, &err), 1);
	assert_int_equal(calls, 3);
	assert_int_equal(lane_view(output_lane(&w.out, 0)).samples, 0);
	crew_hold(&w.crew, false);
	assert_int_equal(crew_await(&w.crew, &err), 0);
	/* What is done is done, whether somebody wants to end or not. */
	assert_int_equal(crew_await_unless(&w.crew, third_call, &calls, &err), 0);
	assert_int_equal(lane_view(output_lane(&w.out, 0)).samples, 10);
	crew_resume(&w.crew);

	crew_hold(&w.crew, true);
	made_fill_samples(m, 1, 10);
	assert_int_equal(crew_drain(&w.crew, 0, false), CREW_LATE);
	assert_int_equal(crew_drain(&w.crew, 20, true), CREW_LATE);
	crew_hold(&w.crew, false);
	assert_int_equal(crew_drain(&w.crew, -1, false), CREW_ENDED);
	finish(&w);
	made_all_there(m);
	end(&w);
}

/* Nothing holds those that are to end. */
static void test_dismissed_while_held(void **state)
{
	struct made *m = *state;
	struct working w;

	begin(&w, m);
	crew_hold(&w.crew, true);
	made_fill_samples(m, 0, 10);
	finish(&w);
	made_all_there(m);
	end(&w);
}

/* A full output holds the writer until the next one is there. */
static void test_full_output(void **state)
{
	struct made *m = *state;
	struct error err = ERROR_INIT;
	struct output next;
	char path[PATH_MAX];
	struct working w;
	uint64_t first, tags = 0;

	m->opts.output.rotation.size = 4000;
	begin(&w, m);
	lane_measure(output_lane(&w.out, 0));
	output_limit(&w.out, output_metered(&w.out) + 4000);
	made_fill_samples(m, 0, 200);
	crew_ask(&w.crew, WORKER_FLUSH);
	while (!crew_view(&w.crew).full)
		poll(&(struct pollfd){.fd = w.crew.report, .events = POLLIN}, 1, 100);
	made_fill_samples(m, 0, 100);
	assert_int_equal(crew_drain(&w.crew, -1, true), CREW_FULL);
	assert_true(crew_view(&w.crew).full);
	assert_false(crew_view(&w.crew).ended);
	tree_path(&m->tree, "next", path);
	m->opts.output.path = path;
	made_output(m, &next, 1);
	crew_retarget(&w.crew, &next);
	crew_resume(&w.crew);
	assert_int_equal(output_finish(&w.out, &m->plan, &m->opened, &err), 0);
	output_release(&w.out);
	w.out = next;
	assert_int_equal(crew_drain(&w.crew, -1, true), CREW_ENDED);
	finish(&w);
	first = made_count(m->path, &tags);
	assert_true(first >= 100);
	assert_int_equal(first + made_count(path, &tags), m->samples);
	assert_int_equal(tags, m->tags);
	end(&w);
}

/* The disk is full: the crew fails, goes on to empty the rings, and counts what it takes. */
static void test_full_disk(void **state)
{
	struct made *m = *state;
	struct error err = ERROR_INIT;
	struct working w;
	uint64_t tags = 0;
	int rc = 0;

	begin(&w, m);
	limit_files(600000);
	for (unsigned int i = 0; !rc && i < 100; i++) {
		made_fill_samples(m, 0, 3000);
		crew_ask(&w.crew, WORKER_FLUSH);
		rc = crew_await(&w.crew, &err);
	}
	assert_int_equal(rc, -EFBIG);
	assert_int_equal(crew_view(&w.crew).code, -EFBIG);
	made_fill_samples(m, 1, 1000);
	assert_int_equal(crew_dismiss(&w.crew, &err), -EFBIG);
	assert_int_equal(crew_dismiss(&w.crew, &err), 0); /* there is nobody any more */
	output_abandon(&w.out, &m->plan, &m->opened);
	limit_files(0);
	assert_int_equal(w.out.tally.samples, made_count(m->path, &tags));
	assert_int_equal(w.out.tally.samples + w.out.loss.total, m->samples);
	assert_true(w.out.tally.samples > 14000);
	end(&w);
}

/* One of two fails: the other's samples are all there. */
static void test_one_of_two_fails(void **state)
{
	struct made *m = *state;
	struct error err = ERROR_INIT;
	struct working w;
	uint64_t failed, tags = 0;

	if (!begin_two(&w, m))
		skip();
	made_fill_samples(m, 0, 700);
	do_all(&w, WORKER_FLUSH);
	limit_files(400000);
	for (unsigned int i = 0; i < 4; i++) {
		made_fill_samples(m, 1, 3000);
		crew_ask(&w.crew, WORKER_FLUSH);
		if (crew_await(&w.crew, &err))
			break;
	}
	assert_int_equal(err.code, -EFBIG);
	made_fill_samples(m, 0, 300);
	assert_int_equal(crew_dismiss(&w.crew, &err), -EFBIG);
	output_abandon(&w.out, &m->plan, &m->opened);
	limit_files(0);
	assert_int_equal(lane_view(output_lane(&w.out, 1)).samples, 1000);
	failed = lane_view(output_lane(&w.out, 0)).samples;
	assert_int_equal(made_count(m->path, &tags), 1000 + failed);
	assert_int_equal(1000 + failed + w.out.loss.total, m->samples);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(test_plan),
		MADE_TEST(test_plan_is_bounded),
		MADE_TEST(test_plan_is_refused),
		MADE_TEST(test_flush),
		MADE_TEST(test_rings_are_dealt),
		MADE_TEST(test_hold),
		MADE_TEST(test_dismissed_while_held),
		MADE_TEST(test_full_output),
		MADE_TEST(test_full_disk),
		MADE_TEST(test_one_of_two_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
