/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diff: the rows of several reports side by side, joined by event and by the text of their keys.
 *
 * Texts mean the same in each recording, so builds of one program can be compared: files by their
 * short names, functions by their names. All addresses of a file without symbol are one row.
 * The first recording is the baseline; each other one is compared with it. Shares are of periods,
 * the tests (significance.h) count samples.
 *
 * A diff owns all that it points to and outlives the reports. One thread uses a diff.
 */
#ifndef RINGTAIL_REPORT_DIFF_DIFF_H
#define RINGTAIL_REPORT_DIFF_DIFF_H

#include "base/strpool.h"
#include "report/table/report.h"

enum diff_order {
	DIFF_DELTA_ABS, /* by the size of the change of the share, up or down */
	DIFF_DELTA,	/* by the change of the share, from growth to decline */
	DIFF_RATIO,	/* by the ratio of the shares; rows that only one recording has come last */
	DIFF_WDIFF,	/* by the difference of the periods, each times its weight */
};

struct diff_opts {
	const struct sort_key *keys[SORT_KEYS_MAX];
	size_t nr_keys;
	size_t nr_files;
	double confidence; /* percent; above 0, below 100 */
	enum diff_order order;
	size_t order_by;   /* index of the recording; 0: by the shares of the baseline */
	int64_t weight[2]; /* for DIFF_WDIFF: of the baseline, of the other */
};

struct diff_file {
	const char *path;
	double seconds; /* from the first to the last sample, within --time; 0: not known */
};

struct diff_weight {
	uint64_t period, samples;
};

/* A row of a recording, compared with the baseline. */
struct diff_change {
	double p, corrected; /* as in struct significance_test */
	bool changed;	     /* beyond sampling error; samples and periods moved the same way */
};

struct diff_verdict {
	size_t rows;	/* that either recording has */
	size_t tested;	/* of @rows: enough samples for a change to be seen */
	size_t changed; /* of @rows */
};

/* Arrays by recording have nr_files entries; those of rows as many for each row. */
struct diff_event {
	const char *name;
	struct diff_weight *total;    /* by recording */
	struct diff_verdict *verdict; /* by recording, the baseline's unused; by diff_finish() */
	const char **cell;	      /* nr_keys for each row */
	struct diff_weight *weight;
	struct diff_change *change; /* the baseline's unused; by diff_finish() */
	uint32_t *order; /* numbers of rows, the first row to show first; by diff_finish() */
	size_t nr, cap_cells, cap_weights;
	struct hash_table table; /* of rows, by their cells */
};

struct diff {
	struct diff_opts opts;
	struct diff_file *files; /* nr_files */
	size_t nr_added;	 /* of @files */
	struct diff_event *event;
	size_t nr_events, cap_events;
	struct strpool *pool;
};

/* Copies @opts. Returns a diff without recordings for diff_free(); NULL if memory is short. */
struct diff *diff_new(const struct diff_opts *opts);
/* Frees all; accepts NULL. */
void diff_free(struct diff *d);

/* Adds the next recording, with @r made for the same keys. Returns 0, -ENOMEM or -E2BIG. */
int diff_add(struct diff *d, const struct report *r);

/* After the last recording: tests and orders the rows. Returns 0 or -ENOMEM. */
int diff_finish(struct diff *d);

/* Returns whether the baseline and another recording have samples of @e. */
bool diff_comparable(const struct diff *d, const struct diff_event *e);

/* Returns what a row has in a recording. */
static inline const struct diff_weight *
diff_weight(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	return &e->weight[row * d->opts.nr_files + file];
}

/* Returns how a row of a recording differs from the baseline. Only after diff_finish(). */
static inline const struct diff_change *
diff_change(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file)
{
	return &e->change[row * d->opts.nr_files + file];
}

/* Returns the share of a row in a recording, percent. */
double diff_share(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file);

/* Returns how many percent points more the share is than in the baseline. */
double diff_delta(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file);

/* Returns the share divided by that of the baseline; negative if one of them is 0. */
double diff_ratio(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file);

/* Returns the weighted difference of the periods. */
double diff_wdiff(const struct diff *d, const struct diff_event *e, uint32_t row, size_t file);

#endif
