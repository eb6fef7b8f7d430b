// SPDX-License-Identifier: Apache-2.0
/*
 * Synthesizes processes: for each thread FORK, NAMESPACES and COMM; the maps follow those of the
 * leader. This is the order of perf.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record/initial/synth.h"
#include "sys/io/file.h"
#include "sys/kernel/procfs.h"

#define COMM_LEN 15 /* TASK_COMM_LEN without its NUL; workqueue threads show more in procfs */

/* The current process. */
struct synth_process {
	pid_t pid;
	uint32_t nr_threads;
	bool want_maps; /* not yet found, and not known to be out of reach */
};

/* Reads a file of procfs into s->text. Returns 0, -ENOMEM, or 1 when it cannot be read. */
static int read_proc(struct synth *s, const char *path, bool *denied)
{
	int rc;

	s->text.len = 0;
	rc = file_read_at(s->proc_fd, path, &s->text);
	if (denied)
		*denied = rc == -EACCES || rc == -EPERM;
	return rc && rc != -ENOMEM ? 1 : rc;
}

static int synth_fork(struct synth *s, pid_t pid, pid_t tid, pid_t parent)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = {(uint32_t)pid, (uint32_t)parent, (uint32_t)tid, (uint32_t)parent, 0};

	/* FORK_EXEC: readers must not give the child a copy of its parent's maps; its own follow.
	 */
	return synth_record(s, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, &body, sizeof(body),
			    NULL, 0);
}

static int synth_comm(struct synth *s, pid_t pid, pid_t tid, const char *comm, size_t len)
{
	uint32_t body[2] = {(uint32_t)pid, (uint32_t)tid};

	return synth_record(s, PERF_RECORD_COMM, 0, body, sizeof(body), comm,
			    len < COMM_LEN ? len : COMM_LEN);
}

/* As the kernel's new_encode_dev(). */
static uint64_t encode_dev(dev_t dev)
{
	uint32_t maj = major(dev), min = minor(dev);

	return (min & 0xff) | (maj << 8) | ((min & ~0xffu) << 12);
}

/*
 * Reads the inode of a namespace in the directory @ns_fd. All are in one file system (nsfs), so its
 * device is read once: reading the link "net:[4026531840]" costs a fraction of a stat().
 */
static bool read_namespace(struct synth *s, int ns_fd, const char *name, uint64_t *ret_ino)
{
	char text[64], *bracket;
	struct stat st;
	ssize_t n;

	if (!s->nsfs_dev) {
		if (fstatat(ns_fd, name, &st, 0))
			return false;
		s->nsfs_dev = encode_dev(st.st_dev);
	}
	n = readlinkat(ns_fd, name, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	bracket = strchr(text, '[');
	if (!bracket)
		return false;
	*ret_ino = strtoull(bracket + 1, NULL, 10);
	return true;
}

static int synth_namespaces(struct synth *s, pid_t pid, pid_t tid)
{
	static const char *const names[NR_NAMESPACES] = {
		[NET_NS_INDEX] = "net",	      [UTS_NS_INDEX] = "uts",	[IPC_NS_INDEX] = "ipc",
		[PID_NS_INDEX] = "pid",	      [USER_NS_INDEX] = "user", [MNT_NS_INDEX] = "mnt",
		[CGROUP_NS_INDEX] = "cgroup",
	};
	struct {
		uint32_t pid, tid;
		uint64_t nr;
		struct {
			uint64_t dev, ino;
		} link[NR_NAMESPACES];
	} body = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .nr = NR_NAMESPACES};
	bool any = false;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%d/task/%d/ns", pid, tid);
	fd = openat(s->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (int i = 0; i < NR_NAMESPACES; i++) {
		if (!read_namespace(s, fd, names[i], &body.link[i].ino))
			continue;
		body.link[i].dev = s->nsfs_dev;
		any = true;
	}
	close(fd);
	if (!any)
		return 0;
	return synth_record(s, PERF_RECORD_NAMESPACES, 0, &body, sizeof(body), NULL, 0);
}

/*
 * Reads the build-id of a mapped file: of the map's own file, else of the file with its name in the
 * process's root.
 */
static void read_map_build_id(struct synth *s, pid_t pid, const struct proc_map *map,
			      struct build_id *ret)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	*ret = (struct build_id){0};
	if (!build_id_of_path(s->proc_fd, path, ret))
		return;
	if ((size_t)snprintf(path, sizeof(path), "%d/root%.*s", pid, (int)map->name_len,
			     map->name) < sizeof(path))
		build_id_of_path(s->proc_fd, path, ret);
}

