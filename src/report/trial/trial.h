/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the samples of a trial recording of a program: which have names, source lines and whole
 * call chains.
 *
 * The recording has two events that sample alike: the first one walks frame pointers, the second
 * one copies stacks. So the chains of both can be compared. One thread.
 */
#ifndef RINGTAIL_REPORT_TRIAL_TRIAL_H
#define RINGTAIL_REPORT_TRIAL_TRIAL_H

#include "report/trace/trace.h"

#define TRIAL_EVENTS                                \
	"cpu-clock/call-graph=fp,name=fp,freq=%u/," \
	"cpu-clock/call-graph=dwarf,name=dwarf,freq=%u/"
#define TRIAL_FILES 4 /* with the most samples of user space */

/* Runtimes that interpret or compile code while it runs. */
enum trial_runtime {
	TRIAL_NO_RUNTIME,
	TRIAL_PYTHON,
	TRIAL_NODE,
	TRIAL_JAVA,
	TRIAL_DOTNET,
	TRIAL_RUBY,
};

/* The call chains of an event, of samples with frames in user space. */
struct trial_chains {
	uint64_t samples;
	uint64_t whole;	 /* of @samples: the chain reaches the function that began the thread */
	uint64_t frames; /* in user space */
	uint64_t cut;	 /* of @samples: the copy of the stack ended before the chain */
};

/* A file with code that was sampled. Names are borrowed from the trace. */
struct trial_file {
	const struct dso *dso;
	uint64_t samples;
	uint64_t named;	      /* of @samples: the function is known */
	uint64_t lines;	      /* of @samples: the source line is known */
	const char *why;      /* it has no, or few symbols; NULL: it has */
	bool separate;	      /* its debug information is in a file of its own */
	bool by_distribution; /* below /usr, /lib or /bin */
};

/* What was counted; of the first event, where both count the same. */
struct trial_facts {
	uint64_t samples;
	uint64_t named;		 /* of @samples: the function is known */
	uint64_t kernel;	 /* of @samples: in the kernel */
	uint64_t kernel_named;	 /* of @kernel */
	uint64_t user;		 /* of @samples: in files of programs */
	uint64_t lines;		 /* of @user: the source line is known */
	uint64_t jit, jit_named; /* of @samples: in code that was made at run time */
	struct trial_chains fp, dwarf;
	struct trial_file file[TRIAL_FILES]; /* the most samples first; of the rest no samples */
	size_t nr_files;
	enum trial_runtime runtime; /* that is mapped */
	unsigned int version;	    /* of Python: 311 is 3.11; 0: not known */
	bool runtime_named;	    /* functions of the runtime's language have names */
	bool fetches;		    /* debuginfod may be asked */
	uint64_t lost;		    /* samples */
};

/* Counts all samples of @t, which is prepared and has lines. Returns 0 or a negative errno. */
int trial_count(struct trace *t, struct trial_facts *ret, struct error *err);

/* Returns whether @name is a function that begins a program or a thread. */
bool trial_is_begin(const char *name);

/* Returns the runtime that a file of this name belongs to, and the version of Python. */
enum trial_runtime trial_runtime_of(const char *name, unsigned int *ret_version);

#endif
