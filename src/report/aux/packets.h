/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the packets of the hardware trace in a recording, ring by ring.
 *
 * Every byte of the trace is in a packet; bytes that are none are in a bad one. Memory: that of
 * an index and a stretch (auxtrace/recording). One thread.
 */
#ifndef RINGTAIL_REPORT_AUX_PACKETS_H
#define RINGTAIL_REPORT_AUX_PACKETS_H

#include "auxtrace/recording/index.h"
#include "base/error.h"
#include "report/trace/filter.h"

struct aux_packets_opts {
	const struct filter_ranges *cpus, *tids;
	/* Called before the packets of each run; its ring is x->rings[run->ring]. */
	void (*begin)(const struct aux_index *x, const struct aux_run *run, void *arg);
	/*
	 * Called with each packet: its offset in the ring, and its bytes, packet->len of them.
	 * Returns 0, or another value, which ends the walk.
	 */
	int (*packet)(const struct aux_run *run, uint64_t offset, const uint8_t *bytes,
		      const struct aux_packet *packet, void *arg);
	void *arg;
};

/*
 * Returns 1 if the recording has trace, 0 if it has none, or a negative errno with @err filled:
 * -ENOTSUP if its trace cannot be read by packets. Damage becomes a finding of @df.
 */
int aux_packets(struct data_file *df, const struct aux_packets_opts *opts, struct error *err);

#endif
