// SPDX-License-Identifier: Apache-2.0
#include "unwind/branch_history.h"

#include <string.h>

#define CALL_MAX 8 /* bytes of a call instruction, at most */

static struct branch_step step_of(const struct pd_branch *b)
{
	return (struct branch_step){
		.from = b->from,
		.to = b->to,
		.known = b->flags & (PD_BRANCH_PREDICTED | PD_BRANCH_MISPREDICTED),
		.predicted = b->flags & PD_BRANCH_PREDICTED,
		.aborted = b->flags & PD_BRANCH_ABORT,
		.cycles = pd_branch_cycles(b),
	};
}

/* Returns how many steps back the branch of @step[at] was taken last; 0: it is new. */
static size_t distance_to_same(const struct branch_step *step, size_t at)
{
	for (size_t i = at; i--;)
		if (step[i].from == step[at].from && step[i].to == step[at].to)
			return at - i;
	return 0;
}

/* Returns whether the @len steps at @b repeat those at @a. */
static bool repeats(const struct branch_step *a, const struct branch_step *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (a[i].from != b[i].from || a[i].to != b[i].to)
			return false;
	return true;
}

/* Removes the iteration of @len steps at @at of @nr. The step that takes its place counts it. */
static void remove_iteration(struct branch_step *step, size_t at, size_t len, size_t nr)
{
	struct branch_step *keeps;
	uint32_t iterations = 1;
	uint64_t cycles = 0;

	for (size_t i = at; i < at + len; i++) {
		iterations += step[i].iterations;
		cycles += step[i].cycles + step[i].iteration_cycles;
	}
	memmove(step + at, step + at + len, (nr - at - len) * sizeof(*step));
	keeps = at < nr - len ? &step[at] : &step[at - 1];
	keeps->iterations += iterations;
	keeps->iteration_cycles += cycles;
}

size_t branch_history_steps(const struct pd_branch *from, size_t nr, struct branch_step *ret)
{
	for (size_t i = 0; i < nr; i++)
		ret[i] = step_of(&from[i]);
	for (size_t i = 1; i < nr;) {
		size_t len = distance_to_same(ret, i);

		if (!len || i + len > nr || !repeats(ret + i - len, ret + i, len)) {
			i++;
			continue;
		}
		remove_iteration(ret, i, len, nr);
		nr -= len;
	}
	return nr;
}

size_t branch_history_overlap(const struct branch_step *steps, size_t nr_steps, const uint64_t *ips,
			      size_t nr)
{
	size_t covered = nr && nr_steps ? 1 : 0;

	for (size_t i = 0; i < nr_steps && covered < nr; i++)
		if (steps[i].from < ips[covered] && ips[covered] - steps[i].from <= CALL_MAX)
			covered++;
	return covered;
}
