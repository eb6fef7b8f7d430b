/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what makes the samples of an event worth less: unknown functions, incomplete chains,
 * CPUs without samples.
 *
 * One thread uses an object; quality_merge() adds them up. Zeroes are an empty object.
 */
#ifndef RINGTAIL_REPORT_VERDICT_QUALITY_H
#define RINGTAIL_REPORT_VERDICT_QUALITY_H

#include "report/trace/frame.h"

#define QUALITY_CPUS 65536 /* higher numbers do not count */

/* The frames of a chain that the kernel records if neither event nor sysctl says otherwise. */
#define QUALITY_MAX_STACK 127

struct quality {
	uint64_t samples;
	uint64_t unresolved; /* of @samples: no symbol */
	uint64_t *by_dso; /* owned; of @unresolved, by index of dso; the last: nothing was mapped */
	size_t nr_dsos;
	/* Of @unresolved: user space of PID 0, as the kernel calls tasks of other PID namespaces.
	 */
	uint64_t foreign;
	uint64_t frames, unresolved_frames; /* of call chains */
	uint64_t walked; /* of @samples: the kernel walked callers in user space */
	uint64_t astray; /* of @walked: nothing was mapped at such a caller */
	uint64_t chains; /* of @samples: the kernel recorded a chain */
	uint64_t full;	 /* of @chains: with as many frames as the kernel records */
	uint64_t longer; /* of @chains: with more frames than the report reads */
	uint64_t copies; /* of @samples: with a copy of the user stack */
	uint64_t cut;	 /* of @copies: full, and the chain ends because the copy does */
	uint8_t *cpus;	 /* owned; a bit for each CPU with samples */
	size_t cpu_bytes;
};

/* Frees the tables; leaves zeroes. */
void quality_release(struct quality *q);

/* Counts @samples samples that equal @sample, at frame @own. Returns 0 or -ENOMEM. */
int quality_add(struct quality *q, const struct state *s, const struct frame *own,
		const struct pd_sample *sample, uint64_t samples);

/*
 * Counts the chain of @ws in @f, of which the report reads @max_stack frames, for @samples equal
 * samples.
 */
void quality_add_chain(struct quality *q, const struct frames *f, const struct walk_sample *ws,
		       size_t max_stack, uint64_t samples);

/* Adds the counts of @from, made for the same state. Returns 0 or -ENOMEM. */
int quality_merge(struct quality *q, const struct quality *from);

/*
 * Returns the dso with the most unresolved samples, and their number in *@ret_samples. NULL: most
 * of them are where nothing was mapped.
 */
const struct dso *quality_most(const struct quality *q, const struct state *s,
			       uint64_t *ret_samples);

/* Returns whether @cpu had samples. */
bool quality_has_cpu(const struct quality *q, uint32_t cpu);

#endif
