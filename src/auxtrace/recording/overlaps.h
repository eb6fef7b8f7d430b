/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds trace that two snapshots of a ring have both. Internal. One thread.
 *
 * perf does not record the position of a snapshot in the ring. If less was traced between two
 * snapshots than the ring holds, the newer one begins with bytes that the older one ends with. So
 * its pieces become one run with the older one's, and the repeated bytes are left out.
 */
#ifndef RINGTAIL_AUXTRACE_RECORDING_OVERLAPS_H
#define RINGTAIL_AUXTRACE_RECORDING_OVERLAPS_H

#include "auxtrace/recording/index.h"

#define AUX_OVERLAP_MIN 64 /* bytes: fewer are no proof */

/*
 * Reads the pieces whose position is unknown, and sets where each begins. Call it once, behind
 * aux_pieces_finish(). What cannot be read overlaps nothing. Returns 0 or -ENOMEM.
 */
int aux_overlaps_find(struct aux_index *x);

#endif
