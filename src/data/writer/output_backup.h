/* SPDX-License-Identifier: Apache-2.0 */
/* Making room for a new recording: an earlier one of the same name is kept as PATH.old. */
#ifndef RINGTAIL_DATA_WRITER_OUTPUT_BACKUP_H
#define RINGTAIL_DATA_WRITER_OUTPUT_BACKUP_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Renames what is at @path to PATH.old, in place of a PATH.old from before; nothing there is fine.
 * Moved away are plain files, directories that are recordings (there is a file "data" that begins
 * as perf.data does) or were about to become one (data and data.N, without a record) and empty
 * ones; deleted are plain files and directories that hold data and data.N alone; all else, what
 * belongs to others, and symbolic links are refused. Returns 0 or a negative errno with @err
 * filled.
 */
int output_backup_keep(const char *path, struct error *err);

/*
 * The same, for a recording that may yet fail to start: whatever is in the way is only renamed
 * until then. All-zero: nothing was.
 */
struct output_backup {
	char *path, *old;
	char *aside; /* where @old is now; NULL: there was none */
	bool moved;  /* @path is @old now */
};

/* Returns as output_backup_keep() does, and after an error all is as it was. */
int output_backup_stage(struct output_backup *e, const char *path, struct error *err);
void output_backup_accept(
	struct output_backup *e); /* it stays so, and what PATH.old was is deleted */
void output_backup_restore(
	struct output_backup *e); /* as it was, unless there is something new at @path */

/* As output_backup_keep(), and makes the directory @path, mode 0700. */
int output_backup_replace_directory(const char *path, struct error *err);

/* Deletes the directory @path that the caller has made, with data and data.N in it. */
void output_backup_undo_directory(const char *path);

#endif
