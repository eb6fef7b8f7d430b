// SPDX-License-Identifier: Apache-2.0
/* Samples of events that a made-up decoder gives out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "auxtrace/itrace/samples.h"

/* The decoder: its trace is an array of events. */
struct aux_decoder {
	const struct aux_event *next, *end;
	unsigned int want;
};

static struct aux_decoder decoder;

static int begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
		 const struct aux_code *code, unsigned int want, struct aux_decoder **ret)
{
	decoder.next = (const void *)stretch->data;
	decoder.end = decoder.next + stretch->len / sizeof(*decoder.next);
	decoder.want = want;
	*ret = &decoder;
	return stretch->len ? 0 : -ENOTSUP;
}

static int next(struct aux_decoder *d, struct aux_event *ret)
{
	if (d->next == d->end)
		return 0;
	*ret = *d->next++;
	return 1;
}

static void end(struct aux_decoder *d)
{
}

static const struct aux_decoder_ops ops = {
	.name = "made up", .begin = begin, .next = next, .end = end};

static int run(const char *letters, const struct aux_event *events, size_t nr,
	       struct itrace_list *list)
{
	struct aux_stretch stretch = {
		.data = (const void *)events, .len = nr * sizeof(*events), .cpu = 3};
	struct error err = ERROR_INIT;
	struct itrace_decoding d = {0};
	struct itrace_opts o;

	assert_int_equal(itrace_opts_parse(letters, &o, &err), 0);
	return itrace_decode(&o, &ops, NULL, &stretch, NULL, &d, list);
}

static void check(const char *letters, const struct aux_event *events, size_t nr,
		  const enum itrace_kind *kinds, size_t nr_kinds)
{
	struct itrace_list list = {0};

	assert_int_equal(run(letters, events, nr, &list), 0);
	assert_int_equal(list.nr, nr_kinds);
	for (size_t i = 0; i < nr_kinds; i++)
		assert_int_equal(list.samples[i].kind, kinds[i]);
	itrace_list_release(&list);
}

#define CHECK(letters, events, ...)                                               \
	do {                                                                      \
		const enum itrace_kind kinds[] = {__VA_ARGS__};                   \
		check(letters, events, sizeof(events) / sizeof(events[0]), kinds, \
		      sizeof(kinds) / sizeof(kinds[0]));                          \
	} while (0)

static void test_branches(void **state)
{
	static const struct aux_event events[] = {
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH | AUX_TRACE_BEGIN, .to = 1},
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH | AUX_CALL, .ip = 1, .to = 2},
		{.kind = AUX_EVENT_BRANCH,
		 .flags = AUX_BRANCH | AUX_RETURN,
		 .ip = 2,
		 .to = 1,
		 .cpu_plus_1 = 8},
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH | AUX_CONDITIONAL, .ip = 1, .to = 4},
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH | AUX_TX_ABORT, .ip = 4, .to = 5},
	};
	struct itrace_list list = {0};

	(void)state;
	CHECK("c", events, ITRACE_BRANCHES);
	CHECK("r", events, ITRACE_BRANCHES, ITRACE_BRANCHES);
	CHECK("b", events, ITRACE_BRANCHES, ITRACE_BRANCHES, ITRACE_BRANCHES, ITRACE_BRANCHES,
	      ITRACE_BRANCHES);
	CHECK("x", events, ITRACE_TRANSACTIONS);
	assert_int_equal(decoder.want, AUX_WANT_BRANCHES);
	assert_int_equal(run("c", events, 5, &list), 0);
	assert_int_equal(list.samples[0].ip, 1);
	assert_int_equal(list.samples[0].addr, 2);
	assert_int_equal(list.samples[0].cpu, 3);
	assert_int_equal(list.samples[0].flags, AUX_BRANCH | AUX_CALL);
	itrace_list_release(&list);
	assert_int_equal(run("r", events, 5, &list), 0);
	assert_int_equal(list.samples[1].cpu, 7);
	itrace_list_release(&list);
}

static void test_instructions_by_number(void **state)
{
	struct aux_event events[10];
	struct itrace_list list = {0};

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		events[i] = (struct aux_event){.kind = AUX_EVENT_INSN, .ip = i};
	assert_int_equal(run("i3i", events, 10, &list), 0);
	assert_int_equal(decoder.want, AUX_WANT_INSNS);
	assert_int_equal(list.nr, 4);
	/* No instruction is lost: those behind the last period are a sample, too. */
	assert_int_equal(list.samples[3].ip, 9);
	assert_int_equal(list.samples[3].period, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(list.samples[i].ip, 3 * i + 2);
		assert_int_equal(list.samples[i].period, 3);
	}
	itrace_list_clear(&list);
	assert_int_equal(run("i0ns", events, 10, &list), 0); /* each, as --insn-trace asks */
	assert_int_equal(decoder.want, AUX_WANT_INSNS);
	assert_int_equal(list.nr, 10);
	itrace_list_release(&list);
}

