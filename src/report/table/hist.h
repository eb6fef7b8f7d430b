/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histogram: rows of equal cells with their weights, and a call tree for each row if wanted.
 *
 * One thread uses a histogram; workers fill one each and hist_merge() adds them up, in any order to
 * the same result.
 */
#ifndef RINGTAIL_REPORT_TABLE_HIST_H
#define RINGTAIL_REPORT_TABLE_HIST_H

#include "report/table/callgraph.h"
#include "report/table/keys.h"

/* Sums of a row that only some columns need. */
enum hist_more {
	HIST_SYS, /* parts of self, by the mode of the CPU */
	HIST_US,
	HIST_GUEST_SYS,
	HIST_GUEST_US,
	HIST_WEIGHT1, /* sums of weights */
	HIST_WEIGHT2,
	HIST_WEIGHT3,
	HIST_LATENCY, /* part of self and of children in the time that passed: trace_latency() */
	HIST_LATENCY_CHILDREN,
	HIST_BRANCHES, /* of branch histories; those whose prediction is known, and which of these …
			*/
	HIST_BRANCHES_KNOWN,
	HIST_BRANCHES_PREDICTED,
	HIST_BRANCHES_ABORTED,
	HIST_BRANCH_CYCLES,
	HIST_MORE_NR,
};

struct hist_entry {
	uint64_t self;	   /* periods of samples in the row itself */
	uint64_t children; /* self and the periods of callees; equal to self without --children */
	uint64_t samples;  /* counted in self */
	uint32_t root;	   /* of its call tree in hist.graph; CALLGRAPH_NONE */
	uint32_t depth;	   /* most frames below it in a chain; rows of equal weight sort by it */
	uint32_t number; /* in the order of making; finds its places in hist.cells and hist.more */
};

struct hist;

/* Events side by side: the rows of the first have places for the sums of the others. */
struct hist_group {
	const struct hist **member; /* the first is the histogram itself; borrowed */
	size_t nr;
	uint32_t *row; /* number * nr + member: the entry there; HIST_NONE */
	size_t cap;
};

#define HIST_NONE UINT32_MAX

struct hist {
	const struct sort_key *const *keys; /* borrowed */
	size_t nr_keys;
	struct hist_names names;
	uint32_t last; /* index of the row that was found last */
	struct hist_entry *entry;
	size_t nr, cap;
	struct hist_cell *cells; /* nr_keys for each entry */
	size_t cap_cells;
	bool has_more;
	uint64_t *more; /* with has_more: HIST_MORE_NR for each entry */
	size_t cap_more;
	struct hash_table table; /* of entries, by their cells */
	uint64_t key;		 /* of hashes */
	struct callgraph graph;
	struct hist_group group;  /* nr is 0: none */
	bool is_member;		  /* of the group of another histogram */
	uint64_t period, samples; /* of all samples, also of those that filters do not show */
	uint64_t latency;	  /* the same; 0: not counted */
	uint64_t alone;		  /* of @samples: no other thread ran; 0: not counted */
};

/*
 * Returns 0 or -ENOMEM. The caller calls hist_release() also after failure. @keys must outlive @h.
 */
int hist_init(struct hist *h, const struct sort_key *const *keys, size_t nr_keys);
/* Frees what @h holds. */
void hist_release(struct hist *h);

/*
 * Finds or makes the row of @cells; their strings must be from h->names. Returns 0 with its index,
 * -ENOMEM or -E2BIG.
 */
int hist_row(struct hist *h, const struct hist_cell *cells, uint32_t *ret);

/* Computes the cells of @src, whose names must be set, and finds or makes the row, as hist_row().
 */
int hist_row_of(struct hist *h, struct key_source *src, uint32_t *ret);

/* Finds or makes the row's call tree. Returns as callgraph_root() does. */
int hist_tree(struct hist *h, uint32_t row, uint32_t *ret);

/* Finds or makes the row of entry @e of @from, which must have the same keys. As hist_row(). */
int hist_row_like(struct hist *h, const struct hist *from, const struct hist_entry *e,
		  uint32_t *ret);

/* Adds all of @from, which must have the same keys. Returns 0, -ENOMEM or -E2BIG. */
int hist_merge(struct hist *h, const struct hist *from);

/* Adds a sample's @period to the part of @row for @cpumode; does nothing without has_more. */
void hist_add_mode(struct hist *h, uint32_t row, uint8_t cpumode, uint64_t period);

/* Adds to such a sum of @row; does nothing without has_more. */
static inline void hist_add_more(struct hist *h, uint32_t row, enum hist_more which, uint64_t value)
{
	if (h->has_more)
		h->more[(size_t)row * HIST_MORE_NR + which] += value;
}

/*
 * Puts the rows of the @nr histograms @member, of which @h is the first, side by side in @h: adds
 * the rows that @h lacks, and fills h->group. They must have the same keys. The rows of the others
 * keep their places as long as @h is used. Returns 0, -ENOMEM or -E2BIG.
 */
int hist_link(struct hist *h, struct hist *const *member, size_t nr);

/* Adds the sums of row @e of @from, but no call tree, to @row. */
void hist_add_row(struct hist *h, uint32_t row, const struct hist *from,
		  const struct hist_entry *e);

/* Returns such a sum of @e, 0 without has_more. */
static inline uint64_t hist_more(const struct hist *h, const struct hist_entry *e,
				 enum hist_more which)
{
	return h->has_more ? h->more[(size_t)e->number * HIST_MORE_NR + which] : 0;
}

/*
 * Orders rows by falling weight (children's if @by_children), then by their cells; orders the call
 * trees, too. No row may be added afterwards. Returns 0 or -ENOMEM.
 */
int hist_sort(struct hist *h, const struct trace *t, bool by_children);

/* Orders rows by @by, which gets two struct hist_entry and @arg, otherwise as hist_sort(). */
int hist_sort_by(struct hist *h, int (*by)(const void *, const void *, void *), void *arg);

/* Returns the number of events that the rows show side by side, at least 1. */
static inline size_t hist_members(const struct hist *h)
{
	return h->group.nr ? h->group.nr : 1;
}

/* Returns histogram @m of these. */
static inline const struct hist *hist_member(const struct hist *h, size_t m)
{
	return m ? h->group.member[m] : h;
}

/* Returns the row of hist_member() that belongs to @e; NULL: it has none. */
const struct hist_entry *hist_member_entry(const struct hist *h, const struct hist_entry *e,
					   size_t m);

/* Returns the first of the entry's cells. */
static inline const struct hist_cell *hist_cells(const struct hist *h, const struct hist_entry *e)
{
	return &h->cells[e->number * h->nr_keys];
}

#endif
