/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a recording: file, directory (perf's --threads), pipe stream (from a file or standard
 * input); either byte order.
 *
 * data_open() reads header, attributes, features and, of a pipe stream, every record that carries
 * such things, so that afterwards the evlist and the features are complete and do not change.
 * Standard input, and a stream that cannot be seeked, is copied to an unlinked temporary file.
 */
#ifndef RINGTAIL_DATA_OPEN_OPEN_H
#define RINGTAIL_DATA_OPEN_OPEN_H

#include "base/error.h"
#include "data/file/file.h"

/*
 * Opens @path ("-": standard input). Without @force a file that belongs to neither this user nor
 * root is refused (-EPERM), as perf does.
 * Returns 0 with *@ret to be closed by data_close(); -errno from the system; -EBADMSG when it is
 * no perf.data at all or its header is beyond use; -ENODATA when it is shorter than a header.
 */
int data_open(const char *path, bool force, struct data_file **ret, struct error *err);

#endif
