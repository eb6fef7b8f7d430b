// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

/* The list may have been made without these functions. */
static int learn_known(struct tasks *t)
{
	for (size_t i = id_table_count(&t->known); i < t->nr; i++)
		if (id_table_add(&t->known, (uint64_t)t->ids[i]) == ID_TABLE_NONE)
			return -ENOMEM;
	return 0;
}

static int tasks_push(struct tasks *t, pid_t id)
{
	uint32_t at;

	if (learn_known(t) || id_table_reserve(&t->known, 1) ||
	    array_grow(&t->ids, &t->capacity, t->nr + 1, sizeof(*t->ids)))
		return -ENOMEM;
	at = id_table_add(&t->known, (uint64_t)id);
	if (at == t->nr)
		t->ids[t->nr++] = id;
	return 0;
}

int tasks_add_threads(struct tasks *t, pid_t pid, struct error *err)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return error_set(err, -ESRCH, "there is no process %d", pid);
	while (!rc && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			rc = tasks_push(t, (pid_t)atoi(entry->d_name));
	closedir(dir);
	return rc ? error_set(err, rc, "out of memory") : 0;
}

int tasks_add_thread(struct tasks *t, pid_t tid, struct error *err)
{
	if (task_process(tid) < 0)
		return error_set(err, -ESRCH, "there is no thread %d", tid);
	if (tasks_push(t, tid))
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static bool runs_as(pid_t pid, uid_t uid)
{
	char path[64], line[256];
	unsigned int effective;
	bool is = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %*u %u", &effective) == 1) {
			is = effective == uid;
			break;
		}
	fclose(f);
	return is;
}

int tasks_add_user(struct tasks *t, uid_t uid)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && runs_as(pid, uid))
			rc = tasks_push(t, pid);
	}
	closedir(dir);
	return rc;
}

pid_t task_process(pid_t tid)
{
	char path[64], line[256];
	pid_t tgid = -ESRCH;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(f);
	return tgid;
}

bool task_is_of_another(pid_t tid, uid_t *ret)
{
	char path[64], line[256];
	unsigned int uids[3]; /* real, effective, saved */
	bool known = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!known && fgets(line, sizeof(line), f))
		known = sscanf(line, "Uid: %u %u %u", &uids[0], &uids[1], &uids[2]) == 3;
	fclose(f);
	for (size_t i = 0; known && i < 3; i++) {
		if (uids[i] == getuid())
			continue;
		*ret = uids[i];
		return true;
	}
	return false;
}

bool task_has_children(pid_t tid)
{
	char path[64];
	bool any;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", tid, tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	any = fgetc(f) != EOF;
	fclose(f);
	return any;
}

int tasks_copy(const struct tasks *t, struct tasks *ret)
{
	struct tasks copy = {0};

	if (t->nr && array_grow(&copy.ids, &copy.capacity, t->nr, sizeof(*copy.ids)))
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++)
		copy.ids[copy.nr++] = t->ids[i];
	*ret = copy;
	return 0;
}

void tasks_release(struct tasks *t)
{
	free(t->ids);
	id_table_release(&t->known);
	*t = (struct tasks){0};
}
