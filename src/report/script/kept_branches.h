/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of branches that a thread wrote, without the task and the time at their beginning.
 *
 * Programs branch from and to the same places again, and most lines differ from an earlier one in
 * task and time alone. The text of a line holds as long as the maps of the process and of the
 * kernel stay the same. The size is fixed, and a newer text replaces an older one.
 *
 * One thread uses a struct kept_branches, with one recording.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_KEPT_BRANCHES_H
#define RINGTAIL_REPORT_SCRIPT_KEPT_BRANCHES_H

#include "report/trace/walk.h"

struct kept_branch {
	uint64_t ip, addr, period;
	uint32_t flags, cpumode;
	uint32_t calm; /* number of the span of time in which the text holds; 0: empty slot */
	uint32_t len;  /* of the text; 0: the writer of lines has not put it here */
	char text[280];
};

struct kept_branches;

/* Returns NULL if memory is short. */
struct kept_branches *kept_branches_new(const struct state *s);
void kept_branches_free(struct kept_branches *k); /* accepts NULL */

/*
 * Returns the slot of the branch @ws: with its text, or with len 0 for a text that the caller may
 * put there. NULL: the text may hold for this moment alone. @places: the text has names of places,
 * which depend on maps. The slot is valid until the next call.
 */
struct kept_branch *kept_branches_find(struct kept_branches *k, const struct walk_sample *ws,
				       bool places);

#endif
