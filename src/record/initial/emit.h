/* SPDX-License-Identifier: Apache-2.0 */
/* Where records made in user space go. */
#ifndef RINGTAIL_RECORD_INITIAL_EMIT_H
#define RINGTAIL_RECORD_INITIAL_EMIT_H

#include "perfdata/abi.h"

/*
 * Takes one whole record, hdr->size bytes, a multiple of 8, the sample_id trailer included; copies
 * what it keeps. Returns 0, or a negative errno that ends the making of records.
 */
typedef int record_emit_fn(const struct perf_event_header *hdr, void *arg);

#endif
