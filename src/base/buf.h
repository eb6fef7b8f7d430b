/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte buffer that grows, and functions for plain arrays.
 *
 * The owner of a struct buf releases it with buf_release(), also after a failure; an all-zero
 * struct is an empty buffer. One thread at a time uses a buffer.
 */
#ifndef RINGTAIL_BASE_BUF_H
#define RINGTAIL_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* from malloc(); may move when the buffer grows */
	size_t len;    /* bytes in use */
	size_t cap;    /* bytes allocated */
};

/* Makes room for @more bytes behind len. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_reserve(struct buf *b, size_t more);

/* Appends @n bytes. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_append(struct buf *b, const void *p, size_t n);

/* Appends @c @n times. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_fill(struct buf *b, char c, size_t n);

/* Appends @n zero bytes. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_zero(struct buf *b, size_t n);

/* Appends formatted text without its NUL. Returns 0, -ENOMEM, or -EINVAL if vsnprintf() fails. */
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Frees the memory and empties the buffer. */
void buf_release(struct buf *b);

/* Zeroes @n bytes with memset(); the compiler cannot replace the call by something slower. */
void mem_zero(void *p, size_t n);

/*
 * Bytes that threads must be apart to write without waiting for each other: a line of the cache,
 * and its neighbour, which processors fetch with it.
 */
#define APART 128

/*
 * As calloc(), for what one thread writes often: nothing else is in its lines of the cache. Give a
 * struct of which there are several `alignas(APART)`. Free it with free().
 */
void *calloc_apart(size_t nr, size_t size);

/*
 * Grows the array *@array of elements of @size bytes and capacity *@cap (elements) so that it
 * holds at least @need elements; doubles, so that pushing is amortised O(1).
 * Returns 0, or -ENOMEM with array and capacity unchanged.
 */
int array_grow(void *array, size_t *cap, size_t need, size_t size);

#endif
