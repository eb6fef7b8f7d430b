// SPDX-License-Identifier: Apache-2.0
#include "record/plan/tracefs_probe.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#include "sys/io/file.h"

#define GROUP "ringtail_"

/* Most probes of a process; and tries, every 10 ms, to remove a probe that is in use. */
#define PROBES_MAX 4096
#define BUSY_TRIES 20

struct tracefs_probe {
	char *root;
	char name[48]; /* "ringtail_123/p0" */
	uint64_t id;
};

/* Writes one command. O_APPEND, because truncating would remove the probes of others. */
static int command(const char *root, const char *text)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/uprobe_events", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	rc = n < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int remove_probe(const char *root, const char *name)
{
	char text[NAME_MAX * 2 + 8];

	snprintf(text, sizeof(text), "-:%s\n", name);
	return command(root, text);
}

/* --- stale probes --------------------------------------------------------------------------------
 */

static void remove_group(const char *root, const char *group)
{
	char path[PATH_MAX], name[NAME_MAX * 2 + 2];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/events/%s", root, group) >= (int)sizeof(path))
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", group, entry->d_name);
		remove_probe(root, name);
	}
	if (dir)
		closedir(dir);
}

/* A zombie may stay for ever: PID 1 of a container often does not wait for its children. */
static bool is_zombie(pid_t pid)
{
	struct buf text = {0};
	const char *state = NULL;
	bool zombie = false;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!file_read_at(AT_FDCWD, path, &text) && text.len)
		state = memrchr(text.data, ')', text.len);
	if (state)
		zombie = !strncmp(state, ") Z", 3);
	buf_release(&text);
	return zombie;
}

static bool has_ended(pid_t pid)
{
	return (kill(pid, 0) && errno == ESRCH) || is_zombie(pid);
}

/* A process of another PID namespace may still use a probe: the kernel then refuses to remove it.
 */
static void remove_stale(const char *root)
{
	char path[PATH_MAX], *end;
	struct dirent *entry;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/events", root) >= (int)sizeof(path))
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		const char *digits = entry->d_name + strlen(GROUP);
		long pid;

		if (strncmp(entry->d_name, GROUP, strlen(GROUP)) != 0 ||
		    !isdigit((unsigned char)*digits))
			continue;
		pid = strtol(digits, &end, 10);
		if (!*end && pid > 0 && pid <= INT_MAX && has_ended((pid_t)pid))
			remove_group(root, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* --- one probe -----------------------------------------------------------------------------------
 */

static bool is_free(const char *root, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/events/%s", root, name) < (int)sizeof(path) &&
	       access(path, F_OK) != 0;
}

static int find_name(struct tracefs_probe *probe)
{
	for (unsigned int i = 0; i < PROBES_MAX; i++) {
		snprintf(probe->name, sizeof(probe->name), GROUP "%d/p%u", getpid(), i);
		if (is_free(probe->root, probe->name))
			return 0;
	}
	return -EEXIST;
}

/*
 * The kernel splits a command at white space, so a path that has any is given as /proc/self/fd/N.
 */
static int make_at(struct tracefs_probe *probe, const char *file, uint64_t offset, bool returns)
{
	int fd = open(file, O_PATH | O_CLOEXEC), rc;
	char *text;

	if (fd < 0)
		return -errno;
	if (strpbrk(file, " \t\r\n\v\f#"))
		rc = asprintf(&text, "%c:%s /proc/self/fd/%d:0x%llx\n", returns ? 'r' : 'p',
			      probe->name, fd, (unsigned long long)offset);
	else
		rc = asprintf(&text, "%c:%s %s:0x%llx\n", returns ? 'r' : 'p', probe->name, file,
			      (unsigned long long)offset);
	if (rc >= 0) {
		rc = command(probe->root, text);
		free(text);
	} else {
		rc = -ENOMEM;
	}
	close(fd);
	return rc;
}

static int make(struct tracefs_probe *probe, const char *file, uint64_t offset, bool returns,
		struct error *err)
{
	long long id;
	int rc = find_name(probe);

	if (!rc)
		rc = make_at(probe, file, offset, returns);
	if (rc) {
		probe->name[0] = '\0';
		return error_sys(err, rc, "cannot make a probe in %.200s/uprobe_events",
				 probe->root);
	}
	rc = file_number(&id, "%s/events/%s/id", probe->root, probe->name);
	if (rc)
		return error_sys(err, rc, "cannot read the number of a probe in %.200s",
				 probe->root);
	probe->id = (uint64_t)id;
	return 0;
}

int tracefs_probe_new(const char *root, const char *file, uint64_t offset, bool returns,
		      struct tracefs_probe **ret, struct error *err)
{
	struct tracefs_probe *probe = calloc(1, sizeof(*probe));
	int rc;

	if (!root)
		root = tracefs_tracing_dir();
	if (probe && root)
		probe->root = strdup(root);
	if (!probe || (root && !probe->root)) {
		tracefs_probe_free(probe);
		return error_set(err, -ENOMEM, "out of memory");
	}
	if (!root) {
		tracefs_probe_free(probe);
		return error_set(err, -ENXIO, "tracefs is not mounted");
	}
	remove_stale(root);
	rc = make(probe, file, offset, returns, err);
	if (rc)
		tracefs_probe_free(probe);
	else
		*ret = probe;
	return rc;
}

void tracefs_probe_free(struct tracefs_probe *probe)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	if (!probe)
		return;
	/* Events of tasks that are ending may use it for a moment. */
	for (int i = 0; *probe->name && i < BUSY_TRIES; i++) {
		if (remove_probe(probe->root, probe->name) != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	free(probe->root);
	free(probe);
}

uint64_t tracefs_probe_id(const struct tracefs_probe *probe)
{
	return probe->id;
}
