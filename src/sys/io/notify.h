/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the service manager how a service is: datagrams of lines "NAME=value" to the socket that it
 * names in the environment.
 *
 * Source: sd_notify(3), sd_watchdog_enabled(3) of systemd 252. One thread.
 */
#ifndef RINGTAIL_SYS_IO_NOTIFY_H
#define RINGTAIL_SYS_IO_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* -1: nobody wants to know */
	uint64_t watchdog_ms; /* it wants to hear of us that often at least; 0: never */
};

#define NOTIFY_INIT      \
	{                \
		.fd = -1 \
	}

/*
 * Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. A socket that cannot be reached or is of
 * another kind counts as none.
 */
void notify_open(struct notify *n);

/*
 * The environment without these variables: commands that we start must not speak for us. Returns an
 * array to be freed with free(), whose strings are those of environ; NULL when out of memory.
 */
char **notify_environment(void);

void notify_close(struct notify *n); /* accepts NOTIFY_INIT */

/* Waits for a second at most. Returns 0, also if nobody wants to know, or a negative errno. */
int notify_send(const struct notify *n, const char *lines);

#endif
