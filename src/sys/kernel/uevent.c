// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/parse.h"
#include "sys/kernel/cpus.h"

#define GROUP_KERNEL 1 /* the kernel's messages, not those that udev forwards */

int uevent_open(void)
{
	const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL};
	int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	int rc;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

bool uevent_parse_cpu(const char *message, size_t len, int *ret_cpu, bool *ret_online)
{
	static const char path[] = "@/devices/system/cpu/cpu";
	const char *at = memchr(message, '@', len), *number;
	size_t action = at ? (size_t)(at - message) : 0;
	bool online = action == 6 && !memcmp(message, "online", 6);
	uint64_t cpu;

	if (!memchr(message, '\0', len) ||
	    (!online && (action != 7 || memcmp(message, "offline", 7))))
		return false;
	if (strncmp(at, path, sizeof(path) - 1))
		return false;
	number = at + sizeof(path) - 1;
	if (parse_u64(number, &cpu) || cpu >= CPUS_MAX)
		return false;
	*ret_cpu = (int)cpu;
	*ret_online = online;
	return true;
}

int uevent_next_cpu(int fd, int *ret_cpu, bool *ret_online)
{
	char message[4096];
	struct sockaddr_nl from;
	socklen_t size;
	ssize_t n;

	for (;;) {
		size = sizeof(from);
		n = recvfrom(fd, message, sizeof(message), 0, (struct sockaddr *)&from, &size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ENOBUFS ? -ENOBUFS : 0;
		/* Other senders can reach this socket, too; only the kernel has port 0. */
		if (size == sizeof(from) && !from.nl_pid &&
		    uevent_parse_cpu(message, (size_t)n, ret_cpu, ret_online))
			return 1;
	}
}
