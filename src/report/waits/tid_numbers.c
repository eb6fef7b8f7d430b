// SPDX-License-Identifier: Apache-2.0
#include "report/waits/tid_numbers.h"

#define ENDED UINT32_MAX /* of a sample whose thread has no number any more */

static uint32_t number_of(const struct tid_numbers *n, uint32_t kernels)
{
	uint32_t found = id_table_find(&n->table, kernels);

	return found == ID_TABLE_NONE ? 0 : found;
}

int tid_numbers_translate(struct tid_numbers *n, uint32_t sampled, struct sched_event *e)
{
	bool leaves = e->kind == SCHED_EVENT_SWITCH;
	int rc = 0;

	if (e->kind == SCHED_EVENT_NONE)
		return 0;
	if (leaves && sampled != ENDED) {
		/* 0 alone tells nothing: a thread that has ended may have it, too. */
		n->differ |= sampled && sampled != e->tid;
		if (n->differ)
			rc = id_table_put(&n->table, e->tid, sampled);
	}
	if (!n->differ)
		return rc;
	e->tid = number_of(n, e->tid);
	e->next = number_of(n, e->next);
	return rc;
}

void tid_numbers_release(struct tid_numbers *n)
{
	id_table_release(&n->table);
	n->differ = false;
}
