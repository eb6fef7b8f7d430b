/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of the test PMU, tests/vm/auxsim.
 *
 * Each of its records is an event AUX_EVENT_RECORD with its number in the session as value. Numbers
 * that a session left out are an event AUX_EVENT_LOST, whose value is how many. Records are in the
 * machine's byte order. Any thread.
 */
#ifndef RINGTAIL_AUXTRACE_TESTPMU_TESTPMU_H
#define RINGTAIL_AUXTRACE_TESTPMU_TESTPMU_H

#include "auxtrace/decoder/decoder.h"

extern const struct aux_decoder_ops aux_testpmu_decoder;

#endif
