// SPDX-License-Identifier: Apache-2.0
/*
 * Any order of writing, sealing, packing, reserving, forgetting and dumping, against a model that
 * knows every sample ever written. Input: a byte for each of rings, budget and kind of times, then
 * operations of a byte each with their parameters; past its end all bytes are 0.
 *
 * What must hold, after each of them: a dump brings of each ring whole samples without a gap, in
 * order; no dump brings what one before has brought, unless it is told to; what has gone is older
 * than what is there, and goes only when the memory is full; each sample is counted once.
 *
 * tests/unit/record/history/test-history.c runs random inputs.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/history/history.h"

#define RINGS	  4
#define TIME_AT	  32u
#define HEAD_MIN  48u /* of a sample: header to time, and its number in the ring */
#define RUN_MAX	  ((size_t)400 << 10)
#define TOTAL_MAX ((size_t)12 << 20) /* bytes written by one input */
#define CHUNK_MAX (HISTORY_CHUNK + 256)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what, int line)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz-history.c:%d: not so: %s\n", line, what);
	abort();
}
#define CHECK(what) check(what, #what, __LINE__)

struct script {
	const uint8_t *at, *end;
};

static uint8_t take(struct script *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static uint32_t take_two(struct script *s)
{
	uint32_t low = take(s);

	return low | (uint32_t)take(s) << 8;
}

/* Numbers of samples begin with 1 in each ring. */
struct ring {
	uint64_t *times; /* by number */
	bool *dumped;	 /* likewise: some dump has written it */
	size_t capacity;
	uint64_t written; /* the newest one's number */
	uint64_t gone;	  /* the newest that is known to have been evicted */
	uint64_t lag;	  /* its times are so much behind */
};

/* The samples of a packed chunk. */
struct pack {
	struct pack *next;
	size_t len;
	uint8_t samples[];
};

/* What stands for them in memory. */
struct packed {
	struct perf_event_header header;
	const struct pack *pack;
};

struct model {
	struct script script;
	struct history *h;
	uint64_t budget, reserved;
	uint64_t time;	   /* of the newest sample of a ring without lag */
	uint64_t distinct; /* samples in dumps, each once */
	uint64_t forgotten;
	uint64_t others, others_seen;
	uint64_t saved; /* memory, by what was packed in the operation that runs */
	size_t total;	/* bytes written */
	bool lags, peeks, can_pack;
	struct pack *packs; /* all, the last first */
	struct packed packed;
	size_t nr;
	struct ring rings[RINGS];
};

/* --- samples -------------------------------------------------------------------------------------
 */

/* The words behind the number. */
static uint64_t filling(size_t ring, uint64_t number, size_t word)
{
	return number * 0x9e3779b97f4a7c15ull + ring * 0x632be59bd9b4e019ull + word;
}

static size_t make_sample(struct model *m, size_t ring, uint8_t *out, size_t size)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};
	struct ring *r = &m->rings[ring];
	uint64_t number = ++r->written, word;

	if (number >= r->capacity) {
		r->capacity = 2 * number + 64;
		r->times = realloc(r->times, r->capacity * sizeof(*r->times));
		r->dumped = realloc(r->dumped, r->capacity * sizeof(*r->dumped));
		CHECK(r->times && r->dumped);
	}
	r->dumped[number] = false;
	r->times[number] = m->time - r->lag;
	memset(out, 0, TIME_AT);
	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + TIME_AT, &r->times[number], sizeof(uint64_t));
	memcpy(out + TIME_AT + 8, &number, sizeof(number));
	for (size_t at = HEAD_MIN; at < size; at += sizeof(word)) {
		word = filling(ring, number, at / 8);
		memcpy(out + at, &word, sizeof(word));
	}
	return size;
}

/* Returns the number of the sample at @data. */
static uint64_t check_sample(const struct model *m, size_t ring, const uint8_t *data, size_t len,
			     size_t *ret_size)
{
	const struct ring *r = &m->rings[ring];
	struct perf_event_header hdr;
	uint64_t number, time, word;

	CHECK(len >= HEAD_MIN);
	memcpy(&hdr, data, sizeof(hdr));
	memcpy(&time, data + TIME_AT, sizeof(time));
	memcpy(&number, data + TIME_AT + 8, sizeof(number));
	CHECK(hdr.type == PERF_RECORD_SAMPLE);
	CHECK(hdr.size >= HEAD_MIN && hdr.size <= len);
	CHECK(number && number <= r->written);
	CHECK(time == r->times[number]);
	for (size_t at = HEAD_MIN; at < hdr.size; at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		CHECK(word == filling(ring, number, at / 8));
	}
	*ret_size = hdr.size;
	return number;
}

