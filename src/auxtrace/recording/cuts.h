/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What AUX records say of rings: their flags, and where the trace ends or begins anew. Internal.
 * One thread.
 */
#ifndef RINGTAIL_AUXTRACE_RECORDING_CUTS_H
#define RINGTAIL_AUXTRACE_RECORDING_CUTS_H

#include "auxtrace/recording/index.h"

/* Takes an AUX record. Returns 0 or -ENOMEM. */
int aux_cuts_add(struct aux_index *x, const struct data_record *rec);
/* Finds the rings of flags and cuts, and sorts the cuts. Returns 0 or -ENOMEM. */
int aux_cuts_finish(struct aux_index *x);
/*
 * Returns the first cut of a ring's @life behind the position @from and before @to, or @to if there
 * is none.
 */
uint64_t aux_cuts_next(const struct aux_index *x, uint32_t ring, uint32_t life, uint64_t from,
		       uint64_t to);

#endif
