// SPDX-License-Identifier: Apache-2.0
/*
 * A thread reads build-ids while others go on: of the right file, once, or the failure is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "elf-with-id.h"
#include "record/initial/buildid_reader.h"
#include "tree.h"

#define PATIENCE_MS 60000
#define FILES	    3000

struct lab {
	struct tree tree;
	struct buildid_reader *reader;
	char path[PATH_MAX];
};

static void lab_open(struct lab *lab)
{
	tree_make(&lab->tree);
	tree_path(&lab->tree, "lib.so", lab->path);
	assert_int_equal(buildid_reader_new(false, false, &lab->reader), 0);
}

static void lab_close(struct lab *lab)
{
	buildid_reader_free(lab->reader);
	tree_remove(&lab->tree);
}

static struct build_id_key key_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct build_id_key){major(st.st_dev), minor(st.st_dev), st.st_ino, 0};
}

static bool ask(struct lab *lab, const char *path, const struct build_id_key *key)
{
	const struct pd_mmap map = {.filename = path};

	return buildid_reader_ask(lab->reader, key, &map, false);
}

static enum id_answer answer(struct lab *lab, const struct build_id_key *key, struct build_id *ret)
{
	buildid_reader_settle(lab->reader, PATIENCE_MS, NULL);
	return buildid_reader_find(lab->reader, key, ret);
}

static void assert_stats(struct lab *lab, uint64_t read, uint64_t gone)
{
	struct buildid_reader_stats stats;

	buildid_reader_stats(lab->reader, &stats);
	assert_int_equal(stats.read, read);
	assert_int_equal(stats.gone, gone);
}

static void a_file_is_read_once(void **state)
{
	struct build_id_key key;
	struct build_id id;
	struct lab lab;

	lab_open(&lab);
	elf_with_id(lab.path, 7);
	key = key_of(lab.path);
	assert_int_equal(buildid_reader_find(lab.reader, &key, &id), ID_UNASKED);
	for (unsigned char byte = 7; byte < 9; byte++) {
		elf_with_id(lab.path, byte); /* the same file, written over */
		assert_true(ask(&lab, lab.path, &key));
		assert_int_equal(answer(&lab, &key, &id), ID_READ);
		assert_int_equal(id.size, 20);
		assert_int_equal(id.id[19], 7);
		assert_stats(&lab, 1, 0);
	}
	lab_close(&lab);
}

