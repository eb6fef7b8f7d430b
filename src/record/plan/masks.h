/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which reader thread reads the rings of which CPUs, and where it runs: --threads[=SPEC].
 *
 *   SPEC                      a reader for
 *   none, "" or "cpu"         each CPU
 *   "core"                    each core (its hardware threads)
 *   "package" or "socket"     each package
 *   "numa"                    each NUMA node
 *   CPUS/AFFINITY:CPUS/...    each such pair of CPU lists: "0-3/3:4-7/4"
 *
 * The masks of one list share no CPU, together they hold each recorded CPU once, and neither half
 * of a mask is empty. Affinities of written masks do not overlap either, as perf demands; those of
 * layouts may where a thread cannot run on the CPUs that it reads (see below).
 *
 * Layouts: the CPUs of an object that are recorded, and the thread runs on the same ones (those
 * that a cpuset allows; where it allows none of them, anywhere that it allows). Objects without a
 * recorded CPU get no reader (perf 6.1 stops at them). The masks are in order of their first CPU.
 *
 * Written masks: as perf, CPUs and affinity are cut to the recorded CPUs; where that leaves nothing
 * of the affinity, it stays as written (perf stops), since reading from a CPU that is not recorded
 * is a good use of one. CPUs that are recorded but in no mask are read by one more thread, last in
 * the list, with has_rest set so that the caller can say so (perf reads their rings never, and
 * loses what they hold in silence).
 *
 * Pure functions over the topology that is handed in; any thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_MASKS_H
#define RINGTAIL_RECORD_PLAN_MASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sys/kernel/cpus.h"

struct hwloc_topology; /* of hwloc.h */

struct reader_mask {
	struct cpus cpus;     /* whose rings it reads */
	struct cpus affinity; /* where it may run */
};

struct reader_masks {
	struct reader_mask *masks;
	size_t nr;
	bool has_rest; /* the last one holds the CPUs that no written mask names */
};

/*
 * Makes the masks for @spec (NULL: "cpu") and the CPUs @recorded (not empty) on @topology, which
 * stays the caller's. On success @ret is the caller's, to be given to reader_masks_release().
 * Returns 0; -EINVAL with a sentence that names the mask: a word that is no layout, a pair without
 * '/', a list that is none, a CPU that the machine does not have, a mask with no recorded CPU, one
 * that overlaps an earlier one, an affinity with no CPU that is online and allowed; or -ENOMEM.
 */
int reader_masks_new(const char *spec, const struct cpus *recorded, struct hwloc_topology *topology,
		     struct reader_masks *ret, struct error *err);
void reader_masks_release(struct reader_masks *masks); /* accepts an all-zero struct */

/*
 * This machine's topology, with the CPUs that a cpuset bars, since their rings can be read all the
 * same. Release with hwloc_topology_destroy(). Returns 0 or a negative errno with @err filled.
 */
int reader_masks_topology(struct hwloc_topology **ret, struct error *err);

#endif
