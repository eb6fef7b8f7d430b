/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the stretches of a run into memory, one at a time.
 *
 * The run is cut at synchronisation points. The stretch of a chunk begins at the first one in the
 * chunk, and ends at the first one in a later chunk; a chunk without any has no stretch. So each
 * stretch depends on its chunk's number alone, and threads take chunks in any order.
 *
 * A stretch without a synchronisation point for AUX_STRETCH_MAX is cut off, with a finding. So is
 * trace that cannot be read. Memory: one stretch, two chunks at least.
 *
 * One thread uses a loader; each thread has its own.
 */
#ifndef RINGTAIL_AUXTRACE_RECORDING_LOADER_H
#define RINGTAIL_AUXTRACE_RECORDING_LOADER_H

#include "auxtrace/recording/index.h"
#include "data/file/findings.h"

/* Bytes. Intel PT's rarest synchronisation points are 64 MB apart. */
#define AUX_STRETCH_MAX (80u << 20)

struct aux_loader;

/*
 * Begins to load stretches of @x for the decoder @ops. With @whole, the first stretch of a run
 * begins with the run, also where the decoder cannot synchronise there; so stretches have all
 * bytes. Returns 0 with *@ret for aux_loader_free(), or -ENOMEM.
 */
int aux_loader_new(const struct aux_index *x, const struct aux_decoder_ops *ops, bool whole,
		   struct aux_loader **ret);
/*
 * Lets the loader add its findings to @findings (NULL: at once to those of the recording), so that
 * their order does not depend on threads.
 */
void aux_loader_note_to(struct aux_loader *l, struct findings *findings);
/* Frees @l; accepts NULL. */
void aux_loader_free(struct aux_loader *l);

/*
 * Loads the stretch of a chunk, which is less than x->nr_chunks. Returns 1 with *@ret, which is
 * valid until the next call, 0 if the chunk has none, or -ENOMEM.
 */
int aux_loader_load(struct aux_loader *l, uint64_t chunk, struct aux_stretch *ret);

/*
 * Copies at most @len bytes of @run from its byte @at on to @buf. Returns how many, fewer with a
 * finding where the recording cannot be read, or -ENOMEM.
 */
int64_t aux_loader_read(struct aux_loader *l, const struct aux_run *run, uint64_t at, void *buf,
			size_t len);

#endif
