// SPDX-License-Identifier: Apache-2.0
/*
 * Cut stacks on many CPUs are all counted. The reader's thread cuts them when it is late, so it
 * must not search the account of losses. Linked with --wrap=loss_add.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/pipeline/shed.h"

#define CPUS   300
#define EVENTS 2
#define STACK  64

static unsigned int searches;

int __real_loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu,
		    uint64_t count);
int __wrap_loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu,
		    uint64_t count);

int __wrap_loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu,
		    uint64_t count)
{
	searches++;
	return __real_loss_add(l, cause, event, cpu, count);
}

struct sample {
	struct perf_event_header hdr;
	uint64_t id, size;
	uint8_t stack[STACK];
	uint64_t dyn_size;
};

static uint64_t id_of(unsigned int event, unsigned int cpu)
{
	return 1000 + event * CPUS + cpu;
}

static void every_stack_is_counted(void **state)
{
	struct plan_event events[EVENTS] = {{.name = NULL}};
	struct plan plan = {.events = events, .nr = EVENTS};
	struct open_fd fds[EVENTS * CPUS];
	struct opened opened = {.fds = fds, .nr_fds = EVENTS * CPUS};
	uint64_t counts[2][EVENTS][CPUS] = {{{0}}};
	struct sample in[4], out[4];
	struct loss cut = {0};
	struct shed *s;

	for (unsigned int e = 0; e < EVENTS; e++) {
		events[e].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STACK_USER;
		events[e].attr.sample_stack_user = STACK;
		for (unsigned int cpu = 0; cpu < CPUS; cpu++)
			fds[e * CPUS + cpu] = (struct open_fd){.event = e, .id = id_of(e, cpu)};
	}
	s = shed_new(&plan, &opened, NULL);
	assert_non_null(s);
	assert_true(shed_has_stacks(s));
	srand(1);
	for (int round = 0; round < 20000; round++) {
		unsigned int cpu = (unsigned int)rand() % CPUS;
		bool ring = rand() % 2;

		for (size_t i = 0; i < 4; i++) {
			unsigned int e = (unsigned int)rand() % EVENTS;

			in[i] = (struct sample){
				.hdr = {PERF_RECORD_SAMPLE, 0, sizeof(in[i])},
				.id = id_of(e, cpu),
				.size = STACK,
				.dyn_size = STACK,
			};
			counts[ring][e][cpu]++;
		}
		assert_int_equal(shed_stacks(s, (uint8_t *)out, (uint8_t *)in, sizeof(in),
					     ring ? LOSS_STACK_RING : LOSS_STACK, (int)cpu),
				 4 * 24);
	}
	assert_int_equal(searches, 0);
	assert_int_equal(shed_truncated(s, &cut), 0);
	assert_int_equal(cut.total, 80000);
	for (size_t i = 0; i < cut.nr; i++) {
		const struct loss_entry *l = &cut.entries[i];
		bool ring = l->cause == LOSS_STACK_RING;

		assert_true(ring || l->cause == LOSS_STACK);
		assert_int_equal(l->count, counts[ring][l->event][l->cpu]);
	}
	loss_release(&cut);
	shed_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stack_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
