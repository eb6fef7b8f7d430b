/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the pieces of an index to runs. Internal. One thread. */
#ifndef RINGTAIL_AUXTRACE_RECORDING_RUNS_H
#define RINGTAIL_AUXTRACE_RECORDING_RUNS_H

#include "auxtrace/recording/index.h"

/* Makes rings and runs of all else in the index, which is complete. Returns 0 or -ENOMEM. */
int aux_runs_make(struct aux_index *x);

#endif
