// SPDX-License-Identifier: Apache-2.0
/*
 * AUX areas: which rings have one, whose they are, what AUX records say, and when their events are
 * restarted. Linked with --wrap=perf_event_disable, perf_event_enable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/abi.h"
#include "record/aux/area.h"

#define SIZE 4096u
#define PAGE 4096u

static char calls[64];

int __wrap_perf_event_disable(int fd);
int __wrap_perf_event_enable(int fd);

int __wrap_perf_event_disable(int fd)
{
	const char text[] = {'d', (char)('0' + fd), 0};

	strcat(calls, text);
	return 0;
}

int __wrap_perf_event_enable(int fd)
{
	const char text[] = {'e', (char)('0' + fd), 0};

	strcat(calls, text);
	return 0;
}

/* Three rings; the first and the last have an area. The last is of two tasks. */
struct lab {
	uint8_t *rings_memory[3]; /* header page and data */
	uint8_t memory[3][SIZE];
	struct plan_event events[3];
	int fds[2][2];
	struct open_ring rings[3];
	struct open_fd open[4];
	struct opened opened;
	struct plan plan;
	struct aux_areas areas;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	lab->fds[0][0] = 3;
	lab->fds[1][0] = 5;
	lab->fds[1][1] = 6;
	for (int i = 0; i < 3; i++)
		lab->rings_memory[i] = aligned_alloc(PAGE, PAGE + SIZE);
	for (int i = 0; i < 3; i++)
		memset(lab->rings_memory[i], 0, PAGE + SIZE);
	for (int i = 0; i < 3; i++)
		lab->events[i].attr = (struct pd_attr){.sample_type = PERF_SAMPLE_TIME,
						       .flags = PD_ATTR_SAMPLE_ID_ALL};
	lab->events[1].pmu = "intel_pt";
	lab->events[2].pmu = "arm_spe_0";
	lab->plan.events = lab->events;
	lab->rings[0] = (struct open_ring){.memory = lab->rings_memory[0],
					   .data_size = SIZE,
					   .aux = lab->memory[0],
					   .aux_size = SIZE,
					   .fds = lab->fds[0],
					   .nr_fds = 1};
	lab->rings[1] = (struct open_ring){.memory = lab->rings_memory[1], .cpu = 1};
	lab->rings[2] = (struct open_ring){.memory = lab->rings_memory[2],
					   .data_size = SIZE,
					   .aux = lab->memory[2],
					   .aux_size = SIZE,
					   .cpu = 1,
					   .fds = lab->fds[1],
					   .nr_fds = 2};
	lab->open[0] = (struct open_fd){.ring = 0, .event = 1, .task = 70};
	lab->open[1] = (struct open_fd){.ring = 1, .event = 0, .task = 70};
	lab->open[2] = (struct open_fd){.ring = 2, .event = 2, .task = 70};
	lab->open[3] = (struct open_fd){.ring = 2, .event = 2, .task = 71};
	lab->opened =
		(struct opened){.rings = lab->rings, .nr_rings = 3, .fds = lab->open, .nr_fds = 4};
	lab->plan.aux_mode = AUX_FULL;
	assert_int_equal(aux_areas_init(&lab->areas, &lab->plan, &lab->opened), 0);
	*calls = 0;
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	aux_areas_release(&lab->areas);
	aux_areas_release(&lab->areas);
	for (int i = 0; i < 3; i++)
		free(lab->rings_memory[i]);
	free(lab);
	return 0;
}

static void each_area_has_its_ring(void **state)
{
	struct lab *lab = *state;
	const struct aux_area *a = lab->areas.areas;

	assert_int_equal(lab->areas.nr, 2);
	assert_ptr_equal(aux_areas_of(&lab->areas, 0), a);
	assert_null(aux_areas_of(&lab->areas, 1));
	assert_ptr_equal(aux_areas_of(&lab->areas, 2), a + 1);
	assert_int_equal(a[0].index, 0);
	assert_int_equal(a[0].event, 1);
	assert_int_equal(a[0].task, 70);
	assert_int_equal(a[1].index, 2);
	assert_int_equal(a[1].event, 2);
	assert_int_equal(a[1].cpu, 1);
	assert_int_equal(a[1].task, -1);
	assert_false(a[0].ring.overwrite);
}

