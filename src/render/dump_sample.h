/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a sample as text, for dump.c. Any thread. */
#ifndef RINGTAIL_RENDER_DUMP_SAMPLE_H
#define RINGTAIL_RENDER_DUMP_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>

#include "data/scan/scan.h"

/* Appends the fields to the record's line. Returns false if the sample did not decode whole. */
bool dump_sample(FILE *out, const struct data_record *rec);

#endif
