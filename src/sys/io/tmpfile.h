/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name. Any thread. */
#ifndef RINGTAIL_SYS_IO_TMPFILE_H
#define RINGTAIL_SYS_IO_TMPFILE_H

#include "base/error.h"

/*
 * Opens an unlinked file in $TMPDIR; where that is not set, in /var/tmp, /tmp or the current
 * folder, the first that takes one. Returns its descriptor for close(), or a negative errno with
 * @err filled.
 */
int tmpfile_open(struct error *err);

#endif
