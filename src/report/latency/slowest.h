/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest calls of a function, each with its tree of calls. One thread.
 */
#ifndef RINGTAIL_REPORT_LATENCY_SLOWEST_H
#define RINGTAIL_REPORT_LATENCY_SLOWEST_H

#include <stdbool.h>

#include "report/latency/call_tree.h"

/* A call from its beginning to its end. */
struct latency_call {
	uint64_t time, ns;
	uint32_t pid, tid, cpu; /* UINT32_MAX: unknown */
	uint32_t end_cpu;
	uint64_t branches;
	const char *comm; /* NULL: unknown; lives as long as the state */
	struct call_tree tree;
};

/* All zero but @max: none. */
struct slowest {
	size_t max;
	struct latency_call *calls; /* the slowest first; of the same length the earlier first */
	size_t nr, cap;
};

/* Returns whether a call of that length is among the slowest ones so far. */
bool slowest_wants(const struct slowest *s, uint64_t ns);

/* Takes over @call, which it wants, with its tree. Returns 0 or -ENOMEM; then it took nothing. */
int slowest_take(struct slowest *s, const struct latency_call *call);

void slowest_release(struct slowest *s); /* accepts zeroes */

#endif
