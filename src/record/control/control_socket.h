/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a recorder for `ringtail ctl`: BASE/ringtail/PID.sock.
 *
 * It is a stream socket of mode 0600 in a directory of mode 0700, and both belong to the recorder's
 * user. BASE is $XDG_RUNTIME_DIR; for root without it, /run.
 *
 * Names are resolved from the directory's descriptor, after its owner and mode were checked. Where
 * /proc forbids that (a program with file capabilities), they are resolved below BASE. The socket
 * gets its name when it listens already, so a socket that refuses belongs to a dead recorder. Any
 * thread.
 */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_SOCKET_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct control_socket {
	int fd;	 /* listens, non-blocking; -1: none */
	int dir; /* -1: none */
	char name[32];
};

#define CONTROL_SOCKET_INIT \
	{                   \
		-1, -1, ""  \
	}

/* The directory BASE of this process's user, or NULL if there is none. */
const char *control_socket_base(void);

/*
 * Makes the socket of this process below @base, and removes those left behind there. Returns 0, to
 * be undone with control_socket_close(), or a negative errno with @err filled and @ret as it was.
 */
int control_socket_open(struct control_socket *ret, const char *base, struct error *err);
void control_socket_close(struct control_socket *s); /* accepts one that was not opened */

/* Whether the other end of @fd is this user's or root's. */
bool control_socket_trusts(int fd);

/*
 * Connects to the recorder @pid. 0: to the only recorder of this user, or, for root without one, to
 * the only one of all users. Returns 0 with a blocking descriptor in *@ret, or a negative errno
 * with @err filled; -EAGAIN: it did not within @timeout_s.
 */
int control_socket_connect(pid_t pid, unsigned int timeout_s, int *ret, struct error *err);

#endif
