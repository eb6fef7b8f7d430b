/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch histories: the branches that led to a sample, as parts of its call chain.
 *
 * A branch is two frames: the place that it went to, and the place that it came from. Histories
 * begin with the newest branch. Pure functions: any thread may call.
 */
#ifndef RINGTAIL_UNWIND_BRANCH_HISTORY_H
#define RINGTAIL_UNWIND_BRANCH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/sample.h"

/* A branch of a history. */
struct branch_step {
	uint64_t from, to;
	bool known; /* whether it was predicted */
	bool predicted, aborted;
	unsigned int cycles; /* since the branch before; 0: not known */
	/* Of the loop whose last iteration ends here: those that are left out, and their cycles. */
	uint32_t iterations;
	uint64_t iteration_cycles;
};

/*
 * Fills @ret with the @nr branches @from. An iteration of a loop that repeats the newer one, branch
 * by branch, is counted and left out, in one pass. Returns the number of steps.
 */
size_t branch_history_steps(const struct pd_branch *from, size_t nr, struct branch_step *ret);

/*
 * Returns how many of the @nr innermost frames of a call chain the steps already show. @ips begins
 * with the sampled address; the others are behind calls.
 */
size_t branch_history_overlap(const struct branch_step *steps, size_t nr_steps, const uint64_t *ips,
			      size_t nr);

#endif
