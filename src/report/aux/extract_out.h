/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that grows at its end, and whose newest bytes can be taken back.
 *
 * It is open only during a write, so that there may be more of them than descriptors. The file is
 * made at the first write. One thread.
 */
#ifndef RINGTAIL_REPORT_AUX_EXTRACT_OUT_H
#define RINGTAIL_REPORT_AUX_EXTRACT_OUT_H

#include <stdbool.h>

#include "base/buf.h"

#define EXTRACT_OUT_PIECE (64u << 10) /* bytes that extract_out_put() takes at most */
#define EXTRACT_OUT_BACK  8u	      /* bytes that can be taken back */

struct extract_out {
	int dir;
	char name[16];
	bool made;
	struct buf buf; /* the newest bytes */
};

/* Appends @len bytes. Returns 0 or a negative errno. */
int extract_out_put(struct extract_out *o, const void *p, size_t len);
/* Removes the last @len bytes, up to EXTRACT_OUT_BACK, if all are zero. Returns whether it did. */
bool extract_out_unpad(struct extract_out *o, size_t len);
/* Writes what is in memory. Returns 0 or a negative errno. */
int extract_out_end(struct extract_out *o);
/* Frees the memory. */
void extract_out_release(struct extract_out *o);

#endif
