/* SPDX-License-Identifier: Apache-2.0 */
/* Images of recordings with hardware trace, as data-image.h makes them. */
#ifndef RINGTAIL_TESTS_AUX_IMAGE_H
#define RINGTAIL_TESTS_AUX_IMAGE_H

#include "data-image.h"
#include "perfdata/aux_record.h"
#include "perfdata/snapshot_log.h"

#define AUX_IMAGE_PMU  77 /* type of the event's PMU */
#define AUX_IMAGE_TYPE (IMAGE_SAMPLE_TYPE | PERF_SAMPLE_CPU | PERF_SAMPLE_AUX)

/* Begins an image with one event, which is of the PMU, has a CPU in samples, and trace. */
static inline void aux_image_begin(struct image *im)
{
	size_t attr = sizeof(struct pd_header) + 8;
	uint32_t type = AUX_IMAGE_PMU;

	image_begin(im, 1, IMAGE_STRIDE);
	memcpy(im->b.data + attr, &type, sizeof(type));
	image_set64(im, attr + 24, AUX_IMAGE_TYPE);
}

/* Appends the trailer of sideband. */
static inline void aux_image_trailer(struct image *im, uint32_t cpu, uint32_t tid)
{
	image_u32(im, 7);
	image_u32(im, tid);
	image_u64(im, 1000);
	image_u32(im, cpu);
	image_u32(im, 0);
	image_u64(im, IMAGE_ID);
}

/* Appends an AUX record. */
static inline void aux_image_aux(struct image *im, uint32_t cpu, uint32_t tid, uint64_t offset,
				 uint64_t size, uint64_t flags)
{
	image_head(im, PERF_RECORD_AUX, 64);
	image_u64(im, offset);
	image_u64(im, size);
	image_u64(im, flags);
	aux_image_trailer(im, cpu, tid);
}

/* Appends @trace, padded, as the trace of a ring at @offset. */
static inline void aux_image_trace(struct image *im, uint32_t cpu, uint32_t tid, uint64_t offset,
				   const void *trace, size_t len)
{
	const struct pd_auxtrace a = {
		.size = len, .offset = offset, .idx = 1, .tid = tid, .cpu = cpu};
	struct pd_auxtrace_record r;

	pd_auxtrace_encode(&a, &r);
	assert_int_equal(buf_append(&im->b, &r, sizeof(r)), 0);
	assert_int_equal(buf_append(&im->b, trace, len), 0);
	assert_int_equal(buf_zero(&im->b, r.size - len), 0);
}

/* Appends a sample with trace, of which @len is a multiple of 8. */
static inline void aux_image_sample(struct image *im, uint64_t time, uint32_t cpu, uint32_t tid,
				    const void *trace, size_t len)
{
	image_head(im, PERF_RECORD_SAMPLE, (uint16_t)(56 + len));
	image_u64(im, IMAGE_ID);
	image_u64(im, 0);
	image_u32(im, 7);
	image_u32(im, tid);
	image_u64(im, time);
	image_u32(im, cpu);
	image_u32(im, 0);
	image_u64(im, len);
	assert_int_equal(buf_append(&im->b, trace, len), 0);
}

#endif
