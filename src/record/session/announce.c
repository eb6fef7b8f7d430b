// SPDX-License-Identifier: Apache-2.0
#include "record/session/announce.h"

#include <string.h>

#include "base/plural.h"

static void announce_writing(const struct announce *a, const struct writer *writer,
			     const struct messages *messages)
{
	const struct aio *aio = writer_aio(writer);
	int refused = aio ? aio_uring_refused(aio) : 0;

	if (aio)
		messages_say(
			messages, MESSAGE_DETAIL,
			"asynchronous output by %s%s%s%s: up to %u writes of %zu KB in flight for "
			"each file",
			aio_engine_name(aio), refused ? " (io_uring: " : "",
			refused ? strerror(-refused) : "", refused ? ")" : "", a->opts->output.aio,
			WRITER_BUFFER_SIZE / 1024);
}

void announce_memory(const struct announce *a, const struct messages *messages)
{
	const struct opened *opened = a->output->opened;
	const struct lane *lane = output_lane(a->output, 0);
	uint64_t want = a->opts->plan.ring_size ? a->opts->plan.ring_size : RECORD_RING_SIZE;
	uint64_t size = a->plan->ring_size;
	size_t rings = plan_sample_rings(a->plan);

	/*
	 * By default the size is whatever the limits allow. That matters only if samples were lost,
	 * and then cli/ reports it.
	 */
	if (size < want)
		messages_say(
			messages, a->opts->plan.ring_size ? MESSAGE_INFO : MESSAGE_DETAIL,
			"%zu ring%s of %llu KB instead of %llu KB: what may be locked (%s) allows "
			"no more",
			rings, plural_s(rings), (unsigned long long)size / 1024,
			(unsigned long long)want / 1024,
			a->limits->ipc_lock ? "1/64 of memory"
					    : "kernel.perf_event_mlock_kb, 'ulimit -l'");
	messages_say(
		messages, MESSAGE_DETAIL,
		"%zu event%s, %zu descriptors; %zu ring%s of %llu KB for samples and %llu KB for "
		"sideband, buffer memory of %zu KB",
		a->plan->nr, plural_s(a->plan->nr), opened->nr_fds, rings, plural_s(rings),
		(unsigned long long)size / 1024, (unsigned long long)a->plan->sideband_size / 1024,
		crew_buffer_bytes(a->crew) / 1024);
	if (lane->compress)
		messages_say(messages, MESSAGE_DETAIL, "compression at level %d in %llu KB",
			     a->opts->output.compression_level,
			     (unsigned long long)compress_stats(lane->compress)->memory / 1024 *
				     a->crew->nr);
	if (a->crew->flight && flight_overhead(a->crew->flight))
		messages_say(messages, MESSAGE_DETAIL, "compression in memory in %llu KB",
			     (unsigned long long)flight_overhead(a->crew->flight) / 1024);
	announce_writing(a, lane->writer, messages);
	crew_say_plan(a->crew, opened, messages);
}
