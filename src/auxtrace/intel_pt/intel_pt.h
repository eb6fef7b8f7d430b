/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of Intel PT. On hosts without libipt its functions return -ENOTSUP.
 *
 * Source: Intel SDM, volume 3, "Intel Processor Trace", for the packets.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_INTEL_PT_H
#define RINGTAIL_AUXTRACE_INTEL_PT_INTEL_PT_H

#include "auxtrace/decoder/decoder.h"

extern const struct aux_decoder_ops aux_intel_pt_decoder;

#endif