/* perf takes the top byte of a time stamp in the trace of intel_pt from the reference. */
static void references_are_of_the_clock_of_the_trace(void **state)
{
	struct lab *lab = *state;
	const struct aux_area *a = lab->areas.areas;

#if defined(__i386__) || defined(__x86_64__)
	uint64_t before = __builtin_ia32_rdtsc(), reference = aux_area_reference(&a[0], 17);

	assert_true(before <= reference && reference <= __builtin_ia32_rdtsc());
#else
	assert_int_equal(aux_area_reference(&a[0], 17), 17);
#endif
	assert_int_equal(aux_area_reference(&a[1], 17), 17);
}

static void events_are_switched(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;

	assert_false(a[0].on || a[1].on);
	aux_area_stop(&a[0]);
	aux_area_go(&a[0]);
	assert_string_equal(calls, "");
	aux_areas_switch(&lab->areas, 2, true);
	assert_true(!a[0].on && a[1].on);
	aux_area_stop(&a[1]);
	aux_area_go(&a[1]);
	assert_string_equal(calls, "d5d6e5e6");
	aux_areas_switch(&lab->areas, -1, true);
	assert_true(a[0].on && a[1].on);
	aux_areas_switch(&lab->areas, -1, false);
	assert_false(a[0].on || a[1].on);
}

static struct perf_event_mmap_page *page_of(struct lab *lab, unsigned int ring)
{
	return (void *)lab->rings_memory[ring];
}

/* The kernel writes a record, of @words behind its header, into the ring of the first area. */
static void put(struct lab *lab, uint32_t type, uint16_t misc, const uint64_t *words, size_t nr)
{
	const struct perf_event_header h = {type, misc, (uint16_t)(sizeof(h) + nr * 8)};
	struct perf_event_mmap_page *page = page_of(lab, 0);
	uint8_t record[256];

	memcpy(record, &h, sizeof(h));
	memcpy(record + sizeof(h), words, nr * 8);
	for (size_t i = 0; i < h.size; i++)
		lab->rings_memory[0][PAGE + (page->data_head + i) % SIZE] = record[i];
	page->data_head += h.size;
}

static void put_aux(struct lab *lab, uint64_t head, uint64_t flags, uint64_t time)
{
	page_of(lab, 0)->aux_head = head;
	put(lab, PERF_RECORD_AUX, 0, (const uint64_t[]){head, 100, flags, time}, 4);
}

static void put_switch(struct lab *lab, bool out, uint64_t time)
{
	put(lab, PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, &time, 1);
}

static void truncated_events_are_restarted_once(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;

	aux_areas_switch(&lab->areas, -1, true);
	put_aux(lab, 0, 0, 1);
	put_aux(lab, 0, PERF_AUX_FLAG_OVERWRITE, 2);
	put_aux(lab, 0, PERF_AUX_FLAG_PARTIAL, 3);
	put_aux(lab, 0, PERF_AUX_FLAG_COLLISION, 4);
	aux_area_look(a);
	assert_int_equal(a->partial, 1);
	assert_int_equal(a->collisions, 1);
	aux_area_restart(a);
	assert_string_equal(calls, "");
	put_aux(lab, 0, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, 5);
	aux_area_look(a);
	aux_area_look(a); /* each record once */
	assert_int_equal(a->truncated, 1);
	assert_int_equal(a->partial, 2);
	aux_area_restart(a);
	aux_area_restart(a);
	assert_string_equal(calls, "d3e3");
	assert_int_equal(a->restarts, 1);
}

/*
 * The kernel stops the events of a full area, and the record of it may be lost, or there is none:
 * the loss is counted, once, and the events run again.
 */
static void stops_without_a_record_are_counted(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;

	aux_areas_switch(&lab->areas, -1, true);
	aux_area_full(a);
	aux_area_full(a);
	aux_area_restart(a);
	assert_string_equal(calls, "d3e3");
	assert_int_equal(a->unreported, 1);
	/* A record that is not yet read explains it. */
	put_aux(lab, 0, PERF_AUX_FLAG_TRUNCATED, 1);
	aux_area_full(a);
	aux_area_restart(a);
	assert_int_equal(a->truncated, 1);
	assert_int_equal(a->restarts, 2);
	assert_int_equal(a->unreported, 1);
	/* So may lost records, although the area is not full any more. */
	put(lab, PERF_RECORD_LOST, 0, (const uint64_t[]){1, 40, 400}, 3);
	put(lab, PERF_RECORD_LOST, 0, (const uint64_t[]){1, 2, 400}, 3);
	aux_area_look(a);
	aux_area_restart(a);
	assert_string_equal(calls, "d3e3d3e3d3e3");
	assert_int_equal(a->unreported, 2);
	assert_int_equal(a->lost_records, 42);
	/* What is switched off writes no trace that could be lost. */
	aux_areas_switch(&lab->areas, -1, false);
	aux_area_full(a);
	aux_area_restart(a);
	assert_int_equal(a->unreported, 2);
	assert_string_equal(calls, "d3e3d3e3d3e3");
}

