// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/walk.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of raw trace that are fed at once: each may become two dozen events, which wait in memory.
 */
#define RAW_STEP 64u

/* Bytes behind the stretch that are read at most. */
#define BEYOND_MAX 4096u

/* The place in the stretch of a byte whose index has these low bits; none is far behind. */
static size_t place_of(const struct cs_source *s, uint32_t index)
{
	size_t now = s->run_at;
	uint32_t back = (uint32_t)now - index;

	/* In the run at hand, or before it. */
	if (back > UINT32_MAX - RAW_STEP)
		return now + (uint32_t)-back;
	return back > now ? 0 : now - back;
}

static void on_packet(void *arg, uint32_t index, const void *packet, size_t size)
{
	struct cs_source *s = arg;
	size_t end = s->run_at;

	s->told += size;
	if (s->told > s->fed) /* some bytes before an A-sync are counted twice */
		s->told = s->fed;
	if (s->told > s->run_before)
		end += (size_t)(s->told - s->run_before);
	s->walk->ops->packet(s, place_of(s, index), end, packet, size);
}

static void on_element(void *arg, uint32_t index, const ocsd_generic_trace_elem *elem)
{
	struct cs_source *s = arg;

	s->walk->ops->element(s, place_of(s, index), elem);
}

static uint32_t on_read(void *arg, uint64_t addr, uint32_t len, uint8_t *buf)
{
	struct cs_source *s = arg;

	return s->walk->ops->read(s, addr, len, buf);
}

static int source_new(struct cs_walk *w, const struct cs_unit *unit, struct cs_source **ret)
{
	struct cs_source *s = calloc(1, w->ops->source_size);
	int rc;

	if (!s)
		return -ENOMEM;
	s->walk = w;
	s->unit = unit;
	s->run_at = w->pos;
	rc = cs_tree_new(unit, &w->tree_ops, s, &s->tree);
	if (rc) {
		free(s);
		return rc;
	}
	*ret = s;
	if (w->ops->begin)
		w->ops->begin(s);
	return 0;
}

int cs_walk_init(struct cs_walk *w, const struct aux_setup *setup,
		 const struct aux_stretch *stretch, const struct cs_walk_ops *ops, void *user)
{
	const struct cs_unit *unit;
	int rc;

	*w = (struct cs_walk){
		.stretch = stretch,
		.len = stretch->len,
		.ops = ops,
		.user = user,
		.tree_ops = {.packet = on_packet,
			     .element = ops->element ? on_element : NULL,
			     .read = ops->element ? on_read : NULL},
		.id = CS_NO_ID,
	};
	rc = cs_setup_parse(setup, &w->setup);
	if (rc)
		return rc;
	unit = cs_setup_by_cpu(&w->setup, stretch->cpu);
	if (!w->setup.raw) {
		/* A short stretch may name no ID: formatters do at least every tenth frame. */
		w->id = cs_frames_first_id(stretch->data, stretch->len,
					   unit ? unit->trace_id : CS_NO_ID);
		return 0;
	}
	return unit ? source_new(w, unit, &w->sources[0]) : -ENOTSUP;
}

void cs_walk_release(struct cs_walk *w)
{
	for (size_t i = 0; i < CS_IDS; i++) {
		if (w->sources[i])
			cs_tree_free(w->sources[i]->tree);
		free(w->sources[i]);
	}
	cs_setup_release(&w->setup);
}

static void feed(struct cs_walk *w, struct cs_source *s, const uint8_t *data, size_t at, size_t len)
{
	s->run_at = at;
	s->run_before = s->fed;
	s->fed += len;
	if (cs_tree_feed(s->tree, (uint32_t)at, data, (uint32_t)len)) {
		s->told = s->fed;
		w->ops->fault(w, s, at, at + len, "libopencsd gives up these bytes");
	}
}

static int feed_run(struct cs_walk *w, const struct cs_run *run)
{
	size_t at = w->pos + run->at;
	const struct cs_unit *unit;
	int rc;

	if (!run->id || (run->id >= CS_IDS && run->id != CS_NO_ID))
		return 0; /* padding, triggers and the like */
	if (run->id == CS_NO_ID) {
		w->ops->fault(w, NULL, at, at + run->len, "no trace ID says whose bytes these are");
		return 0;
	}
	if (!w->sources[run->id]) {
		unit = cs_setup_by_id(&w->setup, run->id);
		if (!unit) {
			w->ops->fault(w, NULL, at, at + run->len,
				      "the recording has no unit of this trace ID");
			return 0;
		}
		rc = source_new(w, unit, &w->sources[run->id]);
		if (rc)
			return rc;
	}
	feed(w, w->sources[run->id], run->data, at, run->len);
	return 0;
}

static void barrier(struct cs_walk *w)
{
	for (size_t i = 0; i < CS_IDS; i++) {
		struct cs_source *s = w->sources[i];

		if (!s)
			continue;
		cs_tree_end(s->tree);
		cs_tree_reset(s->tree);
		s->told = s->fed;
	}
	w->id = CS_NO_ID;
	w->ops->fault(w, NULL, w->pos, w->pos + CS_FRAME, NULL);
}

static int step_frame(struct cs_walk *w)
{
	const uint8_t *frame = w->stretch->data + w->pos;
	struct cs_run runs[CS_FRAME_RUNS];
	size_t nr;
	int rc = 0;

	if (cs_frame_is_barrier(frame)) {
		barrier(w);
	} else {
		nr = cs_frame_split(frame, &w->id, runs);
		for (size_t i = 0; !rc && i < nr; i++)
			rc = feed_run(w, &runs[i]);
	}
	w->pos += CS_FRAME;
	return rc;
}

static void end(struct cs_walk *w)
{
	w->ended = true;
	for (size_t i = 0; i < CS_IDS; i++)
		if (w->sources[i])
			cs_tree_end(w->sources[i]->tree);
}

/* Goes on behind the stretch as long as something waits for what is there. */
static bool go_beyond(struct cs_walk *w)
{
	size_t more = w->stretch->more;

	if (!w->ops->waits || !w->ops->waits(w))
		return false;
	if (!w->beyond)
		w->len += more < BEYOND_MAX ? more : BEYOND_MAX;
	if (w->pos >= w->len || (!w->setup.raw && w->len - w->pos < CS_FRAME))
		return false;
	w->beyond = true;
	return true;
}

int cs_walk_step(struct cs_walk *w)
{
	size_t left = w->len - w->pos;
	int rc = 0;

	if (w->ended)
		return 0;
	if (w->beyond ? !go_beyond(w) : !left && !go_beyond(w)) {
		end(w);
		return 1;
	}
	left = w->len - w->pos;
	if (w->setup.raw) {
		size_t len = left < RAW_STEP ? left : RAW_STEP;

		feed(w, w->sources[0], w->stretch->data + w->pos, w->pos, len);
		w->pos += len;
	} else if (left >= CS_FRAME) {
		rc = step_frame(w);
	} else {
		w->ops->fault(w, NULL, w->pos, w->len, "a frame is cut");
		w->pos = w->len;
	}
	return rc ? rc : 1;
}
