/* SPDX-License-Identifier: Apache-2.0 */
/* Making room for a new recording: an earlier one of the same name is kept as PATH.old. */
#ifndef RINGTAIL_DATA_WRITER_EARLIER_H
#define RINGTAIL_DATA_WRITER_EARLIER_H

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
int earlier_keep(const char *path, struct error *err);

/*
 * The same, for a recording that may yet fail to start: whatever is in the way is only renamed
 * until then. All-zero: nothing was.
 */
struct earlier {
	char *path, *old;
	char *aside; /* where @old is now; NULL: there was none */
	bool moved;  /* @path is @old now */
};

/* Returns as earlier_keep() does, and after an error all is as it was. */
int earlier_stage(struct earlier *e, const char *path, struct error *err);
void earlier_accept(struct earlier *e);	 /* it stays so, and what PATH.old was is deleted */
void earlier_restore(struct earlier *e); /* as it was, unless there is something new at @path */

/* As earlier_keep(), and makes the directory @path, mode 0700. */
int earlier_replace_directory(const char *path, struct error *err);

/* Deletes the directory @path that the caller has made, with data and data.N in it. */
void earlier_undo_directory(const char *path);

#endif
