/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifies the service manager of the service's state, by datagrams of lines "NAME=value".
 *
 * The environment names the socket. Source: sd_notify(3), sd_watchdog_enabled(3) of systemd 252.
 * One thread.
 */
#ifndef RINGTAIL_SYS_IO_NOTIFY_H
#define RINGTAIL_SYS_IO_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* -1: no service manager listens */
	uint64_t watchdog_ms; /* the manager expects a message at least this often; 0: never */
};

#define NOTIFY_INIT      \
	{                \
		.fd = -1 \
	}

/*
 * Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. A socket that cannot be reached, or is of
 * another kind, counts as none.
 */
void notify_open(struct notify *n);

/*
 * Returns the environment without these variables, because a started command must not notify for
 * us. The array is for free(); its strings are those of environ. NULL: memory is short.
 */
char **notify_environment(void);

/* Closes the socket; accepts NOTIFY_INIT. */
void notify_close(struct notify *n);

/* Sends @lines; waits a second at most. Returns 0, also without a manager, or a negative errno. */
int notify_send(const struct notify *n, const char *lines);

#endif
