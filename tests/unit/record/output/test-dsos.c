// SPDX-License-Identifier: Apache-2.0
/* From records of maps to the table of build-ids: the file that each name means. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "elf-with-id.h"
#include "perfdata/feature.h"
#include "record/output/dsos.h"
#include "record/initial/mapped.h"
#include "tree.h"

#define ENTRIES 8

struct record {
	struct perf_event_header hdr;
	struct pd_mmap2_body body;
	char name[256];
};

static void make(struct record *r, const struct pd_mmap *map, uint16_t misc)
{
	memset(r, 0, sizeof(*r));
	r->hdr.type = PERF_RECORD_MMAP2;
	r->hdr.size = sizeof(*r);
	r->hdr.misc = misc | pd_mmap2_encode(map, &r->body);
	strcpy(r->name, map->filename);
}

static void add(struct dso_names *names, const struct pd_mmap *map, uint16_t misc)
{
	struct record r;

	make(&r, map, misc);
	assert_int_equal(dso_names_add(names, &r.hdr), 0);
}

static unsigned int waits;
static atomic_bool hangs;
static sem_t go_on;

int __real_build_id_of_file(const char *path, const struct build_id_key *file,
			    struct build_id *ret);
int __wrap_build_id_of_file(const char *path, const struct build_id_key *file,
			    struct build_id *ret);

int __wrap_build_id_of_file(const char *path, const struct build_id_key *file, struct build_id *ret)
{
	while (hangs && sem_wait(&go_on))
		;
	return __real_build_id_of_file(path, file, ret);
}

void __real_buildid_reader_settle(struct buildid_reader *r, unsigned int ms,
				  const struct patience *p);
void __wrap_buildid_reader_settle(struct buildid_reader *r, unsigned int ms,
				  const struct patience *p);

void __wrap_buildid_reader_settle(struct buildid_reader *r, unsigned int ms,
				  const struct patience *p)
{
	waits++;
	__real_buildid_reader_settle(r, ms, p);
}

struct table {
	struct pd_build_id id[ENTRIES];
	size_t nr;
};

static int see(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	struct table *t = arg;

	assert_true(t->nr < ENTRIES);
	t->id[t->nr++] = *id;
	return 0;
}

/* The table, whose names are in @b. */
static void read_table(struct dso_names *names, struct buf *b, struct table *ret)
{
	ret->nr = 0;
	b->len = 0;
	assert_int_equal(dso_names_build_ids(names, NULL, b), 0);
	assert_int_equal(pd_feature_build_ids_decode(b->data, b->len, false, see, ret), 0);
}

struct lab {
	struct tree tree;
	struct buildid_reader *reader;
	struct dso_names *names;
	struct buf b;
	struct table table;
	char path[PATH_MAX];
};

static void lab_open(struct lab *lab, bool with_reader)
{
	*lab = (struct lab){0};
	tree_make(&lab->tree);
	tree_path(&lab->tree, "lib.so", lab->path);
	if (with_reader)
		assert_int_equal(buildid_reader_new(false, false, &lab->reader), 0);
	lab->names = dso_names_new(lab->reader, false);
	assert_non_null(lab->names);
}

static void lab_close(struct lab *lab)
{
	dso_names_free(lab->names);
	buildid_reader_free(lab->reader);
	buf_release(&lab->b);
	tree_remove(&lab->tree);
}

static struct pd_mmap map_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct pd_mmap){
		.len = 4096,
		.maj = major(st.st_dev),
		.min = minor(st.st_dev),
		.ino = st.st_ino,
		.filename = path,
	};
}

/* Also where nobody reads meanwhile; and it does not matter whether its generation is known. */
static void one_file_is_one_entry(void **state)
{
	for (int with = 0; with < 2; with++) {
		struct pd_mmap map;
		struct lab lab;

		lab_open(&lab, with);
		elf_with_id(lab.path, 5);
		map = map_of(lab.path);
		for (int i = 0; i < 100; i++) {
			map.ino_generation = i % 3 ? 77 : 0;
			map.addr += 4096;
			add(lab.names, &map, PERF_RECORD_MISC_USER);
		}
		read_table(lab.names, &lab.b, &lab.table);
		assert_int_equal(lab.table.nr, 1);
		assert_string_equal(lab.table.id[0].filename, lab.path);
		assert_int_equal(lab.table.id[0].build_id[0], 5);
		assert_int_equal(lab.table.id[0].ino, 0);
		lab_close(&lab);
	}
}

