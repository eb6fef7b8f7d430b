/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the records of sideband rings before they are drained (--call-graph dwarf,online).
 *
 *   sideband rings of all CPUs ──► taps ──► chain maker
 *               └──► their readers ──► …
 *
 * A task may map code on one CPU and be sampled in it on another, whose worker reads its rings
 * earlier. So a stage that unwinds samples looks into all sideband rings before: what the kernel
 * wrote there before it took a sample is there.
 *
 * The worker of a ring drains it as ever. Before it releases records, its reader has the tap keep
 * a copy of them, which the next stage that looks into the tap is shown. The room for copies is as
 * large as the ring, and there from the start.
 *
 * Each record is shown once. Those of one ring come in their order.
 *
 * Ownership: the rings remain the caller's, and outlive the taps. Threads: any may show or keep. A
 * tap has a lock that is held while bytes are copied; a writer that holds it has the priority of
 * the reader that waits for it.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_SIDEBAND_TAPS_H
#define RINGTAIL_RECORD_PIPELINE_SIDEBAND_TAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "record/initial/emit.h"

struct sideband_taps;
struct sideband_tap;

/*
 * Returns taps for at most @nr rings, whose records go to @show with @arg; it must not call these
 * functions. @own_build_ids: as for mapped_decode(). NULL when out of memory.
 */
struct sideband_taps *sideband_taps_new(size_t nr, bool own_build_ids, record_emit_fn *show,
					void *arg);
void sideband_taps_free(struct sideband_taps *taps); /* accepts NULL */

/*
 * While no thread uses the taps: adds the ring with its header page at @memory, and @data_size
 * bytes of data @page_size bytes behind. Returns 0 with *@ret, which remains the taps', -EINVAL or
 * -ENOMEM.
 */
int sideband_taps_add(struct sideband_taps *taps, void *memory, size_t page_size, size_t data_size,
		      struct sideband_tap **ret);

/*
 * For the reader of the ring: copies what the kernel has written to it since. It allocates nothing
 * and shows nothing, unless stages are late by a whole ring: then it shows what there is no room
 * for.
 */
void sideband_tap_keep(struct sideband_tap *tap);

/* Shows what was kept, and what the kernel has written since; of all rings. @taps: these. */
void sideband_tap_show(struct sideband_tap *tap);
void sideband_taps_show(void *taps);

#endif
