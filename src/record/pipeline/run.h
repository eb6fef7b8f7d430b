/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: whole records of one ring on their way through the pipeline. It does not own its memory.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_RUN_H
#define RINGTAIL_RECORD_PIPELINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perfdata/abi.h"

#define RUN_NO_RING (~0u)

/*
 * Whole records in at most two spans, so that a ring that wraps need not be copied. A record may
 * lie across both spans; its header (8 bytes) never does, because all sizes in a ring are multiples
 * of 8 bytes. The memory belongs to the maker of the run.
 */
struct run {
	const uint8_t *a, *b;
	size_t a_len, b_len; /* bytes */
	unsigned int ring;   /* index of the ring, or RUN_NO_RING for records made in user space */
	int cpu;	     /* of the ring; -1: any */
};

/* Returns the bytes of both spans. */
static inline size_t run_bytes(const struct run *run)
{
	return run->a_len + run->b_len;
}

/*
 * Whether the run is an AUXTRACE record with the trace behind it: the only run whose bytes are not
 * all records. The kernel writes no such record, so the first type tells.
 */
static inline bool run_is_aux(const struct run *run)
{
	uint32_t type = 0;

	if (run->a_len >= sizeof(type))
		memcpy(&type, run->a, sizeof(type));
	return type == PERF_RECORD_AUXTRACE;
}

/* Copies @len bytes at offset @at of the run, which has them, to @out. */
static inline void run_copy(const struct run *run, size_t at, void *out, size_t len)
{
	uint8_t *p = out;

	if (at < run->a_len) {
		size_t n = run->a_len - at < len ? run->a_len - at : len;

		memcpy(p, run->a + at, n);
		p += n;
		len -= n;
		at += n;
	}
	if (len)
		memcpy(p, run->b + (at - run->a_len), len);
}

#endif
