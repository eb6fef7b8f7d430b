// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/intel_pt.h"

#include <errno.h>

static size_t none_sync(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from)
{
	return len;
}

static int none_packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
			struct aux_decoder **ret)
{
	return -ENOTSUP;
}

static int none_packet_next(struct aux_decoder *d, struct aux_packet *ret)
{
	return -ENOTSUP;
}

static int none_next(struct aux_decoder *d, struct aux_event *ret)
{
	return -ENOTSUP;
}

static void none_end(struct aux_decoder *d)
{
}

const struct aux_decoder_ops aux_intel_pt_decoder = {
	.name = "intel_pt",
	.lacks = "libipt",
	.sync = none_sync,
	.packets = none_packets,
	.packet_next = none_packet_next,
	.next = none_next,
	.end = none_end,
};
