/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of messages between threads that never wait for each other: a ring of bytes of fixed
 * size.
 *
 * Any number of threads put, one takes. Putting takes no lock and allocates nothing, since
 * the thread that takes may run at the lowest priority and be stopped anywhere.
 */
#ifndef RINGTAIL_RECORD_INITIAL_ID_QUEUE_H
#define RINGTAIL_RECORD_INITIAL_ID_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct id_queue;

/* @bytes: of all messages that wait, a power of two. NULL when out of memory. */
struct id_queue *id_queue_new(size_t bytes);
void id_queue_free(struct id_queue *q); /* accepts NULL */

/*
 * Any thread: adds a message that consists of the @a_len bytes at @a and the @b_len bytes at @b.
 * False: there is no room for it.
 */
bool id_queue_put(struct id_queue *q, const void *a, size_t a_len, const void *b, size_t b_len);

/*
 * One thread: copies the oldest message, or the first @size bytes of it, to @to. Returns its whole
 * length in bytes, or 0 if there is none that is complete.
 */
size_t id_queue_take(struct id_queue *q, void *to, size_t size);

#endif
