// SPDX-License-Identifier: Apache-2.0
#include "record/aux/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/aux_record.h"

/* --- stopping ------------------------------------------------------------------------------------
 */

/* Drops the newest stay, or of a joined one the tail: of the rest nothing is sure. */
static uint64_t leave_out(struct aux_stays *s)
{
	struct aux_stay *last = &s->stays[s->nr - 1];
	uint64_t bytes = last->tail;

	if (last->joined) {
		last->bytes -= bytes;
		last->tail = last->tail_begun = 0;
	} else {
		s->nr--;
	}
	return bytes;
}

/*
 * Finds what a stopped area holds. With @by_task, the trace of a stay that began after the request
 * is left out: the areas are stopped one after another, so it may have a gap before it.
 */
static void find(struct aux_taken *t, uint64_t asked, bool by_task)
{
	struct aux_stays *s = &t->area->stays;

	aux_ring_window(&t->area->ring, &t->window);
	t->to = t->window.to;
	if (s->nr && !s->stays[s->nr - 1].joined && s->stays[s->nr - 1].begun > asked)
		t->late = s->stays[s->nr - 1];
	while (by_task && asked && s->nr && s->stays[s->nr - 1].tail_begun > asked)
		t->to -= leave_out(s);
	if (t->to < t->window.fresh)
		t->to = t->window.fresh;
	t->from = t->to;
	t->active = asked && s->nr && s->stays[s->nr - 1].ended > asked;
}

/* --- choosing ------------------------------------------------------------------------------------
 */

/* The first byte that may be written: new, and among the newest @most. */
static uint64_t oldest(const struct aux_taken *t, uint64_t most)
{
	uint64_t from = t->window.fresh;

	return most && t->to - from > most ? t->to - most : from;
}

/* A stay of an area, while the stays of all are gone through from the newest on. */
struct stay_place {
	struct aux_taken *t;
	size_t next; /* its stays below this index are still to come */
};

/* The next stay. One that was dropped ended at the floor, and its bytes are not there. */
static struct aux_stay next_stay(const struct stay_place *p)
{
	const struct aux_stays *s = &p->t->area->stays;

	return p->next ? s->stays[p->next - 1] : (struct aux_stay){.ended = s->floor};
}

static struct stay_place *latest(struct stay_place *places, size_t nr)
{
	struct stay_place *found = NULL;

	for (size_t i = 0; i < nr; i++)
		if (next_stay(&places[i]).ended &&
		    (!found || next_stay(&places[i]).ended > next_stay(found).ended))
			found = &places[i];
	return found;
}

/* Whether an event of another area ran between the stays that are joined in the next one of @p, or
 * may have. */
static bool is_mixed(const struct aux_snapshot *s, const struct stay_place *p)
{
	const struct aux_stays *own = &p->t->area->stays;
	struct aux_stay stay = next_stay(p);
	uint64_t begun = stay.begun    ? stay.begun
			 : p->next > 1 ? own->stays[p->next - 2].ended
				       : own->floor;

	if (!stay.joined || !stay.tail)
		return stay.joined;
	for (size_t i = 0; i < s->nr; i++) {
		const struct aux_stays *others = &s->taken[i].area->stays;

		for (size_t j = others->nr; others != own && j; j--)
			if (others->stays[j - 1].ended > begun &&
			    others->stays[j - 1].ended < stay.ended)
				return true;
	}
	return false;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Takes the bytes of the next stay of @p, at most @left. Returns whether the stay before it may be
 * taken as well: all bytes of this one are.
 */
static bool take_stay(const struct aux_snapshot *s, struct stay_place *p, uint64_t most,
		      uint64_t left)
{
	uint64_t there = p->t->from - oldest(p->t, most), bytes;
	struct aux_stay stay = next_stay(p);
	bool paused = s->resumed && stay.begun <= s->resumed; /* at its begin, or in between */
	bool mixed = is_mixed(s, p) || (stay.joined && paused), first;

	/* While events were enabled one after another a thread may have run without trace. */
	if (!p->next || stay.ended <= s->resumed)
		return false;
	first = !stay.begun || paused;
	bytes = least_of(mixed ? stay.tail : stay.bytes, least_of(there, left));
	p->t->from -= bytes;
	if (bytes) {
		p->t->first = stay.begun;
		p->t->last = p->t->last ? p->t->last : stay.ended;
	}
	p->next--;
	return !first && !mixed && bytes == stay.bytes;
}

/* Takes what @t has since @time, or all that it has, with the times. */
static void choose_since(struct aux_taken *t, uint64_t time, uint64_t most)
{
	const struct aux_stays *s = &t->area->stays;
	uint64_t end = t->to, from = oldest(t, most), bytes = 0;

	for (size_t i = s->nr; i && s->stays[i - 1].ended > time; i--)
		bytes += s->stays[i - 1].bytes;
	t->from = time && end - from > bytes ? end - bytes : from;
	if (t->from < t->to) {
		t->first = aux_stays_since(s, t->to - t->from);
		t->last = s->nr ? s->stays[s->nr - 1].ended : 0;
	}
}

/*
 * Takes what active areas have, because too little is known of the stays. If none is active, takes
 * the newest stay after the request: where trace lasts no longer than a stay there is nothing else.
 */
static void choose_alone(struct aux_snapshot *s, uint64_t most)
{
	struct aux_taken *newest = NULL;
	uint64_t left = most, there;

	for (size_t i = 0; left && i < s->nr; i++) {
		struct aux_taken *t = &s->taken[i];

		if (t->active) {
			choose_since(t, 0, left);
			left -= t->to - t->from;
		}
		if (t->late.ended && (!newest || t->late.ended > newest->late.ended))
			newest = t;
	}
	s->unsure = left < most;
	if (s->unsure || !newest)
		return;
	newest->to = newest->window.to;
	there = newest->to - newest->window.fresh;
	newest->from = newest->to - least_of(newest->late.bytes, least_of(there, most));
	newest->first = newest->late.begun;
	newest->last = newest->late.ended;
}

/*
 * Takes the newest @all bytes of all areas together, as far as they are contiguous in time.
 */
static int choose_contiguous(struct aux_snapshot *s, uint64_t most, uint64_t all)
{
	struct stay_place *places = calloc(s->nr + 1, sizeof(*places)), *p;
	uint64_t before, left = all;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		places[i] =
			(struct stay_place){.t = &s->taken[i], .next = s->taken[i].area->stays.nr};
	}
	while (left && (p = latest(places, s->nr))) {
		bool more;

		before = p->t->from;
		more = take_stay(s, p, most, left);
		left -= before - p->t->from;
		if (!more)
			break;
	}
	free(places);
	if (left == all)
		choose_alone(s, all);
	return 0;
}

