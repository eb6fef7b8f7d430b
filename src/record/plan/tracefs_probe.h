/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and removes uprobes in tracefs, whose events may be inherited.
 *
 * All events at a place share one probe. An inherited event needs such a probe: the attribute of
 * the uprobe PMU points to the path, the kernel reads the path again in the task that forks, and if
 * that task has no such string, its fork() or pthread_create() fails (6.18, inherit_event()).
 *
 * Probes are in the group "ringtail_PID". Making a probe removes those that dead processes (killed
 * with SIGKILL) have left.
 *
 * Source: Documentation/trace/uprobetracer.rst; kernel/trace/trace_uprobe.c (6.1).
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_PLAN_TRACEFS_PROBE_H
#define RINGTAIL_RECORD_PLAN_TRACEFS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct tracefs_probe;

/*
 * Makes a probe at byte @offset of @file; with @returns, at the returns of the function there.
 * @root: where tracefs is mounted; NULL: ask libtracefs. Returns 0 with *@ret, to be freed with
 * tracefs_probe_free(), or a negative errno with @err filled.
 */
int tracefs_probe_new(const char *root, const char *file, uint64_t offset, bool returns,
		      struct tracefs_probe **ret, struct error *err);

/* Removes the probe from tracefs, after its events were closed. Accepts NULL. */
void tracefs_probe_free(struct tracefs_probe *probe);

/* Returns the config of the probe's tracepoint event. */
uint64_t tracefs_probe_id(const struct tracefs_probe *probe);

#endif
