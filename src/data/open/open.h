/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a recording: file, directory (perf's --threads) or pipe stream, in either byte order.
 *
 * data_open() reads header, attributes and features. Of a pipe stream it reads every record that
 * carries them. So the evlist and the features are complete afterwards, and do not change. Standard
 * input, and any stream that cannot seek, is copied to an unlinked temporary file.
 */
#ifndef RINGTAIL_DATA_OPEN_OPEN_H
#define RINGTAIL_DATA_OPEN_OPEN_H

#include "base/error.h"
#include "data/file/file.h"

/*
 * Opens @path ("-": standard input). Like perf, refuses a file that belongs to neither this user
 * nor root (-EPERM), unless @force is set. Returns 0 with *@ret for data_close(), or with @err
 * filled: -EBADMSG: not a perf.data file, or its header is unusable; -ENODATA: shorter than a
 * header; another negative errno of the system.
 */
int data_open(const char *path, bool force, struct data_file **ret, struct error *err);

#endif
