/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code: the instructions of one function with their samples, and source lines between them.
 *
 * One thread uses it; it may be another than the one that loaded it. It owns what it holds; symbols
 * and dsos are borrowed from the trace.
 */
#ifndef RINGTAIL_VIEW_MODEL_CODE_H
#define RINGTAIL_VIEW_MODEL_CODE_H

#include "report/annotate/annotate.h"
#include "report/annotate/listing.h"
#include "report/annotate/source.h"
#include "report/annotate/target.h"
#include "report/table/report.h"
#include "view/model/match.h"

struct code_line {
	uint32_t insn;	  /* in the listing */
	uint32_t line;	  /* of @file, above the instruction; 0: the instruction itself */
	const char *file; /* borrowed */
};

/* The function whose code is wanted. Borrowed. */
struct code_wanted {
	const struct symbol *sym;
	const struct dso *dso; /* NULL: that of its samples; a function without any is not found */
	uint64_t base;	       /* of @dso, as in struct annotate_function */
};

struct view_code {
	struct code_wanted of;	   /* with its dso */
	struct resolver *resolver; /* borrowed, of the trace */
	struct code_source from;
	struct annotate *annotate;
	const struct annotate_function *function; /* NULL: it has no samples */
	size_t event;
	struct function_code bytes;
	struct listing listing;
	struct source_files *source;
	struct annotate_weight *weight; /* by instruction */
	struct code_line *line;
	size_t nr, cap;
	size_t arrow, arrow_row; /* of listing_margin(), for rows that ascend */
};

/*
 * Counts the samples of @event in @w that @f accepts, and loads its code. Returns 0 with *@ret for
 * code_free(), or a negative errno with @err filled: -ENOENT if no sample is in it and its dso is
 * not known.
 */
int code_load(struct trace *t, const struct filter *f, const struct code_wanted *w, size_t event,
	      struct view_code **ret, struct error *err);
void code_free(struct view_code *c); /* accepts NULL */

/* Returns the samples and periods of the function's own code; zeroes: none. */
struct annotate_weight code_total(const struct view_code *c);
/* Returns the share of the function's samples, percent, of an instruction. */
double code_percent(const struct view_code *c, uint32_t insn);
/*
 * Appends the escaped text of line @i, without the percentage; behind a branch out of the function
 * stands the name of the function that it leads to. Returns 0 or -ENOMEM.
 */
int code_text(struct view_code *c, size_t i, struct buf *out);

/* Returns the line with the most samples below those of @from; SIZE_MAX as @from: of all. */
size_t code_next_hot(const struct view_code *c, size_t from);
/* Returns the next line after @from with @match in its text, or before; @from: there is none. */
size_t code_find(struct view_code *c, size_t from, const struct view_match *match, bool back);

/*
 * Returns the node of @g whose function has the code of node @n: @n itself, or the function that
 * the inlined one is in. @order is that of the chains.
 */
uint32_t code_owner(const struct callgraph *g, uint32_t n, enum report_graph order);

/* Where a line leads to. */
enum code_way {
	CODE_NOWHERE,  /* it is no branch */
	CODE_AT_RUN,   /* it is one whose target is in a register or in memory */
	CODE_IN_HERE,  /* to another line */
	CODE_FUNCTION, /* to the function @target */
	CODE_UNKNOWN,  /* to an address of no known function, or of generated code */
};

/* Returns where line @i leads to, with the line in *@ret_line or the function in *@ret. */
enum code_way code_follow(struct view_code *c, size_t i, size_t *ret_line,
			  struct annotate_target *ret);

#endif