static size_t make_other(struct model *m, uint8_t *out, size_t size)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_COMM, .size = (uint16_t)size};

	m->others++;
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)(m->others + i);
	memcpy(out, &hdr, sizeof(hdr));
	return size;
}

static int saw_other(const struct perf_event_header *hdr, void *arg)
{
	struct model *m = arg;

	CHECK((uintptr_t)hdr % 8 == 0);
	CHECK(hdr->type == PERF_RECORD_COMM);
	m->others_seen++;
	for (size_t i = sizeof(*hdr); i < hdr->size; i++)
		CHECK(((const uint8_t *)hdr)[i] == (uint8_t)(m->others_seen + i));
	return 0;
}

/* --- what is true at any time --------------------------------------------------------------------
 */

static uint64_t room(const struct model *m)
{
	return m->budget - (m->reserved < m->budget / 2 ? m->reserved : m->budget / 2);
}

static void check_figures(struct model *m)
{
	struct history_figures f;
	uint64_t taken = 0, newest = 0;

	for (size_t i = 0; i < m->nr; i++) {
		const struct ring *r = &m->rings[i];

		taken += r->written;
		if (r->written && r->times[r->written] > newest)
			newest = r->times[r->written];
	}
	history_figures(m->h, &f);
	CHECK(f.taken == taken);
	CHECK(f.written == m->distinct);
	CHECK(f.taken == f.written + f.evicted + f.held);
	CHECK(f.held <= f.samples && f.samples <= taken);
	CHECK(f.bytes >= HEAD_MIN * f.samples);
	CHECK(f.memory <= (room(m) > CHUNK_MAX ? room(m) : CHUNK_MAX));
	CHECK(f.first <= f.last && f.last <= newest);
	CHECK((history_oldest(m->h) == UINT64_MAX) == !f.samples);
	/* One that just came stays where there is room for a chunk. */
	if (!m->lags && (f.samples || m->budget / 2 > CHUNK_MAX))
		CHECK(f.last == newest);
}

/* What is evicted for want of room left it nearly full. */
static void check_full(struct model *m, const struct history_figures *before)
{
	struct history_figures f;

	history_figures(m->h, &f);
	if (f.samples < before->samples + (f.taken - before->taken))
		CHECK(f.memory + m->saved + CHUNK_MAX >= room(m));
}

/* --- packing -------------------------------------------------------------------------------------
 */

/* Some do not become smaller. */
static size_t pack(const uint8_t *samples, size_t len, const uint8_t **ret, void *arg)
{
	struct model *m = arg;
	struct pack *p;

	CHECK(len);
	if (len / 8 % 4 == 0)
		return len / 32 % 2 ? 0 : len;
	p = malloc(sizeof(*p) + len);
	CHECK(p);
	*p = (struct pack){.next = m->packs, .len = len};
	memcpy(p->samples, samples, len);
	m->packs = p;
	m->packed.header = (struct perf_event_header){.size = sizeof(m->packed)};
	m->packed.pack = p;
	*ret = (const uint8_t *)&m->packed;
	return sizeof(m->packed);
}

static const uint8_t *unpack(const struct history_chunk *chunk)
{
	struct packed packed;

	if (!chunk->packed) {
		CHECK(chunk->bytes == chunk->len);
		return chunk->data;
	}
	CHECK(chunk->len == sizeof(packed));
	memcpy(&packed, chunk->data, sizeof(packed));
	CHECK(chunk->bytes == packed.pack->len);
	return packed.pack->samples;
}

static int unpack_again(const uint8_t *data, size_t len, uint8_t *samples, size_t bytes)
{
	struct packed packed;

	CHECK(len == sizeof(packed));
	memcpy(&packed, data, sizeof(packed));
	CHECK(bytes == packed.pack->len);
	memcpy(samples, packed.pack->samples, bytes);
	return bytes % 5 ? 0 : -1;
}

static void free_packs(struct model *m)
{
	for (struct pack *p = m->packs, *next; p; p = next) {
		next = p->next;
		free(p);
	}
}

