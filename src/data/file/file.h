/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording: a file, a directory (perf's --threads), or the stream of a pipe.
 *
 * data/open/open.h opens it, data/scan/scan.h walks its records. After data_open() only its
 * findings change, and they lock themselves: any number of threads may use it.
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

/* Closes and frees @df; accepts NULL. No scan may be in use any more. */
void data_close(struct data_file *df);

/* Returns the form of the container. */
enum data_kind data_kind(const struct data_file *df);
/* Returns whether the recording is in the other byte order. */
bool data_swapped(const struct data_file *df);
/* Returns the file header, in native byte order. It lives as long as @df. */
const struct pd_header *data_header(const struct data_file *df);
/* Returns the events, which live as long as @df. */
struct pd_evlist *data_evlist(const struct data_file *df);

/*
 * Finds the bytes of a feature's section, in the file's byte order; they live as long as @df. Also
 * finds TRACING_DATA of a pipe stream, where it is a record. Returns 0, or -ENOENT if the recording
 * does not have the feature.
 */
int data_feature(const struct data_file *df, unsigned int feature, const uint8_t **ret,
		 size_t *ret_len);

/*
 * Returns whether the file ends before its features that name its machine: it is cut, or its
 * recorder was killed.
 */
bool data_features_cut(const struct data_file *df);

/*
 * Returns the number of segments: one of a file or pipe; of a directory one for "data" and one for
 * each "data.N".
 */
unsigned int data_segments(const struct data_file *df);
/* Returns the bytes of all segments, as in their files. */
uint64_t data_bytes(const struct data_file *df);
/* Returns the path of a segment, which lives as long as @df. */
const char *data_segment_path(const struct data_file *df, unsigned int segment);

#endif
