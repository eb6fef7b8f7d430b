/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the records of sideband rings before they are drained (--call-graph dwarf,online).
 *
 *   sideband rings of all CPUs ──► taps ──► chain maker
 *               └──► their readers ──► …
 *
 * A task may map code on one CPU and be sampled in it on another, whose worker reads its rings
 * earlier. So who unwinds samples looks into all sideband rings before: what the kernel wrote there
 * before it took a sample is there. A tap only copies; the worker of the ring drains it as ever,
 * and shows a record before it releases it.
 *
 * Each record is shown once. Those of one ring come in their order.
 *
 * Ownership: the rings remain the caller's, and outlive the taps. Threads: any may show. A tap has
 * a lock, which a reader may wait for while a writer copies; the writer then has the priority of
 * the reader.
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
 * While no thread shows: adds the ring with its header page at @memory, and @data_size bytes of
 * data @page_size bytes behind. Returns 0 with *@ret, which remains the taps', or -EINVAL.
 */
int sideband_taps_add(struct sideband_taps *taps, void *memory, size_t page_size, size_t data_size,
		      struct sideband_tap **ret);

/* Shows what the kernel has written to the ring since, or to all rings; @taps: these. */
void sideband_tap_show(struct sideband_tap *tap);
void sideband_taps_show(void *taps);

#endif
