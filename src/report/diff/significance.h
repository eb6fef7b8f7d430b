/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Significance: whether a share of samples changed by more than sampling explains.
 *
 * Each row is tested by Fisher's exact test on two counts of samples. A table has many rows, so
 * their p-values are corrected by Holm's procedure, after rows with too few samples to ever differ
 * are set aside (Tarone). If nothing but sampling differs, a table then has a row with a corrected
 * value of at most 1 - confidence in at most that share of all comparisons, however its rows
 * depend on each other.
 *
 * Functions without state; any thread.
 */
#ifndef RINGTAIL_REPORT_DIFF_SIGNIFICANCE_H
#define RINGTAIL_REPORT_DIFF_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The samples of a row among all samples, in two recordings. */
struct significance_counts {
	uint64_t part[2], all[2]; /* part[i] <= all[i] */
};

/*
 * Returns twice the probability that chance alone moves at least as many samples in the observed
 * direction, at most 1: the two-sided p-value of Fisher's exact test. 1 if a recording has no
 * samples.
 */
double significance_p(const struct significance_counts *c);

/* Returns the smallest p-value that any split of the row's samples between the recordings has. */
double significance_least_p(const struct significance_counts *c);

struct significance_test {
	double p;	  /* of significance_p() */
	double least;	  /* of significance_least_p() */
	double corrected; /* set by significance_correct(); 1 if too few samples to ever differ */
};

/*
 * Corrects the p-values of all rows of one comparison, for @alpha (0.05 for a confidence of 95 %).
 * Returns 0 with the number of rows that were tested, not set aside, in *@ret_tested; or -ENOMEM.
 */
int significance_correct(struct significance_test *tests, size_t nr, double alpha,
			 size_t *ret_tested);

#endif
