/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where records continue behind damage.
 *
 * Records have no mark. A place counts as the next record if RESUME_RECORDS records follow one
 * another from there: with known types, known events, contents that fit their sizes, and times near
 * one another. Fewer are enough if they end exactly at the end of the data.
 *
 * The cost is linear in the skipped bytes, whatever they are: each is read once, however often a
 * search begins, and the work at one place is bounded. Internal to data/. One thread.
 */
#ifndef RINGTAIL_DATA_SCAN_RESUME_H
#define RINGTAIL_DATA_SCAN_RESUME_H

#include "data/file/file_priv.h"

#define RESUME_RECORDS 5
#define RESUME_SPAN    ((RESUME_RECORDS + 1) * RECORD_MAX) /* a test of one place reads no more */
#define RESUME_MAX     (256ull << 20)			   /* bytes that a search passes over */

struct resume;

/*
 * Searches for records of @seg, open as @fd, from file offset @from on. *@r is NULL at first, keeps
 * the bytes read, and is freed with resume_free(). Returns 1 with *@ret_offset, 0 if there are
 * none, -ENOMEM or -EIO.
 */
int resume_find(struct resume **r, const struct data_file *df, const struct segment *seg, int fd,
		uint64_t from, uint64_t *ret_offset);
/* Frees @r; accepts NULL. */
void resume_free(struct resume *r);

/*
 * Searches the @len bytes at @p. Returns 1 with the place in *@ret_at; or 0 with the number of
 * bytes to skip there: whether records begin in the rest, RESUME_SPAN bytes at most, depends on
 * what follows. @ends: nothing follows.
 */
int resume_find_in(const struct data_file *df, const uint8_t *p, size_t len, bool ends,
		   size_t *ret_at);

#endif
