/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes samples of the events that a decoder finds in a stretch of hardware trace.
 *
 * Samples of one stretch are in the order of the trace. Nothing is carried to the next stretch, so
 * any number of threads may work, each with a list of its own, and the samples are the same.
 */
#ifndef RINGTAIL_AUXTRACE_ITRACE_SAMPLES_H
#define RINGTAIL_AUXTRACE_ITRACE_SAMPLES_H

#include "auxtrace/decoder/decoder.h"
#include "auxtrace/itrace/options.h"
#include "base/buf.h"

enum itrace_kind {
	ITRACE_BRANCHES,
	ITRACE_INSTRUCTIONS,
	ITRACE_TRANSACTIONS,
	ITRACE_PTWRITE,
	ITRACE_POWER,
	ITRACE_L1_ACCESS,
	ITRACE_L1_MISS,
	ITRACE_LLC_ACCESS,
	ITRACE_LLC_MISS,
	ITRACE_TLB_ACCESS,
	ITRACE_TLB_MISS,
	ITRACE_BRANCH_MISS,
	ITRACE_REMOTE,
	ITRACE_MEMORY,
	ITRACE_ERRORS, /* no event: a place where the trace could not be decoded */
	ITRACE_KINDS,
};

#define ITRACE_NO_TEXT SIZE_MAX

/* Which branches perf shows for the letters c and r. */
#define ITRACE_CALLS   (AUX_CALL | AUX_ASYNC | AUX_TRACE_END)
#define ITRACE_RETURNS (AUX_RETURN | AUX_TRACE_BEGIN)

struct itrace_sample {
	enum itrace_kind kind;
	uint8_t cpumode, insn_len;
	uint8_t insn[16];
	bool hidden;	/* a branch that only the past of others needs, or an error that is only
			   counted */
	uint32_t flags; /* AUX_BRANCH, … */
	uint32_t pid, tid, cpu;	 /* UINT32_MAX: unknown */
	uint64_t time, ip, addr; /* time 0: unknown */
	uint64_t period;	 /* events that it stands for */
	uint64_t offset;	 /* in the ring */
	uint64_t value;		 /* PTWRITE */
	bool damage;	       /* an error, because the trace is damaged or does not fit the code */
	uint64_t weight, phys; /* of SPE: latency in cycles, physical address */
	size_t text;	       /* place in the list's texts, or ITRACE_NO_TEXT */
};

/* All zero: empty. */
struct itrace_list {
	struct itrace_sample *samples;
	size_t nr, cap;
	struct buf texts;
	size_t run; /* for the owner */
};

/* Returns whether samples of @kind, which @o asks for, have their thread's past with them. */
bool itrace_has_past(enum itrace_kind kind);

/* Returns the name of the event, as perf has it: "branches", "l1d-miss", …. */
const char *itrace_kind_name(enum itrace_kind kind);

/* Returns whether @o asks for samples of @kind. */
bool itrace_wants(const struct itrace_opts *o, enum itrace_kind kind);

/*
 * Decodes @stretch and appends its samples. The instructions behind the last period are a sample of
 * their own. A trace that @ops does not know is an error in the list. Returns 0 or -ENOMEM.
 *
 * *@decoder is NULL at first. It is used again for the next stretch with the same options and code;
 * the caller ends it.
 */
int itrace_decode(const struct itrace_opts *opts, const struct aux_decoder_ops *ops,
		  const struct aux_setup *setup, const struct aux_stretch *stretch,
		  const struct aux_code *code, struct aux_decoder **decoder,
		  struct itrace_list *list);

void itrace_list_clear(struct itrace_list *list);   /* keeps the memory */
void itrace_list_release(struct itrace_list *list); /* accepts zeroes */

#endif
