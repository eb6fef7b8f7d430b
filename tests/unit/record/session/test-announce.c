// SPDX-License-Identifier: Apache-2.0
/* The messages about memory and threads: each of them where it is true, and nowhere else. */
#include "made-recording.h"
#include "record/session/announce.h"

static void announce(struct made *m, const struct limits *limits)
{
	const struct reader_opts readers = {.buffer_memory = FIFO_MIN};
	struct crew crew = {0};
	struct error err = ERROR_INIT;
	struct output out;
	const struct announce a = {&m->opts, limits, &m->plan, &crew, &out};

	assert_int_equal(crew_plan(&crew, &readers, &m->opts.output, &m->plan, &m->messages, &err),
			 0);
	made_output(m, &out, 1);
	m->said.len = 0;
	announce_memory(&a, &m->messages);
	crew_release(&crew);
	output_discard(&out, &m->opts.output);
	output_release(&out);
}

static void test_rings(void **state)
{
	struct made *m = *state;
	struct limits limits = {0};

	m->plan.cpus = (struct cpus){.ids = (int[]){0, 1}, .nr = 2};
	m->plan.sampled = m->plan.cpus;
	m->opts.plan.ring_size = MADE_RING;
	announce(m, &limits);
	assert_true(made_said(m, "2 events, 2 descriptors; "));
	assert_true(made_said(m, "of 256 KB for samples"));
	assert_false(made_said(m, "instead of"));
	assert_false(made_said(m, "compression"));
	assert_false(made_said(m, "asynchronous"));
	/* smaller than asked, and why */
	m->opts.plan.ring_size = 4 * MADE_RING;
	announce(m, &limits);
	assert_true(made_said(m, "of 256 KB instead of 1024 KB"));
	assert_true(made_said(m, "perf_event_mlock_kb"));
	limits.ipc_lock = true;
	announce(m, &limits);
	assert_true(made_said(m, "1/64 of memory"));
}

static void test_stages(void **state)
{
	struct made *m = *state;
	const struct limits limits = {0};

	m->opts.output.compression_level = 3;
	m->opts.output.aio = 2;
	announce(m, &limits);
	assert_true(made_said(m, "compression at level 3"));
	assert_true(made_said(m, "asynchronous output by "));
	assert_true(made_said(m, "up to 2 writes of 512 KB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(test_rings),
		MADE_TEST(test_stages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
