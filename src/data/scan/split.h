/* SPDX-License-Identifier: Apache-2.0 */
/* Finds places in the middle of a file where a walk may begin, for several threads. Any thread. */
#ifndef RINGTAIL_DATA_SCAN_SPLIT_H
#define RINGTAIL_DATA_SCAN_SPLIT_H

#include "data/file/file_priv.h"

/*
 * Finds an offset of @seg, open as @fd, behind @from at which records seem to begin. Returns
 * UINT64_MAX if there is none near, or if a walk from there would be too short for a thread of its
 * own. The offset is a guess: only a walk from before shows whether a record begins there.
 */
uint64_t split_find(const struct data_file *df, const struct segment *seg, int fd, uint64_t from);

#endif
