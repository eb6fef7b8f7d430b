/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of an export: a number for each thread, with the newest of its names.
 *
 * Names are escaped as in text. The table grows by threads and names. One thread.
 */
#ifndef RINGTAIL_EXPORT_STREAM_THREADS_H
#define RINGTAIL_EXPORT_STREAM_THREADS_H

#include "export/wire/intern.h"

/* The key of a thread; without padding. */
struct export_thread {
	uint32_t pid, tid;
};

/* EXPORT_THREADS_INIT: empty. */
struct export_threads {
	struct intern keys;
	struct intern_strings names;
	uint32_t *newest; /* name, by thread */
	size_t cap;
	struct buf text;
};

#define EXPORT_THREADS_INIT                                     \
	{                                                       \
		.keys = {.size = sizeof(struct export_thread) } \
	}

/*
 * Returns the number of a thread, whose name is @comm by now (NULL: unknown), or INTERN_NONE if
 * memory runs out.
 */
uint32_t export_thread_put(struct export_threads *t, uint32_t pid, uint32_t tid, const char *comm);

/* Returns the number of threads. */
static inline uint32_t export_thread_count(const struct export_threads *t)
{
	return intern_count(&t->keys);
}

/* Returns thread @number, which is in the table. */
static inline const struct export_thread *export_thread_at(const struct export_threads *t,
							   uint32_t number)
{
	return intern_at(&t->keys, number);
}

/* Returns the name of thread @number, without a NUL. */
static inline const char *export_thread_name(const struct export_threads *t, uint32_t number,
					     size_t *ret_len)
{
	return intern_string_at(&t->names, t->newest[number], ret_len);
}

/* Frees the table. */
void export_threads_release(struct export_threads *t);

#endif
