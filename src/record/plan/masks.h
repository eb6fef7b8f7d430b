/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which reader thread drains the rings of which CPUs, and where it runs: --threads[=SPEC].
 *
 *   SPEC                      a reader for
 *   none, "" or "cpu"         each CPU
 *   "core"                    each core (its hardware threads)
 *   "package" or "socket"     each package
 *   "numa"                    each NUMA node
 *   CPUS/AFFINITY:CPUS/...    each such pair of CPU lists: "0-3/3:4-7/4"
 *
 * The masks of a list contain each recorded CPU exactly once. Both halves of a mask, CPUs and
 * affinity, have at least one CPU. Affinities of written masks do not overlap, as perf demands.
 * Affinities of layouts overlap where threads cannot run on the CPUs that they drain.
 *
 * Layouts: one thread for each core, package or node. It drains the recorded CPUs of it, and runs
 * on those of them that the cpuset allows. If the cpuset allows none of them, it runs on any CPU
 * that the cpuset allows. A core, package or node without a recorded CPU gets no reader (perf 6.1
 * fails there). Masks are in order of their first CPU.
 *
 * Written masks: as in perf, CPUs that are not recorded are removed from CPUS and AFFINITY. If that
 * would empty an affinity, it stays as written (perf fails), because a CPU that is not recorded is
 * a good place for a reader. One more thread, last in the list, drains the recorded CPUs that no
 * mask names. has_rest is then set, for a message (perf never reads their rings, and loses their
 * samples silently).
 *
 * Pure functions of the topology that the caller passes; any thread may call them.
 */
#ifndef RINGTAIL_RECORD_PLAN_MASKS_H
#define RINGTAIL_RECORD_PLAN_MASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sys/kernel/cpus.h"

struct hwloc_topology; /* of hwloc.h */

struct reader_mask {
	struct cpus cpus;     /* the reader drains their rings */
	struct cpus affinity; /* the reader runs on these */
};

struct reader_masks {
	struct reader_mask *masks;
	size_t nr;
	bool has_rest; /* the last mask has the CPUs that no written mask names */
};

/*
 * Makes the masks for @spec (NULL: "cpu") and the CPUs @recorded (not empty) on @topology, which
 * stays the caller's. Returns 0 with *@ret to be released with reader_masks_release(); or with @err
 * filled -ENOMEM, -ENODEV for a CPU that the machine does not have, or -EINVAL for an unknown
 * layout, a pair without '/', a malformed CPU list, a mask without a recorded CPU or that overlaps
 * an earlier one, or an affinity without a CPU that is online and allowed. The text names the mask.
 */
int reader_masks_new(const char *spec, const struct cpus *recorded, struct hwloc_topology *topology,
		     struct reader_masks *ret, struct error *err);
void reader_masks_release(struct reader_masks *masks); /* accepts an all-zero struct */

/*
 * Reads this machine's topology, including the CPUs that the cpuset bars, because their rings can
 * be drained nevertheless. Returns 0 with *@ret, to be freed with hwloc_topology_destroy(), or a
 * negative errno with @err filled.
 */
int reader_masks_topology(struct hwloc_topology **ret, struct error *err);

#endif
