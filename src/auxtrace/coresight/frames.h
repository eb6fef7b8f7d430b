/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a trace sink: 16 bytes with data of several trace IDs.
 *
 * Pure; any thread. Source: Arm CoreSight Architecture Specification v3.0, D4.2.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_FRAMES_H
#define RINGTAIL_AUXTRACE_CORESIGHT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CS_FRAME	16u
#define CS_FRAME_RUNS	15u
#define CS_NO_ID	0xffu
#define CS_FRAMES_AHEAD 256u

/* Bytes of one ID that are neighbours in a frame. */
struct cs_run {
	uint8_t id; /* CS_NO_ID: unknown, since no ID was before */
	uint8_t at; /* in the frame */
	uint8_t len;
	uint8_t data[CS_FRAME];
};

/*
 * Splits @frame into runs. @*id is the ID in effect, and afterwards that behind the frame; CS_NO_ID
 * if it is unknown. Returns how many runs, at most CS_FRAME_RUNS.
 */
size_t cs_frame_split(const uint8_t frame[CS_FRAME], uint8_t *id, struct cs_run *ret);

/*
 * Returns the ID of the bytes before the first ID in @data: the only one that is in @data, or
 * @otherwise if none is; CS_NO_ID if several are. It reads no more than CS_FRAMES_AHEAD frames.
 */
uint8_t cs_frames_first_id(const uint8_t *data, size_t len, uint8_t otherwise);

/* Four full syncs: the driver writes them where trace is missing; the IDs and units begin anew. */
bool cs_frame_is_barrier(const uint8_t frame[CS_FRAME]);

#endif
