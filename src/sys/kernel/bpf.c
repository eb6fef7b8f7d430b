// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf_call(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

int bpf_prog_next(uint32_t id, uint32_t *ret)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	rc = bpf_call(BPF_PROG_GET_NEXT_ID, &attr);
	if (rc)
		return rc;
	*ret = attr.next_id;
	return 0;
}

int bpf_prog_open(uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	return bpf_call(BPF_PROG_GET_FD_BY_ID, &attr); /* the kernel sets close-on-exec */
}

int bpf_prog_info_get(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}