static void do_pack(struct model *m)
{
	size_t ring = take(&m->script), most = 1 + take(&m->script) % 32;
	struct history_figures before, after;

	history_figures(m->h, &before);
	while (most-- && history_pack(m->h, ring % m->nr, pack, m))
		;
	history_figures(m->h, &after);
	CHECK(after.memory <= before.memory);
	after.memory = before.memory;
	CHECK(!memcmp(&before, &after, sizeof(before)));
}

/* --- dumps ---------------------------------------------------------------------------------------
 */

/* What a dump brings of a ring: the numbers, and the time that its first chunk ends at. */
struct part {
	uint64_t first, last, head_end;
	uint64_t bytes;
};

/* What was left out between two numbers has been written before. */
static void check_gap(const struct ring *r, const struct history_bounds *bounds, uint64_t last,
		      uint64_t number)
{
	CHECK(number > last);
	if (bounds->again)
		CHECK(number == last + 1);
	while (++last < number)
		CHECK(r->dumped[last]);
}

static void take_chunk(struct model *m, const struct history_bounds *bounds,
		       const struct history_chunk *chunk, struct part *parts)
{
	struct part *part = &parts[chunk->ring];
	const struct ring *r = &m->rings[chunk->ring];
	const uint8_t *data = unpack(chunk);
	uint64_t number = 0, samples = 0;
	size_t size;

	CHECK(chunk->ring < m->nr);
	CHECK(chunk->len);
	for (size_t at = 0; at < chunk->bytes; at += size, samples++) {
		number = check_sample(m, chunk->ring, data + at, chunk->bytes - at, &size);
		if (!samples)
			CHECK(r->times[number] == chunk->first);
		CHECK(r->times[number] >= bounds->since || chunk->packed);
		CHECK(bounds->again || !r->dumped[number]);
		if (part->last)
			check_gap(r, bounds, part->last, number);
		else
			part->first = number;
		part->last = number;
	}
	CHECK(samples == chunk->samples);
	CHECK(r->times[number] == chunk->last && chunk->last >= bounds->since);
	part->bytes += chunk->bytes;
	if (!part->head_end)
		part->head_end = r->times[number];
}

/* The dump has gone on behind what it brought last, so that this counts as written. */
static void commit(struct model *m, const struct part *parts)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct ring *r = &m->rings[i];

		for (uint64_t n = parts[i].first; n && n <= parts[i].last; n++) {
			m->distinct += !r->dumped[n];
			r->dumped[n] = true;
		}
	}
}

/* Of a dump with all that is there: what has gone is older than the end of each first chunk. */
static void check_newest(struct model *m, const struct part *parts)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < m->nr; i++) {
		struct ring *r = &m->rings[i];

		if (parts[i].last)
			CHECK(parts[i].first > r->gone);
		if (parts[i].last)
			r->gone = parts[i].first - 1;
		if (r->gone && r->times[r->gone] > gone)
			gone = r->times[r->gone];
	}
	for (size_t i = 0; !m->lags && i < m->nr; i++)
		if (parts[i].last)
			CHECK(parts[i].head_end >= gone && parts[i].head_end >= m->forgotten);
}

static void do_write(struct model *m);

/* Nobody makes room for us, so only as much as there is. */
static void write_meanwhile(struct model *m)
{
	struct history_figures f;

	history_figures(m->h, &f);
	if (f.memory + RUN_MAX + 8 * CHUNK_MAX < room(m))
		do_write(m);
}

/* Whether the samples of the dump go to @until, all that are younger than the first being there. */
static void check_extent(const struct model *m, const struct history_bounds *bounds,
			 const struct part *parts, const uint64_t *until, bool sealed)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->nr; i++) {
		const struct part *p = &parts[i];

		CHECK(p->last <= until[i]);
		if (p->last && sealed)
			CHECK(p->last == until[i] ||
			      (!bounds->again && m->rings[i].dumped[until[i]]));
		bytes += p->bytes;
	}
	if (bounds->bytes && !m->lags)
		CHECK(bytes <= bounds->bytes + m->nr * CHUNK_MAX);
}

enum how {
	TO_THE_END,
	GIVE_UP,
	CANCEL,
};

