/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about memory and threads, printed before a recording begins. */
#ifndef RINGTAIL_RECORD_SESSION_ANNOUNCE_H
#define RINGTAIL_RECORD_SESSION_ANNOUNCE_H

#include "record/session/crew.h"
#include "record/output/output.h"

struct announce {
	const struct record_opts *opts;
	const struct limits *limits;
	const struct plan *plan;
	const struct crew *crew;
	const struct output *output;
};

/* Rings, buffers, compression, writes in flight and threads; rings that are smaller than asked. */
void announce_memory(const struct announce *a, const struct messages *messages);

#endif
