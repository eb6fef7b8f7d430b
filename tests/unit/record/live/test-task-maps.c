// SPDX-License-Identifier: Apache-2.0
/*
 * Maps of several processes that share them, against a model with one cell for each page: after
 * each random map, fork or end every process has the maps of its model, without overlaps and in
 * order, and a change of one never shows in another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/live/task_maps.h"

#define CELLS	  40
#define PAGE	  4096ull
#define PROCESSES 5

struct cell {
	unsigned int map; /* number of the map; 0: none */
	uint64_t pgoff;	  /* of this page */
};

struct process {
	struct task_maps *maps;
	struct cell cell[CELLS];
};

static void check_piece(const struct live_map *m, const struct cell *cell)
{
	char name[32];

	assert_int_equal(m->addr % PAGE, 0);
	assert_true(m->addr < m->end && m->end <= CELLS * PAGE);
	for (uint64_t page = m->addr / PAGE; page < m->end / PAGE; page++) {
		snprintf(name, sizeof(name), "/file/%u", cell[page].map);
		assert_string_equal(m->file->mmap.filename, name);
		assert_int_equal(m->file->misc, cell[page].map % 7);
		assert_int_equal(m->file->mmap.pid, cell[page].map);
		assert_int_equal(m->pgoff + page * PAGE - m->addr, cell[page].pgoff);
	}
}

static void check(const struct process *p)
{
	uint64_t behind = 0, pages = 0;

	for (size_t i = 0; p->maps && i < p->maps->nr; i++) {
		const struct live_map *m = &p->maps->map[i];

		assert_true(m->addr >= behind);
		behind = m->end;
		pages += (m->end - m->addr) / PAGE;
		check_piece(m, p->cell);
	}
	for (size_t i = 0; i < CELLS; i++)
		pages -= p->cell[i].map != 0;
	assert_int_equal(pages, 0);
}

static void add(struct process *p, unsigned int number)
{
	uint64_t first = (uint64_t)rand() % CELLS, nr = (uint64_t)rand() % 12;
	uint64_t pgoff = (uint64_t)(rand() % 100) * PAGE;
	struct pd_mmap mmap = {.pid = number};
	char name[32];

	if (first + nr > CELLS)
		nr = CELLS - first;
	snprintf(name, sizeof(name), "/file/%u", number);
	mmap.addr = first * PAGE;
	mmap.len = nr * PAGE;
	mmap.pgoff = pgoff;
	mmap.filename = name;
	assert_int_equal(task_maps_add(&p->maps, number % 7, &mmap), 0);
	memset(name, 0, sizeof(name)); /* it is not kept */
	for (uint64_t i = 0; i < nr; i++)
		p->cell[first + i] = (struct cell){number, pgoff + i * PAGE};
}

static void share(struct process *to, const struct process *from)
{
	struct task_maps *maps = task_maps_get(from->maps);

	assert_ptr_equal(maps, from->maps);
	task_maps_put(to->maps);
	to->maps = maps;
	memcpy(to->cell, from->cell, sizeof(to->cell));
}

static void test_random(void **state)
{
	struct process p[PROCESSES] = {0};

	srand(1);
	for (unsigned int step = 1; step < 6000; step++) {
		struct process *one = &p[rand() % PROCESSES];

		if (rand() % 8 == 0) {
			share(one, &p[rand() % PROCESSES]);
		} else if (rand() % 50 == 0) {
			task_maps_put(one->maps);
			*one = (struct process){0};
		} else {
			add(one, step);
		}
		for (int i = 0; i < PROCESSES; i++)
			check(&p[i]);
	}
	for (int i = 0; i < PROCESSES; i++)
		task_maps_put(p[i].maps);
}

/* A map without bytes, or one that wraps around the end of addresses, changes nothing. */
static void test_no_map(void **state)
{
	struct pd_mmap mmap = {.addr = PAGE, .filename = "/file/1"};
	struct task_maps *maps = NULL;

	assert_int_equal(task_maps_add(&maps, 0, &mmap), 0);
	mmap.addr = UINT64_MAX - 10;
	mmap.len = PAGE;
	assert_int_equal(task_maps_add(&maps, 0, &mmap), 0);
	assert_null(maps);
	assert_null(task_maps_get(NULL));
	task_maps_put(NULL);
}

/* Only who has other users beside it gets a copy. */
static void test_copies(void **state)
{
	struct pd_mmap mmap = {.addr = PAGE, .len = PAGE, .filename = "/file/1"};
	struct task_maps *maps = NULL, *other, *before;

	assert_int_equal(task_maps_add(&maps, 0, &mmap), 0);
	before = maps;
	mmap.addr += 4 * PAGE;
	assert_int_equal(task_maps_add(&maps, 0, &mmap), 0);
	assert_ptr_equal(maps, before);
	other = task_maps_get(maps);
	mmap.addr += 4 * PAGE;
	assert_int_equal(task_maps_add(&other, 0, &mmap), 0);
	assert_ptr_not_equal(other, maps);
	assert_int_equal(maps->nr, 2);
	assert_int_equal(other->nr, 3);
	assert_int_equal(maps->refs, 1);
	assert_ptr_equal(maps->map[0].file, other->map[0].file);
	task_maps_put(maps);
	assert_string_equal(other->map[0].file->mmap.filename, "/file/1");
	task_maps_put(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_no_map),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