static void dump(struct model *m, const struct history_bounds *bounds, const uint64_t *until,
		 bool sealed, enum how how, uint32_t stop)
{
	struct part parts[RINGS] = {0}, before[RINGS];
	struct history_chunk chunk;
	bool quiet = true;
	uint64_t end = 0;
	uint32_t nr = 0;

	CHECK(!history_snapshot_begin(m->h, bounds));
	memcpy(before, parts, sizeof(before));
	while (nr < stop && history_snapshot_next(m->h, &chunk)) {
		memcpy(before, parts, sizeof(before));
		take_chunk(m, bounds, &chunk, parts);
		/* Of all rings the oldest first, where they are whole. */
		if (bounds->again) {
			CHECK(m->rings[chunk.ring].times[parts[chunk.ring].last] >= end);
			end = m->rings[chunk.ring].times[parts[chunk.ring].last];
		}
		nr++;
		if (m->can_pack)
			history_pack(m->h, nr % m->nr, pack, m);
		if (nr % 4 == 1 && !m->peeks && !take(&m->script)) {
			write_meanwhile(m);
			quiet = false;
		}
	}
	if (how == CANCEL) {
		history_snapshot_cancel(m->h);
		return;
	}
	history_snapshot_end(m->h);
	if (nr == stop) {
		commit(m, before);
		return;
	}
	check_extent(m, bounds, parts, until, sealed);
	commit(m, parts);
	if (bounds->again && !bounds->since && !bounds->bytes && quiet)
		check_newest(m, parts);
}

static void peek(struct model *m)
{
	const struct history_bounds all = {.again = true, .unpack = unpack_again};
	uint64_t until[RINGS];

	for (size_t i = 0; i < m->nr; i++)
		until[i] = m->rings[i].written;
	history_announce(m->h);
	dump(m, &all, until, false, TO_THE_END, UINT32_MAX);
}

/* --- operations ----------------------------------------------------------------------------------
 */

static size_t pick_size(struct script *s)
{
	uint32_t code = take(s);

	if (code >= 250)
		return 65528;
	return HEAD_MIN + 8 * (code < 200 ? code % 32 : take_two(s) % 8000);
}

static size_t fill_run(struct model *m, size_t ring, uint8_t *out)
{
	size_t nr = take(&m->script), size = pick_size(&m->script), len = 0;
	uint32_t step = take(&m->script) % 4, other = take(&m->script) % 8;

	for (size_t i = 0; i <= nr && len + 65536 + 512 < RUN_MAX; i++) {
		m->time += step;
		if (other && i % other == 1)
			len += make_other(m, out + len, 8 + 8 * (i % 40));
		len += make_sample(m, ring, out + len, size);
		if (size < 4096)
			size = HEAD_MIN + (size * 5 + 8 * i) % 1024 / 8 * 8;
	}
	return len;
}

static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	CHECK(copy);
	memcpy(copy, bytes, len);
	return copy;
}

/* A run that is cut in two anywhere; memory of their own, so that a read beyond either is seen. */
static void do_write(struct model *m)
{
	size_t ring = take(&m->script) % m->nr, len, cut;
	uint8_t *bytes, *a, *b;
	struct run run;

	if (m->total > TOTAL_MAX)
		return;
	bytes = malloc(RUN_MAX);
	CHECK(bytes);
	len = fill_run(m, ring, bytes);
	cut = take_two(&m->script) % (len / 8 + 1) * 8;
	a = copy_of(bytes, cut);
	b = copy_of(bytes + cut, len - cut);
	run = (struct run){
		.a = a, .a_len = cut, .b = b, .b_len = len - cut, .ring = (unsigned int)ring};
	CHECK(!history_write(m->h, &run, saw_other, m));
	CHECK(m->others_seen == m->others);
	m->total += len;
	free(a);
	free(b);
	free(bytes);
}

static void pack_full(size_t ring, void *arg)
{
	struct model *m = arg;
	struct history_figures before, after;

	history_figures(m->h, &before);
	while (m->can_pack && history_pack(m->h, ring, pack, m))
		;
	history_figures(m->h, &after);
	m->saved += before.memory - after.memory;
}

static void do_reserve(struct model *m)
{
	m->reserved = take(&m->script) * (m->budget / 256);
	history_reserve(m->h, m->reserved);
}

static void do_forget(struct model *m)
{
	uint64_t back = take(&m->script) % 64 * (take(&m->script) % 32);
	struct history_figures f;

	if (back > m->time)
		return;
	m->forgotten = m->time - back > m->forgotten ? m->time - back : m->forgotten;
	history_forget(m->h, m->time - back);
	history_figures(m->h, &f);
	CHECK(!f.samples || f.last >= m->time - back);
}

