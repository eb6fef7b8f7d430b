// SPDX-License-Identifier: Apache-2.0
/*
 * What a service manager is sent from the start to the end of a recording, with and without a
 * watchdog. No test waits longer than a watchdog of milliseconds asks for.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/session/service_status.h"
#include "sys/io/timer.h"

#define WATCHDOG_MS 4

struct manager {
	int fd;
	struct notify notify;
	struct service_status status;
	char text[512];
};

static void begin(struct manager *m, uint64_t watchdog_ms)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	*m = (struct manager){.fd = ends[0], .notify = {ends[1], watchdog_ms}};
	service_status_open(&m->status, &m->notify);
	assert_true(m->status.there);
}

static void end(struct manager *m)
{
	service_status_release(&m->status);
	assert_int_equal(service_status_fd(&m->status), -1);
	service_status_release(&m->status);
	close(m->fd);
	close(m->notify.fd);
}

/* The next message; "" if there is none. */
static const char *next(struct manager *m)
{
	ssize_t n = recv(m->fd, m->text, sizeof(m->text) - 1, 0);

	assert_true(n >= 0 || errno == EAGAIN);
	m->text[n > 0 ? n : 0] = '\0';
	return m->text;
}

static void wait_until_due(struct manager *m)
{
	struct pollfd p = {.fd = service_status_fd(&m->status), .events = POLLIN};

	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, 60000), 1);
}

static void test_with_watchdog(void **state)
{
	struct service_news news = {.bytes = 5u << 20};
	struct manager m;

	begin(&m, WATCHDOG_MS);
	assert_string_equal(next(&m), "");
	service_status_ready(&m.status);
	assert_string_equal(next(&m), "READY=1\nSTATUS=recording");
	assert_string_equal(next(&m), "");
	for (unsigned int lost = 0; lost < 3; lost++) {
		static const char *const lines[] = {
			"STATUS=recording: 5 MB written",
			"STATUS=recording: 5 MB written; 1 sample lost",
			"STATUS=recording: 5 MB written; 2 samples lost",
		};

		news.lost = lost;
		wait_until_due(&m);
		service_status_tell(&m.status, &news);
		assert_string_equal(next(&m), "WATCHDOG=1");
		assert_string_equal(next(&m), lines[lost]);
		assert_string_equal(next(&m), "");
	}
	/* What takes long reports that we are alive, when half of the watchdog's time is over. */
	do {
		poll(NULL, 0, 1);
		service_status_alive(&m.status);
	} while (!*next(&m));
	assert_string_equal(m.text, "WATCHDOG=1");
	assert_string_equal(next(&m), "");
	service_status_stopping(&m.status);
	assert_string_equal(next(&m), "STOPPING=1\nSTATUS=writing the rest of the output");
	end(&m);
}

/* Nothing is due for seconds, whatever is called; but the test lets the timer expire once. */
static void check_slow(uint64_t watchdog_ms)
{
	const struct service_news news = {.bytes = 1};
	struct manager m;

	begin(&m, watchdog_ms);
	service_status_ready(&m.status);
	assert_string_equal(next(&m), "READY=1\nSTATUS=recording");
	service_status_tell(&m.status, &news);
	service_status_alive(&m.status);
	assert_string_equal(next(&m), "");
	assert_int_equal(timer_set(service_status_fd(&m.status), 1, false), 0);
	wait_until_due(&m);
	service_status_tell(&m.status, &news);
	if (watchdog_ms)
		assert_string_equal(next(&m), "WATCHDOG=1");
	assert_string_equal(next(&m), "STATUS=recording: 0 MB written");
	service_status_alive(&m.status);
	assert_string_equal(next(&m), "");
	service_status_stopping(&m.status);
	assert_string_equal(next(&m), "STOPPING=1\nSTATUS=writing the rest of the output");
	assert_string_equal(next(&m), "");
	end(&m);
}

static void test_without_watchdog(void **state)
{
	check_slow(0);
}

static void test_slow_watchdog(void **state)
{
	check_slow(100000);
}

static void test_no_manager(void **state)
{
	const struct notify closed = NOTIFY_INIT;
	const struct service_news news = {0};
	struct service_status s = {0};

	for (int i = 0; i < 3; i++) {
		if (i)
			service_status_open(&s, i == 1 ? NULL : &closed);
		service_status_ready(&s);
		assert_int_equal(service_status_fd(&s), -1);
		service_status_tell(&s, &news);
		service_status_alive(&s);
		service_status_stopping(&s);
		service_status_release(&s);
	}
}

/* A manager that is gone, or does not read, ends no recording. */
static void test_gone(void **state)
{
	const struct service_news news = {0};
	struct manager m;

	begin(&m, WATCHDOG_MS);
	shutdown(m.fd, SHUT_RDWR);
	service_status_ready(&m.status);
	wait_until_due(&m);
	service_status_tell(&m.status, &news);
	service_status_stopping(&m.status);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_watchdog), cmocka_unit_test(test_without_watchdog),
		cmocka_unit_test(test_slow_watchdog), cmocka_unit_test(test_no_manager),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
