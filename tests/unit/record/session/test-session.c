// SPDX-License-Identifier: Apache-2.0
/*
 * The loop of a session that records this thread: the descriptors of its host end or stay quiet,
 * and the events of a CPU that comes back are opened again whatever fails beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "record/open/revive.h"
#include "record/session/session_priv.h"
#include "sys/io/timer.h"

/* Turns of the loop that no source explains. */
#define TURNS_MAX 1000

static unsigned int turns;

int __real_poll(struct pollfd *fds, nfds_t nr, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout);

/* A loop that spins is ended here, as nothing else would. */
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	if (++turns > TURNS_MAX) {
		print_error("the loop spins\n");
		abort();
	}
	return __real_poll(fds, nr, timeout);
}

/* --- the host ------------------------------------------------------------------------------------
 */

/* Records this thread until @host ends it. */
static void record(const struct session_host *host)
{
	char folder[] = "/tmp/ringtail-session-XXXXXX", path[64];
	struct record_opts opts = {.output.path = path, .control.no_socket = true};
	const struct messages messages = {0};
	struct error err = ERROR_INIT;
	struct session *s;
	int rc;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	assert_int_equal(tasks_add_thread(&opts.plan.target.tasks, gettid(), NULL), 0);
	assert_int_equal(session_new(&opts, &messages, &s, &err), 0);
	turns = 0;
	rc = session_record(s, host, &err);
	session_free(s);
	tasks_release(&opts.plan.target.tasks);
	unlink(path);
	rmdir(folder);
	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS || rc == -ENOENT) {
		print_message("no events may be opened here: %s\n", err.text);
		skip();
	}
	if (rc)
		fail_msg("%s", err.text);
}

/* A pipe that nobody writes to any more. */
static int make_ended(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	return ends[0];
}

static int make_timer(void)
{
	int fd = timer_open();

	assert_true(fd >= 0);
	assert_int_equal(timer_set(fd, 200, false), 0);
	return fd;
}

static void test_a_host_that_is_gone_ends_the_recording(void **state)
{
	struct session_host host = SESSION_HOST_INIT;

	host.stop = make_ended();
	record(&host);
	close(host.stop);
}

static void test_requests_that_have_ended_are_not_polled(void **state)
{
	struct session_host host = SESSION_HOST_INIT;

	host.stop = make_timer();
	host.request = make_ended();
	record(&host);
	close(host.stop);
	close(host.request);
}

/* --- names at the end of an output ---------------------------------------------------------------
 */

/* A signal leaves a rotation a second; a later one, or --duration's end and one, nothing. */
static void test_signals_while_names_are_read(void **state)
{
	struct session s = {.limit = -1, .host = {.stop = eventfd(0, EFD_NONBLOCK)}};

	assert_true(s.host.stop >= 0);
	assert_true(session_wait_for_names(&s));
	assert_false(s.stop);
	eventfd_write(s.host.stop, 1);
	assert_true(session_wait_for_names(&s));
	assert_true(s.stop);
	eventfd_write(s.host.stop, 1); /* timeout(1) sends it twice */
	assert_true(session_wait_for_names(&s));
	s.hurry_ms -= 1000;
	assert_false(session_wait_for_names(&s));
	/* The end itself waits, until another signal comes. */
	s.ended = 1;
	assert_true(session_wait_for_names(&s));
	eventfd_write(s.host.stop, 1);
	assert_false(session_wait_for_names(&s));
	assert_false(session_wait_for_names(&s));
	close(s.host.stop);
}

static void test_the_limit_while_names_are_read(void **state)
{
	struct session s = {.host.stop = -1, .limit = timer_open()};

	assert_true(s.limit >= 0);
	assert_int_equal(timer_set(s.limit, 1, false), 0);
	while (!s.stop)
		assert_true(session_wait_for_names(&s));
	s.hurry_ms -= 1000;
	assert_false(session_wait_for_names(&s));
	close(s.limit);
}

/* --- a CPU that comes back -----------------------------------------------------------------------
 */

static struct {
	int recorded, watched; /* what opening again returns */
	size_t enabled, heard;
} again;

int __wrap_revive_cpu(struct opened *o, const struct plan *plan, int cpu, struct renumber *ids);
void __wrap_revive_enable(const struct opened *o, const struct plan *plan, int cpu,
			  const bool *running);
int __wrap_session_triggers_revive(struct session_triggers *st, int cpu);

int __wrap_revive_cpu(struct opened *o, const struct plan *plan, int cpu, struct renumber *ids)
{
	return again.recorded;
}

void __wrap_revive_enable(const struct opened *o, const struct plan *plan, int cpu,
			  const bool *running)
{
	again.enabled++;
}

int __wrap_session_triggers_revive(struct session_triggers *st, int cpu)
{
	return again.watched;
}

static void hear(enum message_level level, const char *text, void *arg)
{
	again.heard++;
}

static void test_triggers_that_fail_keep_no_event_closed(void **state)
{
	const struct messages messages = {hear, NULL};
	struct session s = {.messages = &messages};

	memset(&again, 0, sizeof(again));
	assert_int_equal(session_revive(&s, 1), 0);
	assert_int_equal(again.enabled, 1);
	assert_int_equal(again.heard, 0);
	again.watched = -EMFILE;
	assert_int_equal(session_revive(&s, 1), 0);
	assert_int_equal(again.enabled, 2);
	assert_int_equal(again.heard, 1);
	again.recorded = -ENOTSUP;
	assert_int_equal(session_revive(&s, 1), -ENOTSUP);
	assert_int_equal(again.heard, 2);
	/* It is not ready, and nothing is said until it is. */
	again.recorded = -ENODEV;
	assert_int_equal(session_revive(&s, 1), -ENODEV);
	assert_int_equal(again.enabled, 2);
	assert_int_equal(again.heard, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_host_that_is_gone_ends_the_recording),
		cmocka_unit_test(test_requests_that_have_ended_are_not_polled),
		cmocka_unit_test(test_triggers_that_fail_keep_no_event_closed),
		cmocka_unit_test(test_signals_while_names_are_read),
		cmocka_unit_test(test_the_limit_while_names_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
