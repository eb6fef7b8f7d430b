/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output files of `ringtail export` and `ringtail report --html`: private, never through a symbolic
 * link, never over the recording, and removed after a failure. It prints its errors. One thread.
 */
#ifndef RINGTAIL_CLI_CMD_EXPORT_FILE_H
#define RINGTAIL_CLI_CMD_EXPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Returns whether the output @path would replace @recording, or a part of its directory. It says so
 * in a message then.
 */
bool export_file_is_recording(const char *recording, const char *path);

/*
 * Opens @name below directory @folder (AT_FDCWD: the working directory) for writing, empty; @path
 * names it in messages. Returns a stream for fclose(), or NULL after a message.
 */
FILE *export_file_open(const char *recording, const char *path, int folder, const char *name);

/* Removes the file, because a part of an output would look like all of it; leaves devices. */
void export_file_remove(int folder, const char *name);

#endif
