/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte buffer that grows, and the growing of plain arrays.
 *
 * The owner of a struct buf releases it with buf_release(), also after a failure; an all-zero
 * struct is an empty buffer. No function here is safe against concurrent use of one buffer.
 */
#ifndef RINGTAIL_BASE_BUF_H
#define RINGTAIL_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* aligned as malloc aligns; may move when the buffer grows */
	size_t len;    /* bytes in use */
	size_t cap;    /* bytes allocated */
};

/* Makes room for @more bytes behind len. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_reserve(struct buf *b, size_t more);

/* Appends @n bytes. Returns 0 or -ENOMEM (the buffer is then unchanged). */
int buf_append(struct buf *b, const void *p, size_t n);

/* Appends @n zero bytes. Returns 0 or -ENOMEM. */
int buf_zero(struct buf *b, size_t n);

/* Appends formatted text without its NUL. Returns 0 or -ENOMEM. */
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Frees the memory and empties the buffer. */
void buf_release(struct buf *b);

/* memset(), and never what a compiler takes for as good. */
void mem_zero(void *p, size_t n);

/*
 * Grows the array *@array of elements of @size bytes and capacity *@cap (elements) so that it
 * holds at least @need elements; doubles, so that pushing is amortised O(1).
 * Returns 0, or -ENOMEM with array and capacity unchanged.
 */
int array_grow(void *array, size_t *cap, size_t need, size_t size);

#endif
