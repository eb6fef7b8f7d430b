// SPDX-License-Identifier: Apache-2.0
#include "sys/io/notify.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const variables[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};

/*
 * Connects to a path, or to the abstract socket "@NAME". Returns a descriptor or a negative errno.
 */
static int connect_to(const char *path)
{
	const struct timeval most = {.tv_sec = 1};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int fd, rc;

	if ((*path != '/' && *path != '@') || len < 2 || len >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, len);
	if (*path == '@')
		to.sun_path[0] = '\0';
	else
		len++;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	if (!connect(fd, (const struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* 0: there is no watchdog, or it watches another process. */
static uint64_t watchdog_ms(void)
{
	const char *usec = secure_getenv("WATCHDOG_USEC"), *pid = secure_getenv("WATCHDOG_PID");
	char *end;
	uint64_t ms;

	if (!usec || *usec < '0' || *usec > '9' || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	errno = 0;
	ms = strtoull(usec, &end, 10) / 1000;
	return *end || errno ? 0 : ms;
}

void notify_open(struct notify *n)
{
	const char *path = secure_getenv("NOTIFY_SOCKET");

	*n = (struct notify)NOTIFY_INIT;
	if (path)
		n->fd = connect_to(path);
	if (n->fd >= 0)
		n->watchdog_ms = watchdog_ms();
	else
		n->fd = -1;
}

static bool is_ours(const char *entry)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		size_t len = strlen(variables[i]);

		if (!strncmp(entry, variables[i], len) && entry[len] == '=')
			return true;
	}
	return false;
}

char **notify_environment(void)
{
	char **ret;
	size_t nr = 0;

	while (environ && environ[nr])
		nr++;
	ret = calloc(nr + 1, sizeof(*ret));
	nr = 0;
	for (char **e = environ; ret && e && *e; e++)
		if (!is_ours(*e))
			ret[nr++] = *e;
	return ret;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	*n = (struct notify)NOTIFY_INIT;
}

int notify_send(const struct notify *n, const char *lines)
{
	size_t len = strlen(lines);

	if (n->fd < 0 || send(n->fd, lines, len, MSG_NOSIGNAL) == (ssize_t)len)
		return 0;
	return -errno;
}
