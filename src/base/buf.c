// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *array, size_t *cap, size_t need, size_t size)
{
	size_t bytes, n = *cap ? *cap : 8;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need) {
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return -ENOMEM;
	}
	if (__builtin_mul_overflow(n, size, &bytes))
		return -ENOMEM;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, bytes);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = n;
	return 0;
}

void *calloc_apart(size_t nr, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(nr, size, &bytes) ||
	    __builtin_add_overflow(bytes, (size_t)APART - 1, &bytes))
		return NULL;
	bytes &= ~((size_t)APART - 1);
	p = aligned_alloc(APART, bytes ? bytes : APART);
	return p ? memset(p, 0, bytes) : NULL;
}

int buf_reserve(struct buf *b, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(b->len, more, &need))
		return -ENOMEM;
	return array_grow(&b->data, &b->cap, need, 1);
}

int buf_append(struct buf *b, const void *p, size_t n)
{
	int rc = buf_reserve(b, n);

	if (rc)
		return rc;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	return 0;
}

int buf_fill(struct buf *b, char c, size_t n)
{
	int rc = buf_reserve(b, n);

	if (rc)
		return rc;
	if (n)
		memset(b->data + b->len, c, n);
	b->len += n;
	return 0;
}

int buf_zero(struct buf *b, size_t n)
{
	return buf_fill(b, 0, n);
}

/* Most texts fit into what is left, or into a few bytes more, and are made once. */
int buf_printf(struct buf *b, const char *fmt, ...)
{
	size_t room;
	va_list ap;
	int n, rc;

	rc = buf_reserve(b, 32);
	if (rc)
		return rc;
	room = b->cap - b->len;
	va_start(ap, fmt);
	n = vsnprintf((char *)b->data + b->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -EINVAL;
	if ((size_t)n >= room) {
		rc = buf_reserve(b, (size_t)n + 1);
		if (rc)
			return rc;
		va_start(ap, fmt);
		vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
	return 0;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

void mem_zero(void *p, size_t n)
{
	memset(p, 0, n);
}
