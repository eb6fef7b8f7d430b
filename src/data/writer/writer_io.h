/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer's system calls, which a test can replace. Internal to data/.
 *
 * A test can stop a writer after any single write, and complete the writes in flight in any order.
 * The functions behave as pwritev(2) and writev(2) (-1 and errno, short writes allowed). The engine
 * and @arg must outlive the writer.
 */
#ifndef RINGTAIL_DATA_WRITER_WRITER_IO_H
#define RINGTAIL_DATA_WRITER_WRITER_IO_H

#include <sys/types.h>
#include <sys/uio.h>

#include "data/writer/writer.h"
#include "sys/io/aio_engine.h"

struct writer_io {
	ssize_t (*pwritev)(int fd, const struct iovec *iov, int n, off_t offset, void *arg);
	ssize_t (*writev)(int fd, const struct iovec *iov, int n, void *arg);
	const struct aio_engine *engine; /* for writer_async(), opened with @arg; NULL: automatic */
	void *arg;
	int stream_fd;			  /* the output of "-" */
	struct writer_patience *patience; /* of a stream, or NULL */
};

/* The system calls themselves, and standard output. */
extern const struct writer_io writer_io_system;

/* As writer_create(), through @io. */
int writer_create_io(const char *path, const struct pd_evlist *list,
		     const struct writer_feature *features, size_t nr_features,
		     const struct writer_io *io, struct writer **ret, struct error *err);

/*
 * Writes all of @iov at @offset, or with offset -1 at the stream's position; changes @iov.
 * Continues after short writes and signals, and waits for a stream that would block. Returns 0 or a
 * negative errno; -EINTR: the stream accepted nothing and @io's patience has ended.
 */
int writer_io_all(const struct writer_io *io, int fd, struct iovec *iov, int n, off_t offset);

#endif
