// SPDX-License-Identifier: Apache-2.0
/*
 * Findings, of which random ones are added to a file and to lists that are merged into it. No count
 * is ever lost, by severity, whatever no longer fits in the list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/file/file_priv.h"
#include "data/file/findings.h"

#define SEVERITIES (DATA_DAMAGED + 1)

static uint64_t count_of(struct data_file *df, enum data_severity severity)
{
	const struct data_finding *all;
	uint64_t sum = 0;
	size_t nr;

	all = data_findings(df, &nr);
	for (size_t i = 0; i < nr; i++)
		sum += all[i].severity == severity ? all[i].count : 0;
	return sum;
}

static void check(struct data_file *df, const uint64_t added[SEVERITIES])
{
	const struct data_finding *all;
	size_t nr;

	all = data_findings(df, &nr);
	assert_true(nr <= FINDINGS_MAX);
	for (int s = 0; s < SEVERITIES; s++)
		assert_int_equal(count_of(df, s), added[s]);
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(all[i].severity != all[j].severity ||
				    all[i].segment != all[j].segment ||
				    strcmp(all[i].text, all[j].text) != 0);
}

static void test_same_sentences(void **state)
{
	struct data_file df = {0};
	const struct data_finding *all;
	size_t nr;

	assert_int_equal(data_findings_init(&df), 0);
	data_finding_add(&df, DATA_ODD, 0, 800, "type %d", 99);
	data_finding_add(&df, DATA_ODD, 0, 400, "type %d", 99);
	data_finding_add(&df, DATA_DAMAGED, 0, 500, "type %d", 99);
	data_finding_add(&df, DATA_ODD, 1, 600, "type %d", 99);
	data_finding_add(&df, DATA_ODD, 0, 700, "type %d", 98);
	all = data_findings(&df, &nr);
	assert_int_equal(nr, 4);
	assert_string_equal(all[0].text, "type 99");
	assert_int_equal(all[0].count, 2);
	assert_int_equal(all[0].offset, 800); /* of the first that was found */
	for (size_t i = 1; i < nr; i++)
		assert_int_equal(all[i].count, 1);
	data_findings_release(&df);
}

static void test_long_text(void **state)
{
	const struct data_finding *all;
	struct data_file df = {0};
	char text[1000];
	size_t nr;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(data_findings_init(&df), 0);
	for (int i = 0; i < 3; i++)
		data_finding_add(&df, DATA_ODD, 0, 0, "%s%d", text, i);
	all = data_findings(&df, &nr);
	assert_int_equal(nr, 1); /* they differ beyond the end */
	assert_int_equal(all[0].count, 3);
	assert_int_equal(strlen(all[0].text), sizeof(all[0].text) - 1);
	data_findings_release(&df);
}

/* What fits is the first of its kind, in order; the rest is counted in a line for each severity. */
static void test_overflow(void **state)
{
	uint64_t added[SEVERITIES] = {0};
	const struct data_finding *all;
	struct data_file df = {0};
	char text[40];
	size_t nr;

	assert_int_equal(data_findings_init(&df), 0);
	for (unsigned int i = 0; i < 3 * FINDINGS_MAX; i++) {
		enum data_severity severity = i % 3 ? DATA_ODD : DATA_DAMAGED;

		data_finding_add(&df, severity, 0, i, "kind %u", i);
		added[severity]++;
		check(&df, added);
	}
	all = data_findings(&df, &nr);
	assert_int_equal(nr, FINDINGS_MAX);
	for (unsigned int i = 0; i < FINDINGS_MAX - 2; i++) {
		snprintf(text, sizeof(text), "kind %u", i);
		assert_string_equal(all[i].text, text);
		assert_int_equal(all[i].count, 1);
	}
	for (unsigned int i = FINDINGS_MAX - 2; i < FINDINGS_MAX; i++)
		assert_string_equal(all[i].text, "more of other kinds, not listed");
	assert_int_not_equal(all[FINDINGS_MAX - 2].severity, all[FINDINGS_MAX - 1].severity);
	data_findings_release(&df);
}

/* While all fit, merging the walks' lists in order gives what one walk would have given. */
static void test_merge_in_order(void **state)
{
	struct data_file one = {0}, several = {0};
	const struct data_finding *a, *b;
	struct findings *list[4];
	size_t nr, other;

	assert_int_equal(data_findings_init(&one), 0);
	assert_int_equal(data_findings_init(&several), 0);
	for (unsigned int walk = 0; walk < 4; walk++) {
		list[walk] = findings_new();
		assert_non_null(list[walk]);
	}
	for (unsigned int i = 0; i < 400; i++) {
		unsigned int kind = i * i % 37;

		data_finding_add(&one, DATA_ODD, kind % 2, i, "kind %u", kind);
		findings_add(list[i / 100], DATA_ODD, kind % 2, i, "kind %u", kind);
	}
	for (unsigned int walk = 0; walk < 4; walk++) {
		findings_merge(list[walk], &several);
		findings_merge(list[walk], &several); /* it is empty now */
		findings_free(list[walk]);
	}
	a = data_findings(&one, &nr);
	b = data_findings(&several, &other);
	assert_int_equal(nr, other);
	for (size_t i = 0; i < nr; i++) {
		assert_string_equal(a[i].text, b[i].text);
		assert_int_equal(a[i].count, b[i].count);
		assert_int_equal(a[i].offset, b[i].offset);
		assert_int_equal(a[i].segment, b[i].segment);
	}
	findings_free(NULL);
	data_findings_release(&one);
	data_findings_release(&several);
}

static void test_random(void **state)
{
	uint64_t added[SEVERITIES] = {0}, waiting[SEVERITIES] = {0};
	struct findings *list = findings_new();
	struct data_file df = {0};

	assert_non_null(list);
	assert_int_equal(data_findings_init(&df), 0);
	srand(1);
	for (unsigned int i = 0; i < 3000; i++) {
		enum data_severity severity = rand() % SEVERITIES;
		unsigned int segment = (unsigned int)rand() % 2;
		int kind = rand() % (int)(1 + i / 20);

		if (rand() % 100 == 0) {
			findings_merge(list, &df);
			for (int s = 0; s < SEVERITIES; s++)
				added[s] += waiting[s];
			memset(waiting, 0, sizeof(waiting));
		} else if (rand() % 2) {
			findings_add(list, severity, segment, i, "kind %d", kind);
			waiting[severity]++;
		} else {
			data_finding_add(&df, severity, segment, i, "kind %d", kind);
			added[severity]++;
		}
		check(&df, added);
	}
	findings_free(list);
	data_findings_release(&df);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_sentences), cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_overflow),       cmocka_unit_test(test_merge_in_order),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
