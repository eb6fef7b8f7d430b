/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which initial state a plan needs, and synthesizes it (record/initial/synthesize.h).
 *
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_INITIAL_INITIAL_STATE_H
#define RINGTAIL_RECORD_INITIAL_INITIAL_STATE_H

#include "base/error.h"
#include "record/initial/emit.h"
#include "record/plan/messages.h"
#include "record/plan/plan.h"

/* The inputs; all remain the caller's. */
struct initial_state {
	const struct plan *plan;
	const struct limits *limits;
	const struct messages *messages;
};

/*
 * Synthesizes records, passes them to @emit with @arg, and prints how many tasks and maps there
 * were, and what could not be read. Returns 0, or a negative errno with @err filled.
 */
int initial_state_emit(const struct initial_state *b, record_emit_fn *emit, void *arg,
		       struct error *err);

#endif
