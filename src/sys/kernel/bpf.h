/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bpf(2) tells about loaded programs. No state; any thread.
 *
 * All return 0 (or a descriptor) or a negative errno: -EPERM without CAP_SYS_ADMIN, -EINVAL on
 * kernels that do not know the command, -ENOSYS without bpf(2).
 * Source: include/uapi/linux/bpf.h; kernel/bpf/syscall.c.
 */
#ifndef RINGTAIL_SYS_KERNEL_BPF_H
#define RINGTAIL_SYS_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/* The smallest id of a loaded program above @id; -ENOENT when there is none. */
int bpf_prog_next(uint32_t id, uint32_t *ret);

/* A descriptor (close-on-exec) of the program @id; -ENOENT when it is gone. */
int bpf_prog_open(uint32_t id);

/*
 * Fills @info for the program behind @fd. On entry @info is all zero but for the arrays wanted:
 * pointer and count of each.
 */
int bpf_prog_info_get(int fd, struct bpf_prog_info *info);

#endif
