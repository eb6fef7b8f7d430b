/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option --itrace: which samples are made of a hardware trace.
 *
 * Source: tools/perf/Documentation/itrace.txt. Pure: any thread.
 */
#ifndef RINGTAIL_AUXTRACE_ITRACE_OPTIONS_H
#define RINGTAIL_AUXTRACE_ITRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum itrace_unit {
	ITRACE_NS,
	ITRACE_INSNS,
};

/* All zero: nothing is made. */
struct itrace_opts {
	bool instructions, branches, calls, returns, transactions, ptwrite, power, errors;
	bool l1, llc, tlb, remote, memory; /* of SPE */
	bool ipc;			   /* samples of instructions have cycles */
	bool no_overflows;		   /* errors do not show where the hardware lost trace */
	enum itrace_unit unit;		   /* of @period, between two samples of instructions */
	uint64_t period;
	bool chains, chains_recorded; /* call chains: on samples of the trace, on recorded ones */
	uint32_t chain_max;	      /* entries; markers of the kernel's and user's parts count */
	bool last, last_recorded;     /* last branches: on samples of the trace, on recorded ones */
	uint32_t last_max;
	uint64_t skip; /* samples to leave out at the beginning of the trace, errors not counted */
};

/* Returns whether samples need what came before them in the trace, by order of time. */
bool itrace_opts_need_past(const struct itrace_opts *o);

/* What perf report makes without --itrace: all that a trace may hold. */
void itrace_opts_all(struct itrace_opts *ret);
/* What perf script makes: the same, but calls for branches, and no instructions. */
void itrace_opts_calls(struct itrace_opts *ret);

/*
 * Parses the letters of --itrace. "" leaves @ret as it is. Returns 0, or -EINVAL with @err naming
 * what is wrong.
 */
int itrace_opts_parse(const char *text, struct itrace_opts *ret, struct error *err);

#endif
