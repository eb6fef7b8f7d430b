/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of data_open(), a file each. All work on the thread that opens, and add what they meet
 * to the findings.
 */
#ifndef RINGTAIL_DATA_OPEN_OPEN_PRIV_H
#define RINGTAIL_DATA_OPEN_OPEN_PRIV_H

#include "base/error.h"
#include "data/file/file_priv.h"

/* header.c: the first bytes of segment 0: kind, byte order, sections; then attributes and features.
 */
int header_read(struct data_file *df, struct error *err);
/* Whether @raw, of 8 bytes, begins a recording. Returns 0, or -EBADMSG with @err filled. */
int header_check_magic(const char *path, const uint8_t *raw, struct error *err);
/* Has it been written since header_read()? What that found behind it may be of another moment. */
bool header_changed(const struct data_file *df);
/* attrs.c: the section of attributes, their ids, and the names of old files (event_types). */
int attrs_read(struct data_file *df);
int event_type_name(struct data_file *df, const uint8_t *entry, size_t len);
/* Names the tracepoints of number @config. 0 or -ENOMEM. */
int tracepoint_set_name(struct data_file *df, uint64_t config, const char *name);
/* Decodes an attribute, correcting a size that does not fit the @len bytes there are. */
int attr_decode_lenient(struct data_file *df, const uint8_t *p, size_t len, uint64_t offset,
			struct pd_attr *ret);
/* features.c: the table behind the data. */
int features_read(struct data_file *df);
bool features_plausible(const struct data_file *df, const uint64_t bits[4]);
/* Sets names and groups from the EVENT_DESC and GROUP_DESC features. */
int features_apply(struct data_file *df);
/* stream.c: what a pipe stream, or the beginning of a file's data, says about its events. */
int stream_prescan(struct data_file *df);
int stream_find_end(struct data_file *df);
/* directory.c: adds data.N of the directory @path behind segment 0. */
int directory_segments(struct data_file *df, const char *path, bool force, struct error *err);

#endif
