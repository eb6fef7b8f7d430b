// SPDX-License-Identifier: Apache-2.0
/*
 * Cgroups: id and path of each group of the hierarchy that PERF_SAMPLE_CGROUP refers to. That is
 * the version 1 hierarchy of the perf_event controller if there is one, else version 2.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/initial/synth.h"
#include "sys/kernel/procfs.h"

/* Groups found, not yet visited: paths relative to the mount ("/a/b"), owned. */
struct pending {
	char **paths;
	size_t count, capacity;
};

/* Takes over @path, also on failure. Returns 0 or -ENOMEM. */
static int pending_push(struct pending *p, char *path)
{
	if (!path || array_grow(&p->paths, &p->capacity, p->count + 1, sizeof(*p->paths))) {
		free(path);
		return -ENOMEM;
	}
	p->paths[p->count++] = path;
	return 0;
}

static void pending_release(struct pending *p)
{
	while (p->count)
		free(p->paths[--p->count]);
	free(p->paths);
}

/*
 * Reads the id of the group at @path from its file handle. Where handles are not allowed, it is the
 * inode number, which is the same on 64-bit machines (fs/kernfs: kernfs_ino).
 */
static int cgroup_id(const char *path, uint64_t *ret)
{
	union {
		struct file_handle fh;
		uint8_t room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = {.fh.handle_bytes = sizeof(uint64_t)};
	struct stat st;
	int mount_id;

	if (!name_to_handle_at(AT_FDCWD, path, &handle.fh, &mount_id, 0) &&
	    handle.fh.handle_bytes == sizeof(uint64_t)) {
		memcpy(ret, handle.room + sizeof(struct file_handle), sizeof(*ret));
		return 0;
	}
	if (stat(path, &st))
		return -errno;
	*ret = st.st_ino;
	return 0;
}

static int push_children(struct pending *p, const char *dir_path, const char *group)
{
	struct dirent *ent;
	DIR *dir = opendir(dir_path);
	int rc = 0;

	if (!dir)
		return 0;
	while (!rc && (ent = readdir(dir))) {
		char *child = NULL;

		if (ent->d_type != DT_DIR || !strcmp(ent->d_name, ".") ||
		    !strcmp(ent->d_name, ".."))
			continue;
		if (asprintf(&child, "%s/%s", strcmp(group, "/") ? group : "", ent->d_name) < 0)
			child = NULL;
		rc = pending_push(p, child);
	}
	closedir(dir);
	return rc;
}

static int synth_cgroup(struct synth *s, struct pending *p, const char *mount, const char *group)
{
	char path[2 * PATH_MAX];
	uint64_t id;
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", mount, group) >= sizeof(path))
		return 0;
	if (cgroup_id(path, &id)) /* removed meanwhile */
		return 0;
	s->stats.cgroups++;
	rc = synth_record(s, PERF_RECORD_CGROUP, 0, &id, sizeof(id), group, strlen(group));
	return rc ? rc : push_children(p, path, group);
}

int synth_cgroups(struct synth *s)
{
	char mounts[PATH_MAX], mount[PATH_MAX];
	struct pending p = {0};
	int rc;

	if ((size_t)snprintf(mounts, sizeof(mounts), "%s/mounts", s->proc) >= sizeof(mounts))
		return 0;
	if (mount_find(mounts, "cgroup", "perf_event", mount, sizeof(mount)) &&
	    mount_find(mounts, "cgroup2", NULL, mount, sizeof(mount)))
		return 0;
	rc = pending_push(&p, strdup("/"));
	while (!rc && p.count) {
		char *group = p.paths[--p.count];

		rc = synth_cgroup(s, &p, mount, group);
		free(group);
	}
	pending_release(&p);
	return rc;
}
