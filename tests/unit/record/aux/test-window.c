// SPDX-License-Identifier: Apache-2.0
/*
 * Snapshots of AUX areas, against the truth: a thread migrates over areas in plain memory and
 * numbers each word of its trace, by the time. It runs on while events are switched.
 * Linked with --wrap=perf_event_disable, perf_event_enable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/aux_record.h"
#include "perfdata/record.h"
#include "record/aux/window.h"

#define AREAS	  4u
#define SIZE	  4096u
#define RECORDS	  16384u /* bytes of the ring of records */
#define WORDS_MAX 200000u

struct producer {
	struct perf_event_mmap_page page;
	uint8_t records[RECORDS];
	uint64_t lost; /* records that found no room */
	uint64_t words[SIZE / 8], sink[SIZE / 8];
	uint64_t written, published; /* bytes */
	bool disabled;
	unsigned int stops, starts;
};

static struct world {
	struct producer producers[AREAS];
	struct aux_area areas[AREAS];
	int fds[AREAS];
	struct aux_areas all;
	bool offsets; /* heads are offsets in the area */
	bool lazy;    /* what a CPU wrote is lost when the thread leaves it */
	int lossy;    /* of so many records one is lost; 0: none */
	bool busy;    /* the thread runs and migrates while events are switched */
	unsigned int runs_on;
	uint64_t now;  /* ns: a word is produced in each, and has this number */
	uint64_t last; /* number of the newest word in an area */
	uint8_t seen[WORDS_MAX], untraced[WORDS_MAX];
} * world;

/* --- the kernel ----------------------------------------------------------------------------------
 */

static void tick(void)
{
	struct producer *p = &world->producers[world->runs_on];

	world->now++;
	assert_true(world->now < WORDS_MAX);
	world->untraced[world->now] = p->disabled;
	if (p->disabled)
		return;
	(world->lazy ? p->sink : p->words)[p->written / 8 % (SIZE / 8)] = world->now;
	p->written += 8;
	world->last = world->now;
}

static void put_record(struct producer *p, uint32_t type, uint16_t misc, const uint64_t *words,
		       size_t nr)
{
	const struct perf_event_header h = {type, misc, (uint16_t)(sizeof(h) + nr * 8)};
	uint64_t lost[] = {0, p->lost, world->now};
	uint8_t record[64];

	if (type != PERF_RECORD_LOST && world->lossy && rand() % world->lossy == 0) {
		p->lost++;
		return;
	}
	if (type != PERF_RECORD_LOST && p->lost) {
		put_record(p, PERF_RECORD_LOST, 0, lost, 3);
		p->lost = 0;
	}
	memcpy(record, &h, sizeof(h));
	memcpy(record + sizeof(h), words, nr * 8);
	for (size_t i = 0; i < h.size; i++)
		p->records[(p->page.data_head + i) % RECORDS] = record[i];
	p->page.data_head += h.size;
}

static void put_switch(struct producer *p, bool out)
{
	put_record(p, PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, &world->now, 1);
}

/* The event stops. As in the kernel there is no record if it has nothing. */
static void publish(struct producer *p)
{
	uint64_t record[] = {0, p->written - p->published, PERF_AUX_FLAG_OVERWRITE, world->now};

	for (uint64_t at = p->published; world->lazy && at < p->written; at += 8)
		p->words[at / 8 % (SIZE / 8)] = p->sink[at / 8 % (SIZE / 8)];
	p->published = p->written;
	p->page.aux_head = world->offsets ? p->written % SIZE : p->written;
	record[0] = p->page.aux_head;
	if (record[1])
		put_record(p, PERF_RECORD_AUX, 0, record, 4);
}

static void migrate(void)
{
	struct producer *p = &world->producers[world->runs_on];

	if (!p->disabled)
		put_switch(p, true);
	if (!p->disabled && !world->lazy)
		publish(p);
	if (world->lazy)
		p->written = p->published; /* what the sink holds is lost */
	world->runs_on = (unsigned int)rand() % AREAS;
	p = &world->producers[world->runs_on];
	if (!p->disabled)
		put_switch(p, false);
}

/* Time passes while a recorder does something. */
static void pass(void)
{
	for (int i = rand() % 3; world->busy && i; i--) {
		tick();
		if (rand() % 4 == 0)
			migrate();
	}
}

int __wrap_perf_event_disable(int fd);
int __wrap_perf_event_enable(int fd);

int __wrap_perf_event_disable(int fd)
{
	struct producer *p = &world->producers[fd];

	tick();
	pass();
	p->disabled = true;
	p->stops++;
	if ((unsigned int)fd == world->runs_on)
		publish(p);
	return 0;
}

