/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains from copies of user stacks (PERF_SAMPLE_REGS_USER and STACK_USER).
 *
 * A walk begins with the registers of a sample, and goes from frame to frame by the call frame
 * information of what was mapped at that moment; what a frame saved is read from the copy. It ends
 * where the copy ends and at the outermost frame. In code without such information (assembly, JIT)
 * it goes on by the frame pointer if what that leads to holds good: both the caller and the frame
 * above are in text, and their stacks above one another. Such a frame is marked as guessed.
 */
#ifndef RINGTAIL_UNWIND_UNWIND_H
#define RINGTAIL_UNWIND_UNWIND_H

#include "state/state.h"
#include "unwind/cfi.h"

/* One thread's: it holds the rows that it got, in a fixed number of places. */
struct unwind {
	const struct state *state;
	struct cfi_tables *tables;
	struct unwind_cache *cache;
};

/* @s and @t must outlive it. Returns 0 or -ENOMEM; unwind_release() also after failure. */
int unwind_init(struct unwind *u, const struct state *s, struct cfi_tables *t);
void unwind_release(struct unwind *u);

/* A thread in user space, as it was sampled. */
struct unwind_sample {
	const struct unwind_arch *arch;
	uint32_t pid;
	struct moment at;
	uint64_t regs_mask;   /* perf_event_attr.sample_regs_user */
	const uint64_t *regs; /* a word for each bit of it */
	const uint8_t *stack; /* from where the stack pointer points */
	uint64_t stack_size;  /* bytes */
};

struct unwind_frame {
	uint64_t ip; /* of a caller one less than where the call returns to, so in the calling
			instruction */
	const struct location *loc; /* what is mapped there; loc->map NULL: nothing */
	bool guessed;		    /* the frame pointer led here, not call frame information */
};

/* Takes a frame, which is gone after the call. A negative errno ends the walk. */
typedef int (*unwind_fn)(const struct unwind_frame *frame, void *arg);

/* At most @max frames, innermost first. Returns 0, what @fn returned, or -ENOMEM. */
int unwind_walk(struct unwind *u, const struct unwind_sample *s, size_t max, unwind_fn fn,
		void *arg);

#endif
