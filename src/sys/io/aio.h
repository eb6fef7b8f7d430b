/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous writes: up to a fixed number in flight while the caller continues.
 *
 * There are two engines: io_uring, and glibc's POSIX AIO (a thread for each descriptor) where
 * io_uring is not available: because of a seccomp filter, kernel.io_uring_disabled, or a kernel
 * before 5.6.
 *
 * A write is complete when all of it is written, or when it failed. After a short write the engine
 * writes the rest; it retries EINTR, and EAGAIN once the descriptor is ready. Any other error ends
 * the write, and its completion reports it with its cookie. Writes at offsets happen in any order.
 * Of writes to a stream (AIO_STREAM) only one for each descriptor is in flight; the others wait in
 * order of submission. If one fails, those behind it end with -ECANCELED, so that nothing is
 * written behind a gap.
 *
 * One thread at a time uses a struct aio. Another thread may take it over with writes pending: the
 * kernel drops what it has not begun for a thread that ends, and the engine begins it again. The
 * data must not change until the completion was reaped. A caller that writes to a pipe must ignore
 * or block SIGPIPE. The threads of POSIX AIO block all signals; they inherit the scheduling
 * priority of the first thread to call aio_submit().
 */
#ifndef RINGTAIL_SYS_IO_AIO_H
#define RINGTAIL_SYS_IO_AIO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct aio;

enum aio_kind {
	AIO_AUTOMATIC, /* io_uring, else POSIX AIO */
	AIO_URING,
	AIO_POSIX,
};

/* Offset of a write to a stream, a pipe or standard output: at the descriptor's position. */
#define AIO_STREAM ((off_t)-1)

#define AIO_DEPTH_MAX 4096u /* io_uring accepts this many everywhere */

/*
 * Makes an engine of @kind for up to @depth (1 to AIO_DEPTH_MAX) writes in flight. Returns 0 with
 * *@ret for aio_free(), or a negative errno with @err filled.
 */
int aio_new(enum aio_kind kind, unsigned int depth, struct aio **ret, struct error *err);

/* Waits for pending writes, as aio_barrier() does, and frees @a. Accepts NULL. */
void aio_free(struct aio *a);

/* Returns "io_uring" or "POSIX AIO". */
const char *aio_engine_name(const struct aio *a);
/* Returns why the engine is not io_uring, a negative errno; 0 if io_uring was not tried. */
int aio_uring_refused(const struct aio *a);

/* Returns the number of writes submitted and not yet reaped; at most @depth. */
unsigned int aio_pending(const struct aio *a);

/*
 * Begins to write @len bytes (not 0) at @data to @fd at @offset. Returns 0, or -EBUSY if @depth
 * writes are pending. The completion reports errors of the write itself.
 */
int aio_submit(struct aio *a, int fd, const void *data, size_t len, off_t offset, void *cookie);

struct aio_completion {
	void *cookie;
	int result; /* 0: all of it is written; or a negative errno */
};

/*
 * Takes one completion, in the order in which writes ended. With @wait it waits for one, if any
 * write is pending. Returns 1 with @ret filled, 0 if there is none, or a negative errno if the
 * engine is broken: then it never reports the pending writes.
 */
int aio_reap(struct aio *a, bool wait, struct aio_completion *ret);

/*
 * Waits until every pending write has ended. Then all completions can be reaped without waiting.
 * Returns 0, or a negative errno if the engine is broken.
 */
int aio_barrier(struct aio *a);

#endif
