// SPDX-License-Identifier: Apache-2.0
#include "state/cpu_tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* No machine has more; a damaged record may name any number. */
#define CPUS_MAX 65536u

#define ANCHOR_EVERY 64u /* changes */
#define CODE_MAX     20u /* bytes of a change: two numbers of up to 10 */

/* From @time on the thread runs there. */
struct cpu_change {
	uint64_t time;
	uint32_t task; /* its number */
};

/* A change that is found without those before it. */
struct change_anchor {
	struct cpu_change change;
	size_t at; /* of the next change in the bytes */
};

/*
 * Changes of a CPU. Each is two numbers of seven bits a byte, the lowest bits first: the time since
 * the change before it, and the task.
 */
struct cpu_changes {
	struct buf bytes;
	uint64_t nr;
	uint64_t last;		       /* time of the newest in @bytes */
	size_t nr_descents;	       /* changes that are earlier than the one before */
	struct change_anchor *anchors; /* when frozen */
	size_t nr_anchors, cap_anchors;
};

/* --- bytes ---------------------------------------------------------------------------------------
 */

static void put_number(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		b->data[b->len++] = (uint8_t)(v | 0x80);
	b->data[b->len++] = (uint8_t)v;
}

static uint64_t get_number(const uint8_t *p, size_t *at)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = p[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
}

/* Reads the change at *@at, which is behind @change, into @change. */
static void next_change(const struct cpu_changes *c, size_t *at, struct cpu_change *change)
{
	change->time += get_number(c->bytes.data, at);
	change->task = (uint32_t)get_number(c->bytes.data, at);
}

static int append(struct cpu_changes *c, const struct cpu_change *change)
{
	if (buf_reserve(&c->bytes, CODE_MAX))
		return -ENOMEM;
	/* A time before the last one wraps around, here and when it is read. */
	put_number(&c->bytes, change->time - c->last);
	put_number(&c->bytes, change->task);
	c->last = change->time;
	c->nr++;
	return 0;
}

/* --- filling -------------------------------------------------------------------------------------
 */

/* Finds or makes the list of a CPU. */
static struct cpu_changes *changes_of(struct cpu_tasks *t, uint32_t cpu)
{
	size_t before = t->cap_cpus;

	if (array_grow(&t->cpus, &t->cap_cpus, (size_t)cpu + 1, sizeof(*t->cpus)))
		return NULL;
	for (; before < t->cap_cpus; before++)
		t->cpus[before] = (struct cpu_changes){0};
	return &t->cpus[cpu];
}

/* A place in the bytes, in changes that are in order. */
struct change_cursor {
	struct cpu_change change; /* the next one */
	size_t at, end;		  /* of the bytes behind it */
};

/* Bytes that a list holds, and those that sorting it would take. */
static size_t memory_of(const struct cpu_changes *c)
{
	return c->bytes.cap + c->cap_anchors * sizeof(*c->anchors) +
	       c->nr_descents * sizeof(struct change_cursor);
}

static int add(struct cpu_tasks *t, uint32_t cpu, uint64_t time, uint64_t task)
{
	struct cpu_changes *c = changes_of(t, cpu);
	struct cpu_change change = {time, id_table_add(&t->tasks, task)};
	size_t before;
	int rc;

	if (!c || change.task == ID_TABLE_NONE)
		return -ENOMEM;
	before = memory_of(c);
	c->nr_descents += time < c->last;
	rc = append(c, &change);
	t->bytes += memory_of(c) - before;
	t->nr++;
	return rc;
}

int cpu_tasks_take(struct cpu_tasks *t, const struct pd_record *rec, uint64_t time)
{
	uint32_t pid = rec->id.pid, tid = rec->id.tid;

	switch (rec->hdr->type) {
	case PERF_RECORD_ITRACE_START:
		pid = rec->itrace_start[0];
		tid = rec->itrace_start[1];
		break;
	case PERF_RECORD_SWITCH:
		if (rec->cswitch.out)
			return 0;
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (rec->cswitch.out) {
			pid = rec->cswitch.next_prev_pid;
			tid = rec->cswitch.next_prev_tid;
		}
		break;
	default: return 0;
	}
	if (!time || rec->id.cpu >= CPUS_MAX || tid == UINT32_MAX)
		return 0;
	return add(t, rec->id.cpu, time, (uint64_t)pid << 32 | tid);
}

int cpu_tasks_merge(struct cpu_tasks *t, const struct cpu_tasks *from)
{
	for (size_t cpu = 0; cpu < from->cap_cpus; cpu++) {
		const struct cpu_changes *c = &from->cpus[cpu];
		struct cpu_change change = {0};

		for (size_t at = 0; at < c->bytes.len;) {
			next_change(c, &at, &change);
			if (add(t, (uint32_t)cpu, change.time, from->tasks.entries[change.task].id))
				return -ENOMEM;
		}
	}
	return 0;
}

/* --- freezing ------------------------------------------------------------------------------------
 */

static uint32_t tid_of(const struct cpu_tasks *t, uint32_t task)
{
	return (uint32_t)t->tasks.entries[task].id;
}

