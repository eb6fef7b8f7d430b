/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in time order, each with the fields that a line of perf script may show, as text.
 *
 * Several threads make the text (report/script/formatters.h); one calls script_run(). What a
 * callback receives is valid during the call.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_SCRIPT_H
#define RINGTAIL_REPORT_SCRIPT_SCRIPT_H

#include <stdio.h>

#include "base/outbuf.h"
#include "report/trace/filter.h"
#include "report/trace/frame.h"

/* Fields of a line, in the order of perf script's names. */
enum script_field {
	SCRIPT_COMM = 1u << 0,
	SCRIPT_TID = 1u << 1,
	SCRIPT_PID = 1u << 2,
	SCRIPT_TIME = 1u << 3,
	SCRIPT_CPU = 1u << 4,
	SCRIPT_EVENT = 1u << 5,
	SCRIPT_TRACE = 1u << 6,
	SCRIPT_IP = 1u << 7,
	SCRIPT_SYM = 1u << 8,
	SCRIPT_DSO = 1u << 9,
	SCRIPT_DSOFF = 1u << 10,
	SCRIPT_ADDR = 1u << 11,
	SCRIPT_SYMOFF = 1u << 12,
	SCRIPT_PERIOD = 1u << 13,
	SCRIPT_BRSTACK = 1u << 14,
	SCRIPT_DATA_SRC = 1u << 15,
	SCRIPT_WEIGHT = 1u << 16,
	SCRIPT_PHYS_ADDR = 1u << 17,
	SCRIPT_MISC = 1u << 18,
	SCRIPT_DATA_PAGE_SIZE = 1u << 19,
	SCRIPT_CODE_PAGE_SIZE = 1u << 20,
	SCRIPT_INS_LAT = 1u << 21,
	SCRIPT_CGROUP = 1u << 22,
	SCRIPT_FLAGS = 1u << 23, /* of branches in hardware trace */
	SCRIPT_INSN = 1u << 24,	 /* bytes of the instruction */
	SCRIPT_INSNLEN = 1u << 25,
	SCRIPT_BRSTACKSYM = 1u << 26,
	SCRIPT_SRCLINE = 1u << 27,
	SCRIPT_IPC = 1u << 29,	      /* of branches in hardware trace that counts cycles */
	SCRIPT_CALLINDENT = 1u << 28, /* of branches: functions, indented by the depth of calls */
};

/* Kinds of events that have fields of their own in -F ("hw:comm,tid,…"). */
enum script_type {
	SCRIPT_HW,
	SCRIPT_SW,
	SCRIPT_TRACEPOINT,
	SCRIPT_HW_CACHE,
	SCRIPT_RAW,
	SCRIPT_BREAKPOINT,
	SCRIPT_OTHER,
	SCRIPT_TYPES,
};

struct script_fields {
	uint32_t of[SCRIPT_TYPES];
	uint32_t asked[SCRIPT_TYPES]; /* fields that the user named: their absence is an error */
	bool touched[SCRIPT_TYPES];   /* the user changed the default */
	/* The file has AUX data: show named fields that an event lacks, too, as perf does. */
	bool show_absent;
};

struct script_opts {
	struct script_fields fields;
	bool no_callchain;
	bool inlined;	   /* call chains have inlined functions, too */
	uint32_t branches; /* show only branches with any of these flags (AUX_CALL, …); 0: all */
	size_t max_stack;
	struct filter filter;
	/* The text of a sample depends on the one before: one thread calls the callback. */
	bool in_sequence;
};

/* A sample with its fields; valid during the call that receives it. */
struct script_sample {
	const struct walk_sample *ws;
	uint32_t fields;	   /* enum script_field: wanted, and present in this event */
	bool is_branch;		   /* of hardware trace: control went from @at to @addr */
	const char *comm;	   /* NULL: unknown */
	struct frame at;	   /* the sampled address */
	bool has_chain;		   /* the event records call chains, and they are wanted */
	bool chain;		   /* this sample has a chain; if not, show the address alone */
	const struct frame *frame; /* of the chain, innermost first */
	size_t nr_frames;
	const struct frame *branch; /* from and to of each of ws->s.branches; NULL: not wanted */
	bool has_addr_frame;	    /* @addr is set: the data address is worth resolving */
	struct frame addr;
	size_t depth; /* of calls, for SCRIPT_CALLINDENT; a return is as deep as its call */
	struct tracing *tracing; /* formats for the calling thread; NULL: there are none */
};

/*
 * Writes the text of one sample to @out; a negative errno ends the walk. An error in hardware trace
 * (ws->evsel NULL) has neither comm nor frames. Any thread may call.
 */
typedef int (*script_fn)(const struct trace *t, const struct script_sample *s, struct outbuf *out,
			 void *arg);

/* Sets perf's default fields for this trace; without @chains, call chains are not shown. */
void script_fields_default(const struct trace *t, bool chains, struct script_fields *ret);

/* Returns the name of a field, as -F takes it; NULL: there are no more. */
const char *script_field_at(size_t index);

/*
 * Applies one -F argument: "[type:]field,…"; a field may have + or - before it. Returns 0, or
 * -EINVAL with @err naming the wrong word.
 */
int script_fields_parse(const char *s, struct script_fields *fields, struct error *err);

/* Returns the fields that samples of @evsel can show. */
uint32_t script_fields_of(const struct script_fields *fields, const struct pd_evsel *evsel);

/*
 * Checks that some event has each field that the user named. Returns 0, or -EINVAL with @err naming
 * the field.
 */
int script_fields_check(const struct trace *t, const struct script_fields *fields,
			struct error *err);

/*
 * Calls @fn for each sample that passes the filter, and writes their texts to @out, in order.
 * Returns 0 with the number of bytes in *@ret_bytes; the negative value of @fn; the errno of
 * @out, with ferror(), if that failed; or a negative errno with @err filled.
 */
int script_run(struct trace *t, const struct script_opts *opts, script_fn fn, void *arg, FILE *out,
	       uint64_t *ret_bytes, struct error *err);

#endif
