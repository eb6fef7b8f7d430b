/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a call chain in the place of a sample's user stack.
 *
 * The sample keeps the layout of its attribute: the callers in user space follow the kernel's chain
 * behind PERF_CONTEXT_USER, the user stack has size 0, and the user registers have the ABI none.
 * So each reader of perf.data reads the sample, and none unwinds it again.
 *
 * Source: kernel/events/core.c (perf_output_sample()) for the layout: a stack of size 0 has neither
 * data nor dyn_size, and an ABI of none has no registers. Threads: any. Sizes are in bytes.
 */
#ifndef RINGTAIL_RECORD_CHAINS_SAMPLE_CHAIN_H
#define RINGTAIL_RECORD_CHAINS_SAMPLE_CHAIN_H

#include "perfdata/sample.h"

/* Whether @s has what sample_chain_put() replaces: a chain of the kernel, registers and a stack. */
bool sample_chain_fits(const struct pd_sample *s);

/*
 * Writes @hdr, decoded as @s with @regs registers, to @out with the callers @ips in place of its
 * stack; with @keep_regs it keeps its registers. @out has hdr->size bytes. Returns the size of the
 * new sample, or 0 if it would not be smaller.
 */
size_t sample_chain_put(const struct perf_event_header *hdr, const struct pd_sample *s,
			unsigned int regs, bool keep_regs, const uint64_t *ips, size_t nr,
			uint8_t *out);

#endif
