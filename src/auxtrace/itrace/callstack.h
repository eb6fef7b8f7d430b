/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of each thread, by the branches in its trace.
 *
 * Branches come in the order of time. What is not certain is not kept: where trace is missing, the
 * stack begins anew, and it knows only calls that it saw. A system call or an interrupt is a frame
 * of its own (CALLSTACK_KERNEL), whether or not the kernel is traced.
 *
 * Memory: at most CALLSTACK_FRAMES frames of all threads, and CALLSTACK_THREADS threads; beyond,
 * all stacks begin anew.
 * Times are ns of the recording's clock; 0 is unknown. One thread uses a struct callstacks.
 */
#ifndef RINGTAIL_AUXTRACE_ITRACE_CALLSTACK_H
#define RINGTAIL_AUXTRACE_ITRACE_CALLSTACK_H

#include "auxtrace/itrace/samples.h"
#include "base/id_table.h"

#define CALLSTACK_DEPTH	  16384u     /* a deeper stack begins anew */
#define CALLSTACK_FRAMES  (1u << 20) /* 64 MB */
#define CALLSTACK_THREADS (1u << 16)

enum {
	CALLSTACK_TAIL = 1u << 0,   /* entered by a jump: returns together with the frame below */
	CALLSTACK_KERNEL = 1u << 1, /* a system call, an interrupt, an exception */
	CALLSTACK_OUT = 1u << 2,    /* the trace ended by this call, and has not begun again */
	CALLSTACK_BEGUN = 1u << 3,  /* the trace began here: @from is unknown */
	CALLSTACK_SIGNAL = 1u << 4, /* the kernel went there instead of back to the caller */
	CALLSTACK_NEAR = 1u << 5,   /* @ret is a guess: the length of the call is unknown */
};

struct callstack_frame {
	uint64_t ret;	       /* address where the caller goes on; 0: unknown */
	uint64_t from;	       /* of the branch that entered; 0: unknown */
	uint64_t entry;	       /* first address of the function; 0: outside the trace */
	uint64_t time;	       /* of the entry */
	uint64_t branches;     /* of the thread up to the entry, this one included */
	uint64_t user;	       /* what the callbacks keep here; 0 at first */
	uint32_t cpu;	       /* of the entry */
	uint32_t flags;	       /* CALLSTACK_TAIL, … */
	uint32_t since_kernel; /* frames up to the innermost entry of the kernel */
};

/* How a frame ends. */
enum callstack_end {
	CALLSTACK_RETURNED,
	CALLSTACK_SKIPPED, /* a return, as that of longjmp(), went to a caller further out */
	CALLSTACK_LOST,	   /* its end was not seen */
};

/* A thread's. Callbacks and users read it; all but the frames' @user is constant for them. */
struct callstack {
	uint32_t tid, cpu; /* of the newest branch; UINT32_MAX: unknown */
	uint64_t time;	   /* of the newest branch that has one */
	uint64_t branches;
	uint64_t seen; /* number of the newest branch, of all threads' */
	struct callstack_frame *frames;
	size_t nr, cap; /* the innermost frame is the last one */
};

struct callstack_branch {
	uint32_t tid, cpu; /* UINT32_MAX: unknown; a thread 0 or unknown is that of its CPU */
	uint32_t flags;	   /* AUX_BRANCH, … */
	uint8_t insn_len;  /* 0: unknown */
	uint64_t ip, to;   /* 0: outside the trace */
	uint64_t time;
};

/* Where a branch goes that is neither a call nor the return of a known one. */
enum callstack_target {
	CALLSTACK_ELSEWHERE, /* or unknown */
	CALLSTACK_WITHIN,    /* into the function that it comes from */
	CALLSTACK_ENTERS,    /* to the first address of another function */
};

/* All may be NULL. A negative value of a callback is returned by the function that called it. */
struct callstack_ops {
	/* NULL: always CALLSTACK_ELSEWHERE. */
	enum callstack_target (*target)(void *arg, const struct callstack_branch *b);
	/* The frame is the last one of @s. */
	int (*entered)(void *arg, const struct callstack *s, struct callstack_frame *frame);
	/* The frame is still the last one of @s. */
	int (*left)(void *arg, const struct callstack *s, const struct callstack_frame *frame,
		    enum callstack_end how);
};

/* All zero: no threads and no callbacks. */
struct callstacks {
	const struct callstack_ops *ops; /* or NULL */
	void *arg;			 /* of callbacks */
	/* A return to where no call was seen ends no frame, as in perf; else it ends all. */
	bool keep_callers;
	struct id_table table; /* of threads */
	struct callstack *stacks;
	size_t cap;
	struct id_table cpus; /* with gaps */
	uint64_t *gaps;	      /* of each: number of the newest branch in front of a gap */
	size_t cap_gaps;
	uint64_t seen;	 /* branches */
	uint64_t frames; /* for which stacks have room */
};

/*
 * Takes a branch. Returns 0, -ENOMEM, or a negative value of a callback. Afterwards the thread's
 * stack is *@ret, which may be NULL, valid until the next call.
 */
int callstacks_take(struct callstacks *c, const struct callstack_branch *b,
		    const struct callstack **ret);
/* The branch of a sample of ITRACE_BRANCHES. */
struct callstack_branch callstack_branch_of(const struct itrace_sample *s);

/*
 * Trace is missing in the ring of @cpu or @tid (the other may be UINT32_MAX) behind the newest
 * branch: ends the stacks of threads that may have run. Call it for the thread alone after its
 * exec. Returns as callstacks_take().
 */
int callstacks_gap(struct callstacks *c, uint32_t tid, uint32_t cpu);
/* Ends all stacks: frames are CALLSTACK_LOST. Returns 0 or a negative value of a callback. */
int callstacks_end(struct callstacks *c);
/* Frees the memory; calls nothing. */
void callstacks_release(struct callstacks *c);

/* Returns the stack of a thread, or NULL if it has none. */
const struct callstack *callstacks_find(const struct callstacks *c, uint32_t tid, uint32_t cpu);
/*
 * Writes at most @max return addresses, innermost first, to @ret, and returns how many. Frames
 * without one are left out, and so are tail calls, which return to the caller of the frame below.
 */
size_t callstack_chain(const struct callstack *s, uint64_t *ret, size_t max);

#endif
