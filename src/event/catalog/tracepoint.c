// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/tracepoint.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/parse.h"

static bool is_pattern(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

const char *tracepoint_root(const struct event_env *env)
{
	return env->tracefs ? env->tracefs : tracefs_tracing_dir();
}

/* Builds root/events[/sys[/name]]; false if it gets too long. */
static bool events_path(const char *root, const char *sys, const char *name, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/events%s%s%s%s", root, *sys ? "/" : "", sys,
			 *name ? "/" : "", name);

	return n > 0 && (size_t)n < size;
}

static int add_tracepoint(struct tracepoint_list *list, const char *sys, const char *name,
			  uint64_t id)
{
	int rc = array_grow(&list->items, &list->cap, list->count + 1, sizeof(*list->items));
	char *full;

	if (rc)
		return rc;
	if (asprintf(&full, "%s:%s", sys, name) < 0)
		return -ENOMEM;
	list->items[list->count++] = (struct tracepoint){full, id};
	return 0;
}

/*
 * Explains why tracefs refuses access. Since Linux 5.16 the mount's mode opens only its top
 * directory: the files below belong to root and the mount's group. Besides, the kernel gives
 * tracepoints only to users who may see everything.
 */
static int access_error(const char *root, const char *what, int rc, struct error *err)
{
	if (rc == -EACCES || rc == -EPERM)
		return error_set(
			err, -EACCES,
			"tracepoint '%.96s': %.96s is not readable for this user: run as "
			"root; or as root: mount -o remount,mode=755,gid=%u %.96s && sysctl "
			"kernel.perf_event_paranoid=-1",
			what, root, getegid(), root);
	return error_sys(err, rc, "tracepoint '%.128s': %.200s", what, root);
}

static int not_mounted(const char *root, const char *what, struct error *err)
{
	char options[32] = "";

	if (geteuid() != 0)
		snprintf(options, sizeof(options), " -o mode=755,gid=%u", getegid());
	return error_set(err, -ENXIO,
			 "tracepoint '%.96s': no tracefs at %.96s; as root: mount -t tracefs%s "
			 "nodev %.96s%s",
			 what, root, options, root,
			 *options ? " && sysctl kernel.perf_event_paranoid=-1" : "");
}

/* Reads events/sys/name/id. Returns 0, -ENOENT if there is no such tracepoint, or another errno. */
static int read_id(const char *root, const char *sys, const char *name, uint64_t *ret)
{
	char path[PATH_MAX], text[32];
	size_t len;
	int n;

	if (sys[0] == '.' || name[0] == '.' || strchr(sys, '/') || strchr(name, '/'))
		return -ENOENT;
	if (!events_path(root, sys, name, path, sizeof(path)))
		return -ENOENT;
	len = strlen(path);
	if (sizeof(path) - len < sizeof("/id"))
		return -ENOENT;
	memcpy(path + len, "/id", sizeof("/id"));
	n = read_small_file(path, text, sizeof(text));
	if (n == -ENOTDIR || n == -ENAMETOOLONG)
		return -ENOENT;
	if (n < 0)
		return n;
	return parse_u64(text, ret) == 0 ? 0 : -EBADMSG;
}

static int find_plain(const char *root, const char *sys, const char *name,
		      struct tracepoint_list *ret, struct error *err)
{
	char path[PATH_MAX], what[256];
	uint64_t id;
	int rc = read_id(root, sys, name, &id);

	if (!rc)
		return add_tracepoint(ret, sys, name, id);
	snprintf(what, sizeof(what), "%s:%s", sys, name);
	if (rc == -EBADMSG)
		return error_set(err, rc, "tracepoint '%s': its id is no number", what);
	if (rc != -ENOENT)
		return access_error(root, what, rc, err);
	/* "No such file" may also mean that nothing is mounted there. */
	if (events_path(root, "", "", path, sizeof(path))) {
		struct name_list probe = {0};

		rc = name_list_read_dir(&probe, path);
		name_list_release(&probe);
		if (rc == -EACCES || rc == -EPERM)
			return access_error(root, what, rc, err);
		if (rc == -ENOENT)
			return not_mounted(root, what, err);
	}
	return error_set(err, -ENOENT, "unknown tracepoint '%s'", what);
}

/* Adds the tracepoints of one system that match @name. */
static int find_in_system(const char *root, const char *sys, const char *name,
			  struct tracepoint_list *ret, int *ret_problem)
{
	char path[PATH_MAX];
	struct name_list names = {0};
	int rc;

