// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_open.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Returns a descriptor for @fd of this process's own, closed on exec. File flags are shared by all
 * who have the file open, so a pipe is opened again for O_NONBLOCK. Other files are polled before
 * each read and write.
 */
static int own_descriptor(int fd, int flags, const struct stat *st)
{
	char path[32];
	int own = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISFIFO(st->st_mode))
		own = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_CLOEXEC);
	if (own < 0)
		own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return own < 0 ? -errno : own;
}

static int take_descriptor(int fd, bool answers, struct error *err)
{
	const char *what = answers ? "answers" : "commands";
	int flags = fcntl(fd, F_GETFL), own;
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return error_set(err, -EBADF, "--control: descriptor %d for %s is not open", fd,
				 what);
	if ((flags & O_ACCMODE) == (answers ? O_RDONLY : O_WRONLY))
		return error_set(err, -EBADF, "--control: descriptor %d is not open for %s", fd,
				 answers ? "writing" : "reading");
	if (!answers && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return error_set(
			err, -EINVAL,
			"--control: descriptor %d is a file: give a pipe, socket or terminal", fd);
	own = own_descriptor(fd, flags, &st);
	return own < 0 ? error_sys(err, own, "--control: descriptor %d", fd) : own;
}

/* Whoever can write to the FIFO commands the recording; whoever can read it takes commands away. */
static int check_fifo(const char *path, const struct stat *st, struct error *err)
{
	if (!S_ISFIFO(st->st_mode))
		return error_set(err, -EINVAL,
				 "--control: '%.256s' is no FIFO: make it with mkfifo", path);
	if (st->st_uid != geteuid())
		return error_set(err, -EPERM,
				 "--control: the FIFO '%.256s' belongs to user %u, who could "
				 "command this recording of user %u: make one of your own",
				 path, st->st_uid, geteuid());
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, -EPERM,
				 "--control: others may write to the FIFO '%.256s' (mode %03o): "
				 "chmod 600 it",
				 path, st->st_mode & 0777);
	return 0;
}

static int open_fifo(const struct messages *messages, const char *path, bool answers,
		     struct error *err)
{
	struct stat st;
	int fd, rc;

	/* Check before opening, because opening a device can have effects. */
	if (stat(path, &st))
		return error_sys(err, -errno, "--control: '%.256s'", path);
	rc = check_fifo(path, &st, err);
	if (rc)
		return rc;
	/*
	 * Open for both directions: there is always a reader and a writer, and no end of file when
	 * one leaves.
	 */
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, "--control: '%.256s'", path);
	rc = fstat(fd, &st) ? error_sys(err, -errno, "--control: '%.256s'", path)
			    : check_fifo(path, &st, err);
	if (!rc && !answers && (st.st_mode & 077)) {
		if (fchmod(fd, st.st_mode & 0700))
			rc = error_sys(err, -errno, "--control: cannot make '%.256s' private",
				       path);
		else
			messages_say(messages, MESSAGE_DETAIL,
				     "control: only you can read '%s' from now on", path);
	}
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

/* A socket may be used for both: data written to it are read at its other end. */
static bool same_pipe(int in, int out)
{
	struct stat a, b;

	return !fstat(in, &a) && !fstat(out, &b) && S_ISFIFO(a.st_mode) && S_ISFIFO(b.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int control_open(const struct control_spec *spec, const struct messages *messages, int *ret_in,
		 int *ret_out, struct error *err)
{
	bool answers = spec->fifo ? *spec->ack_path : spec->ack_fd >= 0;
	int in, out = -1;

	in = spec->fifo ? open_fifo(messages, spec->path, false, err)
			: take_descriptor(spec->fd, false, err);
	if (in < 0)
		return in;
	if (answers) {
		out = spec->fifo ? open_fifo(messages, spec->ack_path, true, err)
				 : take_descriptor(spec->ack_fd, true, err);
		if (out < 0) {
			close(in);
			return out;
		}
	}
	if (out >= 0 && same_pipe(in, out)) {
		close(in);
		close(out);
		return error_set(
			err, -EINVAL,
			"--control: commands and answers use the same FIFO, so each answer would "
			"come back as a command: name another FIFO for the answers");
	}
	*ret_in = in;
	*ret_out = out;
	return 0;
}