static void test_instructions_by_time(void **state)
{
	static const uint64_t times[] = {1005, 1006, 1011, 1029, 1030, 1031};
	static const struct {
		uint64_t time, period;
	} expected[] = {{1011, 30}, {1029, 10}, {1030, 10}, {1031, 10}};
	struct aux_event events[6];
	struct itrace_list list = {0};

	(void)state;
	for (size_t i = 0; i < 6; i++)
		events[i] =
			(struct aux_event){.kind = AUX_EVENT_BLOCK, .insns = 10, .time = times[i]};
	assert_int_equal(run("i10ns", events, 6, &list), 0);
	assert_int_equal(decoder.want, AUX_WANT_BLOCKS | AUX_WANT_COUNTS);
	assert_int_equal(list.nr, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(list.samples[i].time, expected[i].time);
		assert_int_equal(list.samples[i].period, expected[i].period);
	}
	itrace_list_clear(&list);
	for (size_t i = 0; i < 6; i++)
		events[i].time = 0;
	assert_int_equal(run("i10ns", events, 6, &list), 0);
	assert_int_equal(list.nr, 1);
	assert_int_equal(list.samples[0].period, 60);
	itrace_list_release(&list);
}

/* Branches that only the past needs are in the list, in their place. */
static void test_hidden_branches(void **state)
{
	static const struct aux_event events[] = {
		{.kind = AUX_EVENT_INSN, .ip = 1},
		{.kind = AUX_EVENT_INSN, .ip = 2},
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH | AUX_CALL, .ip = 2, .to = 7},
		{.kind = AUX_EVENT_INSN, .ip = 7},
		{.kind = AUX_EVENT_BRANCH, .flags = AUX_BRANCH, .ip = 7, .to = 9},
	};
	struct itrace_list list = {0};

	(void)state;
	CHECK("i2il", events, ITRACE_INSTRUCTIONS, ITRACE_BRANCHES, ITRACE_INSTRUCTIONS,
	      ITRACE_BRANCHES);
	assert_int_equal(decoder.want, AUX_WANT_INSNS | AUX_WANT_BRANCHES);
	assert_int_equal(run("ci2il", events, 5, &list), 0);
	assert_int_equal(list.nr, 4);
	assert_false(list.samples[1].hidden);
	assert_true(list.samples[3].hidden);
	/* The last instruction, though its period has not ended, is in front of its branch. */
	assert_int_equal(list.samples[2].ip, 7);
	assert_int_equal(list.samples[2].period, 1);
	itrace_list_release(&list);
}

static void test_others(void **state)
{
	static const struct aux_event events[] = {
		{.kind = AUX_EVENT_ERROR, .ip = 7, .cause = AUX_CAUSE_CODE, .text = "no code"},
		{.kind = AUX_EVENT_POWER, .text = "cbr 20"},
		{.kind = AUX_EVENT_PTWRITE, .value = 99},
		{.kind = AUX_EVENT_LOST, .text = "overflow"},
		{.kind = AUX_EVENT_LOST},
	};
	struct itrace_list list = {0};

	(void)state;
	CHECK("e", events, ITRACE_ERRORS, ITRACE_ERRORS, ITRACE_ERRORS);
	CHECK("w", events, ITRACE_PTWRITE);
	assert_int_equal(run("ep", events, 5, &list), 0);
	assert_int_equal(list.nr, 4);
	assert_string_equal((char *)list.texts.data + list.samples[3].text,
			    "the hardware lost trace here");
	assert_string_equal((char *)list.texts.data + list.samples[0].text, "no code");
	assert_string_equal((char *)list.texts.data + list.samples[1].text, "cbr 20");
	assert_string_equal((char *)list.texts.data + list.samples[2].text, "overflow");
	for (size_t i = 0; i < list.nr; i++)
		assert_false(list.samples[i].damage);
	itrace_list_clear(&list);
	assert_int_equal(run("e-o", events, 5, &list), 0);
	assert_int_equal(list.nr, 3);
	assert_true(!list.samples[0].hidden && list.samples[1].hidden && list.samples[2].hidden);
	itrace_list_release(&list);
}

static void test_damage(void **state)
{
	static const struct aux_event events[] = {
		{.kind = AUX_EVENT_ERROR, .cause = AUX_CAUSE_TRACE, .text = "bad packet"},
		{.kind = AUX_EVENT_ERROR, .cause = AUX_CAUSE_CODE, .text = "no code"},
		{.kind = AUX_EVENT_ERROR, .cause = AUX_CAUSE_OTHER, .text = "no unit"},
	};
	struct itrace_list list = {0};

	(void)state;
	assert_int_equal(run("e", events, 3, &list), 0);
	assert_int_equal(list.nr, 3);
	for (size_t i = 0; i < list.nr; i++)
		assert_int_equal(list.samples[i].damage, !i);
	itrace_list_release(&list);
}