/* An event that the session has switched off stays off. */
static void events_that_are_off_stay_off(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;

	put_aux(lab, 0, PERF_AUX_FLAG_TRUNCATED, 1);
	aux_area_look(a);
	aux_area_restart(a);
	assert_string_equal(calls, "");
	assert_int_equal(a->restarts, 0);
}

/* While the main thread copies an area, the reader does not start its events. */
static void events_that_are_held_stay_off(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;

	aux_areas_switch(&lab->areas, -1, true);
	put_aux(lab, 0, PERF_AUX_FLAG_TRUNCATED, 1);
	aux_area_look(a);
	aux_area_stop(a);
	aux_area_restart(a);
	assert_string_equal(calls, "d3");
	aux_area_go(a);
	assert_string_equal(calls, "d3e3");
}

/* Records that are short or odd are not read beyond their end. */
static void odd_records(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = lab->areas.areas;
	static const uint64_t words[30];

	put(lab, PERF_RECORD_AUX, 0, words, 2);
	put(lab, PERF_RECORD_AUX, 0, words, 30);
	put(lab, PERF_RECORD_SWITCH, 0, words, 0);
	aux_area_look(a);
	assert_int_equal(a->truncated + a->stays.nr, 0);
	/* A size of 0 ends the look; what is behind it is not taken for records. */
	page_of(lab, 0)->data_head += 8;
	put_aux(lab, 0, PERF_AUX_FLAG_TRUNCATED, 1);
	aux_area_look(a);
	assert_int_equal(a->truncated, 0);
}

static struct aux_area *overwritten(struct lab *lab)
{
	aux_areas_release(&lab->areas);
	lab->plan.aux_mode = AUX_SNAPSHOT;
	assert_int_equal(aux_areas_init(&lab->areas, &lab->plan, &lab->opened), 0);
	assert_true(lab->areas.areas->ring.overwrite);
	return lab->areas.areas;
}

static void stays_follow_from_records(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = overwritten(lab);

	put(lab, PERF_RECORD_ITRACE_START, 0, (const uint64_t[]){77, 100}, 2);
	put_switch(lab, false, 102);
	aux_area_look(a);
	assert_true(a->runs && !a->stays.nr);
	put_switch(lab, true, 200);
	put_aux(lab, 512, PERF_AUX_FLAG_OVERWRITE, 201);
	put_switch(lab, false, 300);
	put_aux(lab, 768, PERF_AUX_FLAG_OVERWRITE, 350);
	aux_area_look(a);
	assert_int_equal(a->stays.nr, 2);
	assert_int_equal(a->stays.stays[0].begun, 100);
	assert_int_equal(a->stays.stays[0].ended, 201);
	assert_int_equal(a->stays.stays[0].bytes, 512);
	assert_int_equal(a->stays.stays[1].begun, 300);
	assert_int_equal(a->stays.stays[1].bytes, 256);
	assert_false(a->runs || a->stays.stays[1].joined);
	/* After a LOST record the next stay may be several. */
	put(lab, PERF_RECORD_LOST, 0, (const uint64_t[]){1, 1, 400}, 3);
	put_aux(lab, 800, PERF_AUX_FLAG_OVERWRITE, 401);
	put_aux(lab, 832, PERF_AUX_FLAG_OVERWRITE, 402);
	aux_area_look(a);
	assert_true(a->stays.stays[2].joined && !a->stays.stays[3].joined);
	assert_int_equal(a->stays.stays[2].begun, 0);
	assert_int_equal(a->stays.stays[2].tail, 0);
	/* Of an overwritten area no trace is lost for it. */
	assert_int_equal(a->unreported, 0);
	/* A head that moved without a record, found when the event is stopped. */
	page_of(lab, 0)->aux_head = 1000;
	aux_area_look_stopped(a, 500);
	assert_int_equal(a->stays.nr, 5);
	assert_int_equal(a->stays.stays[4].ended, 500);
	assert_int_equal(a->stays.stays[4].bytes, 168);
	assert_true(a->stays.stays[4].joined);
}