/* *ret: NULL if the map has no file. Returns 0 or -ENOMEM. */
static int find_map_build_id(struct synth *s, pid_t pid, const struct proc_map *map,
			     const struct build_id **ret)
{
	struct build_id_key key = {map->maj, map->min, map->ino};
	struct build_id id;
	int rc;

	*ret = NULL;
	if (!s->build_ids || !map->ino || !map->name_len || map->name[0] != '/' ||
	    map->name_len > PATH_MAX)
		return 0;
	*ret = build_id_cache_find(s->build_ids, &key);
	if (*ret)
		return 0;
	read_map_build_id(s, pid, map, &id);
	rc = build_id_cache_add(s->build_ids, &key, &id);
	if (!rc)
		*ret = build_id_cache_find(s->build_ids, &key);
	return rc;
}

static bool has_prefix(const struct proc_map *map, const char *prefix)
{
	size_t len = strlen(prefix);

	return map->name_len >= len && !memcmp(map->name, prefix, len);
}

/* Names follow the kernel's own records: memory without a file is "//anon". */
static bool is_anon(const struct synth *s, const struct proc_map *map, bool *ret_huge)
{
	*ret_huge = s->hugetlbfs[0] && has_prefix(map, s->hugetlbfs);
	return !map->name_len || *ret_huge || has_prefix(map, "[anon:") ||
	       has_prefix(map, "[anon_shmem:");
}

static int synth_user_map(struct synth *s, pid_t pid, const struct proc_map *map)
{
	struct synth_map m = {
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.addr = map->start,
		.len = map->end - map->start,
		.pgoff = map->pgoff,
		.maj = map->maj,
		.min = map->min,
		.ino = map->ino,
		.prot = map->prot,
		.flags = map->flags,
		.name = map->name,
		.name_len = map->name_len,
	};
	bool huge;
	int rc;

	if (!(map->prot & PROT_EXEC)) {
		if (!s->opts->data_maps || !(map->prot & PROT_READ))
			return 0;
		m.misc |= PERF_RECORD_MISC_MMAP_DATA;
	}
	if (is_anon(s, map, &huge)) {
		m.name = "//anon";
		m.name_len = strlen(m.name);
		m.flags |= huge ? MAP_HUGETLB : 0;
	} else {
		rc = find_map_build_id(s, pid, map, &m.build_id);
		if (rc)
			return rc;
	}
	return synth_mmap2(s, &m);
}

/*
 * Reads the maps of @proc through its thread @tid. A leader that has exited before its threads has
 * none, so the caller tries each thread until one has maps.
 */
static int synth_maps(struct synth *s, struct synth_process *proc, pid_t tid)
{
	struct text_lines it;
	struct proc_map map;
	char path[64], *line;
	bool denied;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "%d/task/%d/maps", proc->pid, tid);
	rc = read_proc(s, path, &denied);
	if (denied) {
		if (!s->stats.denied++)
			s->stats.first_denied = proc->pid;
		proc->want_maps = false;
	}
	if (rc)
		return rc < 0 ? rc : 0;
	it = (struct text_lines){(char *)s->text.data, (char *)s->text.data + s->text.len};
	while (!rc && text_next_line(&it, &line, &len)) {
		if (proc_map_parse(line, len, &map))
			continue;
		proc->want_maps = false;
		rc = synth_user_map(s, proc->pid, &map);
	}
	return rc;
}

static int synth_thread(struct synth *s, struct synth_process *proc, pid_t tid)
{
	struct proc_stat stat;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "%d/task/%d/stat", proc->pid, tid);
	rc = read_proc(s, path, NULL);
	if (rc)
		return rc < 0 ? rc : 0;
	if (proc_stat_parse((char *)s->text.data, s->text.len, &stat))
		return 0;
	if (tid == proc->pid)
		proc->nr_threads = stat.nr_threads;
	s->stats.tasks++;
	if (!s->opts->no_tasks)
		rc = synth_fork(s, proc->pid, tid, tid == proc->pid ? stat.ppid : proc->pid);
	if (!rc && s->opts->namespaces && !s->opts->no_tasks)
		rc = synth_namespaces(s, proc->pid, tid);
	if (!rc && !s->opts->no_tasks)
		rc = synth_comm(s, proc->pid, tid, stat.comm, stat.comm_len);
	if (!rc && proc->want_maps && !stat.kthread)
		rc = synth_maps(s, proc, tid);
	return rc;
}

int synth_process(struct synth *s, pid_t pid)
{
	struct synth_process proc = {.pid = pid,
				     .want_maps = !s->opts->about_to_exec && !s->opts->no_maps};
	struct dirent *ent;
	char path[64];
	DIR *dir;
	int fd, rc;

	rc = synth_thread(s, &proc, pid);
	if (rc || proc.nr_threads <= 1)
		return rc;
	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(s->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return 0;
	}
	while (!rc && (ent = readdir(dir))) {
		char *end;
		long tid = strtol(ent->d_name, &end, 10);

		if (end != ent->d_name && !*end && tid > 0 && tid <= INT_MAX && tid != pid)
			rc = synth_thread(s, &proc, (pid_t)tid);
	}
	closedir(dir);
	return rc;
}
