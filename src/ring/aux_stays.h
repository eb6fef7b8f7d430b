/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stays of an AUX ring: the times at which its event ran, and the bytes of trace that it left.
 *
 * The head of an overwrite area moves only when the event stops: its thread left the CPU, or
 * somebody disabled it. The kernel reports each stop by an AUX record with a time and the head. So
 * the list of stays shows which bytes are of which time.
 *
 * A full list joins its older stays, two at a time. A joined stay is coarser, never wrong: it has
 * the number of bytes that were written after its last pause.
 *
 * Times are ns of the recording's clock; 0 is unknown. The caller owns a list; one thread at a time
 * uses it.
 */
#ifndef RINGTAIL_RING_AUX_STAYS_H
#define RINGTAIL_RING_AUX_STAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aux_stay {
	uint64_t begun, ended;
	uint64_t bytes;
	bool joined;   /* the event paused in between, or records of pauses were lost */
	uint64_t tail; /* bytes at its end without a pause between them; @bytes if not joined */
	uint64_t tail_begun; /* the last pause before its end; @begun if not joined */
};

struct aux_stays {
	struct aux_stay *stays; /* by time */
	size_t nr, room;
	size_t unsettled; /* newest ones, whose turns around the area are not yet counted */
	uint64_t floor;	  /* end of the newest stay that was dropped; 0: none was */
};

/* Makes room for @room stays, at least 4 and even. Returns 0 or -ENOMEM. */
int aux_stays_init(struct aux_stays *s, size_t room);
void aux_stays_release(struct aux_stays *s); /* accepts an all-zero struct */

/* Adds a stay. @whole: no record of a stop before it was lost. */
void aux_stays_add(struct aux_stays *s, uint64_t begun, uint64_t ended, uint64_t bytes, bool whole);

/*
 * The unsettled stays are settled. With @more they wrote as many bytes more than was known, and
 * which of them wrote these is unknown.
 */
void aux_stays_settle(struct aux_stays *s, uint64_t more);

/* Drops all stays: a snapshot took their bytes. */
void aux_stays_drop(struct aux_stays *s);

/* The time at which the newest @bytes began: the begin of the stay that they begin in, or 0. */
uint64_t aux_stays_since(const struct aux_stays *s, uint64_t bytes);

#endif
