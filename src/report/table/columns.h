/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: which keys and sums a table shows, and by which its rows are ordered.
 *
 * Follows perf's rules for report -s and -F. A column is a sort key, or a field: a sum of a row.
 * Columns are plain values; the keys in them are constant.
 */
#ifndef RINGTAIL_REPORT_TABLE_COLUMNS_H
#define RINGTAIL_REPORT_TABLE_COLUMNS_H

#include "report/table/hist.h"
#include "report/table/trace_fields.h"

enum field_kind {
	FIELD_PERCENT, /* of all */
	FIELD_LATENCY, /* a percentage of all time that passed */
	FIELD_COUNT,   /* a number */
	FIELD_AVERAGE, /* a sum for each sample, or for each of what field.of says */
	FIELD_SHARE,   /* a percentage of what field.of says */
	FIELD_TIME,    /* ns */
};

struct field {
	const char *name;   /* as in -F */
	const char *header; /* of the column */
	unsigned int width; /* columns of text */
	enum field_kind kind;
	uint64_t needs; /* as in struct sort_key */
	bool more;	/* needs hist.more */
	bool whole;	/* needs more of a sample than a digest keeps */
	bool children;	/* of callees, too: N/A without --children */
	uint64_t (*value)(const struct hist *h, const struct hist_entry *e);
	/* FIELD_AVERAGE, FIELD_SHARE: what the value is divided by */
	uint64_t (*of)(const struct hist *h, const struct hist_entry *e);
	bool of_history; /* needs report_opts.history; as in perf, rows are not ordered by it */
};

/* Returns the average or the share, in percent, of @e; an average of nothing is 0, a share NAN. */
double field_ratio(const struct field *f, const struct hist *h, const struct hist_entry *e);

/* One of both is set. */
struct column {
	const struct sort_key *key;
	const struct field *field;
};

#define COLUMNS_MAX (SORT_KEYS_MAX + 32) /* with all fields */

struct columns {
	struct column shown[COLUMNS_MAX]; /* from left to right */
	struct column order[COLUMNS_MAX]; /* rows are ordered by the first of these that differs */
	size_t nr_shown, nr_order;
	size_t first_member; /* of a group, by which rows are ordered */
	bool by_latency;     /* the share of a row is its latency first */
};

/* Lists of -s and -F as the user gave them. */
struct columns_spec {
	struct column sort[COLUMNS_MAX], fields[COLUMNS_MAX];
	size_t nr_sort, nr_fields;
	struct trace_fields traces; /* keys of fields of tracepoints, for columns_release() */
	bool sorted;		    /* -s is given */
	bool strict;		    /* -F is given without plus: it replaces the default columns */
	bool children;		    /* --children */
	bool samples;		    /* -n */
	bool period;		    /* --show-total-period */
	bool latency;	    /* show latencies beside the shares, as far as no list says otherwise */
	bool latency_first; /* --latency */
};

/* Returns the field of that name or alias, or NULL. */
const struct field *field_find(const char *name, size_t len);

/* Returns field number @index; NULL after the last. */
const struct field *field_at(size_t index);

/*
 * Adds the list of -s. Without a plus before the first name it replaces what was there. A name that
 * is no key may be a field of a tracepoint: columns_resolve() checks it. Returns 0, or -EINVAL with
 * @err naming the wrong word.
 */
int columns_parse_sort(struct columns_spec *spec, const char *list, struct error *err);

/* The same for -F; a plus there keeps the default columns. A column that is there is left out. */
int columns_parse_fields(struct columns_spec *spec, const char *list, struct error *err);

/*
 * Checks the columns of fields of tracepoints, after all lists and before columns_arrange(), and
 * replaces those that stand for many. Returns 0, or a negative errno with @err filled.
 */
int columns_resolve(struct columns_spec *spec, const struct trace *t, struct error *err);

/* Frees what @spec holds: no column of it may be in use. */
void columns_release(struct columns_spec *spec);

/*
 * Fills @ret with the columns of @c that @evsel has: fields of other tracepoints are left out.
 */
void columns_of_event(const struct columns *c, const struct trace *t, const struct pd_evsel *evsel,
		      struct columns *ret);

/*
 * Fills @ret, and the keys of rows in @ret_keys (SORT_KEYS_MAX places). Returns the number of keys,
 * or -EINVAL with @err if these are too many, or of branches where children count.
 */
int columns_arrange(const struct columns_spec *spec, struct columns *ret,
		    const struct sort_key **ret_keys, struct error *err);

/* Checks fields as sort_keys_check() does keys. */
int columns_check(const struct columns *c, const struct pd_evlist *list, struct error *err);

/* Returns whether some shown column, or one of the order, needs hist.more; or whole samples. */
bool columns_need_more(const struct columns *c);
bool columns_need_whole(const struct columns *c);
/* Returns the shown column that needs branch histories; NULL: none does. */
const struct field *columns_need_history(const struct columns *c);
/* Returns whether some column, or the order, shows latencies. */
bool columns_need_latency(const struct columns *c);

/*
 * Returns the sum of @e, by which a table leaves out small rows, and that of all rows; NULL: the
 * row is not in @h.
 */
uint64_t columns_share(const struct columns *c, bool children, const struct hist *h,
		       const struct hist_entry *e, uint64_t *ret_all);

/*
 * Orders two rows of @h, without sums of their callees: negative, 0 or positive. @h may have fewer
 * keys than @c; the others do not count.
 */
int columns_compare(const struct columns *c, const struct hist *h, const struct trace *t,
		    const struct hist_entry *a, const struct hist_entry *b);

/*
 * Orders the rows of @h by @c, and its call trees, as hist_sort() does. @children: the rows have
 * sums of their callees; @depth: equal sums are ordered by the depth of their graphs. Returns 0 or
 * -ENOMEM.
 */
int columns_sort(const struct columns *c, struct hist *h, const struct trace *t, bool children,
		 bool depth);

#endif
