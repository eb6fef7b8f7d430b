/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of recordings in memory, valid or damaged on purpose, for the tests of data/.
 *
 * An image has little more than its bytes. Tests change the bytes in place to damage them.
 */
#ifndef RINGTAIL_TESTS_DATA_IMAGE_H
#define RINGTAIL_TESTS_DATA_IMAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "data/open/open.h"
#include "data/scan/scan.h"

#define IMAGE_SAMPLE_TYPE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define IMAGE_ID     100 /* of the first event; the second has 101, and so on */
#define IMAGE_STRIDE (sizeof(struct pd_attr) + 16)

struct image {
	struct buf b;
	bool swap;	/* write in the other byte order */
	size_t data_at; /* offset of the first record */
};

static inline uint64_t image_word(const struct image *im, uint64_t v)
{
	return im->swap ? __builtin_bswap64(v) : v;
}

static inline void image_u64(struct image *im, uint64_t v)
{
	v = image_word(im, v);
	assert_int_equal(buf_append(&im->b, &v, 8), 0);
}

static inline void image_u32(struct image *im, uint32_t v)
{
	v = im->swap ? __builtin_bswap32(v) : v;
	assert_int_equal(buf_append(&im->b, &v, 4), 0);
}

static inline void image_u16(struct image *im, uint16_t v)
{
	v = im->swap ? __builtin_bswap16(v) : v;
	assert_int_equal(buf_append(&im->b, &v, 2), 0);
}

static inline void image_set64(struct image *im, size_t at, uint64_t v)
{
	v = image_word(im, v);
	assert_true(at + 8 <= im->b.len);
	memcpy(im->b.data + at, &v, 8);
}

static inline void image_head(struct image *im, uint32_t type, uint16_t size)
{
	image_u32(im, type);
	image_u16(im, 0);
	image_u16(im, size);
}

/* Writes an attribute of @size bytes, at least 64. */
static inline void image_attr(struct image *im, uint32_t size)
{
	uint8_t id_all[8] = {0};
	size_t end = im->b.len + size;

	image_u32(im, PERF_TYPE_SOFTWARE);
	image_u32(im, size);
	image_u64(im, PERF_COUNT_SW_CPU_CLOCK);
	image_u64(im, 1000);
	image_u64(im, IMAGE_SAMPLE_TYPE);
	image_u64(im, 0);
	/* sample_id_all is bit 18, counted from the other end of its byte on big-endian machines */
	id_all[2] = im->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? 1 << 2 : 1 << 5;
	assert_int_equal(buf_append(&im->b, id_all, 8), 0);
	assert_int_equal(buf_zero(&im->b, end - im->b.len), 0);
}

/* Writes a header and @nr events with one id each, in entries of @stride bytes. */
static inline void image_begin(struct image *im, unsigned int nr, size_t stride)
{
	size_t ids = sizeof(struct pd_header), attrs = ids + nr * 8;

	image_u64(im, PD_MAGIC);
	image_u64(im, sizeof(struct pd_header));
	image_u64(im, stride);
	image_u64(im, attrs);
	image_u64(im, nr * stride);
	image_u64(im, attrs + nr * stride);
	image_u64(im, 0);
	assert_int_equal(buf_zero(&im->b, sizeof(struct pd_header) - im->b.len), 0);
	for (unsigned int i = 0; i < nr; i++)
		image_u64(im, IMAGE_ID + i);
	for (unsigned int i = 0; i < nr; i++) {
		image_attr(im, (uint32_t)stride - 16);
		image_u64(im, ids + i * 8);
		image_u64(im, 8);
	}
	im->data_at = im->b.len;
}

static inline void image_pipe_begin(struct image *im)
{
	image_u64(im, PD_MAGIC);
	image_u64(im, PD_PIPE_HEADER_SIZE);
	im->data_at = im->b.len;
}

static inline void image_end(struct image *im)
{
	image_set64(im, 48, im->b.len - im->data_at);
}

/* Writes a sample of event @event: identifier, ip, pid and tid, time. Its ip is @tag. */
static inline void image_sample(struct image *im, unsigned int event, uint64_t time, uint64_t tag)
{
	image_head(im, PERF_RECORD_SAMPLE, 40);
	image_u64(im, IMAGE_ID + event);
	image_u64(im, tag);
	image_u32(im, 7);
	image_u32(im, 8);
	image_u64(im, time);
}

/*
 * Writes @nr samples of @events events in turn, numbered behind *@nr_before, which counts them.
 * Returns the sum of their numbers.
 */
static inline uint64_t image_numbered(struct image *im, unsigned int events, unsigned int nr,
				      uint64_t *nr_before)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t tag = ++*nr_before;

		image_sample(im, i % events, 1000 + tag, tag);
		sum += tag;
	}
	return sum;
}

/* Writes a COMM with a name of 8 bytes and a trailer: pid and tid, time, identifier. */
static inline void image_comm(struct image *im, uint64_t time, const char *name)
{
	char padded[8] = "";

	strncpy(padded, name, 7);
	image_head(im, PERF_RECORD_COMM, 48);
	image_u32(im, 7);
	image_u32(im, 8);
	assert_int_equal(buf_append(&im->b, padded, 8), 0);
	image_u32(im, 7);
	image_u32(im, 8);
	image_u64(im, time);
	image_u64(im, IMAGE_ID);
}

/* The ip of a sample of image_sample(). */
static inline uint64_t image_tag(const struct data_record *rec)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)rec->hdr + 16, 8);
	return v;
}

/* Opens the first @len bytes as a file. */
static inline int image_open_len(const struct image *im, size_t len, struct data_file **ret,
				 struct error *err)
{
	int fd = memfd_create("image", MFD_CLOEXEC), r;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, im->b.data, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = data_open(path, false, ret, err);
	close(fd);
	return r;
}

static inline struct data_file *image_open(const struct image *im)
{
	struct data_file *df = NULL;
	struct error err = ERROR_INIT;
	int r = image_open_len(im, im->b.len, &df, &err);

	if (r)
		fail_msg("%s", err.text);
	return df;
}

static inline void image_release(struct image *im)
{
	buf_release(&im->b);
	*im = (struct image){0};
}

#endif
