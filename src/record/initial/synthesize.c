// SPDX-License-Identifier: Apache-2.0
#include "record/initial/synthesize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/initial/synth.h"
#include "sys/kernel/procfs.h"

/* The longest name the kernel writes (kernel/events/core.c: PATH_MAX - sizeof(u64), with its NUL).
 */
#define NAME_MAX_LEN (PATH_MAX - 8 - 1)

int synth_record(struct synth *s, uint32_t type, uint16_t misc, const void *body, size_t body_len,
		 const char *name, size_t name_len)
{
	struct perf_event_header hdr = {.type = type, .misc = misc};
	size_t padded;
	int rc;

	if (name && name_len > NAME_MAX_LEN) {
		name = "//toolong";
		name_len = strlen(name);
	}
	padded = name ? (name_len + 8) / 8 * 8 : 0;
	hdr.size = (uint16_t)(sizeof(hdr) + body_len + padded + s->opts->id_size);
	s->rec.len = 0;
	rc = buf_append(&s->rec, &hdr, sizeof(hdr));
	if (!rc)
		rc = buf_append(&s->rec, body, body_len);
	if (!rc && name)
		rc = buf_append(&s->rec, name, name_len);
	if (!rc)
		rc = buf_zero(&s->rec, hdr.size - s->rec.len);
	if (rc)
		return rc;
	return s->emit((const struct perf_event_header *)s->rec.data, s->arg);
}

int synth_mmap2(struct synth *s, const struct synth_map *map)
{
	struct pd_mmap m = {
		.pid = map->pid,
		.tid = map->tid,
		.addr = map->addr,
		.len = map->len,
		.pgoff = map->pgoff,
		.maj = map->maj,
		.min = map->min,
		.ino = map->ino,
		.prot = map->prot,
		.flags = map->flags,
	};
	struct pd_mmap2_body body;
	uint16_t misc;

	if (map->build_id && map->build_id->size) {
		m.build_id_size = map->build_id->size;
		memcpy(m.build_id, map->build_id->id, sizeof(m.build_id));
	}
	misc = map->misc | pd_mmap2_encode(&m, &body);
	s->stats.maps++;
	return synth_record(s, PERF_RECORD_MMAP2, misc, &body, sizeof(body), map->name,
			    map->name_len);
}

static int synth_all_processes(struct synth *s)
{
	struct dirent *ent;
	int fd, rc = 0;
	DIR *dir;

	fd = openat(s->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while (!rc && (ent = readdir(dir))) {
		char *end;
		long pid;

		if (ent->d_name[0] < '1' || ent->d_name[0] > '9')
			continue;
		pid = strtol(ent->d_name, &end, 10);
		if (!*end && pid <= INT_MAX)
			rc = synth_process(s, (pid_t)pid);
	}
	closedir(dir);
	return rc;
}

static int synth_tasks(struct synth *s)
{
	char mounts[PATH_MAX];
	int rc = 0;

	if ((size_t)snprintf(mounts, sizeof(mounts), "%s/mounts", s->proc) >= sizeof(mounts) ||
	    mount_find(mounts, "hugetlbfs", NULL, s->hugetlbfs, sizeof(s->hugetlbfs)))
		s->hugetlbfs[0] = '\0';
	if (s->opts->all)
		return synth_all_processes(s);
	for (size_t i = 0; !rc && i < s->opts->nr_pids; i++)
		rc = synth_process(s, s->opts->pids[i]);
	return rc;
}

int synthesize(const struct synth_opts *opts, record_emit_fn *emit, void *arg,
	       struct synth_stats *ret_stats, struct error *err)
{
	struct synth s = {.opts = opts, .emit = emit, .arg = arg, .proc = opts->proc};
	int rc = -ENOMEM;

	if (!s.proc)
		s.proc = "/proc";
	s.proc_fd = open(s.proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.proc_fd < 0)
		return error_sys(err, -errno, "cannot list the running processes in %s", s.proc);
	if (opts->build_ids) {
		s.build_ids = build_id_cache_new();
		if (!s.build_ids)
			goto out;
	}
	rc = opts->kernel ? synth_kernel(&s) : 0;
	if (!rc && opts->cgroups)
		rc = synth_cgroups(&s);
	if (!rc && !(opts->no_tasks && opts->no_maps))
		rc = synth_tasks(&s);
	if (!rc && ret_stats)
		*ret_stats = s.stats;
out:
	if (rc && err && !err->code)
		error_sys(err, rc,
			  "cannot record the tasks and maps that existed before the recording");
	build_id_cache_free(s.build_ids);
	buf_release(&s.text);
	buf_release(&s.rec);
	close(s.proc_fd);
	return rc;
}
