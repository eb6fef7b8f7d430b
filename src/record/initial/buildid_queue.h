/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock-free queue of messages, of fixed size, from many threads to one.
 *
 * Putting takes no lock and allocates nothing, because the consumer may run at the lowest priority
 * and be preempted anywhere.
 *
 * Threads: any number put, one takes. Sizes are in bytes.
 */
#ifndef RINGTAIL_RECORD_INITIAL_BUILDID_QUEUE_H
#define RINGTAIL_RECORD_INITIAL_BUILDID_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct buildid_queue;

/* Returns a queue for @bytes of messages (a power of two), or NULL when out of memory. */
struct buildid_queue *buildid_queue_new(size_t bytes);
void buildid_queue_free(struct buildid_queue *q); /* accepts NULL */

/*
 * Any thread: copies a message to the queue, the @a_len bytes at @a followed by the @b_len bytes at
 * @b. Returns false if there is no room for it.
 */
bool buildid_queue_put(struct buildid_queue *q, const void *a, size_t a_len, const void *b,
		       size_t b_len);

/*
 * The consumer: removes the oldest message and copies its first @size bytes to @to. Returns its
 * whole length, or 0 if no message is complete.
 */
size_t buildid_queue_take(struct buildid_queue *q, void *to, size_t size);

#endif
