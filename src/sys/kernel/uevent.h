/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uevents of CPUs that go offline or come online: in order, and complete unless the socket was
 * full.
 *
 * Source: lib/kobject_uevent.c (6.1): "ACTION@DEVPATH", a NUL, and more, to multicast group 1 of
 * NETLINK_KOBJECT_UEVENT. The kernel sends it once the CPU is up or down. A container's network
 * namespace may get none.
 */
#ifndef RINGTAIL_SYS_KERNEL_UEVENT_H
#define RINGTAIL_SYS_KERNEL_UEVENT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a non-blocking descriptor that poll(2) reports readable, for close(); or a negative
 * errno. */
int uevent_open(void);

/* Reads the next uevent of a CPU. Returns 1; 0 if none is queued; -ENOBUFS if some were dropped. */
int uevent_next_cpu(int fd, int *ret_cpu, bool *ret_online);

/* Parses a message of @len bytes. Returns whether it reports a CPU that went offline or online. */
bool uevent_parse_cpu(const char *message, size_t len, int *ret_cpu, bool *ret_online);

#endif
