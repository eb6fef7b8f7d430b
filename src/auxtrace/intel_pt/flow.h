/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a stretch of Intel PT to events.
 *
 * A packet sets a goal, such as three conditional branches, or an address; the code is walked from
 * block to block until it is reached.
 *
 * Branches are those that perf prints for --itrace=b: all that were taken, and the edges of the
 * trace. Behind the last packet nothing is guessed; a PSB behind the stretch says how it ends.
 * Where code is missing or does not fit the trace, decoding goes on at the next packet with an
 * address; where bytes are no packet, at the next PSB.
 *
 * Stretch, setup and code outlive the flow. One thread at a time uses a flow.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_FLOW_H
#define RINGTAIL_AUXTRACE_INTEL_PT_FLOW_H

#include "auxtrace/decoder/decoder.h"

struct pt_flow;

/* Returns 0, -ENOMEM, or -ENOTSUP if the setup is of another kind of trace. */
int pt_flow_new(const struct aux_setup *setup, const struct aux_stretch *stretch,
		const struct aux_code *code, unsigned int want, struct pt_flow **ret);

/* As aux_decoder_ops.again(). */
int pt_flow_again(struct pt_flow *f, const struct aux_setup *setup,
		  const struct aux_stretch *stretch);

/* As aux_decoder_ops.next(). */
int pt_flow_next(struct pt_flow *f, struct aux_event *ret);

void pt_flow_free(struct pt_flow *f); /* accepts NULL */

#endif