	if (sys[0] == '.' || strchr(sys, '/') || !events_path(root, sys, "", path, sizeof(path)))
		return 0;
	rc = name_list_read_dir(&names, path);
	if (rc && rc != -ENOMEM) {
		if (rc != -ENOENT && rc != -ENOTDIR)
			*ret_problem = rc;
		rc = 0;
	}
	for (size_t i = 0; !rc && i < names.count; i++) {
		uint64_t id;
		int found;

		if (fnmatch(name, names.names[i], 0) != 0)
			continue;
		found = read_id(root, sys, names.names[i], &id);
		if (!found)
			rc = add_tracepoint(ret, sys, names.names[i], id);
		else if (found != -ENOENT)
			*ret_problem = found;
	}
	name_list_release(&names);
	return rc;
}

static int find_pattern(const char *root, const char *sys, const char *name,
			struct tracepoint_list *ret, struct error *err)
{
	struct name_list systems = {0};
	char path[PATH_MAX], what[256];
	size_t before = ret->count;
	int rc = 0, problem = 0;

	snprintf(what, sizeof(what), "%s:%s", sys, name);
	if (!is_pattern(sys)) {
		rc = name_list_add(&systems, sys);
	} else if (events_path(root, "", "", path, sizeof(path))) {
		rc = name_list_read_dir(&systems, path);
		if (rc && rc != -ENOMEM) {
			name_list_release(&systems);
			return rc == -ENOENT ? not_mounted(root, what, err)
					     : access_error(root, what, rc, err);
		}
	}
	for (size_t i = 0; !rc && i < systems.count; i++) {
		if (!is_pattern(sys) || fnmatch(sys, systems.names[i], 0) == 0)
			rc = find_in_system(root, systems.names[i], name, ret, &problem);
	}
	name_list_release(&systems);
	if (rc)
		return rc;
	/* A pattern that is followed only in part would record less than the user asked for. */
	if (problem == -EBADMSG)
		return error_set(err, problem, "tracepoint '%s': an id is no number", what);
	if (problem)
		return access_error(root, what, problem, err);
	if (ret->count == before)
		return error_set(err, -ENOENT, "no tracepoint fits '%s'", what);
	return 0;
}

int tracepoint_find(const struct event_env *env, const char *sys, const char *name,
		    struct tracepoint_list *ret, struct error *err)
{
	const char *root = tracepoint_root(env);

	if (!root) {
		char what[192];

		snprintf(what, sizeof(what), "%.64s:%.64s", sys, name);
		return not_mounted("/sys/kernel/tracing", what, err);
	}
	if (!*sys || !*name)
		return error_set(err, -ENOENT, "unknown tracepoint '%.64s:%.64s'", sys, name);
	if (is_pattern(sys) || is_pattern(name))
		return find_pattern(root, sys, name, ret, err);
	return find_plain(root, sys, name, ret, err);
}

void tracepoint_list_release(struct tracepoint_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct tracepoint_list){0};
}

/* A system's folder also has files, such as "enable" and "filter". */
static bool is_tracepoint(const char *root, const char *sys, const char *name)
{
	char path[PATH_MAX];
	size_t len;

	if (!events_path(root, sys, name, path, sizeof(path)))
		return false;
	len = strlen(path);
	if (sizeof(path) - len < sizeof("/id"))
		return false;
	memcpy(path + len, "/id", sizeof("/id"));
	return access(path, F_OK) == 0;
}

int tracepoint_names(const struct event_env *env, struct name_list *ret)
{
	const char *root = tracepoint_root(env);
	struct name_list systems = {0}, names = {0};
	char path[PATH_MAX], full[NAME_MAX * 2];
	int rc;

	if (!root || !events_path(root, "", "", path, sizeof(path)))
		return 0;
	rc = name_list_read_dir(&systems, path);
	for (size_t i = 0; rc != -ENOMEM && i < systems.count; i++) {
		if (!events_path(root, systems.names[i], "", path, sizeof(path)))
			continue;
		rc = name_list_read_dir(&names, path);
		for (size_t j = 0; rc != -ENOMEM && j < names.count; j++) {
			if (!is_tracepoint(root, systems.names[i], names.names[j]))
				continue;
			snprintf(full, sizeof(full), "%s:%s", systems.names[i], names.names[j]);
			rc = name_list_add(ret, full);
		}
		name_list_release(&names);
	}
	name_list_release(&systems);
	return rc == -ENOMEM ? rc : 0;
}
