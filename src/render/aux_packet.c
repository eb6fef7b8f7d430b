// SPDX-License-Identifier: Apache-2.0
#include "render/aux_packet.h"

#include <inttypes.h>

#define BYTES 16u /* of a packet that a line shows */

/* Names the ring as `aux extract` names its file. */
static void put_ring(FILE *out, uint32_t cpu, uint32_t tid)
{
	if (cpu != UINT32_MAX)
		fprintf(out, "cpu%" PRIu32, cpu);
	else
		fprintf(out, "tid-%" PRId32, (int32_t)tid);
}

void aux_run_render(FILE *out, const struct aux_index *x, const struct aux_run *run)
{
	fputs("# ", out);
	put_ring(out, run->cpu, run->tid);
	fprintf(out, ": %" PRIu64 " bytes at 0x%" PRIx64, run->len, run->offset);
	if (x->rings[run->ring].idx != UINT32_MAX)
		fprintf(out, " of ring %" PRIu32, x->rings[run->ring].idx);
	if (run->sampled)
		fprintf(out, ", sample of thread %" PRId32, (int32_t)run->tid);
	if (run->snapshot)
		fprintf(out, ", snapshot %" PRIu64, run->snapshot);
	if (run->from)
		fprintf(out, ", from %" PRIu64 ".%09" PRIu64, run->from / 1000000000,
			run->from % 1000000000);
	if (run->to)
		fprintf(out, ", to %" PRIu64 ".%09" PRIu64, run->to / 1000000000,
			run->to % 1000000000);
	fputc('\n', out);
}

void aux_packet_render(FILE *out, const struct aux_run *run, uint64_t offset, const uint8_t *bytes,
		       const struct aux_packet *packet)
{
	static const char digits[] = "0123456789abcdef";
	char hex[3 * BYTES + 3];
	size_t nr = packet->len < BYTES ? packet->len : BYTES, at = 0;

	for (size_t i = 0; i < nr; i++) {
		hex[at++] = digits[bytes[i] >> 4];
		hex[at++] = digits[bytes[i] & 15];
		hex[at++] = ' ';
	}
	if (nr < packet->len) {
		hex[at++] = '.';
		hex[at++] = '.';
	}
	hex[at] = '\0';
	put_ring(out, run->cpu, run->tid);
	fprintf(out, " 0x%08" PRIx64 "  %-50s %s%s\n", offset, hex, packet->bad ? "bad: " : "",
		packet->text);
}
