// SPDX-License-Identifier: Apache-2.0
/* From samples and maps of this very process to the table of names. */
#include <inttypes.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/initial/buildid_reader.h"
#include "base/clock_ns.h"
#include "record/names/code_maps.h"
#include "record/names/names.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/lines.h"

#define ID 5

struct map_record {
	struct perf_event_header hdr;
	struct pd_mmap2_body body;
	char name[256];
};

__attribute__((noinline)) uint64_t a_function_with_a_name(uint64_t x);

uint64_t a_function_with_a_name(uint64_t x)
{
	return x * 3;
}

static struct pd_evlist *make_list(void)
{
	const struct pd_attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						    PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
	struct pd_evlist *list = pd_evlist_new();
	uint64_t id = ID;

	assert_non_null(list);
	assert_int_equal(pd_evlist_add(list, &attr, "event", &id, 1), 0);
	return list;
}

static void add_map(struct names *n, const struct pd_mmap *map)
{
	struct map_record r = {.hdr = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(r)}};

	r.hdr.misc |= pd_mmap2_encode(map, &r.body);
	strcpy(r.name, map->filename);
	assert_int_equal(names_add(n, &r.hdr), 0);
}

static void add_fork(struct names *n, uint32_t pid, uint32_t parent)
{
	const struct {
		struct perf_event_header hdr;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} r = {{PERF_RECORD_FORK, 0, sizeof(r)}, pid, parent, pid, parent, 0};

	assert_int_equal(names_add(n, &r.hdr), 0);
}

/* Adds the map of this program that has @addr. Returns its path. */
static char *add_own_map(struct names *n, uintptr_t addr, uint32_t pid)
{
	static char path[256];
	char line[512], prot[8];
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f)) {
		struct pd_mmap map = {.pid = pid, .tid = pid, .prot = PROT_EXEC | PROT_READ};
		uint64_t end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %255s",
			   &map.addr, &end, prot, &map.pgoff, &map.maj, &map.min, &map.ino,
			   path) != 8 ||
		    addr < map.addr || addr >= end)
			continue;
		map.len = end - map.addr;
		map.filename = path;
		add_map(n, &map);
		found = true;
	}
	fclose(f);
	assert_true(found);
	return path;
}

static bool table_has(const struct buf *table, const char *name, uint64_t kind)
{
	struct pd_symbols_cursor c, functions;
	struct pd_symbols_object o;
	struct pd_symbols_function f;
	bool found = false;
	uint64_t left_out;

	assert_int_equal(pd_symbols_open(table->data, table->len, &c, &left_out), 0);
	while (pd_symbols_next_object(&c, &o) > 0) {
		pd_symbols_functions(&o, &functions);
		while (pd_symbols_next_function(&functions, &f) > 0)
			found |= o.kind == kind && f.name_len == strlen(name) &&
				 !memcmp(f.name, name, f.name_len);
	}
	return found;
}

static const struct names_opts ENOUGH = {.budget = 1 << 20, .ms = 60000};

static void test_a_program(void **state)
{
	uintptr_t addr = (uintptr_t)a_function_with_a_name;
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false), *all = names_new(list, NULL, false);
	struct names_counts counts;
	struct buf table = {0};

	add_own_map(n, addr, 7);
	add_fork(n, 8, 7); /* the child has its parent's maps */
	hits_put(names_hits(n), addr + 2, 8);
	hits_put(names_hits(n), 0x1000, 8); /* no map */
	assert_int_equal(names_merge(all, n), 0);
	names_table(all, &ENOUGH, &table, &counts);
	assert_true(table_has(&table, "a_function_with_a_name", PD_SYMBOLS_FILE));
	assert_int_equal(counts.places, 1);
	assert_int_equal(counts.unnamed, 0);
	assert_true(counts.table.functions <= 2);
	buf_release(&table);
	names_free(n);
	pd_evlist_free(list);
}

static void test_a_budget(void **state)
{
	uintptr_t addr = (uintptr_t)a_function_with_a_name;
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false);
	struct names_counts counts;
	struct buf table = {0};

	add_own_map(n, addr, 7);
	hits_put(names_hits(n), addr, 7);
	names_table(n, &(struct names_opts){.budget = 1, .ms = 60000}, &table, &counts);
	assert_int_equal(counts.table.functions, 0);
	assert_true(counts.table.left_out > 0);
	buf_release(&table);
	pd_evlist_free(list);
}

/* Adds as many addresses without a map as three sets can have, as a lane with samples alone does.
 */
