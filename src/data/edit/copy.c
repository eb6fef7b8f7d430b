// SPDX-License-Identifier: Apache-2.0
#include "data/edit/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES  (1u << 20)
#define PIECE_BYTES (64u << 20) /* a signal waits for one piece */

int copy_write(int fd, const void *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p = (const uint8_t *)p + n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Returns -EINTR if a signal that copy_block_signals() blocks waits. */
static int check_signals(void)
{
	sigset_t waiting;

	if (sigpending(&waiting))
		return -errno;
	return sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
			       sigismember(&waiting, SIGHUP)
		       ? -EINTR
		       : 0;
}

/* Copies through memory, where the kernel cannot copy by itself. */
static int copy_by_hand(int from, uint64_t at, uint64_t end, int to)
{
	uint8_t *bytes = malloc(COPY_BYTES);
	int rc = bytes ? 0 : -ENOMEM;

	while (!rc && at < end) {
		size_t want = end - at < COPY_BYTES ? end - at : COPY_BYTES;
		ssize_t n = file_read(from, bytes, want, at);

		if (n <= 0)
			rc = n < 0 ? (int)n : -ENODATA;
		else
			rc = copy_write(to, bytes, (size_t)n) ?: check_signals();
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(bytes);
	return rc;
}

int copy_bytes(int from, uint64_t at, uint64_t end, int to)
{
	off64_t place = (off64_t)at;
	int rc = 0;

	while (!rc && (uint64_t)place < end) {
		uint64_t left = end - (uint64_t)place;
		ssize_t n = copy_file_range(from, &place, to, NULL,
					    left < PIECE_BYTES ? left : PIECE_BYTES, 0);

		if (n <= 0)
			return copy_by_hand(from, (uint64_t)place, end, to);
		rc = check_signals();
	}
	return rc;
}

int copy_attributes(const struct stat *st, int fd)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};
	mode_t mode = st->st_mode & 0777;

	if (fchown(fd, st->st_uid, st->st_gid)) {
		if (errno != EPERM)
			return -errno;
		if (fchown(fd, (uid_t)-1, st->st_gid))
			mode &= 0700;
	}
	if (fchmod(fd, mode) || futimens(fd, times) || fsync(fd))
		return -errno;
	return 0;
}

int copy_refuse_writer(const struct segment *s, const struct stat *before, struct error *err)
{
	bool busy = false;
	struct stat st;

	fcntl(s->fd, F_SETSIG, SIGURG); /* a signal for the lease's end does nothing */
	if (!fcntl(s->fd, F_SETLEASE, F_RDLCK))
		fcntl(s->fd, F_SETLEASE, F_UNLCK);
	else
		busy = errno == EAGAIN;
	if (fstat(s->fd, &st))
		return error_sys(err, -errno, "%s", s->path);
	if (busy || (uint64_t)st.st_size != s->size ||
	    st.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
		return error_set(err, -EBUSY,
				 "%s is open for writing: try again when its recorder has ended",
				 s->path);
	return 0;
}

void copy_block_signals(sigset_t *old)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}
