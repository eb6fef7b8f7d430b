/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of an Intel PT trace, of its packets TSC, TMA, MTC, CYC and CBR.
 *
 * Time stamps are ticks of the TSC, and do not go back but by a TSC packet. Owns nothing. One
 * thread uses a clock.
 *
 * Source: Intel SDM, volume 3, "Timing Packets".
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_CLOCK_H
#define RINGTAIL_AUXTRACE_INTEL_PT_CLOCK_H

#include "auxtrace/intel_pt/setup.h"
#include "auxtrace/intel_pt/token.h"

struct pt_clock {
	const struct pt_setup *setup;
	uint64_t tsc;	 /* 0: unknown */
	uint64_t cycles; /* of the core since the beginning */

	uint64_t base;	     /* of the last TSC or MTC */
	uint64_t since;	     /* ticks since, by cycles */
	uint64_t rate;	     /* ticks a cycle << RATE_SHIFT; 0: unknown */
	uint64_t mtc_cycles; /* when the last MTC was */
	uint64_t crystal;    /* ticks of the crystal since the TMA */
	uint64_t origin;     /* the TSC of the TMA */
	uint32_t ctc;	     /* the crystal's bits in the last TMA or MTC */
	bool has_tma, has_mtc;
};

/* The time is unknown. @s outlives the clock. */
void pt_clock_init(struct pt_clock *c, const struct pt_setup *s);

/* Takes a packet; accepts those of other kinds. Returns whether the time is another one. */
bool pt_clock_take(struct pt_clock *c, const struct pt_token *token);

#endif
