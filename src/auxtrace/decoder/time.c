// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/decoder/decoder.h"

bool aux_time(const struct pd_time_conv *conv, uint64_t cycles, uint64_t *ret)
{
	uint64_t whole, rest;

	if (!conv || !conv->cap_user_time_zero || conv->time_shift >= 64)
		return false;
	if (conv->cap_user_time_short)
		cycles = conv->time_cycles + ((cycles - conv->time_cycles) & conv->time_mask);
	/* As perf_event.h describes time_zero: without a product of 128 bits. */
	whole = cycles >> conv->time_shift;
	rest = cycles & ((1ull << conv->time_shift) - 1);
	*ret = conv->time_zero + whole * conv->time_mult +
	       ((rest * conv->time_mult) >> conv->time_shift);
	return true;
}
