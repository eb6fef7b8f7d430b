// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sys/kernel/procfs.h"

int cgroup_open(const char *name, struct error *err)
{
	static const char mounts[] = "/proc/self/mounts";
	char mount[PATH_MAX], path[2 * PATH_MAX];
	size_t len;
	int fd;

	if (mount_find(mounts, "cgroup", "perf_event", mount, sizeof(mount)) &&
	    mount_find(mounts, "cgroup2", NULL, mount, sizeof(mount)))
		return error_set(err, -ENOENT,
				 "no hierarchy of cgroups that perf events use is mounted: mount "
				 "cgroup2, or cgroup with the controller perf_event");
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
