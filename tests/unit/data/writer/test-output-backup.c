// SPDX-License-Identifier: Apache-2.0
/* A killed recorder may leave an incomplete directory: it is replaced, and nothing else is. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/file/tail_cover.h"
#include "data/writer/output_backup.h"
#include "data/writer/writer.h"

struct place {
	char dir[64], path[80], old[96];
};

static const char *part_path(const struct place *p, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", p->path, name);
	return path;
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/test-data-earlier-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/p.data", p->dir);
	snprintf(p->old, sizeof(p->old), "%s.old", p->path);
	*state = p;
	return mkdir(p->path, 0700);
}

static int teardown(void **state)
{
	struct place *p = *state;

	output_backup_undo_directory(p->path);
	output_backup_undo_directory(p->old);
	rmdir(p->dir);
	free(p);
	return 0;
}

static void put(const struct place *p, const char *name, const void *bytes, size_t len)
{
	int fd = open(part_path(p, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void begin_part(const struct place *p, const char *name)
{
	struct error err = ERROR_INIT;
	struct writer *w;

	assert_int_equal(writer_create_plain(part_path(p, name), &w, &err), 0);
	writer_close(w);
}

/* "data" with all that it begins with, but for the header, which is written last. */
static void begin_main(const struct place *p)
{
	static const uint8_t zeros[sizeof(struct pd_header)];
	struct pd_evlist *list = pd_evlist_new();
	struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_IDENTIFIER};
	struct error err = ERROR_INIT;
	struct writer *w;
	int fd;

	assert_non_null(list);
	assert_int_equal(pd_evlist_add(list, &attr, NULL, &(uint64_t){1}, 1), 0);
	assert_int_equal(writer_create(part_path(p, "data"), list, NULL, 0, &w, &err), 0);
	assert_true(writer_size(w) > sizeof(zeros));
	writer_close(w);
	pd_evlist_free(list);
	fd = open(part_path(p, "data"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	close(fd);
}

/* Twice: what gave way before gives way to the next. */
static void gives_way(const struct place *p)
{
	struct error err = ERROR_INIT;
	struct stat st, old;

	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(output_backup_replace_directory(p->path, &err), 0);
	assert_int_equal(stat(p->old, &old), 0);
	assert_int_equal(st.st_ino, old.st_ino);
	assert_int_equal(rmdir(p->path), 0);
	assert_int_equal(rename(p->old, p->path), 0);
	assert_int_equal(mkdir(p->old, 0700), 0);
	assert_int_equal(output_backup_keep(p->path, &err), 0);
	assert_int_equal(stat(p->old, &old), 0);
	assert_int_equal(st.st_ino, old.st_ino);
	assert_int_equal(rename(p->old, p->path), 0);
}

static void stays(const struct place *p)
{
	struct error err = ERROR_INIT;

	assert_int_equal(output_backup_keep(p->path, &err), -EEXIST);
	assert_non_null(strstr(err.text, "not a recording"));
	assert_int_equal(access(p->path, F_OK), 0);
	assert_int_equal(access(p->old, F_OK), -1);
}

/* In the order in which a recorder makes them. */
static void killed_at_each_step(void **state)
{
	struct tail_cover old = COVER_INIT;
	const struct place *p = *state;

	gives_way(p);
	old.hdr.size = COVER_LEN_OLD;
	put(p, "data.0", &old, COVER_LEN_OLD);
	gives_way(p);
	put(p, "data.0", "", 0);
	gives_way(p);
	assert_int_equal(unlink(part_path(p, "data.0")), 0);
	begin_part(p, "data.0");
	gives_way(p);
	put(p, "data.1", "", 0);
	gives_way(p);
	assert_int_equal(unlink(part_path(p, "data.1")), 0);
	begin_part(p, "data.1");
	gives_way(p);
	put(p, "data", "", 0);
	gives_way(p);
	assert_int_equal(unlink(part_path(p, "data")), 0);
	begin_main(p);
	gives_way(p);
}

/* With a machine that dies, sizes may be there and bytes not. */
static void zeros_give_way(void **state)
{
	static const uint8_t zeros[sizeof(struct tail_cover) + 1];
	const struct place *p = *state;

	put(p, "data.0", zeros, sizeof(struct tail_cover));
	put(p, "data.1", "", 0);
	gives_way(p);
	put(p, "data.0", zeros, sizeof(zeros));
	stays(p);
}

static void others_stay(void **state)
{
	const struct place *p = *state;
	struct tail_cover cover = COVER_INIT;
	uint8_t more[sizeof(cover) + 1] = {0};

	begin_part(p, "data.0");
	put(p, "notes", "", 0);
	stays(p);
	assert_int_equal(unlink(part_path(p, "notes")), 0);
	put(p, "data.x", "", 0);
	stays(p);
	assert_int_equal(unlink(part_path(p, "data.x")), 0);
	assert_int_equal(mkdir(part_path(p, "data.1"), 0700), 0);
	stays(p);
	assert_int_equal(rmdir(part_path(p, "data.1")), 0);
	assert_int_equal(symlink("data.0", part_path(p, "data.1")), 0);
	stays(p);
	assert_int_equal(unlink(part_path(p, "data.1")), 0);
	put(p, "data.1", "x", 1);
	stays(p);
	cover.hdr.size = COVER_LEN_OLD; /* of earlier recorders, but this is longer */
	put(p, "data.1", &cover, sizeof(cover));
	stays(p);
	cover = (struct tail_cover)COVER_INIT;
	cover.reference++;
	put(p, "data.1", &cover, sizeof(cover));
	stays(p);
	/* Behind a record that is in front of it, or with something behind it. */
	cover = (struct tail_cover)COVER_INIT;
	memcpy(more, &cover, sizeof(cover));
	put(p, "data.1", more, sizeof(more));
	stays(p);
	memmove(more + 1, &cover, sizeof(cover));
	put(p, "data.1", more, sizeof(more));
	stays(p);
	assert_int_equal(unlink(part_path(p, "data.1")), 0);
	put(p, "data", &cover, sizeof(cover));
	stays(p);
	assert_int_equal(unlink(part_path(p, "data")), 0);
	gives_way(p);
}

/* Zeros may begin many files: that it is ours is known by what is beside it. */
static void headless_stays_alone(void **state)
{
	const struct place *p = *state;

	begin_main(p);
	stays(p);
	put(p, "data.0", "", 0);
	stays(p);
	assert_int_equal(unlink(part_path(p, "data.0")), 0);
	begin_part(p, "data.0");
	gives_way(p);
}

/* A copy of the kernel goes with its recording, if nothing else lies in it. */
static void kcore_goes_along(void **state)
{
	const struct place *p = *state;

	assert_int_equal(mkdir(part_path(p, "kcore_dir"), 0700), 0);
	put(p, "kcore_dir/kallsyms", "x", 1);
	stays(p);
	begin_part(p, "data.0");
	put(p, "kcore_dir/modules", "", 0);
	gives_way(p);
	put(p, "kcore_dir/kcore", "x", 1);
	gives_way(p);
	put(p, "kcore_dir/notes", "x", 1);
	stays(p);
	output_backup_undo_directory(p->path);
	assert_int_equal(access(part_path(p, "data.0"), F_OK), 0);
	assert_int_equal(access(part_path(p, "kcore_dir/kcore"), F_OK), 0);
	assert_int_equal(unlink(part_path(p, "kcore_dir/notes")), 0);
	output_backup_undo_directory(p->path);
	assert_int_equal(access(p->path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(killed_at_each_step, setup, teardown),
		cmocka_unit_test_setup_teardown(zeros_give_way, setup, teardown),
		cmocka_unit_test_setup_teardown(others_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(headless_stays_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(kcore_goes_along, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
