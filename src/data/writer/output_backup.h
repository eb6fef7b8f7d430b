/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps an earlier recording as PATH.old when a new one takes its name. No state; any thread. */
#ifndef RINGTAIL_DATA_WRITER_OUTPUT_BACKUP_H
#define RINGTAIL_DATA_WRITER_OUTPUT_BACKUP_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Renames @path to PATH.old and deletes an earlier PATH.old; succeeds if there is nothing at @path.
 * It renames regular files, empty directories, and directories that are recordings (a file "data"
 * begins as perf.data does) or were about to become one (data and data.N, without a record). It
 * deletes regular files, and directories that hold only data, data.N and kcore_dir (record
 * --kcore). It refuses all else, files of other users, and symbolic links. Returns 0, or a negative
 * errno with @err filled.
 */
int output_backup_keep(const char *path, struct error *err);

/*
 * A backup that can be undone, for a recording that may still fail to start: until then nothing is
 * deleted, only renamed. All-zero: nothing was renamed.
 */
struct output_backup {
	char *path, *old;
	char *aside; /* present name of the earlier PATH.old; NULL: there was none */
	bool moved;  /* @path was renamed to @old */
};

/* Renames. Returns as output_backup_keep(); after an error all names are as before. */
int output_backup_stage(struct output_backup *e, const char *path, struct error *err);
/* Accepts the new names, and deletes the earlier PATH.old. */
void output_backup_accept(struct output_backup *e);
/* Restores the old names, unless there is something new at @path. */
void output_backup_restore(struct output_backup *e);

/* As output_backup_keep(); then makes the directory @path, mode 0700. */
int output_backup_replace_directory(const char *path, struct error *err);

/* Deletes the directory @path, which the caller has made, with data, data.N and kcore_dir in it. */
void output_backup_undo_directory(const char *path);

#endif
