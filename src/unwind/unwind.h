/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the callers in copies of user stacks (PERF_SAMPLE_REGS_USER and STACK_USER).
 *
 * A walk begins with the registers of a sample. It steps from frame to frame by the call frame
 * information of the mapped file, and reads saved registers from the copy. It ends at the outermost
 * frame, or where the copy ends. In code without call frame information (assembly, JIT) it follows
 * the frame pointer, if the result is plausible: the caller and the frame above it are both in
 * text, and their stacks lie above one another. It marks such a frame as guessed. One thread uses a
 * struct unwind.
 */
#ifndef RINGTAIL_UNWIND_UNWIND_H
#define RINGTAIL_UNWIND_UNWIND_H

#include "state/state.h"
#include "unwind/cfi.h"
#include "unwind/uses.h"

/* State of one thread's walks. Keeps recent rows in a cache of limited size. */
struct unwind {
	const struct state *state;
	struct cfi_tables *tables;
	struct unwind_slot *cache;
	unsigned int cache_bits;  /* it has 2^bits slots */
	size_t cache_misses;	  /* since it grew */
	struct state_view view;	  /* of the current sample */
	struct unwind_uses *uses; /* set by the owner: notes which maps walks ask for; or NULL */
	/* How the last walk ended. None is set: at the outermost frame, or at @max frames. */
	bool copy_ended; /* where the copy of the stack does */
	/*
	 * Where nothing is mapped, or in code without call frame information, unless that is the
	 * start of a dynamic linker.
	 */
	bool no_rules;
	bool guessed; /* some frame was found by the frame pointer */
};

/* @s and @t must outlive @u. Returns 0 or -ENOMEM; call unwind_release() also after failure. */
int unwind_init(struct unwind *u, const struct state *s, struct cfi_tables *t);
/* Frees the cache. */
void unwind_release(struct unwind *u);

/* A thread in user space, as it was sampled. */
struct unwind_sample {
	const struct unwind_arch *arch;
	uint32_t pid;
	struct moment at;
	uint64_t regs_mask;   /* perf_event_attr.sample_regs_user */
	const uint64_t *regs; /* a word for each set bit of the mask */
	const uint8_t *stack; /* copy of the stack from the stack pointer on */
	uint64_t stack_size;  /* bytes */
};

struct unwind_frame {
	/* For a caller: the return address less one, so that it is in the call instruction. */
	uint64_t ip;
	const struct location *loc; /* place of @ip; loc->map NULL: nothing is mapped */
	bool guessed;		    /* found by the frame pointer, not call frame information */
	/* A signal interrupted this code, so nothing was called: @loc was found by @ip - 1. */
	bool interrupted;
};

/* Takes a frame, which is valid during the call. A negative errno ends the walk. */
typedef int (*unwind_fn)(const struct unwind_frame *frame, void *arg);

/*
 * Calls @fn for at most @max frames, innermost first. Returns 0, the negative value of @fn,
 * -ENOMEM, or -EAGAIN where cfi_tables_row() does.
 */
int unwind_walk(struct unwind *u, const struct unwind_sample *s, size_t max, unwind_fn fn,
		void *arg);

#endif
