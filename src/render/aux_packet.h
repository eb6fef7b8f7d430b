/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a hardware trace as text. One thread. */
#ifndef RINGTAIL_RENDER_AUX_PACKET_H
#define RINGTAIL_RENDER_AUX_PACKET_H

#include <stdio.h>

#include "auxtrace/recording/index.h"

/* Writes a line that begins with '#': which ring, and where its trace begins. */
void aux_run_render(FILE *out, const struct aux_index *x, const struct aux_run *run);
/* Writes a line: the packet's offset in the ring, its bytes, 16 at most, and its text. */
void aux_packet_render(FILE *out, const struct aux_run *run, uint64_t offset, const uint8_t *bytes,
		       const struct aux_packet *packet);

#endif