static int choose(struct aux_snapshot *s, const struct aux_snapshot_opts *opts)
{
	uint64_t all = opts->most ? opts->most : s->nr ? s->taken[0].area->ring.size : 0;
	uint64_t since = 0;

	if (opts->scope == AUX_SCOPE_AREA && opts->by_task)
		return choose_contiguous(s, opts->most, all);
	if (opts->scope == AUX_SCOPE_WINDOW && s->asked > opts->window)
		since = s->asked - opts->window;
	for (size_t i = 0; i < s->nr; i++)
		if (opts->scope != AUX_SCOPE_ACTIVE || s->taken[i].active)
			choose_since(&s->taken[i], since, opts->most);
	return 0;
}

/* --- copying -------------------------------------------------------------------------------------
 */

static size_t length(const struct aux_taken *t)
{
	return t->to == t->from
		       ? 0
		       : sizeof(struct pd_auxtrace_record) + pd_auxtrace_padded(t->to - t->from);
}

void aux_taken_copy(const struct aux_taken *t, uint64_t asked, uint8_t *record)
{
	const struct pd_auxtrace trace = {
		.size = t->to - t->from,
		.offset = t->from,
		.reference = aux_area_reference(t->area, asked),
		.idx = t->area->index,
		.tid = (uint32_t)t->area->task,
		.cpu = (uint32_t)t->area->cpu,
	};
	struct pd_auxtrace_record header;

	pd_auxtrace_encode(&trace, &header);
	memcpy(record, &header, sizeof(header));
	aux_ring_copy(&t->area->ring, t->from, t->to, record + sizeof(header));
	memset(record + sizeof(header) + trace.size, 0, header.size - trace.size);
}

int aux_snapshot_begin(struct aux_areas *areas, const struct aux_snapshot_opts *opts,
		       uint64_t asked, struct aux_snapshot *ret)
{
	int rc;

	*ret = (struct aux_snapshot){.asked = asked,
				     .resumed = areas->resumed,
				     .taken = calloc(areas->nr + 1, sizeof(*ret->taken))};
	if (!ret->taken)
		return -ENOMEM;
	ret->nr = areas->nr;
	for (size_t i = 0; i < ret->nr; i++) {
		ret->taken[i].area = &areas->areas[i];
		aux_area_stop(&areas->areas[i]);
	}
	for (size_t i = 0; i < ret->nr; i++) {
		aux_area_look_stopped(&areas->areas[i], asked);
		find(&ret->taken[i], asked, opts->by_task);
	}
	rc = choose(ret, opts);
	for (size_t i = 0; !rc && i < ret->nr; i++)
		ret->taken[i].len = length(&ret->taken[i]);
	return rc;
}

void aux_snapshot_end(struct aux_snapshot *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		aux_ring_taken(&s->taken[i].area->ring, &s->taken[i].window);
		aux_stays_drop(&s->taken[i].area->stays);
	}
	for (size_t i = 0; i < s->nr; i++)
		aux_area_go(s->taken[i].area);
}

void aux_snapshot_release(struct aux_snapshot *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->taken[i].record);
	free(s->taken);
	*s = (struct aux_snapshot){0};
}
