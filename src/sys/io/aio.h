/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes in flight: up to a fixed number at a time, completed by the kernel or by threads of the C
 * library while the caller goes on.
 *
 * Two engines: io_uring, and glibc's POSIX AIO (threads, one for each descriptor) where io_uring
 * is barred: by a seccomp filter, by kernel.io_uring_disabled, by a kernel before 5.6.
 *
 * A write is complete when all of it is written or when it failed; after a short write its
 * remainder follows, EINTR and EAGAIN are tried again (the latter when the descriptor takes more).
 * All other errors end it, and are reported with its cookie. The order in which writes at offsets
 * are carried out is open. Of writes to a stream (AIO_STREAM) only one a descriptor is in flight;
 * the others wait for it within, in the order of submission, and when one fails those behind it
 * end with -ECANCELED, so that nothing is written behind a gap.
 *
 * A struct aio belongs to one thread at a time, and may go to another one with writes pending (of
 * a thread that ends, the kernel gives up what it has not begun; that is begun again). What is
 * written must stay as it is until its completion was reaped. SIGPIPE must be ignored or blocked by
 * whoever writes to a pipe. The threads of POSIX AIO run with all signals blocked; what starts them
 * first (aio_submit()) lends them its scheduling priority.
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

/* The offset of a write that goes where the descriptor stands: a pipe, or standard output. */
#define AIO_STREAM ((off_t)-1)

#define AIO_DEPTH_MAX 4096u /* what io_uring surely takes */

/*
 * Makes an engine of @kind for up to @depth (1 to AIO_DEPTH_MAX) writes in flight. Returns 0 with
 * *@ret to be given to aio_free(); or a negative errno with @err filled.
 */
int aio_new(enum aio_kind kind, unsigned int depth, struct aio **ret, struct error *err);

/* Waits for what is in flight, as aio_barrier(), and frees. Accepts NULL. */
void aio_free(struct aio *a);

/* "io_uring" or "POSIX AIO"; and why it is not io_uring (negative errno), 0 if that was not tried.
 */
const char *aio_engine_name(const struct aio *a);
int aio_uring_refused(const struct aio *a);

/* Writes submitted and not yet reaped; at most @depth. */
unsigned int aio_pending(const struct aio *a);

/*
 * Begins to write @len bytes (not 0) at @data to @fd at @offset. Returns 0; or -EBUSY when @depth
 * writes are pending. Whatever goes wrong with the write itself is its completion's to say.
 */
int aio_submit(struct aio *a, int fd, const void *data, size_t len, off_t offset, void *cookie);

struct aio_completion {
	void *cookie;
	int result; /* 0: all of it is written; or a negative errno */
};

/*
 * Takes one completion, in the order in which writes ended. With @wait it waits for one if there
 * is any pending. Returns 1 with @ret filled; 0 when there is none; or a negative errno when the
 * engine itself is broken: then nothing more is ever reported of what is pending.
 */
int aio_reap(struct aio *a, bool wait, struct aio_completion *ret);

/*
 * Waits until every pending write has ended; their completions can be reaped afterwards without
 * waiting. Returns 0, or a negative errno when the engine is broken.
 */
int aio_barrier(struct aio *a);

#endif
