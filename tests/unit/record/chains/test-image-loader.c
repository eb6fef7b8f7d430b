// SPDX-License-Identifier: Apache-2.0
/*
 * Files are found by name, as a mapping of a process, and never another file in their place. A file
 * system that hangs stops neither those that wait nor the end. Linked with --wrap=build_id_open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record/chains/image_loader.h"
#include "record/initial/buildid.h"
#include "symbol/elf/elf_image.h"
#include "unwind/arch.h"

/* --- opening, as the test wants it -------------------------------------------------------------
 */

static atomic_int hangs, fails;
static atomic_uint opened;
static sem_t go_on, hung;

int __real_build_id_open(const char *path, const struct build_id_key *file);
int __wrap_build_id_open(const char *path, const struct build_id_key *file);

int __wrap_build_id_open(const char *path, const struct build_id_key *file)
{
	opened++;
	if (fails)
		return -fails;
	if (hangs) {
		sem_post(&hung);
		sem_wait(&go_on);
	}
	return __real_build_id_open(path, file);
}

/* --- files -------------------------------------------------------------------------------------
 */

/* Copies this program. Fills *@ret with the dso that it would be. */
static void copy_program(char *path, struct dso *ret)
{
	static char buf[1 << 16];
	struct stat st;
	ssize_t n;
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
	assert_int_equal(fstat(to, &st), 0);
	close(from);
	close(to);
	*ret = (struct dso){.name = path,
			    .kind = DSO_ELF,
			    .maj = major(st.st_dev),
			    .min = minor(st.st_dev),
			    .ino = st.st_ino,
			    .pids = {(uint32_t)getpid()}};
}

static int try(const struct dso *dso)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = image_open(NULL, dso, &img);

	if (!rc)
		assert_non_null(img.elf);
	elf_image_close(&img);
	return rc;
}

