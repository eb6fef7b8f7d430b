// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/intel_pt.h"

#include <errno.h>
#include <stdlib.h>

#include "auxtrace/intel_pt/flow.h"
#include "auxtrace/intel_pt/packets.h"
#include "auxtrace/intel_pt/setup.h"

/* Behind struct aux_decoder: one of both. */
struct pt_decoder {
	struct pt_walk *walk;
	struct pt_flow *flow;
};

static struct pt_decoder *pt_of(struct aux_decoder *d)
{
	return (struct pt_decoder *)d;
}

static size_t sync_at(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from)
{
	return pt_setup_sync(data, len, from);
}

static int give(struct pt_decoder *d, int rc, struct aux_decoder **ret)
{
	if (rc)
		free(d);
	else
		*ret = (struct aux_decoder *)d;
	return rc;
}

static int packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
		   struct aux_decoder **ret)
{
	struct pt_decoder *d = calloc(1, sizeof(*d));

	return d ? give(d, pt_walk_new(setup, stretch, &d->walk), ret) : -ENOMEM;
}

static int packet_next(struct aux_decoder *d, struct aux_packet *ret)
{
	return pt_walk_next(pt_of(d)->walk, ret);
}

static int begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
		 const struct aux_code *code, unsigned int want, struct aux_decoder **ret)
{
	struct pt_decoder *d = calloc(1, sizeof(*d));

	return d ? give(d, pt_flow_new(setup, stretch, code, want, &d->flow), ret) : -ENOMEM;
}

static int again(struct aux_decoder *d, const struct aux_setup *setup,
		 const struct aux_stretch *stretch)
{
	return pt_flow_again(pt_of(d)->flow, setup, stretch);
}

static int next(struct aux_decoder *d, struct aux_event *ret)
{
	return pt_flow_next(pt_of(d)->flow, ret);
}

static void end(struct aux_decoder *d)
{
	if (!d)
		return;
	pt_walk_free(pt_of(d)->walk);
	pt_flow_free(pt_of(d)->flow);
	free(d);
}

const struct aux_decoder_ops aux_intel_pt_decoder = {
	.name = "intel_pt",
	.sync = sync_at,
	.packets = packets,
	.packet_next = packet_next,
	.begin = begin,
	.again = again,
	.next = next,
	.end = end,
};
