/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdict on the data of an event: what makes its table less than an answer, and what to do.
 *
 * A line is there only if it matters; the thresholds are below. The text may have names of the
 * recording: escape it. A verdict owns no memory. Any thread.
 */
#ifndef RINGTAIL_REPORT_VERDICT_VERDICT_H
#define RINGTAIL_REPORT_VERDICT_VERDICT_H

#include "report/verdict/quality.h"

/* From these percentages on there is a line. From the grave ones on it is a warning. */
#define VERDICT_LOST	   1 /* samples */
#define VERDICT_LOST_GRAVE 10
#define VERDICT_THROTTLED  1  /* time, of the CPUs with a throttled event */
#define VERDICT_MANY	   10 /* samples without function, chains, frames */
#define VERDICT_MANY_GRAVE 50
/* Samples for each CPU, on average, below which a CPU without any says nothing. */
#define VERDICT_CPU_SAMPLES 10

enum verdict_about {
	VERDICT_ABOUT_LOST,
	VERDICT_ABOUT_THROTTLED,
	VERDICT_ABOUT_UNRESOLVED,
	VERDICT_ABOUT_FRAMES,  /* unresolved ones of call chains */
	VERDICT_ABOUT_CALLERS, /* where nothing was mapped */
	VERDICT_ABOUT_COPIES,  /* of stacks that were too short */
	VERDICT_ABOUT_CHAINS,  /* as long as the kernel or the report allows */
	VERDICT_ABOUT_CPUS,    /* without samples */
	VERDICT_KINDS,
};

struct verdict_line {
	enum verdict_about about;
	bool grave;
	double percent;	 /* of samples, time, chains, frames or CPUs */
	char text[512];	 /* a sentence without its end */
	char remedy[96]; /* a command or setting; may be empty */
};

struct verdict_list {
	struct verdict_line line[VERDICT_KINDS];
	size_t nr;
};

/* What the table shows. */
struct verdict_scope {
	bool functions; /* a key or the call graph */
	bool graph;	/* call chains count */
	bool lists;	/* the files without symbols are listed: -v */
	size_t max_stack;
};

/* What verdict_judge() reads from the recording. Strings are borrowed. */
struct verdict_facts {
	double lost;	       /* percentage of all samples */
	uint64_t throttled;    /* times */
	double throttled_time; /* percentage */
	bool unwritten;	       /* most losses: the output could not be written */
	bool by_frequency;     /* the kernel adapts the period */
	uint16_t max_stack;    /* of a chain, as the event says; 0: it does not */
	uint32_t stack_size;   /* of copies; bytes */
	uint32_t cpus; /* that should have samples; 0: not known, or not all samples count */
	/* The dso with the most unresolved samples; NULL: nothing was mapped there. */
	const char *dso, *why;
	enum dso_kind dso_kind;
	uint64_t dso_samples;
	bool named;   /* the user named a file with the kernel's symbols */
	bool fetches; /* this program can ask debuginfod */
};

/* Puts into words what matters of @f and @q. */
void verdict_of_facts(const struct verdict_facts *f, const struct quality *q,
		      const struct verdict_scope *scope, struct verdict_list *ret);

/* The same for @event of @t, whose samples are all in @q. */
void verdict_judge(const struct trace *t, size_t event, const struct quality *q,
		   const struct verdict_scope *scope, struct verdict_list *ret);

/* Returns a word for @about, for other programs. */
const char *verdict_about_name(enum verdict_about about);

#endif
