// SPDX-License-Identifier: Apache-2.0
#include "record/plan/probe_targets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record/plan/tracefs_probe.h"
#include "sys/io/file.h"
#include "sys/kernel/procfs.h"

/* --- checking ------------------------------------------------------------------------------------
 */

int probe_targets_check(const struct event_spec *event, const struct target_opts *opts,
			struct error *err)
{
	const struct event_place *place = &event->place;
	bool code = event->attr.bp_type == HW_BREAKPOINT_X;
	const char *instead =
		code ? "uprobe:FILE:FUNCTION works for all of them" : "name a process with -p";

	if (!place->file || place->probe || opts->tasks.nr)
		return 0;
	if (opts->all_cpus || opts->cpus.nr || !opts->command)
		return error_set(err, -EINVAL,
				 "'%.128s': each process has its own addresses, so a breakpoint "
				 "cannot watch all processes of a CPU: %s",
				 event->name, instead);
	if (place->fixed)
		return 0;
	return error_set(
		err, -EINVAL,
		"'%.128s': the load address of this file is unknown until the command runs: %s",
		event->name,
		code ? "use uprobe:FILE:FUNCTION" : "start it, and name its process with -p");
}

/* --- uprobes -------------------------------------------------------------------------------------
 */

static bool inherits(const struct plan_event *event)
{
	return event->attr.flags & PD_ATTR_INHERIT;
}

/*
 * The PMU makes a probe for each descriptor, and each call of the function runs all of them: 4.1 µs
 * with 128, 1.2 µs with 2 or with one probe in tracefs.
 */
#define PMU_DESCRIPTORS 8

static bool wants_tracefs(const struct plan *plan, const struct plan_event *event)
{
	size_t tasks = plan->tasks.nr && !plan->task_rings ? plan->tasks.nr : 1;

	return inherits(event) || plan_places(plan) * tasks > PMU_DESCRIPTORS;
}

static int prepare_probe(const struct plan *plan, struct plan_event *event, struct error *err)
{
	const struct event_place *place = event->place;
	struct error why = ERROR_INIT;
	int rc;

	if (event->probe || !wants_tracefs(plan, event))
		return 0;
	/* config has a single bit, "retprobe". */
	rc = tracefs_probe_new(NULL, place->file, event->attr.config2, event->attr.config != 0,
			       &event->probe, &why);
	if (!rc || !inherits(event))
		return 0;
	event->attr.flags &= ~PD_ATTR_INHERIT;
	event->alone = strdup(why.text);
	return event->alone ? 0 : error_set(err, -ENOMEM, "out of memory");
}

void probe_targets_say(const struct plan *plan, const struct messages *messages)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].alone)
			messages_say(messages, MESSAGE_WARNING,
				     "%s is not inherited: ringtail does not record it in threads "
				     "and processes started from now on (%s); -a records all",
				     plan->events[i].name, plan->events[i].alone);
}

/* --- breakpoints ---------------------------------------------------------------------------------
 */

static bool moves(const struct plan_event *event)
{
	return event->place && event->place->file && !event->place->probe && !event->place->fixed;
}

/* A breakpoint's file, to look for in /proc/PID/maps. */
struct wanted_file {
	char path[PATH_MAX]; /* without links */
	struct stat st;
	uint64_t offset; /* of the page where its first segment begins */
};

static int want_file(const struct event_place *place, uint64_t page_mask, struct wanted_file *ret,
		     struct error *err)
{
	if (stat(place->file, &ret->st))
		return error_sys(err, -errno, "%.256s", place->file);
	if (!realpath(place->file, ret->path))
		ret->path[0] = '\0';
	ret->offset = place->first_offset & ~page_mask;
	return 0;
}

/* Compares paths too: some file systems have other device numbers in maps than in stat(). */
static bool is_wanted(const struct proc_map *map, const struct wanted_file *want)
{
	if (map->pgoff != want->offset || map->ino != want->st.st_ino)
		return false;
	if (makedev(map->maj, map->min) == want->st.st_dev)
		return true;
	return strlen(want->path) == map->name_len && !memcmp(want->path, map->name, map->name_len);
}

/* Finds where the task has mapped the file. Returns 0, -ENOENT (nowhere) or -ESRCH (no task). */
static int find_start(pid_t task, const struct wanted_file *want, uint64_t *ret)
{
	struct buf text = {0};
	struct text_lines lines;
	struct proc_map map;
	char path[48], *line;
	bool found = false;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", task);
	rc = file_read_at(AT_FDCWD, path, &text);
	/* /proc/PID/maps of an ended task is missing or empty. */
	if (rc == -ENOENT || (!rc && !text.len))
		rc = -ESRCH;
	lines = (struct text_lines){(char *)text.data, (char *)text.data + text.len};
	while (!rc && !found && text_next_line(&lines, &line, &len))
		found = !proc_map_parse(line, len, &map) && is_wanted(&map, want);
	if (found)
		*ret = map.start;
	else if (!rc)
		rc = -ENOENT;
	buf_release(&text);
	return rc;
}

