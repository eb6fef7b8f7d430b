/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by recover.c and recover_write.c. */
#ifndef RINGTAIL_DATA_EDIT_RECOVER_PRIV_H
#define RINGTAIL_DATA_EDIT_RECOVER_PRIV_H

#include "data/file/file_priv.h"

/* Places in the header of a file. */
enum { RECOVER_AT_DATA_SIZE = 48, RECOVER_AT_FEATURES = 72 };

/* Opens the file of @s if it is the one that was read. Returns a descriptor or a negative errno. */
int recover_open(const struct segment *s);

#endif
