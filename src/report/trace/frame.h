/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: addresses of a sample with what lies there. A sample's frames begin with its own address
 * and go on with its callers, PERF_CONTEXT_* markers resolved into the mode of what follows. Where
 * the recording has copies of user stacks, callers in user space come from those.
 *
 * A frames object is one worker's: it holds the cache in front of the shared resolver.
 */
#ifndef RINGTAIL_REPORT_TRACE_FRAME_H
#define RINGTAIL_REPORT_TRACE_FRAME_H

#include "report/trace/walk.h"
#include "unwind/unwind.h"

struct frame {
	uint64_t ip;		  /* as sampled */
	uint64_t addr;		  /* in the dso (struct location); the ip itself without one */
	const struct dso *dso;	  /* NULL: nothing known is mapped there */
	const struct symbol *sym; /* NULL: not resolved */
	uint8_t cpumode;	  /* PERF_RECORD_MISC_KERNEL … */
	bool guessed;		  /* struct unwind_frame */
};

struct frames {
	struct trace *trace;
	struct frame_cache *cache;
	struct unwind unwind;			   /* if the recording has copies of stacks */
	const struct unwind_arch *arch64, *arch32; /* of its tasks by ABI; NULL: not known */
	struct frame *frame;			   /* the last sample's, innermost first */
	size_t nr, cap;
	bool is_chain; /* they are its call chain, not its address alone */
	/*
	 * Of a chain that the kernel recorded and that is longer than asked for, the outer part is
	 * taken, as perf does where graphs begin at the outermost caller. Set by the owner.
	 */
	bool outermost;
	size_t left_out; /* inner frames of the last chain that are missing for that */
};

/* Returns 0 or -ENOMEM; frames_release() also after failure. */
int frames_init(struct frames *f, struct trace *t);
void frames_release(struct frames *f);

/* One address as of a sample: @pid's at @at. */
void frames_resolve(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		    struct frame *ret);

/*
 * As frames_resolve(), but @addr is what code in @cpumode reached for: the kernel reaches into the
 * memory of tasks, too.
 */
void frames_resolve_data(struct frames *f, uint32_t pid, uint8_t cpumode, uint64_t addr,
			 struct moment at, struct frame *ret);

/* A chain has no more frames than this in all: what draws it nests as deep. */
#define FRAMES_MAX 1024

/*
 * Fills @f->frame with the sample's call chain, at most @max frames of what the kernel recorded and
 * as many from the copy of the stack, and where it has none with its
 * address alone (nothing if it has no address either); with @max 0 that in any case. Returns 0 or
 * -ENOMEM.
 */
int frames_of_sample(struct frames *f, const struct walk_sample *ws, size_t max);

/*
 * As frames_of_sample(), but the chain alone: no frames for an empty chain, and a chain with an
 * unknown marker is dropped, as perf script does.
 */
int frames_of_chain(struct frames *f, const struct walk_sample *ws, size_t max);

/* 'k' kernel, '.' user, 'g' and 'u' kernel and user of a guest, 'H' hypervisor, '?' unknown. */
char frame_level(uint8_t cpumode);

#endif