/* An event that was stopped before it wrote anything had no record of it. */
static void stays_do_not_begin_before_a_pause(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = overwritten(lab);

	aux_areas_switch(&lab->areas, -1, true);
	put_switch(lab, false, 102);
	aux_areas_switch(&lab->areas, -1, false);
	aux_areas_switch(&lab->areas, -1, true);
	put_aux(lab, 512, PERF_AUX_FLAG_OVERWRITE, 201);
	aux_area_look(a);
	assert_int_equal(a->stays.nr, 1);
	assert_int_equal(a->stays.stays[0].begun, 0);
	/* One that was on already has no pause. */
	put_switch(lab, false, 300);
	aux_areas_switch(&lab->areas, -1, true);
	put_aux(lab, 1024, PERF_AUX_FLAG_OVERWRITE, 301);
	aux_area_look(a);
	assert_int_equal(a->stays.stays[1].begun, 300);
}

/* The event of a CPU runs on while tasks change there. */
static void changes_of_a_cpus_tasks_are_no_stays(void **state)
{
	static const uint64_t words[] = {77ull << 32 | 77, 150};
	struct lab *lab = *state;
	struct aux_area *a = overwritten(lab);

	put(lab, PERF_RECORD_SWITCH_CPU_WIDE, 0, words, 2);
	aux_area_look(a);
	assert_false(a->runs);
	put(lab, PERF_RECORD_ITRACE_START, 0, (const uint64_t[]){77, 100}, 2);
	put(lab, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, words, 2);
	aux_area_look(a);
	assert_true(a->runs && !a->left);
	put(lab, PERF_RECORD_SWITCH_CPU_WIDE, 0, words, 2);
	put_aux(lab, 512, PERF_AUX_FLAG_OVERWRITE, 201);
	aux_area_look(a);
	assert_int_equal(a->stays.stays[0].begun, 100);
}

/* A turn that offsets do not show is found when the event is at rest, not while it runs. */
static void turns_are_counted_at_rest(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a;

	memset(lab->memory[0], 1, SIZE);
	a = overwritten(lab);
	put_switch(lab, false, 10);
	memset(lab->memory[0], 2, SIZE);
	aux_area_look(a);
	put_aux(lab, 512, PERF_AUX_FLAG_OVERWRITE, 20);
	put_switch(lab, false, 30);
	aux_area_look(a);
	assert_int_equal(a->stays.unsettled, 1);
	assert_int_equal(a->stays.stays[0].bytes, 512);
	put_aux(lab, 640, PERF_AUX_FLAG_OVERWRITE, 40);
	aux_area_look(a);
	assert_int_equal(a->stays.unsettled, 0);
	assert_int_equal(a->stays.nr, 1);
	assert_int_equal(a->stays.stays[0].bytes, 640 + SIZE);
	assert_int_equal(a->stays.stays[0].tail, 128);
	assert_int_equal(a->ring.position, 640 + SIZE);
}

/* An event may run since it was switched on, though no record of its start has come. */
static void an_event_that_is_on_may_run(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = overwritten(lab);

	aux_areas_switch(&lab->areas, -1, true);
	assert_true(a->runs);
	put_aux(lab, 512, PERF_AUX_FLAG_OVERWRITE, 20);
	aux_area_look(a);
	assert_false(a->runs);
	aux_areas_switch(&lab->areas, -1, false);
	assert_false(a->runs);
}

/* Records that wrap in their ring, looked at before and after the reader releases them. */
static void records_wrap(void **state)
{
	struct lab *lab = *state;
	struct aux_area *a = overwritten(lab);

	for (uint64_t i = 1; i <= 500; i++) {
		put_switch(lab, false, 10 * i);
		put_aux(lab, i * 32, PERF_AUX_FLAG_OVERWRITE, 10 * i + 5);
		aux_area_look(a);
		page_of(lab, 0)->data_tail = page_of(lab, 0)->data_head;
	}
	assert_int_equal(a->stays.nr, 500);
	assert_int_equal(a->stays.stays[499].begun, 5000);
	assert_int_equal(a->stays.stays[499].ended, 5005);
	assert_int_equal(a->stays.stays[499].bytes, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_area_has_its_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(references_are_of_the_clock_of_the_trace, setup,
						teardown),
		cmocka_unit_test_setup_teardown(events_are_switched, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated_events_are_restarted_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stops_without_a_record_are_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(events_that_are_off_stay_off, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_records, setup, teardown),
		cmocka_unit_test_setup_teardown(events_that_are_held_stay_off, setup, teardown),
		cmocka_unit_test_setup_teardown(stays_follow_from_records, setup, teardown),
		cmocka_unit_test_setup_teardown(stays_do_not_begin_before_a_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_of_a_cpus_tasks_are_no_stays, setup,
						teardown),
		cmocka_unit_test_setup_teardown(turns_are_counted_at_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_that_is_on_may_run, setup, teardown),
		cmocka_unit_test_setup_teardown(records_wrap, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
