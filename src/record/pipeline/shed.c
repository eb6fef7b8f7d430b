// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/shed.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/sample.h"
#include "record/loss/lost_samples_record.h"

/* What was truncated and dropped, of the event of one descriptor. */
struct shed_event {
	uint64_t id;
	unsigned int event;
	uint64_t dropped;      /* samples not reported yet */
	uint64_t time;	       /* of the last of them, ns */
	uint64_t truncated[2]; /* user stacks: LOSS_STACK_RING, LOSS_STACK */
	int cpu; /* of the descriptor's ring; set when anything is truncated or dropped */
};

struct shed {
	const struct plan *plan;
	struct renumber *renumber;
	size_t time_at;		   /* offset of TIME in samples, bytes; 0: samples have no time */
	struct id_table ids;	   /* to indices in: */
	struct shed_event *events; /* of each descriptor */
	size_t nr;
	bool stacks; /* samples of any event have user stacks */
};

struct shed *shed_new(const struct plan *plan, const struct opened *opened,
		      struct renumber *renumber)
{
	struct shed *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->events = calloc(opened->nr_fds + 1, sizeof(*s->events));
	if (!s->events || open_fds_by_id(opened->fds, opened->nr_fds, &s->ids)) {
		shed_free(s);
		return NULL;
	}
	s->plan = plan;
	s->renumber = renumber;
	s->time_at = plan_sample_time_at(plan);
	for (size_t i = 0; i < plan->nr; i++)
		s->stacks |= plan->events[i].attr.sample_type & PERF_SAMPLE_STACK_USER;
	s->nr = opened->nr_fds;
	for (size_t i = 0; i < s->nr; i++) {
		s->events[i].id = opened->fds[i].id;
		s->events[i].event = opened->fds[i].event;
	}
	return s;
}

void shed_free(struct shed *s)
{
	if (!s)
		return;
	id_table_release(&s->ids);
	free(s->events);
	free(s);
}

bool shed_has_stacks(const struct shed *s)
{
	return s->stacks;
}

int shed_truncated(const struct shed *s, struct loss *ret)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nr; i++) {
		const struct shed_event *e = &s->events[i];

		rc = loss_add(ret, LOSS_STACK_RING, e->event, e->cpu, e->truncated[0]);
		if (!rc)
			rc = loss_add(ret, LOSS_STACK, e->event, e->cpu, e->truncated[1]);
	}
	return rc;
}

/* Returns the event of a sample of @size bytes, or NULL if the plan has no event with its id. */
static struct shed_event *event_of(struct shed *s, const uint8_t *sample, size_t size)
{
	uint64_t id;
	uint32_t at;

	if (size < sizeof(struct perf_event_header) + sizeof(id))
		return NULL;
	memcpy(&id, sample + sizeof(struct perf_event_header), sizeof(id));
	at = id_table_find(&s->ids, id);
	if (at == ID_TABLE_NONE && s->renumber)
		at = id_table_find(&s->ids, renumber_id(s->renumber, id));
	return at == ID_TABLE_NONE ? NULL : &s->events[at];
}

/*
 * Moves the sample at @from to @to without its user stack: a stack size of 0 is followed by neither
 * data nor dyn_size. Returns the new size of the sample.
 */
static size_t move_truncated(const struct plan *plan, const struct shed_event *e, uint8_t *to,
			     const uint8_t *from, size_t size)
{
	const struct pd_evsel evsel = {.attr = plan->events[e->event].attr};
	struct perf_event_header hdr;
	struct pd_sample sample;
	uint64_t stack;
	size_t at, gone;

	if (pd_sample_decode((const void *)from, &evsel, &sample, NULL) || !sample.user_stack) {
		memmove(to, from, size);
		return size;
	}
	at = (size_t)(sample.user_stack - from);
	memcpy(&stack, from + at - sizeof(stack), sizeof(stack));
	gone = (size_t)stack + sizeof(uint64_t);
	memmove(to, from, at - sizeof(stack));
	memset(to + at - sizeof(stack), 0, sizeof(stack));
	memmove(to + at, from + at + gone, size - at - gone);
	memcpy(&hdr, to, sizeof(hdr));
	hdr.size = (uint16_t)(size - gone);
	memcpy(to, &hdr, sizeof(hdr));
	return hdr.size;
}

size_t shed_stacks(struct shed *s, uint8_t *to, const uint8_t *from, size_t len,
		   enum loss_cause cause, int cpu)
{
	struct perf_event_header hdr;
	size_t at = 0, made = 0;

	for (; pd_record_at(from + at, len - at, &hdr); at += hdr.size) {
		struct shed_event *e = NULL;
		size_t left = hdr.size;

		if (hdr.type == PERF_RECORD_SAMPLE)
			e = event_of(s, from + at, hdr.size);
		if (e)
			left = move_truncated(s->plan, e, to + made, from + at, hdr.size);
		else
			memmove(to + made, from + at, hdr.size);
		if (left < hdr.size) {
			e->truncated[cause == LOSS_STACK]++;
			e->cpu = cpu;
		}
		made += left;
	}
	return made;
}

size_t shed_others(const uint8_t *records, size_t len, size_t *ret_whole)
{
	struct perf_event_header hdr;
	size_t bytes = 0, at = 0;

	for (; pd_record_at(records + at, len - at, &hdr); at += hdr.size)
		bytes += hdr.type == PERF_RECORD_SAMPLE ? 0 : hdr.size;
	*ret_whole = at;
	return bytes;
}

static void note_dropped(struct shed *s, const uint8_t *sample, size_t size, int cpu)
{
	struct shed_event *e = event_of(s, sample, size);

	/* No ring has samples of an event that was not opened. */
	if (!e)
		return;
	e->dropped++;
	e->cpu = cpu;
	if (s->time_at && size >= s->time_at + sizeof(e->time))
		memcpy(&e->time, sample + s->time_at, sizeof(e->time));
}

size_t shed_samples(struct shed *s, uint8_t *records, size_t len, int cpu)
{
	struct perf_event_header hdr;
	size_t from = 0, to = 0;

	for (; pd_record_at(records + from, len - from, &hdr); from += hdr.size) {
		if (hdr.type == PERF_RECORD_SAMPLE) {
			note_dropped(s, records + from, hdr.size, cpu);
		} else {
			memmove(records + to, records + from, hdr.size);
			to += hdr.size;
		}
	}
	return to;
}

size_t shed_report_next(struct shed *s, uint8_t *out, int *ret_cpu)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct shed_event *e = &s->events[i];
		struct lost_samples_record rec;

		if (!e->dropped)
			continue;
		lost_samples_record_make(&rec, &s->plan->events[e->event].attr, e->id, e->cpu,
					 e->time, PD_MISC_LOST_POOL, e->dropped);
		memcpy(out, &rec, rec.header.size);
		*ret_cpu = e->cpu;
		e->dropped = 0;
		return rec.header.size;
	}
	return 0;
}