static void a_file_is_found_by_its_inode(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX", aside[64];
	struct dso dso, other;
	char *mapped;
	int fd;

	copy_program(path, &dso);
	assert_int_equal(try(&dso), 0);
	/* Another file has its name; then a FIFO, which nobody opens; then none. */
	snprintf(aside, sizeof(aside), "%s.aside", path);
	assert_int_equal(rename(path, aside), 0);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_true(try(&dso) < 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(try(&dso) < 0);
	assert_int_equal(unlink(path), 0);
	assert_true(try(&dso) < 0);
	/* It is deleted, but a process has it mapped. */
	fd = open(aside, O_RDONLY);
	assert_true(fd >= 0);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_int_equal(unlink(aside), 0);
	if (mapped != MAP_FAILED) {
		if (!geteuid())
			assert_int_equal(try(&dso), 0);
		munmap(mapped, 4096);
	}
	assert_true(try(&dso) < 0);
	/* Without an inode a name says nothing. */
	other = (struct dso){.name = "/proc/self/exe", .kind = DSO_ELF};
	assert_int_equal(try(&other), -ENOENT);
}

/* --- the thread --------------------------------------------------------------------------------
 */

/* Asks for the row of an address that has none: the answer tells whether the table is there. */
static int ask(struct image_loader *l, const struct dso *dso)
{
	struct cfi_row *row = NULL;
	int rc = cfi_tables_row(image_loader_tables(l), unwind_arch_find(NULL, 2), dso, UINT64_MAX,
				&row);

	free(row);
	return rc;
}

static void a_file_is_read_once(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX";
	struct image_loader *l;
	struct dso dso;

	copy_program(path, &dso);
	opened = 0;
	assert_int_equal(image_loader_new(&l), 0);
	assert_int_equal(ask(l, &dso), -EAGAIN);
	assert_true(image_loader_wait(l, 60000));
	assert_int_equal(ask(l, &dso), -ENOENT);
	assert_int_equal(ask(l, &dso), -ENOENT);
	assert_int_equal(opened, 1);
	assert_true(cfi_tables_loaded(image_loader_tables(l)) > 1000);
	/* The numbers of dsos have changed: it is read again. */
	cfi_tables_forget(image_loader_tables(l));
	assert_int_equal(cfi_tables_loaded(image_loader_tables(l)), 0);
	assert_int_equal(ask(l, &dso), -EAGAIN);
	assert_true(image_loader_wait(l, 60000));
	assert_int_equal(ask(l, &dso), -ENOENT);
	image_loader_free(l);
	unlink(path);
}

/* EMFILE: no table, no call chain; the file is tried again later, not each time. */
static void a_file_that_cannot_be_opened(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX";
	struct image_loader *l;
	struct dso dso;
	unsigned int tries;

	copy_program(path, &dso);
	assert_int_equal(image_loader_new(&l), 0);
	opened = 0;
	fails = EMFILE;
	assert_int_equal(ask(l, &dso), -EAGAIN);
	assert_true(image_loader_wait(l, 60000));
	tries = opened;
	for (int i = 0; i < 100; i++)
		ask(l, &dso);
	assert_true(opened <= tries * 3);
	fails = 0;
	for (int i = 0; ask(l, &dso) != -ENOENT; i++) {
		assert_true(i < 6000);
		usleep(10000);
	}
	image_loader_free(l);
	unlink(path);
}

static void a_file_system_that_hangs(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX";
	struct image_loader *l;
	struct dso dso;

	copy_program(path, &dso);
	assert_int_equal(image_loader_new(&l), 0);
	hangs = 1;
	assert_int_equal(ask(l, &dso), -EAGAIN);
	sem_wait(&hung);
	assert_false(image_loader_wait(l, 1));
	/* From now on nobody waits: this would be an hour. */
	assert_false(image_loader_wait(l, 3600000));
	assert_int_equal(ask(l, &dso), -EAGAIN);
	hangs = 0;
	image_loader_free(l); /* the thread is left behind, and frees all */
	sem_post(&go_on);
	usleep(200000);
	unlink(path);
}

/* One file hangs: others are read all the same, by another thread. */
static void a_file_that_hangs_is_given_up(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX", second[] = "/tmp/ringtail-image-XXXXXX";
	struct image_loader *l;
	struct dso dso, other;
	const char *name;

	copy_program(path, &dso);
	copy_program(second, &other);
	other.index = 1;
	assert_int_equal(image_loader_new(&l), 0);
	hangs = 1;
	assert_int_equal(ask(l, &dso), -EAGAIN);
	sem_wait(&hung);
	hangs = 0;
	assert_int_equal(ask(l, &other), -EAGAIN);
	assert_false(image_loader_wait(l, 1));
	assert_int_equal(image_loader_hung(l, &name), 0);
	assert_null(name);
	image_loader_limit(l, 0);
	assert_true(image_loader_wait(l, 60000));
	assert_int_equal(ask(l, &other), -ENOENT);
	assert_true(cfi_tables_loaded(image_loader_tables(l)) > 1000);
	/* It is not asked for again. */
	assert_int_equal(ask(l, &dso), -ENOENT);
	assert_int_equal(image_loader_hung(l, &name), 1);
	assert_string_equal(name, path);
	image_loader_free(l); /* the first thread is left behind, and frees all */
	sem_post(&go_on);
	usleep(200000);
	unlink(path);
	unlink(second);
}

/* Everything hangs: threads are not left behind without end. */
static void few_files_are_given_up(void **state)
{
	char path[] = "/tmp/ringtail-image-XXXXXX";
	unsigned int threads = 0;
	struct image_loader *l;
	const char *name;
	struct dso dso;

	copy_program(path, &dso);
	assert_int_equal(image_loader_new(&l), 0);
	image_loader_limit(l, 0);
	hangs = 1;
	for (dso.index = 0; dso.index < 20; dso.index++) {
		assert_int_equal(ask(l, &dso), -EAGAIN);
		if (dso.index > 8)
			continue;
		sem_wait(&hung);
		threads++;
		assert_int_equal(image_loader_wait(l, 1), dso.index < 8);
	}
	assert_int_equal(image_loader_hung(l, &name), 8);
	assert_false(image_loader_wait(l, 3600000));
	hangs = 0;
	image_loader_free(l);
	for (unsigned int i = 0; i < threads; i++)
		sem_post(&go_on);
	usleep(200000);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_found_by_its_inode),
		cmocka_unit_test(a_file_is_read_once),
		cmocka_unit_test(a_file_that_cannot_be_opened),
		cmocka_unit_test(a_file_system_that_hangs),
		cmocka_unit_test(a_file_that_hangs_is_given_up),
		cmocka_unit_test(few_files_are_given_up),
	};

	elf_version(EV_CURRENT);
	sem_init(&go_on, 0, 0);
	sem_init(&hung, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
