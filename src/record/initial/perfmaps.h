/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf-PID.map files of the JITs that run, which many of them remove when they end.
 *
 * A process is watched from its first map of generated code on. Its file is held open as soon as it
 * exists, so it may be removed; when the process has ended, a copy in memory takes its place. How
 * often a process is looked at falls with its age. Files, processes and memory are bounded: of
 * processes that have ended, those watched first go first.
 *
 * Threads: one watches and polls; any may call perfmaps_open() and perfmaps_refused(), which wait
 * for no file system.
 */
#ifndef RINGTAIL_RECORD_INITIAL_PERFMAPS_H
#define RINGTAIL_RECORD_INITIAL_PERFMAPS_H

#include <stdint.h>

#define PERFMAPS_FILES 128u /* the most descriptors: files held open, and copies */

struct perfmaps;

/* Returns NULL when out of memory. */
struct perfmaps *perfmaps_new(void);
void perfmaps_free(struct perfmaps *m); /* accepts NULL */

/* Begins to watch process @pid. */
void perfmaps_watch(struct perfmaps *m, uint32_t pid);

/* Looks at the processes whose time has come. Returns the ms until the next one's; -1: none. */
int perfmaps_poll(struct perfmaps *m);

/* Opens the held map of @pid, at its beginning. Returns a descriptor, or -ENOENT. */
int perfmaps_open(struct perfmaps *m, uint32_t pid);

/* Returns the number of processes and maps for which there was no room, or none any more. */
uint64_t perfmaps_refused(struct perfmaps *m);

#endif
