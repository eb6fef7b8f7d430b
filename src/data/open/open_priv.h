/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of data_open(), one file each.
 *
 * All run on the thread that opens, add damage to the findings, and return 0 or a negative errno.
 */
#ifndef RINGTAIL_DATA_OPEN_OPEN_PRIV_H
#define RINGTAIL_DATA_OPEN_OPEN_PRIV_H

#include "base/error.h"
#include "data/file/file_priv.h"

/* header.c: reads the beginning of segment 0 (kind, byte order, sections), attributes, features. */
int header_read(struct data_file *df, struct error *err);
/* Checks that the 8 bytes at @raw begin a recording. Returns 0, or -EBADMSG with @err filled. */
int header_check_magic(const char *path, const uint8_t *raw, struct error *err);
/*
 * Returns whether the header was written since header_read(). If so, the sections that
 * header_read() found may not belong together.
 */
bool header_changed(const struct data_file *df);
/* attrs.c: reads the section of attributes, their ids, and the names in old files (event_types). */
int attrs_read(struct data_file *df);
/* Names a tracepoint by an entry of event_types. Returns 0 or -ENOMEM. */
int event_type_name(struct data_file *df, const uint8_t *entry, size_t len);
/* Names the tracepoints with number @config. Returns 0 or -ENOMEM. */
int tracepoint_set_name(struct data_file *df, uint64_t config, const char *name);
/* Decodes an attribute, and corrects a size that does not fit the @len bytes. */
int attr_decode_lenient(struct data_file *df, const uint8_t *p, size_t len, uint64_t offset,
			struct pd_attr *ret);
/* features.c: reads the table of features behind the data. */
int features_read(struct data_file *df);
/* Sets names and groups of events from the EVENT_DESC and GROUP_DESC features. */
int features_apply(struct data_file *df);
/* stream.c: reads the records about events in a pipe stream, or at the beginning of a file's data.
 */
int stream_prescan(struct data_file *df);
/* Finds the end of the records in a file whose header lacks the size of its data. */
int stream_find_end(struct data_file *df);
/* directory.c: adds the data.N of directory @path behind segment 0. Fills @err on failure. */
int directory_segments(struct data_file *df, const char *path, bool force, struct error *err);

#endif