static struct history_bounds pick_bounds(struct model *m, bool again)
{
	struct history_bounds bounds = {.again = again, .unpack = unpack_again};
	uint8_t kind = take(&m->script);
	uint64_t back = take(&m->script) * (uint64_t)(1 + kind / 16);

	if (kind & 1 && back < m->time)
		bounds.since = m->time - back;
	if (kind & 2)
		bounds.bytes = 1 + back * 128;
	return bounds;
}

/* What the dump left out is told. */
static void check_left_out(struct model *m, const struct history_bounds *bounds,
			   const struct history_figures *f)
{
	CHECK(history_left_out(m->h) == !!f->held);
	if (!bounds->since && !bounds->bytes)
		CHECK(!f->held);
}

static void do_dump(struct model *m)
{
	uint8_t how = take(&m->script);
	bool again = how & 1, seals = how & 2, gives_up = how & 4, begins = (how & 0xc8) != 0xc8;
	struct history_bounds bounds = pick_bounds(m, again);
	enum how ends = take(&m->script) % 4 == 1 ? CANCEL : gives_up ? GIVE_UP : TO_THE_END;
	uint64_t until[RINGS];
	struct history_figures f;

	for (size_t i = 0; i < m->nr; i++) {
		if (seals)
			history_seal(m->h, i);
		until[i] = m->rings[i].written;
	}
	history_announce(m->h);
	if (m->can_pack)
		CHECK(!history_pack(m->h, 0, pack, m));
	for (; how & 0x30; how -= 0x10)
		do_write(m);
	if (!begins) {
		history_snapshot_end(m->h);
		return;
	}
	dump(m, &bounds, until, seals, ends, gives_up ? 1 + take(&m->script) % 8 : UINT32_MAX);
	history_figures(m->h, &f);
	for (size_t i = 0; i < m->nr; i++)
		seals &= until[i] == m->rings[i].written;
	if (seals && ends == TO_THE_END)
		check_left_out(m, &bounds, &f);
}

static void do_seal(struct model *m)
{
	history_seal(m->h, take(&m->script) % m->nr);
}

static void step(struct model *m)
{
	static void (*const operations[])(struct model * m) = {
		do_write, do_write, do_write,	do_write,  do_write, do_write, do_seal,
		do_dump,  do_dump,  do_reserve, do_forget, do_pack,  do_pack,  do_pack};
	void (*operation)(struct model * m) =
		operations[take(&m->script) % (m->can_pack ? 14 : 11)];
	struct history_figures before;

	history_figures(m->h, &before);
	m->saved = 0;
	operation(m);
	check_figures(m);
	if (operation != do_forget)
		check_full(m, &before);
	if (m->peeks)
		peek(m);
}

/* At the end each sample has been written by one snapshot, or was evicted. */
static void last_dump(struct model *m)
{
	struct history_figures f;
	uint64_t until[RINGS];

	for (size_t i = 0; i < m->nr; i++) {
		history_seal(m->h, i);
		until[i] = m->rings[i].written;
	}
	history_announce(m->h);
	m->peeks = true; /* nothing is written meanwhile */
	dump(m, &(struct history_bounds){.unpack = unpack_again}, until, true, TO_THE_END,
	     UINT32_MAX);
	history_figures(m->h, &f);
	CHECK(!f.held);
	check_figures(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model m = {.script = {data, data + size}, .time = 1 << 20};
	uint8_t kind;

	m.nr = 1 + take(&m.script) % RINGS;
	m.budget = m.nr * HISTORY_RECORD_MAX + take(&m.script) * (uint64_t)12345;
	kind = take(&m.script);
	m.lags = kind & 1;
	m.peeks = kind & 2;
	m.can_pack = kind & 4;
	for (size_t i = 0; m.lags && i < m.nr; i++)
		m.rings[i].lag = i * 1000;
	m.h = history_new(m.budget, m.nr, TIME_AT);
	CHECK(m.h);
	if (kind & 8)
		history_on_full(m.h, pack_full, &m);
	while (m.script.at < m.script.end)
		step(&m);
	last_dump(&m);
	history_free(m.h);
	for (size_t i = 0; i < m.nr; i++)
		free(m.rings[i].times);
	for (size_t i = 0; i < m.nr; i++)
		free(m.rings[i].dumped);
	free_packs(&m);
	return 0;
}
