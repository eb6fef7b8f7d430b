/* SPDX-License-Identifier: Apache-2.0 */
/* What travels through the pipeline: a run of whole records. */
#ifndef RINGTAIL_RECORD_PIPELINE_RUN_H
#define RINGTAIL_RECORD_PIPELINE_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RUN_NO_RING (~0u)

/*
 * Whole records of one ring in at most two spans: a ring that wraps is not copied to make it one.
 * A record may lie across both spans; its header (8 bytes) never does, since everything in a ring
 * is a multiple of 8 bytes. The memory belongs to whoever made the run.
 */
struct run {
	const uint8_t *a, *b;
	size_t a_len, b_len; /* bytes */
	unsigned int ring;   /* index of the ring, or RUN_NO_RING for records made in user space */
	int cpu;	     /* of the ring; -1: any */
};

/* The length of both pieces. */
static inline size_t run_bytes(const struct run *run)
{
	return run->a_len + run->b_len;
}

/* Copies @len bytes from byte @at of the run. */
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
