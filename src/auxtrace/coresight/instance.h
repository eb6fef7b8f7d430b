/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instances behind struct aux_decoder, and the functions of aux_coresight_decoder.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_INSTANCE_H
#define RINGTAIL_AUXTRACE_CORESIGHT_INSTANCE_H

#include "auxtrace/decoder/decoder.h"

/* The first member of each kind of instance. */
struct cs_instance {
	void (*end)(struct aux_decoder *d);
};

/* These are the functions of struct aux_decoder_ops. */
size_t cs_sync(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from);
int cs_packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
	       struct aux_decoder **ret);
int cs_packet_next(struct aux_decoder *d, struct aux_packet *ret);
int cs_flow_begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
		  const struct aux_code *code, unsigned int want, struct aux_decoder **ret);
int cs_flow_next(struct aux_decoder *d, struct aux_event *ret);

#endif
