/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads about loaded BPF programs with bpf(2). No state; any thread.
 *
 * All return 0 (or a descriptor) or a negative errno: -EPERM without CAP_SYS_ADMIN, -EINVAL if the
 * kernel does not know the command, -ENOSYS without bpf(2).
 * Source: include/uapi/linux/bpf.h; kernel/bpf/syscall.c.
 */
#ifndef RINGTAIL_SYS_KERNEL_BPF_H
#define RINGTAIL_SYS_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/* Finds the smallest id of a loaded program above @id. -ENOENT: there is none. */
int bpf_prog_next(uint32_t id, uint32_t *ret);

/* Returns a descriptor (close-on-exec) of the program @id for close(). -ENOENT: it was unloaded. */
int bpf_prog_open(uint32_t id);

/*
 * Fills @info for the program of @fd. On entry @info is all zero except pointer and count of each
 * array that the caller wants.
 */
int bpf_prog_info_get(int fd, struct bpf_prog_info *info);

#endif
