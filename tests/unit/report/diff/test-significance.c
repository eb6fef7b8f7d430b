// SPDX-License-Identifier: Apache-2.0
/* p-values against exact sums and known tables; corrections; how often chance alone makes a mark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/significance.h"

#define ALPHA 0.05

typedef unsigned __int128 u128;

/* A generator of its own, so that failures repeat. */
static uint64_t rnd(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void assert_near(double a, double b, double relative)
{
	assert_true(fabs(a - b) <= relative * (fabs(b) > 1e-300 ? fabs(b) : 1));
}

/* Pascal's rule, in integers. */
static u128 choose(unsigned int n, unsigned int k)
{
	u128 row[64] = {1};

	for (unsigned int i = 1; i <= n; i++)
		for (unsigned int j = i; j; j--)
			row[j] += row[j - 1];
	return row[k];
}

/* The same p-value from integers alone: all tables at least as far in the observed direction. */
static double exact_p(unsigned int a, unsigned int n, unsigned int b, unsigned int m)
{
	unsigned int drawn = a + b;
	u128 tail = 0, all = choose(n + m, drawn);
	bool below = a * m <= b * n;

	for (unsigned int x = 0; x <= drawn && x <= n; x++)
		if (drawn - x <= m && (below ? x <= a : x >= a))
			tail += choose(n, x) * choose(m, drawn - x);
	return tail * 2 >= all ? 1 : 2 * ((double)tail / (double)all);
}

static struct significance_counts counts(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	return (struct significance_counts){.part = {a, b}, .all = {n, m}};
}

static void test_exact(void **state)
{
	static const unsigned int sizes[] = {1, 2, 3, 7, 12, 20};

	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 6; j++)
			for (unsigned int a = 0; a <= sizes[i]; a++)
				for (unsigned int b = 0; b <= sizes[j]; b++) {
					struct significance_counts c =
						counts(a, sizes[i], b, sizes[j]);

					assert_near(significance_p(&c),
						    exact_p(a, sizes[i], b, sizes[j]), 1e-12);
				}
}

/* The smallest p-value is that of the most extreme split. */
static void test_least(void **state)
{
	for (unsigned int n = 1; n < 14; n++)
		for (unsigned int m = 1; m < 14; m++)
			for (unsigned int drawn = 0; drawn <= n + m; drawn++) {
				struct significance_counts c;
				double least = 1;

				for (unsigned int a = 0; a <= drawn && a <= n; a++)
					if (drawn - a <= m)
						least = fmin(least, exact_p(a, n, drawn - a, m));
				c = counts(drawn > m ? drawn - m : 0, n, drawn > m ? m : drawn, m);
				assert_near(significance_least_p(&c), least, 1e-12);
			}
}

static void test_known(void **state)
{
	struct significance_counts tea = counts(3, 4, 1, 4);	 /* Fisher's lady */
	struct significance_counts study = counts(1, 12, 9, 12); /* 1 of 12 men, 9 of 12 women */
	struct significance_counts nothing = counts(0, 100, 0, 100); /* no samples in the row */
	struct significance_counts alone = counts(5, 10, 0, 0);

	assert_near(significance_p(&tea), 34.0 / 70, 1e-14);
	assert_near(significance_p(&study), 0.002759456185, 1e-9);
	assert_true(significance_p(&nothing) == 1);
	assert_true(significance_least_p(&nothing) == 1);
	assert_true(significance_p(&alone) == 1);
}

/* With many samples the normal distribution gives the same, within a few percent. */
static void test_many_samples(void **state)
{
	static const uint64_t part[][2] = {
		{10000, 10300}, {10300, 10000}, {500000, 502000}, {10000, 10010}};
	const double n = 1e6;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		struct significance_counts c = counts(part[i][0], 1000000, part[i][1], 1000000);
		double x = (double)part[i][0], y = (double)part[i][1], share = (x + y) / (2 * n);
		/* Yates' continuity correction */
		double z = (fabs(x - y) - 1) / sqrt(2 * n * share * (1 - share));

		assert_near(significance_p(&c), erfc(z / sqrt(2)), 0.02);
	}
}

static void test_huge(void **state)
{
	struct significance_counts same = counts(500000000, 1000000000, 500000000, 1000000000);
	struct significance_counts far = counts(400000000, 1000000000, 600000000, 1000000000);
	struct significance_counts near = counts(500000000, 1000000000, 500100000, 1000000000);
	double z = 100000 / sqrt(2e9 * 0.25);

	assert_true(significance_p(&same) == 1);
	assert_true(significance_p(&far) == 0);
	assert_near(significance_p(&near), erfc(z / sqrt(2)), 0.01);
}

static void test_symmetry(void **state)
{
	uint64_t seed = 3;

	for (int i = 0; i < 2000; i++) {
		uint64_t n = 1 + rnd(&seed) % 5000, m = 1 + rnd(&seed) % 5000;
		uint64_t a = rnd(&seed) % (n + 1), b = rnd(&seed) % (m + 1);
		struct significance_counts c = counts(a, n, b, m), swapped = counts(b, m, a, n);
		double p = significance_p(&c);

		assert_true(p >= 0 && p <= 1);
		assert_near(significance_p(&swapped), p, 1e-9);
		assert_true(significance_least_p(&c) <= p * (1 + 1e-9));
		assert_near(significance_least_p(&swapped), significance_least_p(&c), 1e-9);
	}
}

