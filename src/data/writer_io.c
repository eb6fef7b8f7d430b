// SPDX-License-Identifier: Apache-2.0
#include "data/writer_io.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

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

/* Drops @done bytes from the front of @iov; returns how many entries are used up. */
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

/* After a failed write: 0 when it is worth another try, else -errno. */
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

int writer_io_all(const struct writer_io *io, int fd, struct iovec *iov, int n, off_t offset)
{
	int used, r;
	ssize_t done;

	used = iov_advance(iov, n, 0);
	while (used < n) {
		iov += used;
		n -= used;
		used = 0;
		if (offset >= 0)
			done = io->pwritev(fd, iov, n, offset, io->arg);
		else
			done = io->writev(fd, iov, n, io->arg);
		if (done == 0)
			return -EIO; /* a file that takes nothing would hold us for ever */
		if (done < 0) {
			r = wait_or_fail(fd, errno);
			if (r)
				return r;
			continue;
		}
		if (offset >= 0)
			offset += done;
		used = iov_advance(iov, n, (size_t)done);
	}
	return 0;
}
