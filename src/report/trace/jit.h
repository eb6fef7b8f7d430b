/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps of code that JITs made, from the jitdumps that a recording names, in the order of time.
 *
 * A JIT maps its jit-PID.dump, so a record of a map names the file. Its code is mapped as of the
 * time if the recording's clock is CLOCK_MONOTONIC, or if both have the CPU's clock; otherwise from
 * the beginning, and the newest code of an address counts. One thread.
 */
#ifndef RINGTAIL_REPORT_TRACE_JIT_H
#define RINGTAIL_REPORT_TRACE_JIT_H

#include "perfdata/attr.h"
#include "state/state.h"
#include "symbol/resolve/resolver.h"

struct jit_maps;

/* All outlive the result. Returns NULL when memory is short. */
struct jit_maps *jit_maps_new(struct state *s, const struct resolver *r,
			      const struct pd_evlist *evlist);
void jit_maps_free(struct jit_maps *j); /* accepts NULL */

/* Applies the code that was made before @at. Returns 0 or -ENOMEM. */
int jit_maps_apply(struct jit_maps *j, struct moment at);

/* Reads the jitdump that @rec, which the state knows, may map. Returns 0 or -ENOMEM. */
int jit_maps_note(struct jit_maps *j, const struct pd_record *rec, struct moment at);

#endif