static void add_data(struct names *n, uint32_t pid)
{
	for (uint64_t i = 0; i < (uint64_t)3 * HITS_MAX; i++) {
		hits_put(names_hits(n), 0x100000000 + i * HIT_BYTES, pid);
		if (i % 100 == 0)
			names_make_room(n);
	}
}

/* Data in call chains do not take the room of code; of several lanes the maps may be elsewhere. */
static void test_data_in_chains(void **state)
{
	uintptr_t addr = (uintptr_t)a_function_with_a_name;
	struct pd_evlist *list = make_list();

	for (unsigned int lanes = 1; lanes <= 2; lanes++) {
		struct names *n = names_new(list, NULL, false);
		struct names *other = names_new(list, NULL, false);
		struct names_counts counts;
		struct buf table = {0};

		add_data(n, 7);
		hits_put(names_hits(n), addr, 7);
		names_make_room(n);
		add_own_map(n, addr, 7);
		if (lanes > 1)
			assert_int_equal(names_merge(n, other), 0);
		names_table(n, &ENOUGH, &table, &counts);
		assert_true(table_has(&table, "a_function_with_a_name", PD_SYMBOLS_FILE));
		if (lanes > 1)
			assert_true(counts.missed > HITS_MAX);
		else
			assert_int_equal(counts.missed, 0);
		buf_release(&table);
		names_free(other);
	}
	pd_evlist_free(list);
}

/* After the limit of time the rest is counted. */
static void test_a_limit_of_time(void **state)
{
	uintptr_t addr = (uintptr_t)a_function_with_a_name;
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false);
	struct names_counts counts;
	struct buf table = {0};
	uint64_t all;

	add_own_map(n, addr, 7);
	for (unsigned int i = 0; i < 2000; i++)
		hits_put(names_hits(n), addr + i * HIT_BYTES, 7);
	names_table(n, &(struct names_opts){.budget = 1 << 20, .ms = 0}, &table, &counts);
	all = counts.places + counts.unreached;
	assert_true(all > 0 && all <= 2000);
	assert_true(counts.unreached > 0);
	assert_true(counts.table.functions <= counts.places * 2);
	buf_release(&table);
	pd_evlist_free(list);
}

/* perf-PID.map of this process, which is a JIT for now. */
static void test_generated_code(void **state)
{
	struct pd_mmap map = {.pid = (uint32_t)getpid(),
			      .addr = 0x10000,
			      .len = 0x1000,
			      .prot = PROT_EXEC,
			      .filename = "//anon"};
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false);
	struct names_counts counts;
	struct buf table = {0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("10000 40 before\n10040 40 generated\n10080 40 behind\n", f);
	fclose(f);
	add_map(n, &map);
	hits_put(names_hits(n), 0x10050, map.pid);
	names_table(n, &ENOUGH, &table, &counts);
	unlink(path);
	assert_true(table_has(&table, "generated", PD_SYMBOLS_PROCESS));
	assert_int_equal(counts.table.functions, 1);
	buf_release(&table);
	pd_evlist_free(list);
}

/*
 * A JIT that maps its code from a file in memory, in pieces. Its perf-PID.map has the names for all
 * pieces, at addresses of the process, and is gone when they are looked up.
 */
static void test_generated_code_in_memory(void **state)
{
	struct pd_mmap map = {.pid = (uint32_t)getpid(),
			      .len = 0x1000,
			      .ino = 5,
			      .prot = PROT_EXEC,
			      .filename = "/memfd:code (deleted)"};
	struct pd_evlist *list = make_list();
	struct buildid_reader *reader;
	struct names_counts counts;
	struct buf table = {0};
	struct names *n;
	char path[64];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("70000 40 low\n90000 40 other\nb0040 40 high\n", f);
	fclose(f);
	assert_int_equal(buildid_reader_new(true, false, &reader), 0);
	assert_true(buildid_reader_watch_jit(reader, map.pid));
	n = names_new(list, reader, false);
	for (map.addr = 0x70000; map.addr <= 0xb0000; map.addr += 0x20000) {
		add_map(n, &map);
		map.pgoff += 0x1000;
	}
	while ((fd = buildid_reader_jit_map(reader, map.pid)) < 0)
		usleep(1000);
	close(fd);
	unlink(path);
	hits_put(names_hits(n), 0x70010, map.pid);
	hits_put(names_hits(n), 0xb0050, map.pid);
	names_table(n, &ENOUGH, &table, &counts);
	assert_true(table_has(&table, "low", PD_SYMBOLS_PROCESS));
	assert_true(table_has(&table, "high", PD_SYMBOLS_PROCESS));
	assert_int_equal(counts.table.functions, 2);
	buf_release(&table);
	buildid_reader_free(reader);
	pd_evlist_free(list);
}