/* Appends a change, unless its thread runs there already, and its anchor if it is to have one. */
static int keep(const struct cpu_tasks *t, struct cpu_changes *c, const struct cpu_change *change,
		struct cpu_change *before)
{
	uint64_t number = c->nr;

	if (number && tid_of(t, before->task) == tid_of(t, change->task))
		return 0;
	if (append(c, change))
		return -ENOMEM;
	*before = *change;
	if (number % ANCHOR_EVERY)
		return 0;
	if (array_grow(&c->anchors, &c->cap_anchors, c->nr_anchors + 1, sizeof(*c->anchors)))
		return -ENOMEM;
	c->anchors[c->nr_anchors++] = (struct change_anchor){*change, c->bytes.len};
	return 0;
}

/* Of equal times the first in the file goes first. */
static bool is_before(const struct change_cursor *a, const struct change_cursor *b)
{
	return a->change.time != b->change.time ? a->change.time < b->change.time : a->at < b->at;
}

static void sift_down(struct change_cursor *heap, size_t nr, size_t i)
{
	struct change_cursor moved = heap[i];

	for (size_t child; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* Fills @ret with a cursor for each run. */
static void find_runs(const struct cpu_changes *c, struct change_cursor *ret)
{
	struct cpu_change change = {0};
	size_t nr = 0;

	for (size_t at = 0; at < c->bytes.len;) {
		uint64_t before = change.time;
		size_t begin = at;

		next_change(c, &at, &change);
		if (nr && change.time >= before)
			continue;
		if (nr)
			ret[nr - 1].end = begin;
		ret[nr++] = (struct change_cursor){change, at, c->bytes.len};
	}
}

static int freeze_disordered(const struct cpu_tasks *t, struct cpu_changes *c)
{
	size_t nr = c->nr_descents + 1;
	struct change_cursor *heap = calloc(nr, sizeof(*heap));
	struct cpu_changes from = *c;
	struct cpu_change before = {0};
	int rc = heap ? 0 : -ENOMEM;

	if (rc)
		return rc;
	find_runs(&from, heap);
	*c = (struct cpu_changes){0};
	for (size_t i = nr / 2; i--;)
		sift_down(heap, nr, i);
	while (!rc && nr) {
		rc = keep(t, c, &heap->change, &before);
		if (heap->at < heap->end)
			next_change(&from, &heap->at, &heap->change);
		else
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	buf_release(&from.bytes);
	free(heap);
	return rc;
}

/* What is kept is never longer than what it is made of, so it goes where that was. */
static int freeze_ordered(const struct cpu_tasks *t, struct cpu_changes *c)
{
	struct cpu_change change = {0}, before = {0};
	size_t end = c->bytes.len;
	int rc = 0;

	c->bytes.len = 0;
	c->nr = c->last = 0;
	for (size_t at = 0; !rc && at < end;) {
		next_change(c, &at, &change);
		rc = keep(t, c, &change, &before);
	}
	return rc;
}

int cpu_tasks_freeze(struct cpu_tasks *t)
{
	for (size_t i = 0; i < t->cap_cpus; i++) {
		struct cpu_changes *c = &t->cpus[i];
		size_t before = memory_of(c);
		int rc = c->nr_descents ? freeze_disordered(t, c) : freeze_ordered(t, c);
		uint8_t *less;

		if (rc)
			return rc;
		c->nr_descents = 0;
		less = c->bytes.len ? realloc(c->bytes.data, c->bytes.len) : NULL;
		if (less) {
			c->bytes.data = less;
			c->bytes.cap = c->bytes.len;
		}
		t->bytes += memory_of(c) - before;
	}
	return 0;
}

/* --- use -----------------------------------------------------------------------------------------
 */

bool cpu_tasks_find(const struct cpu_tasks *t, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		    uint32_t *ret_tid)
{
	const struct cpu_changes *c = cpu < t->cap_cpus ? &t->cpus[cpu] : NULL;
	size_t from = 0, to = c ? c->nr_anchors : 0;
	struct cpu_change change, next;
	uint64_t task;

	/* The last anchor that is not later than @time is below @to. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->anchors[middle].change.time <= time)
			from = middle + 1;
		else
			to = middle;
	}
	if (!to)
		return false;
	change = next = c->anchors[to - 1].change;
	for (size_t at = c->anchors[to - 1].at,
		    end = to < c->nr_anchors ? c->anchors[to].at : c->bytes.len;
	     at < end && next.time <= time;) {
		change = next;
		next_change(c, &at, &next);
	}
	task = t->tasks.entries[next.time <= time ? next.task : change.task].id;
	*ret_pid = (uint32_t)(task >> 32);
	*ret_tid = (uint32_t)task;
	return true;
}

size_t cpu_tasks_memory(const struct cpu_tasks *t)
{
	return t->bytes + t->cap_cpus * sizeof(*t->cpus) + id_table_memory(&t->tasks);
}

void cpu_tasks_release(struct cpu_tasks *t)
{
	for (size_t i = 0; i < t->cap_cpus; i++) {
		buf_release(&t->cpus[i].bytes);
		free(t->cpus[i].anchors);
	}
	free(t->cpus);
	id_table_release(&t->tasks);
	*t = (struct cpu_tasks){0};
}
