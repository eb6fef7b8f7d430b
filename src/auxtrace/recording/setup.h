/* SPDX-License-Identifier: Apache-2.0 */
/* What decoders must know of a recording, from its records and events. Internal. One thread. */
#ifndef RINGTAIL_AUXTRACE_RECORDING_SETUP_H
#define RINGTAIL_AUXTRACE_RECORDING_SETUP_H

#include "auxtrace/recording/index.h"

/* Takes a record of any type; ignores those that do not concern it. Returns 0 or -ENOMEM. */
int aux_setup_add(struct aux_index *x, const struct data_record *rec);
/* Finds the AUX event, after the last record. Returns 0 or -ENOMEM. */
int aux_setup_finish(struct aux_index *x);

#endif
