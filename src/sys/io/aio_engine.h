/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine performs the writes of a struct aio (aio.h), one write(2) each. A test may bring its
 * own, which completes writes in any order and with any results.
 */
#ifndef RINGTAIL_SYS_IO_AIO_ENGINE_H
#define RINGTAIL_SYS_IO_AIO_ENGINE_H

#include "sys/io/aio.h"

struct aio_part {
	int fd;
	const void *data;
	size_t len;
	off_t offset; /* or AIO_STREAM: of those only one a descriptor is in flight */
};

struct aio_engine {
	const char *name;
	/* Prepares for writes in the slots 0 … @depth - 1. 0 with *@ret set, or a negative errno.
	 */
	int (*open)(void *arg, unsigned int depth, void **ret);
	/* Begins a write in a free slot. Returns 0, or a negative errno that is the write's end. */
	int (*start)(void *engine, unsigned int slot, const struct aio_part *part);
	/*
	 * Returns 1 with a slot, now free, and the result of its write(2): bytes or a negative
	 * errno. Returns 0 if none has ended yet; with @wait only after a signal. Negative: broken.
	 */
	int (*collect)(void *engine, bool wait, unsigned int *ret_slot, ssize_t *ret_result);
	/* Frees it; nothing is in flight, unless it is broken. */
	void (*close)(void *engine);
};

extern const struct aio_engine aio_engine_uring, aio_engine_posix;

/* As aio_new(), with an engine of the caller's, which must outlive the result. 0 or -errno. */
int aio_new_engine(const struct aio_engine *engine, void *arg, unsigned int depth,
		   struct aio **ret);

#endif
