/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a line of script: their names, which of them each kind of event shows, and -F.
 *
 * Any thread may call. A struct script_fields owns nothing.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_FIELDS_H
#define RINGTAIL_REPORT_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/trace/trace.h"

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

/* Returns whether the user changed the fields of the kind of @evsel. */
bool script_fields_touched(const struct script_fields *fields, const struct pd_evsel *evsel);

#endif
