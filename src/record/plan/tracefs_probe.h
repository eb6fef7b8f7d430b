/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A uprobe made in tracefs for as long as it is used: one for all events at its place, which may be
 * inherited. Where they are it must be one of these: one by the PMU holds a pointer to the path,
 * which the kernel reads again in the task that forks, and where that has no such string, fork()
 * and pthread_create() fail (6.18, inherit_event()).
 *
 * Probes are in the group "ringtail_PID". Those of processes that are no more (killed with SIGKILL)
 * are removed when the next is made.
 * Source: Documentation/trace/uprobetracer.rst; kernel/trace/trace_uprobe.c (6.1).
 */
#ifndef RINGTAIL_RECORD_PLAN_TRACEFS_PROBE_H
#define RINGTAIL_RECORD_PLAN_TRACEFS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct tracefs_probe;

/*
 * Makes a probe at @offset of @file, of a function's returns if @returns. @root is where tracefs is
 * mounted; NULL: where libtracefs says. Returns 0 with *@ret to be freed by tracefs_probe_free(),
 * or a negative errno with @err saying what stands in the way.
 */
int tracefs_probe_new(const char *root, const char *file, uint64_t offset, bool returns,
		      struct tracefs_probe **ret, struct error *err);

/* Removes it; its events must be closed. Accepts NULL. */
void tracefs_probe_free(struct tracefs_probe *probe);

/* The config of its tracepoint. */
uint64_t tracefs_probe_id(const struct tracefs_probe *probe);

#endif
