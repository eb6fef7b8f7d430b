/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of all AUX areas of a recording: which trace each holds, and which of it is written.
 *
 * After a thread leaves a CPU, that CPU's area still holds old trace. So the default follows the
 * stays of the events (ring/aux_stays.h) back in time, over all areas, until it has as many bytes
 * as one area, until a byte of the next stay is overwritten, or until a pause of all events, by a
 * snapshot or a command. Then it has no gap.
 *
 * The areas are stopped while they are copied. Bytes that an earlier snapshot found there are old,
 * whether it took them or not: they are counted, and not taken.
 *
 * Threads: the main thread's. The caller owns a snapshot, with its records. Times are ns of the
 * recording's clock, 0 if unknown; sizes in bytes.
 */
#ifndef RINGTAIL_RECORD_AUX_WINDOW_H
#define RINGTAIL_RECORD_AUX_WINDOW_H

#include "record/aux/area.h"

struct aux_taken {
	struct aux_area *area;
	bool active;		  /* its event ran at the request */
	struct aux_window window; /* what the area held */
	uint64_t from, to;	  /* the bytes that are written */
	struct aux_stay late;	  /* the newest stay, if it began after the request */
	uint64_t first, last;	  /* times that these cover */
	size_t len;		  /* of an AUXTRACE record with them; 0: there are none */
	uint8_t *record;	  /* a copy of it that belongs to the snapshot, or NULL */
};

struct aux_snapshot {
	struct aux_taken *taken; /* one for each area */
	size_t nr;
	uint64_t asked;
	bool unsure; /* the stays were not known; AUX_SCOPE_ACTIVE was taken, perhaps with a gap */
	uint64_t resumed; /* of struct aux_areas */
};

struct aux_snapshot_opts {
	enum aux_scope scope;
	uint64_t window; /* of AUX_SCOPE_WINDOW */
	uint64_t most;	 /* of each area; 0: all */
	bool by_task;	 /* events follow tasks over CPUs */
};

/*
 * Begins one, requested at the time @asked (0: unknown): stops all areas and chooses what is
 * written of each. Returns 0 or -ENOMEM; aux_snapshot_end() and aux_snapshot_release() are due in
 * both cases.
 */
int aux_snapshot_begin(struct aux_areas *areas, const struct aux_snapshot_opts *opts,
		       uint64_t asked, struct aux_snapshot *ret);

/* Between begin and end: copies an AUXTRACE record of @t->len bytes (not 0) to @record. */
void aux_taken_copy(const struct aux_taken *t, uint64_t asked, uint8_t *record);

/*
 * All areas go on, and their bytes are old from now on. The caller sets areas->resumed behind it.
 */
void aux_snapshot_end(struct aux_snapshot *s);
void aux_snapshot_release(struct aux_snapshot *s); /* accepts an all-zero struct */

#endif
