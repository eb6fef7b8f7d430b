// SPDX-License-Identifier: Apache-2.0
#include "record/chains/sample_chain.h"

#include <linux/perf_event.h>

bool sample_chain_fits(const struct pd_sample *s)
{
	return (s->type & PERF_SAMPLE_CALLCHAIN) && s->callchain && s->user_regs_abi &&
	       s->user_regs && s->user_stack && s->user_stack_size;
}

/* The sample as it is made. */
struct sample_copy {
	const uint8_t *from;
	uint8_t *to;
	size_t at; /* in @from */
};

static void copy_until(struct sample_copy *c, const void *end)
{
	size_t len = (size_t)((const uint8_t *)end - c->from) - c->at;

	memcpy(c->to, c->from + c->at, len);
	c->to += len;
	c->at += len;
}

/* Writes @word in place of the word of @from. */
static void put_word(struct sample_copy *c, uint64_t word)
{
	memcpy(c->to, &word, sizeof(word));
	c->to += sizeof(word);
	c->at += sizeof(word);
}

size_t sample_chain_put(const struct perf_event_header *hdr, const struct pd_sample *s,
			unsigned int regs, bool keep_regs, const uint64_t *ips, size_t nr,
			uint8_t *out)
{
	static const uint64_t marker = PERF_CONTEXT_USER;
	struct sample_copy c = {.from = (const uint8_t *)hdr, .to = out};
	size_t gone = (keep_regs ? 0 : regs * sizeof(uint64_t));
	struct perf_event_header made = *hdr;
	uint64_t stack;

	memcpy(&stack, s->user_stack - sizeof(stack), sizeof(stack));
	gone += (size_t)stack + sizeof(uint64_t);
	if (gone <= (nr + 1) * sizeof(uint64_t))
		return 0;
	copy_until(&c, s->callchain - 1);
	put_word(&c, s->callchain_nr + 1 + nr);
	copy_until(&c, s->callchain + s->callchain_nr);
	memcpy(c.to, &marker, sizeof(marker));
	memcpy(c.to + sizeof(marker), ips, nr * sizeof(*ips));
	c.to += (1 + nr) * sizeof(uint64_t);
	if (!keep_regs) {
		copy_until(&c, s->user_regs - 1);
		put_word(&c, PERF_SAMPLE_REGS_ABI_NONE);
		c.at += regs * sizeof(uint64_t);
	}
	copy_until(&c, s->user_stack - sizeof(uint64_t));
	put_word(&c, 0);
	c.at += (size_t)stack + sizeof(uint64_t);
	copy_until(&c, (const uint8_t *)hdr + hdr->size);
	made.size = (uint16_t)(c.to - out);
	memcpy(out, &made, sizeof(made));
	return made.size;
}
