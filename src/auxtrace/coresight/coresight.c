// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/coresight.h"

#include "auxtrace/coresight/instance.h"
#include "auxtrace/coresight/opencsd.h"

static void end(struct aux_decoder *d)
{
	if (d)
		((struct cs_instance *)d)->end(d);
}

static int load(struct error *err)
{
	struct opencsd lib;

	return opencsd_load(&lib, err);
}

const struct aux_decoder_ops aux_coresight_decoder = {
	.name = "cs_etm",
	.load = load,
	.sync = cs_sync,
	.packets = cs_packets,
	.packet_next = cs_packet_next,
	.begin = cs_flow_begin,
	.next = cs_flow_next,
	.end = end,
};