static void test_operations(void **state)
{
	static const struct aux_event events[] = {
		{.kind = AUX_EVENT_SAMPLE,
		 .ip = 5,
		 .sample = {.events = 1u << 2 | 1u << 3 | 1u << 5, .virt = 77, .latency = 8}},
		{.kind = AUX_EVENT_SAMPLE, .ip = 6, .sample = {.events = 1u << 7}},
	};
	struct itrace_list list = {0};

	(void)state;
	CHECK("f", events, ITRACE_L1_MISS, ITRACE_L1_ACCESS);
	CHECK("t", events, ITRACE_TLB_MISS);
	CHECK("M", events, ITRACE_MEMORY);
	CHECK("b", events, ITRACE_BRANCH_MISS);
	assert_int_equal(run("M", events, 2, &list), 0);
	assert_int_equal(list.samples[0].addr, 77);
	assert_int_equal(list.samples[0].weight, 8);
	itrace_list_release(&list);
}

/* Lists of few samples have together what one list has. */
static void test_lists_of_bounded_length(void **state)
{
	struct aux_event events[100];
	const struct aux_stretch stretch = {.data = (const void *)events, .len = sizeof(events)};
	struct itrace_list whole = {0}, part = {0};
	struct error err = ERROR_INIT;
	struct itrace_opts o;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		events[i] = (struct aux_event){.kind = i % 3 ? AUX_EVENT_INSN : AUX_EVENT_BRANCH,
					       .ip = i};
	assert_int_equal(run("bi2i", events, 100, &whole), 0);
	assert_int_equal(itrace_opts_parse("bi2i", &o, &err), 0);
	for (size_t max = 1; max < 70; max++) {
		struct itrace_decoding d = {.max = max};
		size_t nr = 0;

		itrace_list_clear(&part);
		assert_int_equal(itrace_decode(&o, &ops, NULL, &stretch, NULL, &d, &part), 0);
		for (;;) {
			assert_true(part.nr <= max);
			assert_true(nr + part.nr <= whole.nr);
			for (size_t i = 0; i < part.nr; i++, nr++) {
				assert_int_equal(part.samples[i].kind, whole.samples[nr].kind);
				assert_int_equal(part.samples[i].ip, whole.samples[nr].ip);
				assert_int_equal(part.samples[i].period, whole.samples[nr].period);
			}
			if (!d.more)
				break;
			itrace_list_clear(&part);
			assert_int_equal(itrace_decode_more(&o, &ops, &d, &part), 0);
		}
		assert_int_equal(nr, whole.nr);
	}
	itrace_list_release(&whole);
	itrace_list_release(&part);
}

/* A decoder that never ends. */
static int next_for_ever(struct aux_decoder *d, struct aux_event *ret)
{
	(void)d;
	*ret = (struct aux_event){.kind = AUX_EVENT_BRANCH};
	return 1;
}

static void test_endless_trace_is_damage(void **state)
{
	const struct aux_decoder_ops endless = {
		.name = "endless", .begin = begin, .next = next_for_ever, .end = end};
	const struct aux_stretch stretch = {.data = (const void *)"x", .len = 1};
	struct itrace_list list = {0};
	struct itrace_decoding d = {0};
	struct error err = ERROR_INIT;
	struct itrace_opts o;
	size_t nr;

	(void)state;
	assert_int_equal(itrace_opts_parse("be", &o, &err), 0);
	assert_int_equal(itrace_decode(&o, &endless, NULL, &stretch, NULL, &d, &list), 0);
	for (nr = list.nr; d.more; nr += list.nr) {
		assert_int_equal(list.nr, ITRACE_LIST_MAX);
		itrace_list_clear(&list);
		assert_int_equal(itrace_decode_more(&o, &endless, &d, &list), 0);
	}
	assert_true(nr > 1 << 20 && nr < 3 << 20);
	assert_int_equal(list.samples[list.nr - 1].kind, ITRACE_ERRORS);
	assert_true(list.samples[list.nr - 1].damage);
	itrace_list_release(&list);
}

static void test_unknown_trace(void **state)
{
	struct itrace_list list = {0};

	(void)state;
	assert_int_equal(run("be", NULL, 0, &list), 0);
	assert_int_equal(list.nr, 1);
	assert_int_equal(list.samples[0].kind, ITRACE_ERRORS);
	assert_false(list.samples[0].damage);
	itrace_list_release(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_instructions_by_number),
		cmocka_unit_test(test_instructions_by_time),
		cmocka_unit_test(test_hidden_branches),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_unknown_trace),
		cmocka_unit_test(test_lists_of_bounded_length),
		cmocka_unit_test(test_endless_trace_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