static int find_address(const struct plan_event *event, pid_t task, const struct wanted_file *want,
			uint64_t page_mask, uint64_t *ret, struct error *err)
{
	const struct event_place *place = event->place;
	uint64_t start;
	int rc = find_start(task, want, &start);

	if (rc == -ESRCH) {
		*ret = 0;
		return 0;
	}
	if (rc == -ENOENT)
		return error_set(err, rc, "'%s': thread %d has not mapped %.256s", event->name,
				 task, place->file);
	if (rc)
		return error_sys(err, rc, "'%s': cannot read the maps of thread %d", event->name,
				 task);
	*ret = start + (place->address - (place->first_address & ~page_mask));
	return 0;
}

/*
 * Finds the address for each task, because each process has its own. The plan's attribute gets the
 * first one. After an exec the address is meaningless, so the breakpoint is removed then.
 */
static int prepare_breakpoint(struct plan *plan, struct plan_event *event, struct error *err)
{
	uint64_t page_mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	uint64_t *addresses = calloc(plan->tasks.nr + 1, sizeof(*addresses));
	struct wanted_file want;
	pid_t process = 0;
	int rc;

	free(event->addresses);
	event->addresses = addresses;
	if (!addresses)
		return error_set(err, -ENOMEM, "out of memory");
	rc = want_file(event->place, page_mask, &want, err);
	for (size_t t = 0; !rc && t < plan->tasks.nr; t++) {
		pid_t task_of = task_process(plan->tasks.ids[t]);

		/* The list has a process's threads together, and they share its maps. */
		if (t && addresses[t - 1] && task_of == process) {
			addresses[t] = addresses[t - 1];
			continue;
		}
		process = task_of;
		rc = find_address(event, plan->tasks.ids[t], &want, page_mask, &addresses[t], err);
		if (!rc && addresses[t] && !event->attr.config1)
			event->attr.config1 = addresses[t];
	}
	event->attr.flags |= PD_ATTR_REMOVE_ON_EXEC;
	return rc;
}

/* --- all events ----------------------------------------------------------------------------------
 */

int probe_targets_prepare(struct plan *plan, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < plan->nr; i++) {
		struct plan_event *event = &plan->events[i];

		if (probe_targets_is_uprobe(event))
			rc = prepare_probe(plan, event, err);
		else if (moves(event))
			rc = prepare_breakpoint(plan, event, err);
	}
	return rc;
}

int probe_targets_attr(const struct plan_event *event, size_t task, struct pd_attr *ret)
{
	*ret = event->attr;
	if (event->probe) {
		ret->type = PERF_TYPE_TRACEPOINT;
		ret->config = tracefs_probe_id(event->probe);
		ret->config2 = 0;
	} else if (probe_targets_is_uprobe(event)) {
		ret->config1 = (uintptr_t)event->place->file;
	} else if (moves(event)) {
		ret->config1 = event->addresses ? event->addresses[task] : 0;
		return ret->config1 ? 0 : -ESRCH;
	}
	return 0;
}

const struct event_place *probe_targets_of(const struct event_spec *event)
{
	return event->place.file || event->place.kernel ? &event->place : NULL;
}

bool probe_targets_is_uprobe(const struct plan_event *event)
{
	return event->place && event->place->probe;
}

bool probe_targets_is_kprobe(const struct plan_event *event)
{
	return event->place && event->place->kernel;
}

static int explain_kprobe(const struct plan_event *event, int rc, struct error *err)
{
	if (rc == -EACCES || rc == -EPERM)
		return error_set(err, rc, "'%s': only root may set kprobes (CAP_SYS_ADMIN)",
				 event->name);
	return error_set(err, rc, "the kernel cannot set '%s' at 0x%llx: %s", event->name,
			 (unsigned long long)event->attr.config2,
			 rc == -EILSEQ	 ? "no instruction begins there"
			 : rc == -EINVAL ? "it allows no probe there"
					 : strerror(-rc));
}

static int explain_uprobe(const struct plan_event *event, int rc, struct error *err)
{
	if (rc == -EACCES || rc == -EPERM)
		return error_set(err, rc, "'%s': only root may set uprobes (CAP_SYS_ADMIN)",
				 event->name);
	return error_set(err, rc,
			 "the kernel cannot set '%s' at offset 0x%llx of %s (%s): is it the start "
			 "of an instruction, in a file that can be executed?",
			 event->name, (unsigned long long)event->attr.config2, event->place->file,
			 strerror(-rc));
}

int probe_targets_explain(const struct plan_event *event, int rc, struct error *err)
{
	bool kernel = event->attr.config1 >> 63;

	if (probe_targets_is_uprobe(event))
		return explain_uprobe(event, rc, err);
	if (probe_targets_is_kprobe(event))
		return explain_kprobe(event, rc, err);
	if (event->attr.bp_type & HW_BREAKPOINT_X)
		return error_set(
			err, rc, "the kernel refuses the breakpoint '%s' at 0x%llx: %s",
			event->name, (unsigned long long)event->attr.config1,
			kernel ? "it takes breakpoints on its own code only where it takes kprobes"
			       : "a breakpoint on code has the access x alone and the length of a "
				 "long");
	return error_set(err, rc,
			 "the kernel refuses the breakpoint '%s' at 0x%llx: a breakpoint on data "
			 "watches 1, 2, 4 or 8 bytes at a multiple of that length, with the access "
			 "w or rw (r alone not on every machine)",
			 event->name, (unsigned long long)event->attr.config1);
}

void probe_targets_release(struct plan_event *event)
{
	tracefs_probe_free(event->probe);
	free(event->alone);
	free(event->addresses);
}
