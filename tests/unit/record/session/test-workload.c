// SPDX-License-Identifier: Apache-2.0
/*
 * Commands from the fork to the exit status: what they start with, that they wait to be started,
 * and which names are no programs.
 */
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/session/workload.h"

#define PATIENCE_MS 60000

/* A directory of the test's own, and what a command has written to its file. */
struct place {
	char dir[64], file[80], text[4096];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/ringtail-workload-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/file", p->dir);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->file);
	assert_int_equal(rmdir(p->dir), 0);
	free(p);
	return 0;
}

static const char *written(struct place *p)
{
	FILE *f = fopen(p->file, "r");
	size_t n;

	assert_non_null(f);
	n = fread(p->text, 1, sizeof(p->text) - 1, f);
	p->text[n] = '\0';
	fclose(f);
	return p->text;
}

/* Writes an executable file. */
static void write_script(const struct place *p, const char *text)
{
	int fd = open(p->file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void prepare(struct workload *w, const char *shell, const char *file,
		    const struct workload_setting *setting)
{
	const char *const argv[] = {"/bin/sh", "-c", shell, "sh", file, NULL};
	struct error err = ERROR_INIT;

	assert_int_equal(workload_prepare(w, argv, setting, &err), 0);
	assert_true(w->pid > 0);
	assert_false(workload_ended(w));
	assert_int_equal(workload_exit_status(w), 0);
}

static void wait_for_end(struct workload *w)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PIDFD, (id_t)w->ended_fd, &info, WEXITED | WNOWAIT), 0);
	assert_true(workload_ended(w));
	assert_true(workload_ended(w)); /* once reaped, it stays so */
}

/* Runs a line of shell, in which $1 is @file, to its end. Returns its exit status. */
static int run(const char *shell, const char *file, const struct workload_setting *setting)
{
	struct error err = ERROR_INIT;
	struct workload w = {0};
	int status;

	prepare(&w, shell, file, setting);
	assert_int_equal(workload_start(&w, "sh", &err), 0);
	wait_for_end(&w);
	status = workload_exit_status(&w);
	assert_int_equal(workload_signal(&w), status > 128 ? status - 128 : 0);
	workload_release(&w);
	assert_int_equal(w.pid, 0);
	return status;
}

static uint64_t blocked(struct place *p, const struct workload_setting *setting)
{
	const char *line;

	assert_int_equal(run("exec cat /proc/self/status >$1", p->file, setting), 0);
	line = strstr(written(p), "SigBlk:");
	assert_non_null(line);
	return strtoull(line + strlen("SigBlk:"), NULL, 16);
}

/* The thread that forks has signals blocked which the command must get. */
static void test_mask(void **state)
{
	struct workload_setting setting = {0};
	struct place *p = *state;
	sigset_t ours, before, given;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGINT);
	assert_int_equal(sigprocmask(SIG_BLOCK, &ours, &before), 0);
	assert_int_equal(blocked(p, &setting), 0);
	sigemptyset(&given);
	setting.mask = &given;
	assert_int_equal(blocked(p, &setting), 0);
	sigaddset(&given, SIGUSR1);
	assert_int_equal(blocked(p, &setting), 1ull << (SIGUSR1 - 1));
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static void test_environment(void **state)
{
	char one[] = "RINGTAIL_ONE=given", *environment[] = {one, NULL};
	const struct workload_setting ours = {0}, given = {.environment = environment};
	struct place *p = *state;

	setenv("RINGTAIL_ONE", "ours", 1);
	setenv("RINGTAIL_TWO", "two", 1);
	assert_int_equal(run("echo $RINGTAIL_ONE$RINGTAIL_TWO >$1", p->file, &ours), 0);
	assert_string_equal(written(p), "ourstwo\n");
	assert_int_equal(run("echo $RINGTAIL_ONE$RINGTAIL_TWO >$1", p->file, &given), 0);
	assert_string_equal(written(p), "given\n");
	unsetenv("RINGTAIL_ONE");
	unsetenv("RINGTAIL_TWO");
}