static void count_map(const struct code_map *map, void *arg)
{
	uint64_t *sum = arg;

	*sum += map->pgoff;
}

static void test_maps_that_overlap(void **state)
{
	struct code_maps m;
	uint64_t sum = 0;

	code_maps_init(&m, false);
	for (uint64_t i = 0; i < 50; i++) {
		const struct pd_mmap map = {.pid = 7,
					    .prot = PROT_EXEC,
					    .filename = "/a",
					    .addr = 0x1000 * i,
					    .len = i ? 0x1000 : 0x30000,
					    .pgoff = 1ull << i};
		struct map_record r = {
			.hdr = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(r)}};

		r.hdr.misc |= pd_mmap2_encode(&map, &r.body);
		strcpy(r.name, map.filename);
		assert_int_equal(code_maps_add(&m, &r.hdr), 0);
	}
	code_maps_sort(&m);
	assert_int_equal(code_maps_find(&m, 7, 0x20010, count_map, &sum), 2);
	assert_int_equal(sum, 1 | 1ull << 0x20);
	assert_int_equal(code_maps_find(&m, 7, 0x31010, count_map, &sum), 1);
	assert_int_equal(code_maps_find(&m, 7, 0x99000, count_map, &sum), 0);
	assert_int_equal(code_maps_find(&m, 8, 0x1000, count_map, &sum), 0);
	code_maps_release(&m);
}

/* --- files that hang -----------------------------------------------------------------------------
 */

static struct {
	const char *path; /* whose opening hangs */
	atomic_uint opened, hung;
	sem_t go_on;
	unsigned int lines, hangs_at; /* calls of lines_open_kept() */
	unsigned int with_lines;      /* of these, those that found lines */
	uint64_t late;		      /* ms, of now_ms(): the first of these ends then */
} files;

int __real_elf_image_open(const char *path, struct elf_image *ret, struct error *err);
int __wrap_elf_image_open(const char *path, struct elf_image *ret, struct error *err);
int __real_lines_open_kept(const struct resolver *r, const struct dso *dso, const struct buf *kept,
			   bool inlines, struct source_lines **ret);
int __wrap_lines_open_kept(const struct resolver *r, const struct dso *dso, const struct buf *kept,
			   bool inlines, struct source_lines **ret);

static void hang(void)
{
	files.hung++;
	while (sem_wait(&files.go_on))
		;
	files.hung--;
}

int __wrap_elf_image_open(const char *path, struct elf_image *ret, struct error *err)
{
	if (files.path && !strcmp(path, files.path)) {
		files.opened++;
		hang();
	}
	return __real_elf_image_open(path, ret, err);
}

int __wrap_lines_open_kept(const struct resolver *r, const struct dso *dso, const struct buf *kept,
			   bool inlines, struct source_lines **ret)
{
	int rc;

	files.lines++;
	if (files.lines == files.hangs_at) {
		hang();
		/* Nobody waits for this thread: what it does now may fall into the next test. */
		return __real_lines_open_kept(r, dso, kept, inlines, ret);
	}
	while (now_ms() < files.late)
		usleep(1000);
	rc = __real_lines_open_kept(r, dso, kept, inlines, ret);
	files.with_lines += !rc;
	return rc;
}

static void hang_in(const char *path)
{
	files.path = path;
	files.opened = 0;
	sem_init(&files.go_on, 0, 0);
}

static void let_go(unsigned int threads)
{
	files.path = NULL;
	files.hangs_at = 0;
	while (threads--)
		sem_post(&files.go_on);
	while (files.hung)
		usleep(1000);
}

/* Makes the table of this program and of generated code, which comes first. */
static void make_table(const struct names_opts *opts, struct buf *table,
		       struct names_counts *counts)
{
	uintptr_t addr = (uintptr_t)a_function_with_a_name;
	const struct pd_mmap code = {.pid = (uint32_t)getpid(),
				     .addr = 0x10000,
				     .len = 0x1000,
				     .prot = PROT_EXEC,
				     .filename = "//anon"};
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("10040 40 generated\n", f);
	fclose(f);
	add_map(n, &code);
	add_own_map(n, addr, code.pid);
	hits_put(names_hits(n), 0x10050, code.pid);
	hits_put(names_hits(n), addr, code.pid);
	table->len = 0;
	names_table(n, opts, table, counts);
	unlink(path);
	pd_evlist_free(list);
}

static char *own_path(void)
{
	static char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	return path;
}

