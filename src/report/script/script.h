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
#include "report/script/dlfilter.h"
#include "report/script/fields.h"
#include "report/script/formatters.h"
#include "report/script/kept_branches.h"
#include "report/script/line_texts.h"
#include "report/trace/frame.h"

/* Records that script shows beside samples. */
enum script_record {
	SCRIPT_SHOW_MAPS = 1u << 0,
	SCRIPT_SHOW_TASKS = 1u << 1,
	SCRIPT_SHOW_SWITCHES = 1u << 2,
	SCRIPT_SHOW_LOST = 1u << 3,
	SCRIPT_SHOW_NAMESPACES = 1u << 4,
	SCRIPT_SHOW_CGROUPS = 1u << 5,
	SCRIPT_SHOW_BPF = 1u << 6,
	SCRIPT_SHOW_POKES = 1u << 7,
	SCRIPT_SHOW_ROUNDS = 1u << 8,
};

struct script_opts {
	struct script_fields fields;
	bool no_callchain;
	bool inlined;	   /* call chains have inlined functions, too */
	uint32_t branches; /* show only branches with any of these flags (AUX_CALL, …); 0: all */
	unsigned int records; /* enum script_record */
	bool by_event;	      /* each event has a stream */
	uint64_t max_blocks;  /* of SCRIPT_BRANCH_CODE: the newest ones; 0: all */
	/* show only branches in these, and in what they call; NULL: all */
	const char *graph_functions;
	const char *stop_at; /* comma list of functions where call chains end; NULL: none */
	size_t max_stack;
	struct filter filter;
	struct dlfilter *dlfilter; /* of the user's own; the caller frees it. NULL: none */
	/* The text of a sample depends on the one before: one thread calls the callback. */
	bool in_sequence;
};

/* What fields that show code need, for one thread. */
struct script_code {
	struct code_reader *reader;    /* NULL: no field shows code */
	struct source_reader *sources; /* NULL: none shows source */
	struct frames *frames;
	uint64_t max_blocks;
};

/* A sample with its fields; valid during the call that receives it. */
struct script_sample {
	const struct walk_sample *ws;
	const struct pd_record *record; /* NULL: a sample; else only @ws, @fields, @comm are set */
	uint64_t fields;		/* SCRIPT_*: wanted, and present in this event */
	bool is_branch;			/* of hardware trace: control went from @at to @addr */
	const char *comm;		/* NULL: unknown */
	struct frame at;		/* the sampled address */
	bool has_chain;			/* the event records call chains, and they are wanted */
	bool chain;		   /* this sample has a chain; if not, show the address alone */
	const struct frame *frame; /* of the chain, innermost first */
	size_t nr_frames;
	const struct frame *branch; /* from and to of each of ws->s.branches; NULL: not wanted */
	bool has_addr_frame;	    /* @addr is set: the data address is worth resolving */
	struct frame addr;
	size_t depth; /* of calls, for SCRIPT_CALLINDENT; a return is as deep as its call */
	struct tracing *tracing;  /* formats for the calling thread; NULL: there are none */
	struct line_texts *texts; /* of the calling thread */
	/*
	 * The text behind the time: it is there, or may be put there. NULL: it is not kept. Where
	 * it is there, @at and @addr are not set.
	 */
	struct kept_branch *kept;
	const struct script_code *code;
	/* For SCRIPT_INSN and kin: the sampled instruction. */
	const uint8_t *insn;
	unsigned int insn_len; /* 0: not known */
	const char *insn_text; /* NULL: not wanted or not known */
};

/*
 * Writes the text of one sample to @out; a negative errno ends the walk. An error in hardware trace
 * (ws->evsel NULL) has neither comm nor frames. Any thread may call.
 */
/* Returns where the function is that a branch calls, or that it leaves; NULL: it does neither. */
const struct frame *script_call_frame(const struct script_sample *s);

typedef int (*script_fn)(const struct trace *t, const struct script_sample *s, struct outbuf *out,
			 void *arg);

/*
 * Calls @fn for each sample that passes the filter, and writes their texts to a stream, in order:
 * to *@outs, or with opts->by_event to that of its event, by index. What belongs to no event goes
 * to all. Returns 0; the negative value of @fn; the errno of a stream, with ferror(), if that
 * failed; or a negative errno with @err filled.
 */
int script_run(struct trace *t, const struct script_opts *opts, script_fn fn, void *arg,
	       struct format_out *outs, struct error *err);

#endif
