/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotate: pass 2 over a prepared trace, which counts samples by function and address.
 *
 * It is a report whose rows are addresses, so it is as parallel, and takes the same filters.
 * Samples in inlined code belong to the function that contains it; of a call chain only the sampled
 * address counts. One thread uses an annotation. It owns its arrays; symbols and dsos are borrowed.
 */
#ifndef RINGTAIL_REPORT_ANNOTATE_ANNOTATE_H
#define RINGTAIL_REPORT_ANNOTATE_ANNOTATE_H

#include "report/trace/filter.h"
#include "report/trace/trace.h"

struct annotate_weight {
	uint64_t samples, period;
};

/* A sampled address. */
struct annotate_place {
	uint64_t addr; /* in the dso, as in struct location */
	size_t event;  /* by evsel index */
	struct annotate_weight weight;
};

struct annotate_function {
	const struct symbol *sym;
	const struct dso *dso;	       /* of most of its samples */
	uint64_t base;		       /* of a module or JIT: from its addresses to the machine's */
	size_t first, nr;	       /* its places, by address and event */
	struct annotate_weight *total; /* by evsel index */
};

struct annotate {
	struct trace *trace;
	size_t nr_events;
	struct annotate_weight *whole;	 /* by evsel index: all samples that the filter counts */
	struct annotate_weight *nowhere; /* by evsel index: of these, in no known function */
	struct annotate_function *function;
	size_t nr;
	struct annotate_place *place;
	size_t nr_places;
	struct annotate_weight *totals; /* of all functions */
};

/* Returns whether digests are enough; ask before trace_prepare(), to set trace.digest. */
enum digest_kind annotate_takes_digests(const struct trace *t, const struct filter *f);

/*
 * Counts the samples that @f accepts. @t must outlive the result. Returns 0 with *@ret for
 * annotate_free(), or a negative errno with @err filled.
 */
int annotate_run(struct trace *t, const struct filter *f, struct annotate **ret, struct error *err);
/* Frees @a; accepts NULL. The trace stays. */
void annotate_free(struct annotate *a);

/*
 * Orders the functions by falling period of @event, then of the events behind it; ties by name and
 * place.
 */
void annotate_sort(struct annotate *a, size_t event);

/*
 * Sums the places of @f from @start up to @end, exclusive, by event into @ret, which has nr_events
 * elements. *@cursor is 0 at the first call; ranges must ascend from call to call.
 */
void annotate_sum(const struct annotate *a, const struct annotate_function *f, uint64_t start,
		  uint64_t end, size_t *cursor, struct annotate_weight *ret);

#endif
