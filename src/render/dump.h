/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as text: place, type, size and fields of each, for reading and for tests.
 *
 * A record is one line, with indented lines for lists. The format is not that of perf's -D. Any
 * thread.
 */
#ifndef RINGTAIL_RENDER_DUMP_H
#define RINGTAIL_RENDER_DUMP_H

#include <stdio.h>

#include "data/scan/scan.h"

/*
 * Writes one record. @file names the file that offsets are in; NULL if the recording has only one.
 * Returns false if the record's contents did not decode; its line shows that, too.
 */
bool dump_record(FILE *out, const char *file, const struct data_record *rec);

#endif
