/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records go on behind damage.
 *
 * Records have no mark. A place is taken for the next one if RESUME_RECORDS follow one another from
 * there: of known types, of events that the recording has, with contents that fit their sizes and
 * times that are near one another. Fewer do where they end exactly at the end of all.
 *
 * The cost is linear in the bytes passed over, whatever they are: each is read once, however often
 * a search begins, and what is tried at a place is bounded. Internal to data/. One thread.
 */
#ifndef RINGTAIL_DATA_SCAN_RESUME_H
#define RINGTAIL_DATA_SCAN_RESUME_H

#include "data/file/file_priv.h"

#define RESUME_RECORDS 5
#define RESUME_SPAN    ((RESUME_RECORDS + 1) * RECORD_MAX) /* more than is looked at for one */
#define RESUME_MAX     (256ull << 20)			   /* bytes that a search passes over */

struct resume;

/*
 * Looks for records of @seg, open as @fd, from file offset @from on. *@r is NULL at first, keeps
 * what was read, and is freed with resume_free(). Returns 1 with *@ret_offset, 0 if there are none,
 * -ENOMEM or -EIO.
 */
int resume_find(struct resume **r, const struct data_file *df, const struct segment *seg, int fd,
		uint64_t from, uint64_t *ret_offset);
void resume_free(struct resume *r); /* accepts NULL */

/*
 * The same in the @len bytes at @p. Returns 1 with the place in *@ret_at; or 0 with how many bytes
 * are passed over there: of those behind them what follows tells, RESUME_SPAN bytes at most. @ends:
 * nothing follows.
 */
int resume_find_in(const struct data_file *df, const uint8_t *p, size_t len, bool ends,
		   size_t *ret_at);

#endif
