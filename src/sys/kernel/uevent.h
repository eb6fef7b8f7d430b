/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of CPUs that go offline and come online, in order and none left out unless
 * the socket was full.
 *
 * Source: lib/kobject_uevent.c (6.1): "ACTION@DEVPATH", a NUL, and more, to multicast group 1 of
 * NETLINK_KOBJECT_UEVENT. It is sent when the CPU is up or down. Network namespaces of containers
 * may get none.
 */
#ifndef RINGTAIL_SYS_KERNEL_UEVENT_H
#define RINGTAIL_SYS_KERNEL_UEVENT_H

#include <stdbool.h>
#include <stddef.h>

/* A non-blocking descriptor that is readable when there is something, or a negative errno. */
int uevent_open(void);

/* The next of a CPU. Returns 1; 0: there is none now; -ENOBUFS: some were left out. */
int uevent_next_cpu(int fd, int *ret_cpu, bool *ret_online);

/* Reads a message of @len bytes. Returns whether it is about a CPU that went or came. */
bool uevent_parse_cpu(const char *message, size_t len, int *ret_cpu, bool *ret_online);

#endif