int __wrap_perf_event_enable(int fd)
{
	pass();
	world->producers[fd].disabled = false;
	world->producers[fd].starts++;
	return 0;
}

static void run(uint64_t longest)
{
	for (uint64_t i = (uint64_t)rand() % longest + 1; i; i--)
		tick();
}

static void world_open(bool offsets, bool lazy)
{
	world = calloc(1, sizeof(*world));
	world->offsets = offsets;
	world->lazy = lazy;
	world->now = 1000;
	world->all = (struct aux_areas){.areas = world->areas, .nr = AREAS};
	for (unsigned int i = 0; i < AREAS; i++) {
		struct aux_area *a = &world->areas[i];

		world->fds[i] = (int)i;
		*a = (struct aux_area){.mode = AUX_SNAPSHOT,
				       .layout.attr = {.sample_type = PERF_SAMPLE_TIME,
						       .flags = PD_ATTR_SAMPLE_ID_ALL},
				       .index = i,
				       .cpu = (int)i,
				       .task = 77,
				       .fds = &world->fds[i],
				       .nr_fds = 1,
				       .on = true};
		pthread_mutex_init(&a->lock, NULL);
		assert_int_equal(aux_stays_init(&a->stays, 64), 0);
		assert_int_equal(ring_init(&a->records, &world->producers[i].page,
					   world->producers[i].records, RECORDS),
				 0);
		assert_int_equal(aux_ring_init(&a->ring, &world->producers[i].page,
					       world->producers[i].words, SIZE, true),
				 0);
	}
	put_switch(&world->producers[0], false);
}

/* As after some snapshots: heads that count on exceed the size of an area. */
static void grow_old(void)
{
	for (unsigned int i = 0; i < AREAS; i++) {
		struct producer *p = &world->producers[i];
		struct aux_ring *ring = &world->areas[i].ring;

		p->published = p->written = p->page.aux_head = 3 * SIZE;
		assert_int_equal(aux_ring_init(ring, &p->page, p->words, SIZE, true), 0);
		ring->taken = ring->position;
	}
}

static void world_close(void)
{
	for (unsigned int i = 0; i < AREAS; i++) {
		aux_stays_release(&world->areas[i].stays);
		pthread_mutex_destroy(&world->areas[i].lock);
	}
	free(world);
}

/* --- what a snapshot has -------------------------------------------------------------------------
 */

/* The words of all records; each new, and in the order of its area. */
struct words {
	uint64_t nr, first, last;
};

static void read_record(const struct aux_taken *t, struct words *ret)
{
	struct pd_auxtrace_record h;
	uint64_t word, before = 0;

	assert_int_equal(t->to - t->from > 0, t->record != NULL);
	if (!t->record)
		return;
	memcpy(&h, t->record, sizeof(h));
	assert_int_equal(h.header.type, PERF_RECORD_AUXTRACE);
	assert_int_equal(h.size, t->to - t->from);
	assert_int_equal(h.offset, t->from);
	assert_int_equal(h.idx, t->area->index);
	assert_int_equal(h.cpu, t->area->cpu);
	assert_int_equal(h.tid, t->area->task);
	assert_int_equal(t->len, sizeof(h) + h.size);
	for (uint64_t at = sizeof(h); at < t->len; at += 8) {
		memcpy(&word, t->record + at, sizeof(word));
		assert_true(word > before && word < WORDS_MAX);
		assert_int_equal(world->seen[word]++, 0);
		assert_true(word > t->first && (world->lossy || word <= t->last));
		before = word;
		if (!ret->nr || word < ret->first)
			ret->first = word;
		ret->last = word > ret->last ? word : ret->last;
		ret->nr++;
	}
}

static struct words take(const struct aux_snapshot_opts *opts, struct aux_snapshot *ret)
{
	struct words words = {0};

	assert_int_equal(aux_snapshot_begin(&world->all, opts, world->now, ret), 0);
	for (size_t i = 0; i < ret->nr; i++) {
		struct aux_taken *t = &ret->taken[i];

		t->record = t->len ? malloc(t->len) : NULL;
		if (t->record)
			aux_taken_copy(t, ret->asked, t->record);
	}
	aux_snapshot_end(ret);
	world->all.resumed = world->now;
	assert_int_equal(ret->nr, AREAS);
	for (size_t i = 0; i < ret->nr; i++) {
		const struct aux_taken *t = &ret->taken[i];

		assert_true(t->from >= t->window.fresh && t->from <= t->to);
		assert_true(!opts->most || t->to - t->from <= opts->most);
		read_record(t, &words);
		assert_int_equal(world->producers[i].stops, world->producers[i].starts);
	}
	return words;
}