/* The table has the rest. While the thread hangs there, the next ones do without the device. */
static void test_a_file_that_hangs(void **state)
{
	struct names_wait wait = {0};
	const struct names_opts opts = {.budget = 1 << 20, .ms = 2000, .wait = &wait};
	struct names_counts counts;
	struct buf table = {0};

	hang_in(own_path());
	for (unsigned int i = 0; i < 2; i++) {
		make_table(&opts, &table, &counts);
		assert_true(table_has(&table, "generated", PD_SYMBOLS_PROCESS));
		assert_int_equal(counts.places, 1);
		assert_int_equal(counts.unreached, 1);
		assert_int_equal(files.opened, 1);
		assert_non_null(wait.left[0].job);
	}
	let_go(1);
	do
		make_table(&ENOUGH, &table, &counts);
	while (!table_has(&table, "a_function_with_a_name", PD_SYMBOLS_FILE));
	names_wait_release(&wait);
	buf_release(&table);
}

/* Each hangs elsewhere: there is an end to it. */
static void test_threads_left_behind(void **state)
{
	struct names_wait wait = {0};
	const struct names_opts opts = {.budget = 1 << 20, .ms = 1000, .wait = &wait};
	struct names_counts counts;
	struct buf table = {0};

	hang_in(own_path());
	for (unsigned int i = 0; i < NAMES_LEFT_MAX + 1; i++) {
		make_table(&opts, &table, &counts);
		for (unsigned int k = 0; k < NAMES_LEFT_MAX; k++)
			wait.left[k].file = false;
	}
	assert_int_equal(files.opened, NAMES_LEFT_MAX);
	assert_int_equal(counts.places, 0);
	assert_int_equal(counts.unreached, 2);
	let_go(NAMES_LEFT_MAX);
	names_wait_release(&wait);
	buf_release(&table);
}

static bool give_up(void *arg)
{
	++*(unsigned int *)arg;
	return false;
}

static void test_who_waits_gives_up(void **state)
{
	unsigned int asked = 0;
	struct names_wait wait = {.patience = {give_up, &asked}};
	const struct names_opts opts = {.budget = 1 << 20, .ms = 3600000, .wait = &wait};
	struct names_counts counts;
	struct buf table = {0};

	hang_in(own_path());
	make_table(&opts, &table, &counts);
	assert_int_equal(asked, 1);
	assert_true(counts.unreached > 0);
	let_go(1);
	names_wait_release(&wait);
	buf_release(&table);
}

/* This program and a library, which may have no lines; their build-ids say which one is first. */
static void make_lines(unsigned int ms, struct buf *table, struct names_counts *counts)
{
	uintptr_t own = (uintptr_t)a_function_with_a_name, other = (uintptr_t)sem_init;
	struct pd_evlist *list = make_list();
	struct names *n = names_new(list, NULL, false);

	files.lines = 0;
	files.with_lines = 0;
	add_own_map(n, own, 7);
	add_own_map(n, other, 7);
	hits_put(names_hits(n), own, 7);
	hits_put(names_hits(n), other, 7);
	names_table(n, &(struct names_opts){.budget = 1 << 20, .lines = true, .ms = ms}, table,
		    counts);
	assert_int_equal(counts->places, 2);
	assert_int_equal(counts->table.objects, 2);
	pd_evlist_free(list);
}

/* The second file hangs: the lines of the first stay. */
static void test_lines_that_hang(void **state)
{
	struct names_counts counts;
	struct buf table = {0};

	hang_in(NULL);
	files.hangs_at = 2;
	make_lines(2000, &table, &counts);
	assert_int_equal(counts.table.lined, files.with_lines);
	assert_int_equal(counts.unreached, 1);
	let_go(1);
	buf_release(&table);
}

/* The first file takes all the time: the second is not opened, but counted. */
static void test_lines_that_are_late(void **state)
{
	struct names_counts counts;
	struct buf table = {0};

	files.late = now_ms() + 2300;
	make_lines(2000, &table, &counts);
	files.late = 0;
	assert_int_equal(files.lines, 1);
	assert_int_equal(counts.unreached, 1 + files.with_lines);
	buf_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program),
		cmocka_unit_test(test_a_budget),
		cmocka_unit_test(test_a_limit_of_time),
		cmocka_unit_test(test_data_in_chains),
		cmocka_unit_test(test_generated_code),
		cmocka_unit_test(test_generated_code_in_memory),
		cmocka_unit_test(test_maps_that_overlap),
		cmocka_unit_test(test_a_file_that_hangs),
		cmocka_unit_test(test_threads_left_behind),
		cmocka_unit_test(test_who_waits_gives_up),
		cmocka_unit_test(test_lines_that_hang),
		cmocka_unit_test(test_lines_that_are_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
