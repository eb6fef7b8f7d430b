// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/clock.h"

#define RATE_SHIFT 16
#define MTC_BITS   8  /* of the crystal's clock in an MTC, above those of its period */
#define TMA_BITS   16 /* in a TMA */

void pt_clock_init(struct pt_clock *c, const struct pt_setup *s)
{
	*c = (struct pt_clock){.setup = s};
}

static bool set(struct pt_clock *c, uint64_t tsc)
{
	if (tsc <= c->tsc)
		return false;
	c->tsc = tsc;
	return true;
}

static bool take_tsc(struct pt_clock *c, uint64_t tsc)
{
	bool other = tsc != c->tsc;

	c->tsc = c->base = tsc;
	c->since = 0;
	c->has_tma = c->has_mtc = false;
	return other;
}

static uint32_t ctc_mask(const struct pt_clock *c)
{
	return ((uint32_t)1 << (c->setup->mtc_freq + MTC_BITS)) - 1;
}

static void take_tma(struct pt_clock *c, uint32_t ctc, uint32_t fast)
{
	if (!c->base || c->has_tma)
		return;
	c->has_tma = true;
	c->has_mtc = c->setup->mtc_freq + MTC_BITS <= TMA_BITS;
	c->origin = c->base -= fast;
	c->since += fast;
	c->crystal = 0;
	c->ctc = ctc & ctc_mask(c);
	c->mtc_cycles = c->cycles;
}

/* An MTC has bits that the TMA lacks: those of the TMA are of this period or of the one before. */
static void complete_ctc(struct pt_clock *c, uint32_t ctc)
{
	uint32_t low = (uint32_t)1 << TMA_BITS, high = ctc & ~(low - 1);

	if ((ctc & (low - 1)) < c->ctc)
		high = (high - low) & ctc_mask(c);
	c->ctc |= high;
}

static bool take_mtc(struct pt_clock *c, uint32_t count)
{
	const struct pt_setup *s = c->setup;
	uint32_t ctc = count << s->mtc_freq, passed;
	uint64_t before = c->base;

	if (!c->has_tma || !s->crystal || !s->tsc)
		return false;
	if (!c->has_mtc)
		complete_ctc(c, ctc);
	c->has_mtc = true;
	passed = (ctc - c->ctc) & ctc_mask(c);
	c->ctc = ctc;
	c->crystal += passed;
	c->base = c->origin + c->crystal * s->tsc / s->crystal;
	c->since = 0;
	if (c->cycles > c->mtc_cycles && c->base > before)
		c->rate = ((c->base - before) << RATE_SHIFT) / (c->cycles - c->mtc_cycles);
	c->mtc_cycles = c->cycles;
	return set(c, c->base);
}

static bool take_cycles(struct pt_clock *c, uint64_t cycles)
{
	c->cycles += cycles;
	if (!c->rate || !c->base || cycles > UINT32_MAX || c->rate > UINT32_MAX)
		return false;
	c->since += cycles * c->rate >> RATE_SHIFT;
	return set(c, c->base + c->since);
}

bool pt_clock_take(struct pt_clock *c, const struct pt_token *token)
{
	switch (token->kind) {
	case PT_TOKEN_TSC: return take_tsc(c, token->value);
	case PT_TOKEN_TMA: take_tma(c, token->value, token->value2); return false;
	case PT_TOKEN_MTC: return take_mtc(c, token->value);
	case PT_TOKEN_CYC: return take_cycles(c, token->value);
	case PT_TOKEN_CBR:
		if (c->setup->nom_freq && token->value)
			c->rate = ((uint64_t)c->setup->nom_freq << RATE_SHIFT) / token->value;
		return false;
	default: return false;
	}
}
