/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what was there before a recording: which of record/synthesize.h it needs. */
#ifndef RINGTAIL_RECORD_INITIAL_INITIAL_STATE_H
#define RINGTAIL_RECORD_INITIAL_INITIAL_STATE_H

#include "base/error.h"
#include "record/initial/emit.h"
#include "record/plan/messages.h"
#include "record/plan/plan.h"

struct initial_state {
	const struct plan *plan;
	const struct limits *limits;
	const struct messages *messages;
};

/* Makes them, and says how much there was. Returns 0, or a negative errno with @err filled. */
int initial_state_emit(const struct initial_state *b, record_emit_fn *emit, void *arg,
		       struct error *err);

#endif