static void another_file_of_that_name_is_none(void **state)
{
	struct build_id_key key, other;
	struct build_id id;
	struct lab lab;
	char path[PATH_MAX];

	lab_open(&lab);
	elf_with_id(lab.path, 7);
	other = key = key_of(lab.path);
	other.ino = UINT64_MAX; /* which no other file of the test can have */
	assert_true(ask(&lab, lab.path, &other));
	assert_int_equal(answer(&lab, &other, &id), ID_GONE);
	assert_stats(&lab, 0, 1);
	/* Nor is what may not even be opened: to read a FIFO would wait for ever. */
	tree_path(&lab.tree, "fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	other = key_of(path);
	assert_true(ask(&lab, path, &other));
	assert_int_equal(answer(&lab, &other, &id), ID_GONE);
	assert_stats(&lab, 0, 2);
	/* One that has no build-id is read, too. */
	tree_file(&lab.tree, "text", "#!/bin/sh\n");
	tree_path(&lab.tree, "text", path);
	other = key_of(path);
	assert_true(ask(&lab, path, &other));
	assert_int_equal(answer(&lab, &other, &id), ID_READ);
	assert_int_equal(id.size, 0);
	assert_stats(&lab, 1, 2);
	lab_close(&lab);
}

/* It came too late for one process, and another has the file again. */
static void what_was_gone_may_be_asked_for_again(void **state)
{
	char away[PATH_MAX];
	struct build_id_key key;
	struct build_id id;
	struct lab lab;

	lab_open(&lab);
	elf_with_id(lab.path, 9);
	key = key_of(lab.path);
	tree_path(&lab.tree, "away", away);
	assert_int_equal(rename(lab.path, away), 0);
	assert_true(ask(&lab, lab.path, &key));
	assert_int_equal(answer(&lab, &key, &id), ID_GONE);
	assert_int_equal(rename(away, lab.path), 0);
	assert_true(ask(&lab, lab.path, &key));
	assert_int_equal(answer(&lab, &key, &id), ID_READ);
	assert_int_equal(id.id[0], 9);
	assert_stats(&lab, 1, 0);
	lab_close(&lab);
}

/* Asks for a deleted file of which @recorded pages were mapped at first, and one still is. */
static void find_deleted_file(size_t recorded)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct build_id_key key;
	struct pd_mmap map = {.pid = (uint32_t)getpid(), .len = recorded * page};
	struct build_id id;
	struct lab lab;
	char name[PATH_MAX + 16], *p;
	int fd;

	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	lab_open(&lab);
	elf_with_id(lab.path, 11);
	key = key_of(lab.path);
	fd = open(lab.path, O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, map.len, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	if (recorded > 1)
		assert_int_equal(munmap(p + page, (recorded - 1) * page), 0);
	unlink(lab.path);
	close(fd);
	snprintf(name, sizeof(name), "%s (deleted)", lab.path);
	map.addr = (uintptr_t)p;
	map.filename = name;
	assert_true(buildid_reader_ask(lab.reader, &key, &map, false));
	assert_int_equal(answer(&lab, &key, &id), ID_READ);
	assert_int_equal(id.id[0], 11);
	munmap(p, page);
	lab_close(&lab);
}

static void a_deleted_file_is_found_through_its_map(void **state)
{
	find_deleted_file(1);
}

/* As the kernel and ld.so map programs and libraries of arm64. */
static void a_deleted_file_is_found_after_a_part_was_unmapped(void **state)
{
	find_deleted_file(3);
}

static void a_kernel_is_known_by_its_name(void **state)
{
	const struct pd_mmap map = {.filename = "[kernel.kallsyms]"};
	struct build_id_key key = buildid_reader_kernel_key(map.filename);
	struct build_id id, own;
	struct lab lab;

	lab_open(&lab);
	build_id_of_kernel(&own);
	assert_true(buildid_reader_ask(lab.reader, &key, &map, true));
	assert_int_equal(answer(&lab, &key, &id), ID_READ);
	assert_int_equal(id.size, own.size);
	assert_memory_equal(id.id, own.id, own.size);
	lab_close(&lab);
}

/* Thousands at once: each is read, or was refused. */
static void many_files(void **state)
{
	struct build_id_key *keys = calloc(FILES, sizeof(*keys));
	char name[32], path[PATH_MAX];
	struct buildid_reader_stats stats;
	struct build_id id;
	unsigned int asked = 0;
	struct lab lab;

	lab_open(&lab);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%u", i);
		tree_path(&lab.tree, name, path);
		elf_with_id(path, (unsigned char)i);
		keys[i] = key_of(path);
	}
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%u", i);
		tree_path(&lab.tree, name, path);
		asked += ask(&lab, path, &keys[i]);
	}
	buildid_reader_settle(lab.reader, PATIENCE_MS, NULL);
	buildid_reader_stats(lab.reader, &stats);
	assert_int_equal(stats.read, asked);
	assert_int_equal(stats.full, FILES - asked);
	for (unsigned int i = 0; i < FILES; i++)
		if (buildid_reader_find(lab.reader, &keys[i], &id) == ID_READ)
			assert_int_equal(id.id[0], (unsigned char)i);
		else
			asked++;
	assert_int_equal(asked, FILES);
	free(keys);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_once),
		cmocka_unit_test(another_file_of_that_name_is_none),
		cmocka_unit_test(what_was_gone_may_be_asked_for_again),
		cmocka_unit_test(a_deleted_file_is_found_through_its_map),
		cmocka_unit_test(a_deleted_file_is_found_after_a_part_was_unmapped),
		cmocka_unit_test(a_kernel_is_known_by_its_name),
		cmocka_unit_test(many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
