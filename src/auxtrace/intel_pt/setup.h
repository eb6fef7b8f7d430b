/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What AUXTRACE_INFO says about a trace of Intel PT: clocks, and libipt's configuration.
 *
 * Owns nothing. Times are ns of the recording's clock. Any thread may call.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_SETUP_H
#define RINGTAIL_AUXTRACE_INTEL_PT_SETUP_H

#include <intel-pt.h>

#include "auxtrace/decoder/decoder.h"

#define PT_PSB_SIZE 16

struct pt_setup {
	struct pd_time_conv conv;
	bool timed;		    /* the conversion is known */
	uint32_t crystal, tsc;	    /* ticks of both clocks in the same time; 0: unknown */
	uint8_t mtc_freq, nom_freq; /* as in struct pt_config */
	struct pt_errata errata;    /* of the recorded CPU */
};

/* Returns 0, or -ENOTSUP if @setup is of another kind of trace. */
int pt_setup_init(const struct aux_setup *setup, struct pt_setup *ret);

/* Converts a time stamp; 0 if the conversion is unknown. */
uint64_t pt_setup_time(const struct pt_setup *s, uint64_t tsc);

/* Fills libipt's configuration for @len bytes at @data, which must outlive its decoders. */
void pt_setup_config(const struct pt_setup *s, const uint8_t *data, size_t len,
		     struct pt_config *ret);

/* As aux_decoder_ops.sync(): finds a PSB packet. */
size_t pt_setup_sync(const uint8_t *data, size_t len, size_t from);

#endif