static void test_holm(void **state)
{
	struct significance_test t[] = {{.p = 0.01}, {.p = 0.04}, {.p = 0.03}, {.p = 0.005}};
	static const double expected[] = {0.03, 0.06, 0.06, 0.02};
	size_t tested;

	assert_int_equal(significance_correct(t, 4, ALPHA, &tested), 0);
	assert_int_equal(tested, 4);
	for (int i = 0; i < 4; i++)
		assert_near(t[i].corrected, expected[i], 1e-12);
	assert_int_equal(significance_correct(t, 0, ALPHA, &tested), 0);
	assert_int_equal(tested, 0);
}

/* Rows with too few samples cost the others nothing. */
static void test_set_aside(void **state)
{
	struct significance_test t[1001];
	size_t tested;

	for (int i = 0; i < 1000; i++)
		t[i] = (struct significance_test){.p = 0.5, .least = 0.5};
	t[1000] = (struct significance_test){.p = 0.04, .least = 1e-9};
	assert_int_equal(significance_correct(t, 1001, ALPHA, &tested), 0);
	assert_int_equal(tested, 1);
	assert_near(t[1000].corrected, 0.04, 1e-12);
	for (int i = 0; i < 1000; i++)
		assert_true(t[i].corrected == 1);
}

static int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Tarone's number, by its definition. */
static size_t tarone(const struct significance_test *t, size_t nr)
{
	for (size_t k = 1;; k++) {
		size_t able = 0;

		for (size_t i = 0; i < nr; i++)
			able += t[i].least <= ALPHA / (double)k;
		if (able <= k)
			return able;
	}
}

static void test_correction(void **state)
{
	struct significance_test t[40];
	uint64_t seed = 11;

	for (int round = 0; round < 500; round++) {
		size_t nr = 1 + rnd(&seed) % 40, tested;
		double sorted[40], floor = 0;

		for (size_t i = 0; i < nr; i++) {
			t[i].least = pow(10, -(double)(rnd(&seed) % 60) / 10);
			t[i].p = fmin(1, t[i].least * (1 + (double)(rnd(&seed) % 100)));
		}
		assert_int_equal(significance_correct(t, nr, ALPHA, &tested), 0);
		assert_int_equal(tested, tarone(t, nr));
		tested = 0;
		for (size_t i = 0; i < nr; i++)
			if (t[i].corrected < 1)
				sorted[tested++] = t[i].corrected;
		qsort(sorted, tested, sizeof(*sorted), compare_doubles);
		for (size_t i = 0; i < nr; i++)
			assert_true(t[i].corrected >= t[i].p);
		for (size_t i = 0; i < tested; i++) {
			assert_true(sorted[i] >= floor);
			floor = sorted[i];
		}
	}
}

#define ROWS 60

/* Draws @nr samples; the share of row i is like 1 / (i + 1), times @factor in row 3. */
static void draw(uint64_t *seed, uint64_t nr, double factor, uint64_t *ret)
{
	double sum = 0;

	memset(ret, 0, ROWS * sizeof(*ret));
	for (int i = 0; i < ROWS; i++)
		sum += (i == 3 ? factor : 1) / (i + 1);
	for (uint64_t n = 0; n < nr; n++) {
		double at = (double)rnd(seed) / (double)(1u << 31) * sum;
		int row = -1;

		do {
			row++;
			at -= (row == 3 ? factor : 1) / (row + 1);
		} while (at >= 0 && row < ROWS - 1);
		ret[row]++;
	}
}

/* Returns how many rows are marked; sets the last bit if row 3 is. */
static size_t marks(uint64_t *seed, uint64_t n, uint64_t m, double factor, bool *ret_third)
{
	struct significance_test t[ROWS];
	uint64_t a[ROWS], b[ROWS];
	size_t nr = 0, tested;

	draw(seed, n, 1, a);
	draw(seed, m, factor, b);
	for (int i = 0; i < ROWS; i++) {
		struct significance_counts c = counts(a[i], n, b[i], m);

		t[i] = (struct significance_test){.p = significance_p(&c),
						  .least = significance_least_p(&c)};
	}
	assert_int_equal(significance_correct(t, ROWS, ALPHA, &tested), 0);
	for (int i = 0; i < ROWS; i++)
		nr += t[i].corrected <= ALPHA;
	*ret_third = t[3].corrected <= ALPHA;
	return nr;
}

/* Of recordings that differ by chance alone, fewer than the promised share have any mark. */
static void test_false_positives(void **state)
{
	static const uint64_t sizes[][2] = {{100, 100}, {400, 1000}, {2000, 300}, {30, 3000}};
	const double trials = 1500;
	uint64_t seed = 2026;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int wrong = 0;
		bool third;

		for (int trial = 0; trial < (int)trials; trial++)
			wrong += marks(&seed, sizes[i][0], sizes[i][1], 1, &third) != 0;
		/* three standard deviations of the simulation above the promise */
		assert_true(wrong <= ALPHA * trials + 3 * sqrt(trials * ALPHA * (1 - ALPHA)));
	}
}

/* A function that takes twice the time is found. */
static void test_power(void **state)
{
	uint64_t seed = 7;
	int found = 0;

	for (int trial = 0; trial < 100; trial++) {
		bool third;

		marks(&seed, 3000, 2000, 2, &third);
		found += third;
	}
	assert_true(found >= 95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),	   cmocka_unit_test(test_least),
		cmocka_unit_test(test_known),	   cmocka_unit_test(test_many_samples),
		cmocka_unit_test(test_huge),	   cmocka_unit_test(test_symmetry),
		cmocka_unit_test(test_holm),	   cmocka_unit_test(test_set_aside),
		cmocka_unit_test(test_correction), cmocka_unit_test(test_false_positives),
		cmocka_unit_test(test_power),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
