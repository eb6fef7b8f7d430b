// SPDX-License-Identifier: Apache-2.0
/* The perf-PID.map of a process that removes it and ends is still there. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/initial/perfmaps.h"
#include "symbol/resolve/perfmap.h"

static pid_t start_child(char path[64])
{
	pid_t pid = fork();
	FILE *f;

	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	snprintf(path, 64, "/tmp/perf-%d.map", (int)pid);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("1000 10 first\n1010 10 second\n", f);
	fclose(f);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void assert_kept(struct perfmaps *m, uint32_t pid)
{
	int fd = perfmaps_open(m, pid);
	uint64_t left = 1 << 20, little = 100;
	struct symtab *t;

	assert_true(fd >= 0);
	assert_int_equal(perfmap_read(fd, NULL, &little, &t), -EFBIG);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(perfmap_read(fd, NULL, &left, &t), 0);
	assert_true(left < 1 << 20);
	assert_string_equal(symtab_find(t, 0x1018, false)->name, "second");
	symtab_free(t);
	close(fd);
}

/* Ends @pid and waits until @m has seen it. */
static void end_watched(struct perfmaps *m, pid_t pid, const char *path)
{
	unlink(path);
	end_child(pid);
	for (int ms = 0; ms >= 0; ms = perfmaps_poll(m))
		usleep((useconds_t)ms * 1000);
}

static void test_a_map_that_is_removed(void **state)
{
	struct perfmaps *m = perfmaps_new();
	char path[64];
	pid_t pid = start_child(path);

	assert_int_equal(perfmaps_poll(m), -1);
	perfmaps_watch(m, (uint32_t)pid);
	perfmaps_watch(m, (uint32_t)pid);
	assert_true(perfmaps_poll(m) > 0);
	unlink(path);
	assert_kept(m, (uint32_t)pid);
	end_watched(m, pid, path);
	assert_kept(m, (uint32_t)pid);
	assert_int_equal(perfmaps_open(m, (uint32_t)pid + 1), -ENOENT);
	assert_int_equal(perfmaps_refused(m), 0);
	perfmaps_free(m);
}

/* In a recording of weeks the maps of the newest processes are kept. */
static void test_the_oldest_goes(void **state)
{
	struct perfmaps *m = perfmaps_new();
	pid_t pid[PERFMAPS_FILES + 1];

	for (size_t i = 0; i <= PERFMAPS_FILES; i++) {
		char path[64];

		pid[i] = start_child(path);
		perfmaps_watch(m, (uint32_t)pid[i]);
		perfmaps_poll(m);
		end_watched(m, pid[i], path);
	}
	assert_int_equal(perfmaps_open(m, (uint32_t)pid[0]), -ENOENT);
	assert_kept(m, (uint32_t)pid[1]);
	assert_kept(m, (uint32_t)pid[PERFMAPS_FILES]);
	assert_int_equal(perfmaps_refused(m), 1);
	perfmaps_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_map_that_is_removed),
		cmocka_unit_test(test_the_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
