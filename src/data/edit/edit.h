/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a recording a table of symbols, or takes it away.
 *
 * It copies the file, of a directory the file "data", and renames the copy when it is complete: so
 * the name stands for the old or the new recording at any moment. The records stay as they are.
 * Other features are copied as they were read; those that could not be read are left out. No state;
 * one thread for a recording.
 */
#ifndef RINGTAIL_DATA_EDIT_EDIT_H
#define RINGTAIL_DATA_EDIT_EDIT_H

#include "base/buf.h"
#include "base/error.h"
#include "data/file/file.h"

/*
 * Checks whether edit_set_symbols() may write @df; call it before the work for a table. Returns as
 * edit_set_symbols().
 */
int edit_check(struct data_file *df, const char *out, struct error *err);

/*
 * Writes @df with @table (perfdata/symbols/symbols.h) to @out; NULL: in its own place. An empty
 * @table removes the recording's. Keeps mode, owner (if allowed) and times of the file. It refuses
 * what the findings of @df call damaged, so all records must have been read before. Returns 0, or a
 * negative errno with @err filled: -EBUSY: @df is to be replaced, and somebody writes it; -EBADMSG:
 * it has damage; -ENOTSUP: its header is in an older format, or it is a directory and @out is
 * given; -EINVAL: standard input has no place, or @out is no regular file; others of the system.
 */
int edit_set_symbols(struct data_file *df, const struct buf *table, const char *out,
		     struct error *err);

#endif
