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
#include "report/script/line_texts.h"
#include "report/trace/frame.h"

/* Fields of a line, bits of a uint64_t. */
#define SCRIPT_COMM	      (1ull << 0)
#define SCRIPT_TID	      (1ull << 1)
#define SCRIPT_PID	      (1ull << 2)
#define SCRIPT_TIME	      (1ull << 3)
#define SCRIPT_CPU	      (1ull << 4)
#define SCRIPT_EVENT	      (1ull << 5)
#define SCRIPT_TRACE	      (1ull << 6)
#define SCRIPT_IP	      (1ull << 7)
#define SCRIPT_SYM	      (1ull << 8)
#define SCRIPT_DSO	      (1ull << 9)
#define SCRIPT_DSOFF	      (1ull << 10)
#define SCRIPT_ADDR	      (1ull << 11)
#define SCRIPT_SYMOFF	      (1ull << 12)
#define SCRIPT_PERIOD	      (1ull << 13)
#define SCRIPT_BRSTACK	      (1ull << 14)
#define SCRIPT_DATA_SRC	      (1ull << 15)
#define SCRIPT_WEIGHT	      (1ull << 16)
#define SCRIPT_PHYS_ADDR      (1ull << 17)
#define SCRIPT_MISC	      (1ull << 18)
#define SCRIPT_DATA_PAGE_SIZE (1ull << 19)
#define SCRIPT_CODE_PAGE_SIZE (1ull << 20)
#define SCRIPT_INS_LAT	      (1ull << 21)
#define SCRIPT_CGROUP	      (1ull << 22)
#define SCRIPT_FLAGS	      (1ull << 23) /* of branches in hardware trace */
#define SCRIPT_INSN	      (1ull << 24) /* bytes of the instruction */
#define SCRIPT_INSNLEN	      (1ull << 25)
#define SCRIPT_BRSTACKSYM     (1ull << 26)
#define SCRIPT_SRCLINE	      (1ull << 27)
#define SCRIPT_IPC	      (1ull << 28) /* of branches in hardware trace that counts cycles */
#define SCRIPT_CALLINDENT                                                      \
	(1ull << 29) /* of branches: functions, indented by the depth of calls \
		      */
#define SCRIPT_IREGS	  (1ull << 30)
#define SCRIPT_UREGS	  (1ull << 31)
#define SCRIPT_BRSTACKOFF (1ull << 32)
#define SCRIPT_TOD                                                                    \
	(1ull << 33) /* the wall-clock time, if the recording relates its clock to it \
		      */
#define SCRIPT_BPF_OUTPUT     (1ull << 34)
#define SCRIPT_SYNTH	      (1ull << 35) /* what a decoder of hardware trace adds: always shown */
#define SCRIPT_METRIC	      (1ull << 36) /* of ringtail nothing */
#define SCRIPT_MACHINE_PID    (1ull << 37)
#define SCRIPT_VCPU	      (1ull << 38)
#define SCRIPT_RETIRE_LAT     (1ull << 39)
#define SCRIPT_BRCNTR	      (1ull << 40) /* events counted between branches */
#define SCRIPT_BRSTACKINSN    (1ull << 41) /* instructions between branches, as bytes */
#define SCRIPT_BRSTACKINSNLEN (1ull << 42) /* with their lengths */
#define SCRIPT_BRSTACKDISASM  (1ull << 43) /* as text */
#define SCRIPT_DISASM	      (1ull << 44) /* the instruction as text */
#define SCRIPT_SRCCODE	      (1ull << 45) /* the line of source */
#define SCRIPT_BRANCH_CODE    (SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN | SCRIPT_BRSTACKDISASM)

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
	uint64_t of[SCRIPT_TYPES];
	uint64_t asked[SCRIPT_TYPES]; /* fields that the user named: their absence is an error */
	bool touched[SCRIPT_TYPES];   /* the user changed the default */
	/* The file has AUX data: show named fields that an event lacks, too, as perf does. */
	bool show_absent;
};

struct script_opts {
	struct script_fields fields;
	bool no_callchain;
	bool inlined;	   /* call chains have inlined functions, too */
	uint32_t branches; /* show only branches with any of these flags (AUX_CALL, …); 0: all */
	unsigned int records;	      /* enum script_record */
	const struct pd_evsel *event; /* samples of this event only; NULL: any */
	uint64_t max_blocks;	      /* of SCRIPT_BRANCH_CODE: the newest ones; 0: all */
	const char *stop_at; /* comma list of functions where call chains end; NULL: none */
	size_t max_stack;
	struct filter filter;
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
uint64_t script_fields_of(const struct script_fields *fields, const struct pd_evsel *evsel);

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
