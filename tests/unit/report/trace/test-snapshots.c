// SPDX-License-Identifier: Apache-2.0
/*
 * The snapshot of a record is that of the last mark before it in its file, in whatever order the
 * marks were added; against a search through all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/snapshots.h"

#define SEGMENTS 4
#define PLACES	 400 /* of a segment: offsets, four records in each */
#define MARKS	 60

struct mark {
	uint32_t segment;
	uint64_t offset, inner, number;
};

static struct data_record record_at(uint32_t segment, uint64_t offset, uint64_t inner)
{
	return (struct data_record){.segment = segment, .offset = offset, .inner = inner};
}

static void add(struct snapshots *s, const struct mark *m, enum pd_snapshot_kind kind)
{
	struct pd_snapshot_log log = {.kind = kind, .number = m->number};
	struct data_record rec = record_at(m->segment, m->offset, m->inner);
	struct pd_snapshot_record record;

	if (kind == PD_SNAPSHOT_REQUEST)
		log.request.asked = m->offset;
	pd_snapshot_encode(&log, &record);
	rec.hdr = &record.header;
	assert_int_equal(snapshots_add(s, &rec), 0);
}

static bool is_before(const struct mark *m, const struct data_record *rec)
{
	return m->segment == rec->segment &&
	       (m->offset != rec->offset ? m->offset < rec->offset : m->inner <= rec->inner);
}

static bool is_later(const struct mark *a, const struct mark *b)
{
	return a->offset != b->offset ? a->offset > b->offset : a->inner > b->inner;
}

/* The number of the last mark before @rec. */
static uint64_t expected(const struct mark *marks, const struct data_record *rec)
{
	const struct mark *last = NULL;

	for (size_t i = 0; i < MARKS; i++)
		if (is_before(&marks[i], rec) && (!last || is_later(&marks[i], last)))
			last = &marks[i];
	return last ? last->number : 0;
}

/* No two at the same place. */
static void make_marks(struct mark *marks)
{
	for (size_t i = 0; i < MARKS; i++) {
		struct mark *m = &marks[i];
		bool again = true;

		while (again) {
			*m = (struct mark){(uint32_t)(rand() % SEGMENTS),
					   (uint64_t)(rand() % PLACES), (uint64_t)(rand() % 4),
					   (uint64_t)(1 + rand() % 20)};
			again = false;
			for (size_t k = 0; k < i; k++)
				again |= m->segment == marks[k].segment &&
					 m->offset == marks[k].offset && m->inner == marks[k].inner;
		}
	}
}

/* What a run may hold is what some place in it does. */
static void check_run(const struct snapshots *s, const struct mark *marks, uint32_t segment)
{
	uint64_t from = (uint64_t)(rand() % PLACES), to = from + 1 + (uint64_t)(rand() % 30);
	const struct sweep_run run = {.segment = segment, .from = from, .to = to};
	bool there[22] = {false};

	for (uint64_t at = from; at < to; at++) {
		for (uint64_t inner = 0; inner < 4; inner++) {
			struct data_record rec = record_at(segment, at, inner);

			there[expected(marks, &rec)] = true;
		}
	}
	for (uint64_t number = 1; number < 22; number++)
		assert_true(snapshots_reach(s, number, number, &run) || !there[number]);
	assert_false(snapshots_reach(s, 21, UINT64_MAX, &run));
	for (unsigned int first = 1; first < 21; first++)
		for (unsigned int last = first; last < 21; last++) {
			bool any = false;

			for (unsigned int number = first; number <= last; number++)
				any |= there[number];
			assert_true(snapshots_reach(s, first, last, &run) || !any);
		}
}

static void check_log(const struct snapshots *s, const struct mark *marks)
{
	uint64_t first = 0, last = 0, lowest = 100, highest = 0, before = 0;
	bool seen[22] = {false};
	size_t different = 0;

	for (size_t i = 0; i < MARKS; i++) {
		if (marks[i].segment)
			continue;
		different += !seen[marks[i].number];
		seen[marks[i].number] = true;
		lowest = marks[i].number < lowest ? marks[i].number : lowest;
		highest = marks[i].number > highest ? marks[i].number : highest;
	}
	assert_int_equal(snapshots_count(s, &first, &last), different);
	assert_true(!different || (first == lowest && last == highest));
	for (size_t i = 0; i < s->nr_records; i++) {
		struct pd_snapshot_log log;

		snapshots_read(s, i, &log);
		assert_true(log.number >= before && seen[log.number]);
		before = log.number;
		/* The end is the last of a number. */
		assert_int_equal(log.kind == PD_SNAPSHOT_END,
				 i + 1 == s->nr_records || s->entries[i + 1].number != log.number);
	}
}

static void test_places(void **state)
{
	srand(1);
	for (int round = 0; round < 40; round++) {
		struct mark marks[MARKS];
		struct snapshots s = {0};
		bool ended[22] = {false};

		make_marks(marks);
		for (size_t i = 0; i < MARKS; i++) {
			if (!marks[i].segment && !ended[marks[i].number])
				add(&s, &marks[i], PD_SNAPSHOT_END);
			ended[marks[i].number] |= !marks[i].segment;
			add(&s, &marks[i], PD_SNAPSHOT_REQUEST);
		}
		snapshots_finish(&s);
		for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
			for (uint64_t at = 0; at < PLACES; at++) {
				struct data_record rec =
					record_at(segment, at, (uint64_t)(rand() % 4));

				assert_int_equal(snapshots_of(&s, &rec), expected(marks, &rec));
			}
			for (int i = 0; i < 30; i++)
				check_run(&s, marks, segment);
		}
		for (size_t i = 0; i < MARKS; i++)
			assert_true(snapshots_have(&s, marks[i].number, marks[i].number));
		assert_true(snapshots_have(&s, 0, 21));
		assert_false(snapshots_have(&s, 21, UINT64_MAX));
		check_log(&s, marks);
		snapshots_release(&s);
	}
}

/* The files of a directory come to the next snapshot one after another: that is one gap. */
static void test_gaps(void **state)
{
	static const struct mark marks[] = {
		{0, 10, 0, 3}, {1, 10, 0, 3}, {0, 20, 0, 4}, {1, 20, 0, 4}};
	static const struct {
		uint32_t segment;
		uint64_t offset;
		bool gap;
	} records[] = {{0, 5, false},  {0, 12, false}, {1, 12, false}, {0, 22, true},
		       {1, 13, false}, {1, 22, false}, {0, 23, false}};
	struct snapshots s = {0};
	uint64_t newest = 0;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		add(&s, &marks[i], PD_SNAPSHOT_REQUEST);
	snapshots_finish(&s);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct data_record rec = record_at(records[i].segment, records[i].offset, 0);

		assert_int_equal(snapshots_gap(&s, &rec, &newest), records[i].gap);
	}
	snapshots_release(&s);
}

static void test_none(void **state)
{
	const struct sweep_run run = {.to = UINT64_MAX};
	struct data_record rec = record_at(0, 8, 0);
	struct snapshots s = {0};
	uint64_t first, last;

	snapshots_finish(&s);
	assert_int_equal(snapshots_of(&s, &rec), 0);
	assert_int_equal(snapshots_count(&s, &first, &last), 0);
	assert_false(snapshots_reach(&s, 1, 1, &run));
	assert_false(snapshots_have(&s, 1, UINT64_MAX));
	snapshots_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
