// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/frames.h"

#include <string.h>

struct splitter {
	struct cs_run *runs;
	size_t nr;
};

static void add(struct splitter *s, uint8_t id, size_t at, uint8_t byte)
{
	struct cs_run *run = s->nr ? &s->runs[s->nr - 1] : NULL;

	if (!run || run->id != id || run->at + run->len != at) {
		run = &s->runs[s->nr++];
		*run = (struct cs_run){.id = id, .at = (uint8_t)at};
	}
	run->data[run->len++] = byte;
}

size_t cs_frame_split(const uint8_t frame[CS_FRAME], uint8_t *id, struct cs_run *ret)
{
	struct splitter s = {.runs = ret};
	uint8_t low = frame[CS_FRAME - 1]; /* bit 0 of the even bytes */

	for (size_t i = 0; i < CS_FRAME; i += 2, low >>= 1) {
		uint8_t before = *id;

		if (frame[i] & 1)
			*id = frame[i] >> 1;
		else
			add(&s, *id, i, frame[i] | (low & 1));
		/* Behind an ID the bit says that the next byte is still of the one before. */
		if (i + 1 < CS_FRAME - 1)
			add(&s, frame[i] & low & 1 ? before : *id, i + 1, frame[i + 1]);
	}
	return s.nr;
}

bool cs_frame_is_barrier(const uint8_t frame[CS_FRAME])
{
	static const uint8_t barrier[CS_FRAME] = {0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
						  0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f};

	return !memcmp(frame, barrier, CS_FRAME);
}

uint8_t cs_frames_first_id(const uint8_t *data, size_t len, uint8_t otherwise)
{
	uint8_t first = CS_NO_ID;

	if (len > CS_FRAMES_AHEAD * CS_FRAME)
		len = CS_FRAMES_AHEAD * CS_FRAME;
	for (size_t at = 0; at + CS_FRAME <= len && !cs_frame_is_barrier(data + at);
	     at += CS_FRAME) {
		for (size_t i = 0; i < CS_FRAME; i += 2) {
			uint8_t id = data[at + i] >> 1;

			if (!(data[at + i] & 1) || !id || id == first)
				continue;
			if (first != CS_NO_ID)
				return CS_NO_ID;
			first = id;
		}
	}
	return first == CS_NO_ID ? otherwise : first;
}
