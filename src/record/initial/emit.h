/* SPDX-License-Identifier: Apache-2.0 */
/* The type of functions that take synthesized records. */
#ifndef RINGTAIL_RECORD_INITIAL_EMIT_H
#define RINGTAIL_RECORD_INITIAL_EMIT_H

#include "perfdata/abi.h"

/*
 * Takes one whole record of hdr->size bytes, a multiple of 8, with its sample_id trailer. The
 * record is valid during the call only. Returns 0, or a negative errno, which ends the synthesis.
 */
typedef int record_emit_fn(const struct perf_event_header *hdr, void *arg);

#endif
