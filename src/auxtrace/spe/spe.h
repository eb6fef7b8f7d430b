/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of Arm's Statistical Profiling Extension.
 *
 * Each record of the hardware is an event AUX_EVENT_SAMPLE. A branch has flags and its target. With
 * AUX_WANT_BRANCHES a branch that was taken is also an event AUX_EVENT_BRANCH, behind the sample.
 * aux_op.op_class and op_type are the class and the payload of the operation type packet.
 *
 * The trace has no marks. Synchronisation finds a place where packets fall in step and whole
 * records follow. Any thread.
 */
#ifndef RINGTAIL_AUXTRACE_SPE_SPE_H
#define RINGTAIL_AUXTRACE_SPE_SPE_H

#include "auxtrace/decoder/decoder.h"

extern const struct aux_decoder_ops aux_spe_decoder;

#endif
