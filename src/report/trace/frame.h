/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: the addresses of a sample, each with its dso and symbol.
 *
 * The first frame is the sampled address; its callers follow. PERF_CONTEXT_* markers become the
 * cpumode of the frames behind them. If the recording has copies of user stacks, callers in user
 * space come from these.
 *
 * One thread uses a struct frames. It holds the thread's cache in front of the shared resolver.
 */
#ifndef RINGTAIL_REPORT_TRACE_FRAME_H
#define RINGTAIL_REPORT_TRACE_FRAME_H

#include "symbol/lines/inlines.h"
#include "report/trace/walk.h"
#include "unwind/branch_history.h"
#include "unwind/unwind.h"

struct frame {
	uint64_t ip;		  /* as sampled */
	uint64_t addr;		  /* in the dso (struct location); @ip if @dso is NULL */
	const struct dso *dso;	  /* NULL: no known map covers the address */
	const struct symbol *sym; /* NULL: not resolved */
	uint8_t cpumode;	  /* PERF_RECORD_MISC_KERNEL … */
	bool guessed;		  /* as in struct unwind_frame */
	bool is_return;		  /* @ip is behind a call */
	uint32_t place;		  /* for who draws graphs: number of the place in callgraph.by */
	const struct symbol *in;  /* @sym is inlined: the symbol of the code around; else NULL */
	/* Set if frames->inlines is, and debug information covers the address. */
	const struct inline_chain *lines;
	size_t line; /* the frame's index in @lines */
	/* With frames->history: which end of a branch the frame is; @step is then set. */
	enum frame_side { FRAME_OF_CHAIN, FRAME_FROM, FRAME_TO, FRAME_BESIDE } side;
	uint32_t pid; /* of the process; set if @dso is */
	const struct branch_step *step;
};

struct frames {
	struct trace *trace;
	struct frame_slot *cache;
	unsigned int cache_bits;		   /* it has 2^bits slots */
	size_t cache_misses;			   /* since it grew */
	struct state_view maps;			   /* of the last sample */
	struct unwind unwind;			   /* if the recording has copies of stacks */
	const struct unwind_arch *arch64, *arch32; /* of 64 and 32 bit tasks; NULL: not known */
	struct frame *frame;			   /* of the last sample, innermost first */
	size_t nr, cap;
	size_t leaf;   /* index of the function that has the sampled code; inlined ones go before */
	bool is_chain; /* @frame is the call chain, not the sampled address alone */
	bool copy_ended; /* the chain ends because the copy of the stack does */
	/* Set by the owner. */
	enum frames_inlines { FRAMES_PLAIN, FRAMES_LINES, FRAMES_INLINED } inlines;
	/*
	 * Set by the owner. If the kernel recorded a longer chain than asked for, take its outer
	 * part, as perf does where graphs begin at the outermost caller.
	 */
	bool outermost;
	bool leafless; /* the sampled address is none of @frame: @outermost or @history left it out
			*/
	/*
	 * Set by the owner. Put the branches of the sample's branch stack before the chain: the
	 * place that the newest went to, where it came from, and so on. Callers whose calls are
	 * among them are left out.
	 */
	bool history;
	bool has_history;	   /* @frame of the last sample has branches, or had them */
	struct branch_step *steps; /* of the last sample */
	size_t cap_steps;
};

/* Returns 0 or -ENOMEM. The caller calls frames_release() also after failure. @t is borrowed. */
int frames_init(struct frames *f, struct trace *t);
/* Frees what @f holds. */
void frames_release(struct frames *f);

/* Resolves address @ip of process @pid, which ran in @cpumode at @at. */
void frames_resolve(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		    struct frame *ret);

/*
 * Resolves data address @addr, which code in @cpumode accessed. Unlike frames_resolve() it accepts
 * user addresses from the kernel, because the kernel accesses memory of tasks, too.
 */
void frames_resolve_data(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t addr,
			 struct moment at, struct frame *ret);

/* Sets the lines of @frame, which frames_resolve() filled. */
void frames_find_line(struct frames *f, struct frame *frame);

/* Limit for the frames of a chain: a drawn graph nests as deep. */
#define FRAMES_MAX 1024

/*
 * Fills @f->frame with the sample's call chain: at most @max frames that the kernel recorded, and
 * at most @max from the copy of the stack. A sample without chain, or @max 0, gives the sampled
 * address alone; a sample without address gives no frame. Returns 0 or -ENOMEM.
 *
 * With FRAMES_LINES frames have lines. With FRAMES_INLINED a chain also has the inlined functions,
 * which do not count for @max, but no more than FRAMES_MAX frames in all.
 */
int frames_of_sample(struct frames *f, const struct walk_sample *ws, size_t max);

/*
 * As frames_of_sample(), but gives no frame for an empty chain, and drops a chain with an unknown
 * marker, as perf script does.
 */
int frames_of_chain(struct frames *f, const struct walk_sample *ws, size_t max);

/* Returns whether a sample has a copy of its user stack that can be walked. */
static inline bool frames_has_stack(const struct pd_sample *s)
{
	return s->user_regs_abi && s->user_stack_size && (s->type & PERF_SAMPLE_CALLCHAIN);
}

/*
 * Returns which digests do for the frames of call chains: DIGEST_NONE where branch stacks or
 * hardware trace make frames.
 */
enum digest_kind frames_digest(const struct trace *t);

/* Returns whether frames_of_sample() gives the same for all samples that @e of @d stands for. */
bool frames_are_steady(const struct trace *t, const struct digest *d, const struct digest_entry *e);

/*
 * Returns perf's letter for a mode: 'k' kernel, '.' user, 'g' and 'u' kernel and user of a guest,
 * 'H' hypervisor, '?' unknown.
 */
char frame_level(uint8_t cpumode);

#endif
