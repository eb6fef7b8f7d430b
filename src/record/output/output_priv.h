/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to record/output*.c: what the beginning and the end of an output share. */
#ifndef RINGTAIL_RECORD_OUTPUT_OUTPUT_PRIV_H
#define RINGTAIL_RECORD_OUTPUT_OUTPUT_PRIV_H

#include "record/initial/machine.h"
#include "record/output/output.h"

/* Brings the account of a directory's parts up to date. Returns 0 or a negative errno. */
int output_publish(struct output *out, bool complete, struct error *err);

/* What perf needs to decompress. Returns 0 or -ENOMEM. */
int output_add_compression(struct feature_set *set, const struct compress_stats *stats);

#endif
