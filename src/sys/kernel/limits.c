// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROC_KERNEL "/proc/sys/kernel/"

/* PROC_USER_INIT_INO of include/linux/proc_ns.h */
#define FIRST_USER_NAMESPACE 0xeffffffdu

static long sysctl_read(const char *path, long otherwise)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return otherwise;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return otherwise;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/*
 * perf_event_open() and mmap() check the capabilities of the first user namespace only: those of a
 * container's own do not count.
 */
static bool in_first_user_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) || st.st_ino == FIRST_USER_NAMESPACE;
}

static bool cap_effective(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return caps && cap_get_flag(caps, cap, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

void limits_read(struct limits *ret)
{
	cap_t caps = cap_get_proc();
	bool first = in_first_user_namespace();
	struct rlimit lock = {0, 0};

	ret->admin = first && cap_effective(caps, CAP_SYS_ADMIN);
	ret->perfmon = ret->admin || (first && cap_effective(caps, CAP_PERFMON));
	ret->ipc_lock = first && cap_effective(caps, CAP_IPC_LOCK);
	ret->ptrace = cap_effective(caps, CAP_SYS_PTRACE);
	if (caps)
		cap_free(caps);
	ret->paranoid = (int)sysctl_read(PROC_KERNEL "perf_event_paranoid", 2);
	ret->kptr_restrict = (int)sysctl_read(PROC_KERNEL "kptr_restrict", 1);
	ret->mlock_kb = (uint64_t)sysctl_read(PROC_KERNEL "perf_event_mlock_kb", 516);
	ret->max_sample_rate =
		(uint64_t)sysctl_read(PROC_KERNEL "perf_event_max_sample_rate", 100000);
	getrlimit(RLIMIT_MEMLOCK, &lock);
	ret->memlock = lock.rlim_cur == RLIM_INFINITY ? UINT64_MAX : lock.rlim_cur;
	ret->page_size = (size_t)sysconf(_SC_PAGESIZE);
	ret->mem_total = (uint64_t)sysconf(_SC_PHYS_PAGES) * ret->page_size;
}

bool limits_may_kernel(const struct limits *l)
{
	return l->perfmon || l->paranoid < 2;
}

bool limits_may_cpu(const struct limits *l)
{
	return l->perfmon || l->paranoid < 1;
}

uint64_t limits_ring_size(const struct limits *l, uint64_t want, size_t nr_rings, uint64_t beside,
			  size_t online)
{
	uint64_t rings = nr_rings ? nr_rings : 1;
	uint64_t bound = l->mem_total / 64 / rings;
	uint64_t size = l->page_size;

	/* perf_mmap() counts against perf_event_mlock_kb first, then against RLIMIT_MEMLOCK. */
	if (!l->ipc_lock && l->paranoid > -1 && l->memlock != UINT64_MAX) {
		uint64_t each = (l->mlock_kb * 1024 * online + l->memlock) / rings;

		beside += l->page_size; /* the header page */
		each = each > beside ? each - beside : 0;
		if (each < bound)
			bound = each;
	}
	if (want < bound)
		bound = want;
	while (size * 2 <= bound)
		size *= 2;
	return size;
}

uint64_t limits_raise_files(uint64_t need)
{
	struct rlimit now, more;

	if (getrlimit(RLIMIT_NOFILE, &now) < 0)
		return 0;
	if (now.rlim_cur >= need)
		return now.rlim_cur;
	more = now;
	more.rlim_cur = need;
	if (more.rlim_max < need)
		more.rlim_max = need; /* needs CAP_SYS_RESOURCE */
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		return more.rlim_cur;
	now.rlim_cur = now.rlim_max;
	setrlimit(RLIMIT_NOFILE, &now);
	getrlimit(RLIMIT_NOFILE, &now);
	return now.rlim_cur;
}
