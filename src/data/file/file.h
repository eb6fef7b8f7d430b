/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording, whatever its container: file, directory (perf's --threads), or the stream of
 * a pipe. data/open/open.h opens it, data/scan/scan.h walks its records.
 *
 * After data_open() it does not change but for its findings, which have a lock: any number of
 * threads may use it.
 */
#ifndef RINGTAIL_DATA_FILE_FILE_H
#define RINGTAIL_DATA_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/attr.h"
#include "perfdata/record.h"

struct data_file;

enum data_kind {
	DATA_FILE,
	DATA_DIRECTORY,
	DATA_PIPE,
};

void data_close(struct data_file *df); /* accepts NULL; no scan may be in use any more */

/* The properties of an opened recording. What is returned lives as long as @df. */
enum data_kind data_kind(const struct data_file *df);
bool data_swapped(const struct data_file *df); /* recorded in the other byte order */
const struct pd_header *data_header(const struct data_file *df); /* native order */
struct pd_evlist *data_evlist(const struct data_file *df);

/*
 * The bytes of a feature's section, in the file's byte order, living as long as @df.
 * Returns 0, or -ENOENT if the recording does not have it. TRACING_DATA of a pipe stream, which is
 * a record there, is found here too.
 */
int data_feature(const struct data_file *df, unsigned int feature, const uint8_t **ret,
		 size_t *ret_len);

/* A file or pipe has one segment; a directory one for "data" and one for each "data.N". */
unsigned int data_segments(const struct data_file *df);
uint64_t data_bytes(const struct data_file *df); /* of all segments, as they are in files */
const char *data_segment_path(const struct data_file *df, unsigned int segment);

#endif
