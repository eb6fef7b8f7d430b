// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sys/kernel/procfs.h"

/* Whether the kernel has perf_event in a hierarchy of version 1, mounted here or not. */
static bool is_in_version_1(void)
{
	FILE *f = fopen("/proc/cgroups", "re");
	unsigned int hierarchy = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "perf_event %u", &hierarchy) != 1)
		;
	if (f)
		fclose(f);
	return hierarchy;
}

/* Stores the mount point in @ret. */
static int find_hierarchy(char *ret, size_t size, struct error *err)
{
	static const char mounts[] = "/proc/self/mounts";

	if (!mount_find(mounts, "cgroup", "perf_event", ret, size))
		return 0;
	if (is_in_version_1())
		return error_set(err, -ENOENT,
				 "perf events use cgroups of version 1 on this machine, whose "
				 "hierarchy is not mounted here: 'mount -t cgroup -o perf_event "
				 "none DIRECTORY', and give -G a cgroup in it");
	if (!mount_find(mounts, "cgroup2", NULL, ret, size))
		return 0;
	return error_set(err, -ENOENT,
			 "no hierarchy of cgroups that perf events use is mounted: mount "
			 "cgroup2, or cgroup with the controller perf_event");
}

int cgroup_open(const char *name, struct error *err)
{
	char mount[PATH_MAX], path[2 * PATH_MAX];
	size_t len;
	int fd = find_hierarchy(mount, sizeof(mount), err);

	if (fd)
		return fd;
	len = strlen(mount);
	/* The whole path, as well as one below the mount. */
	if (!strncmp(name, mount, len) && (!name[len] || name[len] == '/'))
		name += len;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", mount, name) >= sizeof(path))
		return error_set(err, -ENAMETOOLONG, "the name of the cgroup is too long");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_set(err, -ENOENT, "there is no cgroup '%.128s' in %s", name, mount);
	return fd < 0 ? error_sys(err, -errno, "cgroup '%.128s'", name) : fd;
}
