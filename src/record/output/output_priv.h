/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to output.c and output_end.c: the functions that both use. */
#ifndef RINGTAIL_RECORD_OUTPUT_OUTPUT_PRIV_H
#define RINGTAIL_RECORD_OUTPUT_OUTPUT_PRIV_H

#include "record/initial/machine.h"
#include "record/output/output.h"

/* Writes the list of a directory's parts to the header. Returns 0 or a negative errno. */
int output_publish(struct output *out, bool complete, struct error *err);

/* Adds the COMPRESSED feature, which perf needs to decompress. Returns 0 or -ENOMEM. */
int output_add_compression(struct feature_set *set, const struct compress_stats *stats);

#endif
