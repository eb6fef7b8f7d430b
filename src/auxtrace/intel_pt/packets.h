/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk over the packets of a trace of Intel PT.
 *
 * The stretch outlives the walk. One thread at a time uses a walk.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_PACKETS_H
#define RINGTAIL_AUXTRACE_INTEL_PT_PACKETS_H

#include "auxtrace/decoder/decoder.h"

struct pt_walk;

/* Returns 0, -ENOMEM, or -ENOTSUP if the setup is of another kind of trace. */
int pt_walk_new(const struct aux_setup *setup, const struct aux_stretch *stretch,
		struct pt_walk **ret);

/*
 * As aux_decoder_ops.packet_next(). Paddings in a row are one packet. Bytes that are no packet are
 * one bad packet, up to the next PSB or the end.
 */
int pt_walk_next(struct pt_walk *w, struct aux_packet *ret);

void pt_walk_free(struct pt_walk *w); /* accepts NULL */

#endif
