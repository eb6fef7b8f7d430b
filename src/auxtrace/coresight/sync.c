// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "auxtrace/coresight/frames.h"
#include "auxtrace/coresight/instance.h"
#include "auxtrace/coresight/setup.h"

/* An A-sync is zeros and this byte. */
#define SYNC_END 0x80u

/* The zeros: of ETMv4 and ETE eleven, of ETMv3 and PTM at least five. */
#define SYNC_ZEROS_V4 11u
#define SYNC_ZEROS_V3 5u

static size_t zeros_of(const struct cs_setup *s)
{
	return s->units[0].protocol == CS_ETMV3 || s->units[0].protocol == CS_PTM ? SYNC_ZEROS_V3
										  : SYNC_ZEROS_V4;
}

static size_t sync_raw(const uint8_t *data, size_t len, size_t from, size_t zeros)
{
	const uint8_t *p = data + from, *end = data + len, *first;

	while (p < end && (p = memchr(p, SYNC_END, (size_t)(end - p)))) {
		for (first = p; first > data + from && !first[-1];)
			first--;
		if ((size_t)(p - first) >= zeros)
			return (size_t)(p - data) - zeros;
		p++;
	}
	return len;
}

/* What is known of a trace ID while frames are read. */
struct id_state {
	size_t zeros;	 /* the last bytes are so many zeros */
	size_t zeros_at; /* the frame in which they began */
	size_t named_at; /* the frame that named the ID last before them */
	bool synced;
};

struct frame_scan {
	const uint8_t *data;
	size_t len, zeros;
	uint8_t id;
	size_t named_at; /* the frame that set id; SIZE_MAX: before the first */
	struct id_state ids[CS_IDS];
};

/* Takes the bytes of a run. Returns true at the end of an A-sync. */
static bool scan_run(struct frame_scan *s, const struct cs_run *run, size_t frame, size_t named_at)
{
	struct id_state *id = &s->ids[run->id];
	bool found = false;

	for (size_t i = 0; i < run->len; i++) {
		if (run->data[i]) {
			if (run->data[i] == SYNC_END && id->zeros >= s->zeros)
				found = true;
			id->zeros = 0;
		} else if (!id->zeros++) {
			id->zeros_at = frame;
			id->named_at = named_at;
		}
	}
	return found;
}

/* Returns whether the bytes of @run may be the first of its ID: of an A-sync, or behind one. */
static bool begins_clean(struct frame_scan *s, const struct cs_run *run)
{
	struct id_state *id = &s->ids[run->id];

	for (size_t i = 0; i < run->len && !id->synced; i++) {
		if (!run->data[i])
			id->zeros++;
		else if (run->data[i] == SYNC_END && id->zeros == s->zeros)
			id->synced = true; /* more zeros would be the end of a packet */
		else
			return false;
	}
	return true;
}

/* Returns whether a stretch that begins at @frame cuts no packet of any unit. */
static bool is_clean(const struct frame_scan *scan, size_t frame)
{
	struct frame_scan s = {.data = scan->data, .zeros = scan->zeros};
	size_t left = scan->len - frame, len;
	struct cs_run runs[CS_FRAME_RUNS];

	s.id = cs_frames_first_id(s.data + frame, left, CS_NO_ID);
	len = left < CS_FRAMES_AHEAD * CS_FRAME ? left : CS_FRAMES_AHEAD * CS_FRAME;
	for (size_t at = frame; at + CS_FRAME <= frame + len; at += CS_FRAME) {
		size_t nr;

		if (cs_frame_is_barrier(s.data + at))
			return true;
		nr = cs_frame_split(s.data + at, &s.id, runs);
		for (size_t i = 0; i < nr; i++) {
			if (runs[i].id == CS_NO_ID)
				return false;
			if (runs[i].id && runs[i].id < CS_IDS && !begins_clean(&s, &runs[i]))
				return false;
		}
	}
	return true;
}

/*
 * Looks for an A-sync that ends in the frame at @at. Returns true with the place to begin. @cut:
 * only one at which a stretch before ends without loss.
 */
static bool scan_frame(struct frame_scan *s, size_t at, size_t from, size_t *ret)
{
	struct cs_run runs[CS_FRAME_RUNS];
	uint8_t before = s->id;
	size_t nr;

	if (cs_frame_is_barrier(s->data + at)) {
		memset(s->ids, 0, sizeof(s->ids));
		s->id = CS_NO_ID;
		return false;
	}
	nr = cs_frame_split(s->data + at, &s->id, runs);
	for (size_t i = 0; i < nr; i++) {
		const struct cs_run *run = &runs[i];
		bool carried = run->id == before && !run->at;
		const struct id_state *id;

		if (!run->id || run->id >= CS_IDS ||
		    !scan_run(s, run, at, carried ? s->named_at : at))
			continue;
		id = &s->ids[run->id];
		if (id->zeros_at < from || (from && !is_clean(s, id->zeros_at)))
			continue;
		*ret = id->zeros_at;
		if (!from && id->named_at < id->zeros_at)
			*ret = id->named_at; /* so that the ID is known */
		return true;
	}
	for (size_t i = 0; i < CS_FRAME; i += 2)
		if (s->data[at + i] & 1)
			s->named_at = at;
	return false;
}

static size_t sync_frames(const uint8_t *data, size_t len, size_t from, size_t zeros)
{
	struct frame_scan s = {.data = data, .len = len, .zeros = zeros, .named_at = SIZE_MAX};
	size_t ret;

	s.id = cs_frames_first_id(data, len, CS_NO_ID);
	for (size_t at = 0; at < len && len - at >= CS_FRAME; at += CS_FRAME)
		if (scan_frame(&s, at, from, &ret))
			return ret;
	return len;
}

size_t cs_sync(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from)
{
	struct cs_setup s;
	size_t ret;

	if (from >= len || cs_setup_parse(setup, &s))
		return len;
	ret = s.raw ? sync_raw(data, len, from, zeros_of(&s))
		    : sync_frames(data, len, from, zeros_of(&s));
	cs_setup_release(&s);
	return ret;
}