/* The thread runs @stretches times; the reader looks at the records now and then. */
static void live(unsigned int stretches, uint64_t longest, int seldom)
{
	for (; stretches; stretches--) {
		run(longest);
		if (rand() % 4)
			migrate();
		for (unsigned int i = 0; i < AREAS; i++)
			if (rand() % seldom == 0)
				aux_area_look(&world->areas[i]);
	}
	run(longest); /* a snapshot finds it running */
}

/* --- tests ---------------------------------------------------------------------------------------
 */

struct ways {
	bool offsets, lazy, busy;
	bool paused; /* events are switched off and on in between */
	int seldom;  /* the reader looks once in so many stretches */
	int lossy;
	uint64_t most;
};

/* Somebody switches all events off, and on after a while. */
static void pause_events(int seldom)
{
	aux_areas_switch(&world->all, -1, false);
	for (int i = 0; i < (int)AREAS; i++)
		__wrap_perf_event_disable(i);
	live(3, 30, seldom);
	aux_areas_switch(&world->all, -1, true);
	for (int i = 0; i < (int)AREAS; i++)
		__wrap_perf_event_enable(i);
	world->all.resumed = world->now;
	live(3, 30, seldom);
}

/* The default: no gap up to the request, at most an area in all, nothing twice. */
static void contiguous(const struct ways *w)
{
	const struct aux_snapshot_opts opts = {.by_task = true, .most = w->most};
	uint64_t limit = w->most ? w->most : SIZE, bytes = 0, had = 0, unsure = 0;
	struct aux_snapshot s;

	for (unsigned int seed = 1; seed <= 60; seed++) {
		srand(seed);
		world_open(w->offsets, w->lazy);
		if (!w->offsets)
			grow_old();
		world->busy = w->busy;
		world->lossy = w->lossy;
		for (int i = 0; i < 20; i++) {
			uint64_t before = world->now;
			struct words words;

			live(1 + seed % 13, 1 + seed * 7 % 300, w->seldom);
			if (w->paused)
				pause_events(w->seldom);
			had += 8 * (world->now - before) < limit ? 8 * (world->now - before)
								 : limit;
			words = take(&opts, &s);
			assert_true(words.nr * 8 <= limit);
			unsure += s.unsure;
			if (words.nr && !s.unsure)
				assert_int_equal(words.last - words.first + 1, words.nr);
			if (words.nr && !w->lossy)
				assert_true(words.last >= s.asked);
			assert_true(words.nr || w->lossy);
			bytes += words.nr * 8;
			aux_snapshot_release(&s);
		}
		world_close();
	}
	assert_true(unsure <= (w->lossy ? 1200 : w->busy ? 12 : 0));
	/* It is not by taking little that they have no gap. */
	if (!w->lazy && !w->lossy && !w->busy && !w->paused)
		assert_true(bytes > had / 100 * (w->offsets ? 60 : 99));
}

static void test_default_has_no_gap(void **state)
{
	for (int seldom = 1; seldom < 200; seldom *= 5) {
		contiguous(&(struct ways){.seldom = seldom});
		contiguous(&(struct ways){.seldom = seldom, .offsets = true});
	}
}

static void test_default_after_a_pause(void **state)
{
	for (int seldom = 1; seldom < 200; seldom *= 5) {
		contiguous(&(struct ways){.seldom = seldom, .paused = true});
		contiguous(&(struct ways){.seldom = seldom, .paused = true, .offsets = true});
	}
	contiguous(&(struct ways){.seldom = 3, .paused = true, .busy = true});
}

static void test_default_while_the_thread_migrates(void **state)
{
	contiguous(&(struct ways){.seldom = 3, .busy = true});
	contiguous(&(struct ways){.seldom = 3, .busy = true, .offsets = true});
}

static void test_default_with_lost_records(void **state)
{
	contiguous(&(struct ways){.seldom = 3, .lossy = 5});
	contiguous(&(struct ways){.seldom = 3, .lossy = 5, .offsets = true});
}

static void test_default_of_areas_filled_at_snapshots(void **state)
{
	contiguous(&(struct ways){.seldom = 3, .lazy = true});
	contiguous(&(struct ways){.seldom = 3, .lazy = true, .offsets = true});
}

static void test_default_with_a_size(void **state)
{
	contiguous(&(struct ways){.seldom = 2, .most = 512});
}