/* What was mapped is not there any more, and something else has its name. */
static void a_file_that_was_replaced(void **state)
{
	struct pd_mmap first, second;
	struct lab lab;
	char away[PATH_MAX];

	lab_open(&lab, true);
	elf_with_id(lab.path, 5);
	first = map_of(lab.path);
	add(lab.names, &first, PERF_RECORD_MISC_USER);
	buildid_reader_settle(lab.reader, 60000, NULL);
	tree_path(&lab.tree, "away", away);
	assert_int_equal(rename(lab.path, away), 0);
	elf_with_id(lab.path, 6);
	second = map_of(lab.path);
	add(lab.names, &second, PERF_RECORD_MISC_USER);
	read_table(lab.names, &lab.b, &lab.table);
	assert_int_equal(lab.table.nr, 2);
	/* Perf knows one of a name: the last of the table. */
	assert_int_equal(lab.table.id[1].build_id[0], 5);
	assert_int_equal(lab.table.id[1].ino, first.ino);
	assert_int_equal(lab.table.id[0].build_id[0], 6);
	assert_int_equal(lab.table.id[0].ino, second.ino);
	lab_close(&lab);
	/* Nobody read the first in time: nothing is said of it, and nothing wrong. */
	lab_open(&lab, false);
	elf_with_id(lab.path, 5);
	first = map_of(lab.path);
	add(lab.names, &first, PERF_RECORD_MISC_USER);
	tree_path(&lab.tree, "away", away);
	assert_int_equal(rename(lab.path, away), 0);
	elf_with_id(lab.path, 6);
	read_table(lab.names, &lab.b, &lab.table);
	assert_int_equal(lab.table.nr, 0);
	lab_close(&lab);
}

static bool give_up(void *arg)
{
	++*(unsigned int *)arg;
	return false;
}

/* Many files: whoever waits may give up, and is asked once, not for each batch of them. */
static void a_reader_that_hangs(void **state)
{
	unsigned int asked = 0;
	const struct patience p = {give_up, &asked};
	struct pd_mmap map = {.maj = 8, .filename = "/nonexistent", .prot = PROT_EXEC};
	struct lab lab;

	lab_open(&lab, true);
	sem_init(&go_on, 0, 0);
	hangs = true;
	waits = 0;
	for (map.ino = 1; map.ino < 5000; map.ino++)
		add(lab.names, &map, PERF_RECORD_MISC_USER);
	assert_int_equal(dso_names_build_ids(lab.names, &p, &lab.b), 0);
	assert_int_equal(lab.b.len, 0);
	assert_int_equal(asked, 1);
	assert_int_equal(waits, 1);
	hangs = false;
	sem_post(&go_on);
	lab_close(&lab);
}

static void threads_learn_together(void **state)
{
	struct dso_names *other;
	struct pd_mmap map;
	struct lab lab;

	lab_open(&lab, true);
	other = dso_names_new(lab.reader, false);
	elf_with_id(lab.path, 5);
	map = map_of(lab.path);
	add(other, &map, PERF_RECORD_MISC_USER);
	add(lab.names, &map, PERF_RECORD_MISC_USER);
	map.filename = "/nonexistent";
	map.ino++;
	add(other, &map, PERF_RECORD_MISC_USER);
	map.filename = "//anon";
	add(other, &map, PERF_RECORD_MISC_USER);
	assert_int_equal(dso_names_merge(lab.names, other), 0);
	dso_names_free(other);
	read_table(lab.names, &lab.b, &lab.table);
	assert_int_equal(lab.table.nr, 1);
	assert_string_equal(lab.table.id[0].filename, lab.path);
	lab_close(&lab);
}

/* Another recorder's mark: device and inode stand behind it all the same, unless we asked, too. */
static void marks_of_others(void **state)
{
	const struct pd_mmap map = {.maj = 8, .min = 1, .ino = 4711, .filename = "/a"};
	struct perf_event_header sample = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_MMAP_BUILD_ID, 8};
	struct mapped m;
	struct {
		struct record map[2];
		struct perf_event_header sample, behind;
	} ring;

	make(&ring.map[0], &map, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	ring.map[1] = ring.map[0];
	ring.map[1].hdr.type = PERF_RECORD_COMM; /* where that bit means something else */
	ring.sample = ring.behind = sample;
	assert_true(mapped_decode(&ring.map[0].hdr, false, &m));
	assert_int_equal(m.key.ino, 4711);
	assert_false(mapped_decode(&ring.map[0].hdr, true, &m));
	mapped_clear_build_id_marks((uint8_t *)&ring, sizeof(ring));
	assert_int_equal(ring.map[0].hdr.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(ring.map[1].hdr.misc,
			 PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(ring.sample.misc, PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_true(mapped_decode(&ring.map[0].hdr, false, &m));
	assert_int_equal(m.key.maj, 8);
	assert_int_equal(m.key.ino, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_is_one_entry), cmocka_unit_test(a_file_that_was_replaced),
		cmocka_unit_test(a_reader_that_hangs),	 cmocka_unit_test(threads_learn_together),
		cmocka_unit_test(marks_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
