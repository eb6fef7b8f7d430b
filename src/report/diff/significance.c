// SPDX-License-Identifier: Apache-2.0
#include "report/diff/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * With long double the error of a logarithm stays small beside 1, even of the factorial of a
 * billion.
 */
static long double log_choose(uint64_t n, uint64_t k)
{
	int sign;

	return lgammal_r((long double)n + 1, &sign) - lgammal_r((long double)k + 1, &sign) -
	       lgammal_r((long double)(n - k) + 1, &sign);
}

/*
 * A row has @drawn samples of both recordings together. If these fall on the recordings by chance,
 * the first gets @x of them with this probability, which is hypergeometric.
 */
static long double log_probability(uint64_t x, uint64_t drawn, const uint64_t *all)
{
	return log_choose(all[0], x) + log_choose(all[1], drawn - x) -
	       log_choose(all[0] + all[1], drawn);
}

/* Returns the fewest of @drawn samples that the first of two recordings can have. */
static uint64_t fewest(uint64_t drawn, const uint64_t *all)
{
	return drawn > all[1] ? drawn - all[1] : 0;
}

/*
 * Returns the probability that the first recording has at most @x, which is not above the mean.
 * From @x down the terms fall ever faster, so the sum ends where they no longer add to it.
 */
static long double lower_tail(uint64_t x, uint64_t drawn, const uint64_t *all)
{
	uint64_t least = fewest(drawn, all);
	long double term = 1, sum = 1, first = log_probability(x, drawn, all);

	for (; x > least && term > sum * 1e-18L; x--) {
		term *= (long double)x / (long double)(drawn - x + 1);
		term *= (long double)(all[1] - drawn + x) / (long double)(all[0] - x + 1);
		sum += term;
	}
	return expl(first) * sum;
}

static double two_sided(long double tail)
{
	return tail < 0.5L ? (double)(2 * tail) : 1;
}

double significance_p(const struct significance_counts *c)
{
	uint64_t drawn = c->part[0] + c->part[1];
	/* Of the recording with the smaller share the tail is the lower one. */
	bool second = (long double)c->part[1] * (long double)c->all[0] <
		      (long double)c->part[0] * (long double)c->all[1];
	uint64_t all[2] = {c->all[second], c->all[!second]};

	if (!drawn || !all[0] || !all[1])
		return 1;
	return two_sided(lower_tail(c->part[second], drawn, all));
}

double significance_least_p(const struct significance_counts *c)
{
	uint64_t drawn = c->part[0] + c->part[1];
	uint64_t most = drawn < c->all[0] ? drawn : c->all[0];
	double none, every;

	if (!drawn || !c->all[0] || !c->all[1])
		return 1;
	none = two_sided(expl(log_probability(fewest(drawn, c->all), drawn, c->all)));
	every = two_sided(expl(log_probability(most, drawn, c->all)));
	return none < every ? none : every;
}

static int compare_p(const void *pa, const void *pb)
{
	const struct significance_test *const *a = pa, *const *b = pb;

	return ((*a)->p > (*b)->p) - ((*a)->p < (*b)->p);
}

static int compare_least(const void *pa, const void *pb)
{
	const struct significance_test *const *a = pa, *const *b = pb;

	return ((*a)->least > (*b)->least) - ((*a)->least < (*b)->least);
}

/*
 * Returns how many tests of @sorted, by their least p-value, have any chance: the smallest number k
 * so that no more than k tests can have a p-value of @alpha / k.
 */
static size_t count_testable(struct significance_test *const *sorted, size_t nr, double alpha)
{
	size_t below = nr;

	for (size_t k = 1; k <= nr; k++) {
		while (below && sorted[below - 1]->least > alpha / (double)k)
			below--;
		if (below <= k)
			return below;
	}
	return nr;
}

/* Holm: the smallest of n p-values counts n times, the next n - 1 times, and none falls back. */
static void correct(struct significance_test *const *sorted, size_t nr)
{
	double floor = 0;

	for (size_t i = 0; i < nr; i++) {
		double p = sorted[i]->p * (double)(nr - i);

		if (p > floor)
			floor = p;
		sorted[i]->corrected = floor < 1 ? floor : 1;
	}
}

int significance_correct(struct significance_test *tests, size_t nr, double alpha,
			 size_t *ret_tested)
{
	struct significance_test **sorted = calloc(nr + 1, sizeof(struct significance_test *));
	size_t tested;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		sorted[i] = &tests[i];
		tests[i].corrected = 1;
	}
	qsort(sorted, nr, sizeof(*sorted), compare_least);
	tested = count_testable(sorted, nr, alpha);
	qsort(sorted, tested, sizeof(*sorted), compare_p);
	correct(sorted, tested);
	free(sorted);
	*ret_tested = tested;
	return 0;
}