/* A thread that stays on its CPU: all of that area. */
static void test_thread_that_stays(void **state)
{
	const struct aux_snapshot_opts opts = {.by_task = true};
	struct aux_snapshot s;

	world_open(true, false);
	for (int i = 0; i < 20; i++) {
		uint64_t before = world->last;
		struct words words;

		run(3 * SIZE / 8);
		words = take(&opts, &s);
		assert_int_equal(words.last - words.first + 1, words.nr);
		assert_true(words.nr * 8 == SIZE || words.first <= before + AREAS);
		for (size_t j = 0; j < s.nr; j++)
			assert_int_equal(s.taken[j].active, j == world->runs_on);
		aux_snapshot_release(&s);
	}
	world_close();
}

/* All: every word that is new and was not overwritten, of every area. */
static void test_all(void **state)
{
	const struct aux_snapshot_opts opts = {.scope = AUX_SCOPE_ALL};
	struct aux_snapshot s;

	for (unsigned int seed = 1; seed <= 40; seed++) {
		uint64_t taken[AREAS] = {0};

		srand(seed);
		world_open(seed % 2, false);
		for (int i = 0; i < 10; i++) {
			live(1 + seed % 13, 1 + seed * 7 % 300, 2);
			take(&opts, &s);
			for (unsigned int j = 0; j < AREAS; j++) {
				uint64_t held = world->producers[j].written - taken[j];
				uint64_t wrote = s.taken[j].to - s.taken[j].from;

				/* While others are stopped the thread is not traced here. */
				assert_true(wrote <= SIZE);
				assert_int_equal(wrote, held < SIZE ? held : SIZE);
				taken[j] = world->producers[j].written;
			}
			aux_snapshot_release(&s);
		}
		world_close();
	}
}

static void test_active_only(void **state)
{
	const struct aux_snapshot_opts opts = {.scope = AUX_SCOPE_ACTIVE};
	struct aux_snapshot s;

	world_open(false, false);
	for (int i = 0; i < 50; i++) {
		live(6, 100, 2);
		take(&opts, &s);
		for (unsigned int j = 0; j < AREAS; j++) {
			assert_int_equal(s.taken[j].active, j == world->runs_on);
			assert_int_equal(s.taken[j].record != NULL, j == world->runs_on);
		}
		aux_snapshot_release(&s);
	}
	world_close();
}

/* A window of time: every word since then that the areas hold, and not all of the older ones. */
static void test_window(void **state)
{
	const struct aux_snapshot_opts opts = {.scope = AUX_SCOPE_WINDOW, .window = 200};
	struct aux_snapshot s;

	for (unsigned int seed = 1; seed <= 40; seed++) {
		uint64_t since;

		srand(seed);
		world_open(seed % 2, false);
		live(60, 20, 1);
		since = world->now - 200;
		assert_true(take(&opts, &s).nr < 500);
		for (uint64_t word = since + 1; word <= s.asked; word++)
			assert_int_equal(world->seen[word], 1);
		aux_snapshot_release(&s);
		world_close();
	}
}

/* Events that the session has disabled are left so; what their areas hold is taken. */
static void test_disabled(void **state)
{
	const struct aux_snapshot_opts opts = {.scope = AUX_SCOPE_ALL};
	struct aux_snapshot s;

	world_open(false, false);
	live(10, 20, 1);
	migrate();
	for (unsigned int i = 0; i < AREAS; i++) {
		__wrap_perf_event_disable((int)i);
		world->areas[i].on = false;
		world->producers[i].stops = 0;
	}
	assert_true(take(&opts, &s).nr > 0);
	for (unsigned int i = 0; i < AREAS; i++)
		assert_true(world->producers[i].disabled && !s.taken[i].active);
	aux_snapshot_release(&s);
	/* Nothing new: nothing is written. */
	assert_int_equal(take(&opts, &s).nr, 0);
	for (unsigned int i = 0; i < AREAS; i++)
		assert_int_equal(s.taken[i].window.fresh, s.taken[i].window.to);
	aux_snapshot_release(&s);
	world_close();
}

static void test_no_areas(void **state)
{
	const struct aux_snapshot_opts opts = {0};
	struct aux_areas none = {0};
	struct aux_snapshot s;

	world_open(false, false);
	assert_int_equal(aux_snapshot_begin(&none, &opts, 1, &s), 0);
	aux_snapshot_end(&s);
	assert_int_equal(s.nr, 0);
	aux_snapshot_release(&s);
	aux_snapshot_release(&s);
	world_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_has_no_gap),
		cmocka_unit_test(test_default_after_a_pause),
		cmocka_unit_test(test_default_while_the_thread_migrates),
		cmocka_unit_test(test_default_with_lost_records),
		cmocka_unit_test(test_default_of_areas_filled_at_snapshots),
		cmocka_unit_test(test_default_with_a_size),
		cmocka_unit_test(test_thread_that_stays),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_active_only),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_disabled),
		cmocka_unit_test(test_no_areas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
