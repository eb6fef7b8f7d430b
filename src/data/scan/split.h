/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a walk may begin in the middle of a file, for reading it with several threads. */
#ifndef RINGTAIL_DATA_SCAN_SPLIT_H
#define RINGTAIL_DATA_SCAN_SPLIT_H

#include "data/file/file_priv.h"

/*
 * An offset of @seg, open as @fd, behind @from at which a record seems to begin, and a
 * walk to be worth beginning; UINT64_MAX if none is found near. A guess: only a walk from before
 * can tell whether it comes by there.
 */
uint64_t split_find(const struct data_file *df, const struct segment *seg, int fd, uint64_t from);

#endif
