// SPDX-License-Identifier: Apache-2.0
#include "data/writer/writer_io.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock_ns.h"

static ssize_t system_pwritev(int fd, const struct iovec *iov, int n, off_t offset, void *arg)
{
	return pwritev(fd, iov, n, offset);
}

static ssize_t system_writev(int fd, const struct iovec *iov, int n, void *arg)
{
	return writev(fd, iov, n);
}

const struct writer_io writer_io_system = {
	.pwritev = system_pwritev,
	.writev = system_writev,
	.stream_fd = STDOUT_FILENO,
};

/* Drops @done bytes from the front of @iov. Returns the number of entries used up. */
static int iov_advance(struct iovec *iov, int n, size_t done)
{
	int i;

	for (i = 0; i < n && done >= iov[i].iov_len; i++)
		done -= iov[i].iov_len;
	if (i < n) {
		iov[i].iov_base = (char *)iov[i].iov_base + done;
		iov[i].iov_len -= done;
	}
	return i;
}

/* Handles a failed write. Returns 0 when it can be tried again, else -errno. */
static int wait_or_fail(int fd, int error)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};

	if (error == EINTR)
		return 0;
	if (error != EAGAIN)
		return -error;
	if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

/*
 * Larger writes end at a multiple of this. With more the page cache takes folios of 1 MB and more,
 * and in a virtual machine the host may have to find memory for these first: 0.1 us for 136 bytes
 * instead of 0.015 (Linux 6.18; with 2 MB 0.3).
 */
#define WRITE_MAX ((size_t)256 << 10)

static size_t iov_bytes(const struct iovec *iov, int n)
{
	size_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

/* Puts the first entries of @iov, @len bytes at most, into @some. Returns their number. */
static int iov_front(const struct iovec *iov, int n, size_t len, struct iovec some[4])
{
	int used = 0;

	for (; used < n && used < 4 && len; used++) {
		some[used] = iov[used];
		some[used].iov_len = iov[used].iov_len < len ? iov[used].iov_len : len;
		len -= some[used].iov_len;
	}
	return used;
}

/* Writes a small @iov at once, at any offset: a flush relies on a last write that is not split. */
static ssize_t write_some(const struct writer_io *io, int fd, const struct iovec *iov, int n,
			  off_t offset)
{
	size_t left = WRITE_MAX - (size_t)offset % WRITE_MAX;
	struct iovec some[4];

	if (iov_bytes(iov, n) <= WRITE_MAX)
		return io->pwritev(fd, iov, n, offset, io->arg);
	return io->pwritev(fd, some, iov_front(iov, n, left, some), offset, io->arg);
}

#define ASK_MS 100

/*
 * Waits until the stream accepts bytes. Returns 0, -EINTR if the patience ended, or another errno.
 */
static int wait_for_stream(int fd, struct writer_patience *p)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	uint64_t began = now_ms();

	for (;;) {
		int rc = poll(&pfd, 1, ASK_MS);
		uint64_t now = now_ms();

		if (rc < 0 && errno != EINTR)
			return -errno;
		if (now - p->asked_ms >= ASK_MS) {
			p->asked_ms = now;
			if (!p->wait(p->arg, rc > 0 ? 0 : now - began))
				return -EINTR;
		}
		/* POLLERR counts, too: the write returns its reason. */
		if (rc > 0)
			return 0;
	}
}

/* A pipe that poll() calls writable has room for a page, so a write of a page does not block. */
static ssize_t write_stream(const struct writer_io *io, int fd, const struct iovec *iov, int n)
{
	struct iovec some[4];

	if (io->patience)
		return io->writev(fd, some, iov_front(iov, n, PIPE_BUF, some), io->arg);
	return io->writev(fd, iov, n, io->arg);
}

int writer_io_all(const struct writer_io *io, int fd, struct iovec *iov, int n, off_t offset)
{
	int used, rc;
	ssize_t done;

	used = iov_advance(iov, n, 0);
	while (used < n) {
		iov += used;
		n -= used;
		used = 0;
		rc = offset < 0 && io->patience ? wait_for_stream(fd, io->patience) : 0;
		if (rc)
			return rc;
		if (offset >= 0)
			done = write_some(io, fd, iov, n, offset);
		else
			done = write_stream(io, fd, iov, n);
		if (done == 0)
			return -EIO; /* a file that writes nothing would make us retry for ever */
		if (done < 0) {
			rc = wait_or_fail(fd, errno);
			if (rc)
				return rc;
			continue;
		}
		if (offset >= 0)
			offset += done;
		used = iov_advance(iov, n, (size_t)done);
	}
	return 0;
}
