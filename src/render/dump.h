/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every record with its place, type, size and fields: one line, and indented lines for what is a
 * list. For reading and for tests; not in perf's -D format.
 */
#ifndef RINGTAIL_RENDER_DUMP_H
#define RINGTAIL_RENDER_DUMP_H

#include <stdio.h>

#include "data/scan/scan.h"

/*
 * @file: name of the file that offsets are in, or NULL when there is one alone. Returns false when
 * the record's contents did not decode (its line says so).
 */
bool dump_record(FILE *out, const char *file, const struct data_record *rec);

#endif
