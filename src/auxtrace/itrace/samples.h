/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes samples of the events that a decoder finds in a stretch of hardware trace.
 *
 * Samples of one stretch are in the order of the trace, in lists of bounded length. Nothing is
 * carried to the next stretch, so any number of threads may work, each with a list of its own, and
 * the samples are the same.
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

#define ITRACE_NO_TEXT UINT32_MAX

/* Which branches perf shows for the letters c and r. */
#define ITRACE_CALLS   (AUX_CALL | AUX_ASYNC | AUX_TRACE_END)
#define ITRACE_RETURNS (AUX_RETURN | AUX_TRACE_BEGIN)

/* There are many: 80 bytes. */
struct itrace_sample {
	enum itrace_kind kind : 8;
	uint8_t cpumode, insn_len;
	bool hidden : 1; /* a branch that only the past of others needs, or an error that is only
			    counted */
	bool damage : 1; /* an error, because the trace is damaged or does not fit the code */
	uint8_t simd : AUX_SIMD_BITS; /* aux_simd(): of operations that SPE sampled */
	uint32_t flags;		      /* AUX_BRANCH, … */
	uint32_t pid, tid, cpu;	      /* UINT32_MAX: unknown */
	uint32_t text;		      /* place in the list's texts, or ITRACE_NO_TEXT */
	uint64_t time, ip, addr;      /* time 0: unknown */
	uint64_t period;	      /* events that it stands for */
	uint64_t offset;	      /* in the ring */
	union {
		uint8_t insn[16];
		struct {
			uint64_t weight, phys; /* latency in cycles, physical address */
		};			       /* of SPE's kinds: itrace_is_operation() */
	};
	/*
	 * Since the sample of that kind before that has them, if the trace counts cycles: of a
	 * branch; with opts->ipc of instructions, up to the newest branch with a count.
	 */
	uint32_t insns, cycles;
};

/* All zero: empty. */
struct itrace_list {
	struct itrace_sample *samples;
	size_t nr, cap;
	struct buf texts;
	bool has_errors; /* unless they were taken out */
	size_t run;	 /* for the owner */
};

/* Returns whether samples of @kind, which @o asks for, have their thread's past with them. */
bool itrace_has_past(enum itrace_kind kind);

/* Returns whether samples of @kind are operations that SPE sampled. */
static inline bool itrace_is_operation(enum itrace_kind kind)
{
	return kind >= ITRACE_L1_ACCESS && kind <= ITRACE_MEMORY;
}

/* Returns the name of the event, as perf has it: "branches", "l1d-miss", …. */
const char *itrace_kind_name(enum itrace_kind kind);

/* Returns whether @o asks for samples of @kind. */
bool itrace_wants(const struct itrace_opts *o, enum itrace_kind kind);

#define ITRACE_LIST_MAX ((size_t)512 << 10) /* samples */

/* The decoding of a stretch. All zero but for @max: not begun. */
struct itrace_decoding {
	/* NULL at first. Used again for stretches with the same options and code; the owner ends
	 * it. */
	struct aux_decoder *decoder;
	size_t max; /* samples for a list, more or less; 0: ITRACE_LIST_MAX */
	bool more;  /* the list is full; the stretch goes on, and its data must stay */
	struct aux_stretch stretch;
	uint64_t made;	 /* samples in earlier lists */
	uint64_t insns;	 /* since the last sample of instructions */
	uint64_t sample; /* time of the next one, if their period is a time; 0: not known yet */
	uint64_t branch_insns, branch_cycles; /* since the last sample that has them */
	/* For samples of instructions: since the last branch with cycles; up to it. */
	uint64_t open_insns, insn_insns, insn_cycles;
	struct aux_event last; /* with instructions */
	size_t last_at;	       /* its place in the list */
};

/*
 * Decodes @stretch and appends its samples, until the list is full. The instructions behind the
 * last period are a sample of their own. A trace that @ops does not know is an error in the list.
 * Returns 0 or -ENOMEM.
 */
int itrace_decode(const struct itrace_opts *opts, const struct aux_decoder_ops *ops,
		  const struct aux_setup *setup, const struct aux_stretch *stretch,
		  const struct aux_code *code, struct itrace_decoding *d, struct itrace_list *list);
/* Goes on, if d->more, with an empty list. Returns as itrace_decode(). */
int itrace_decode_more(const struct itrace_opts *opts, const struct aux_decoder_ops *ops,
		       struct itrace_decoding *d, struct itrace_list *list);

void itrace_list_clear(struct itrace_list *list);   /* keeps the memory */
void itrace_list_release(struct itrace_list *list); /* accepts zeroes */

#endif
