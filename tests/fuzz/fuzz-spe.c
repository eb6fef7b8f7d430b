// SPDX-License-Identifier: Apache-2.0
/* Any bytes as trace of Arm SPE: events and packets, from each kind of beginning. */
#include <stdlib.h>

#include "auxtrace/spe/spe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pd_time_conv conv = {
		.time_shift = 3, .time_mult = 5, .cap_user_time_zero = true};
	const struct aux_setup setup = {.time_conv = &conv};
	const struct aux_stretch s = {.data = data, .len = size, .offset = 24, .cpu = UINT32_MAX};
	struct aux_decoder *d;
	struct aux_packet p;
	struct aux_event e;
	size_t events = 0, bytes = 0;

	for (size_t from = 0; from < size; from += 1 + size / 8) {
		size_t at = aux_spe_decoder.sync(&setup, data, size, from);

		must(at >= from && at <= size);
	}
	if (aux_spe_decoder.begin(&setup, &s, NULL, ~0u, &d))
		return 0;
	while (aux_spe_decoder.next(d, &e) > 0)
		must(++events <= 2 * size && e.offset >= 24 && e.offset <= 24 + size);
	aux_spe_decoder.end(d);
	if (aux_spe_decoder.packets(&setup, &s, &d))
		return 0;
	while (aux_spe_decoder.packet_next(d, &p) > 0)
		must(p.len && (bytes += p.len) <= size);
	must(bytes == size);
	aux_spe_decoder.end(d);
	return 0;
}