/* It is there, but runs nothing; when it is given up, it never has. */
static void test_waits_to_be_started(void **state)
{
	const struct workload_setting setting = {0};
	struct place *p = *state;
	struct workload w = {0};
	pid_t pid;

	prepare(&w, "echo >$1", p->file, &setting);
	pid = w.pid;
	workload_release(&w);
	assert_int_equal(w.pid, 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* it is reaped */
	assert_int_equal(errno, ECHILD);
	assert_int_equal(access(p->file, F_OK), -1);
	assert_true(workload_ended(&w));
	workload_release(&w);
}

static void test_exit_status(void **state)
{
	const struct workload_setting setting = {0};
	struct error err = ERROR_INIT;
	struct workload w = {0};

	assert_int_equal(run("exit 0", "", &setting), 0);
	assert_int_equal(run("exit 3", "", &setting), 3);
	assert_int_equal(run("kill -KILL $$", "", &setting), 128 + SIGKILL);
	prepare(&w, "exec sleep 600", "", &setting);
	assert_int_equal(workload_start(&w, "sh", &err), 0);
	assert_true(workload_stop(&w, PATIENCE_MS));
	assert_int_equal(workload_exit_status(&w), 128 + SIGTERM);
	assert_int_equal(workload_signal(&w), SIGTERM);
	assert_true(workload_stop(&w, 0));
	workload_release(&w);
}

/* Returns what both the check before and the exec say about a name. */
static int refused(const char *name, char text[256])
{
	const char *const argv[] = {name, NULL};
	const struct workload_setting setting = {0};
	struct error err = ERROR_INIT, late = ERROR_INIT;
	struct workload w = {0};
	int rc = workload_find(name, &err);

	assert_int_equal(workload_prepare(&w, argv, &setting, &late), 0);
	assert_int_equal(workload_start(&w, name, &late), rc);
	assert_true(workload_ended(&w));
	assert_non_null(strstr(late.text, name));
	workload_release(&w);
	snprintf(text, 256, "%s", err.text);
	return rc;
}

static void test_no_program(void **state)
{
	struct error err = ERROR_INIT;
	struct place *p = *state;
	char text[256];

	assert_int_equal(workload_find("sh", &err), 0);
	assert_int_equal(workload_find("/bin/sh", &err), 0);
	assert_int_equal(refused("ringtail-no-such-command", text), -ENOENT);
	assert_string_equal(text, "ringtail-no-such-command: no such command");
	assert_int_equal(refused(p->file, text), -ENOENT);
	assert_int_equal(refused(p->dir, text), -EACCES);
	write_script(p, "#!/ringtail/no/such/shell -e\n");
	assert_int_equal(refused(p->file, text), -ENOENT);
	assert_non_null(
		strstr(text, "is a script for /ringtail/no/such/shell, which does not exist"));
	write_script(p, "#!/bin/sh\n");
	assert_int_equal(workload_find(p->file, &err), 0);
	assert_int_equal(chmod(p->file, 0644), 0);
	assert_int_equal(refused(p->file, text), -EACCES);
}

/* A directory that we may not search. */
static void test_no_permission(void **state)
{
	struct place *p = *state;
	char text[256];

	write_script(p, "#!/bin/sh\n");
	if (geteuid()) {
		assert_int_equal(chmod(p->dir, 0), 0);
		assert_int_equal(refused(p->file, text), -EACCES);
		assert_int_equal(chmod(p->dir, 0700), 0);
		return;
	}
	assert_int_equal(chmod(p->dir, 0700), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(refused(p->file, text), -EACCES);
	assert_int_equal(seteuid(0), 0);
}

static void test_changes_user(void **state)
{
	struct place *p = *state;

	assert_false(workload_changes_user("sh"));
	assert_false(workload_changes_user("ringtail-no-such-command"));
	write_script(p, "#!/bin/sh\n");
	assert_int_equal(chmod(p->file, 04755), 0);
	assert_false(workload_changes_user(p->file)); /* of us */
	if (geteuid())
		return;
	assert_int_equal(chown(p->file, 65534, 65534), 0);
	assert_int_equal(chmod(p->file, 0755), 0);
	assert_false(workload_changes_user(p->file));
	assert_int_equal(chmod(p->file, 04755), 0);
	assert_true(workload_changes_user(p->file));
	assert_int_equal(chmod(p->file, 02755), 0);
	assert_true(workload_changes_user(p->file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mask, setup, teardown),
		cmocka_unit_test_setup_teardown(test_environment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits_to_be_started, setup, teardown),
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test_setup_teardown(test_no_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_permission, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_user, setup, teardown),
	};

	/* A folder that this user may not search would be another error of exec. */
	setenv("PATH", "/bin:/usr/bin", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
