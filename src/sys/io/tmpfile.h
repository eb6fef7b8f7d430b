/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name. Any thread may call. */
#ifndef RINGTAIL_SYS_IO_TMPFILE_H
#define RINGTAIL_SYS_IO_TMPFILE_H

#include "base/error.h"

/* Opens an unlinked file in $TMPDIR or /var/tmp. Returns its descriptor or a negative errno. */
int tmpfile_open(struct error *err);

#endif
