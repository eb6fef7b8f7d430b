// SPDX-License-Identifier: Apache-2.0
/*
 * Asynchronous writes: with the engines of this machine, and with one that plays back given
 * results.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/io/aio_engine.h"

#define BLOCK  1000
#define BLOCKS 40

static const struct row {
	const char *name;
	enum aio_kind kind;
} engines[] = {{"io_uring", AIO_URING}, {"POSIX AIO", AIO_POSIX}};

/* An engine of @kind, or a skip. */
static struct aio *make(const struct row *row, unsigned int depth)
{
	struct error err = ERROR_INIT;
	struct aio *a = NULL;

	if (aio_new(row->kind, depth, &a, &err)) {
		assert_int_equal(row->kind, AIO_URING);
		print_message("# SKIP %s\n", err.text);
		skip();
	}
	assert_string_equal(aio_engine_name(a), row->name);
	return a;
}

static int temp_file(void)
{
	int fd = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

/* Waits for one; it must be @cookie's and have come to @result. */
static void reap_this(struct aio *a, const void *cookie, int result)
{
	struct aio_completion done;
	unsigned int before = aio_pending(a);

	assert_int_equal(aio_reap(a, true, &done), 1);
	assert_ptr_equal(done.cookie, cookie);
	assert_int_equal(done.result, result);
	assert_int_equal(aio_pending(a), before - 1);
}

/* Every block at its place, submitted in any order, up to @depth at a time. */
static void blocks_in_any_order(const struct row *row, unsigned int depth)
{
	static uint8_t data[BLOCKS * BLOCK], back[sizeof(data) + 1];
	struct aio *a = make(row, depth);
	struct aio_completion done;
	bool ended[BLOCKS] = {false};
	int fd = temp_file(), i, rc, n = 0;

	for (i = 0; i < (int)sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	for (i = 0; i < BLOCKS; i++) {
		size_t at = (size_t)(i * 17 % BLOCKS) * BLOCK;

		while ((rc = aio_submit(a, fd, data + at, BLOCK, (off_t)at, data + at)) == -EBUSY) {
			assert_int_equal(aio_pending(a), depth);
			assert_int_equal(aio_reap(a, true, &done), 1);
			assert_int_equal(done.result, 0);
			ended[((uint8_t *)done.cookie - data) / BLOCK] = true;
			n++;
		}
		assert_int_equal(rc, 0);
		assert_true(aio_pending(a) <= depth);
	}
	assert_int_equal(aio_barrier(a), 0);
	/* All are there before their completions are taken, which needs no waiting. */
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(data));
	assert_memory_equal(back, data, sizeof(data));
	while ((rc = aio_reap(a, false, &done)) == 1) {
		assert_int_equal(done.result, 0);
		ended[((uint8_t *)done.cookie - data) / BLOCK] = true;
		n++;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(n, BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		assert_true(ended[i]);
	assert_int_equal(aio_reap(a, true, &done), 0);
	assert_int_equal(aio_barrier(a), 0);
	aio_free(a);
	close(fd);
}

static void blocks_arrive(void **state)
{
	unsigned int depth;

	for (depth = 1; depth <= 64; depth *= 2)
		blocks_in_any_order(*state, depth);
}

/* Nothing but polling: whatever is in flight ends by itself. */
static void reap_without_waiting(void **state)
{
	struct aio *a = make(*state, 4);
	struct aio_completion done;
	int fd = temp_file(), rc, tries = 0;
	char byte = 'x';

	assert_int_equal(aio_submit(a, fd, &byte, 1, 5, &byte), 0);
	while (!(rc = aio_reap(a, false, &done)) && tries++ < 60000)
		poll(NULL, 0, 1);
	assert_int_equal(rc, 1);
	assert_int_equal(done.result, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 6);
	aio_free(a);
	close(fd);
}

struct slow_reader {
	int fd;
	size_t len;
	uint8_t data[300000];
};

static void *read_slowly(void *arg)
{
	struct slow_reader *s = arg;
	ssize_t n;

	do {
		poll(NULL, 0, 1);
		n = read(s->fd, s->data + s->len, 7000);
		if (n > 0)
			s->len += (size_t)n;
	} while (n > 0);
	return NULL;
}

/* More than a pipe holds, one after the other, also where the pipe says EAGAIN. */
static void stream_in_order(const struct row *row, int flags)
{
	static struct slow_reader reader;
	static uint8_t data[200000];
	struct aio *a = make(row, 5);
	pthread_t thread;
	int fds[2];
	size_t at = 0, i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 + i / 512);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, flags), 0);
	reader = (struct slow_reader){.fd = fds[0]};
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
	while (at < sizeof(data)) {
		size_t len = at % 3 ? 30011 : 101;

		len = len < sizeof(data) - at ? len : sizeof(data) - at;
		while (aio_submit(a, fds[1], data + at, len, AIO_STREAM, data + at) == -EBUSY) {
			struct aio_completion done;

			assert_int_equal(aio_reap(a, true, &done), 1);
			assert_int_equal(done.result, 0);
		}
		at += len;
	}
	assert_int_equal(aio_barrier(a), 0);
	aio_free(a);
	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
	assert_int_equal(reader.len, sizeof(data));
	assert_memory_equal(reader.data, data, sizeof(data));
}

static void pipe_in_order(void **state)
{
	stream_in_order(*state, 0);
	stream_in_order(*state, O_NONBLOCK);
}

/* `ringtail record -o - >> file`: where it stood, and where the next program goes on. */
static void stream_to_a_file(void **state)
{
	static const int flags[] = {0, O_APPEND};
	struct aio *a;
	char back[32];
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		a = make(*state, 4);
		fd = temp_file();
		assert_int_equal(fcntl(fd, F_SETFL, flags[i]), 0);
		assert_int_equal(write(fd, "begin ", 6), 6);
		assert_int_equal(aio_submit(a, fd, "one ", 4, AIO_STREAM, NULL), 0);
		assert_int_equal(aio_submit(a, fd, "two ", 4, AIO_STREAM, NULL), 0);
		assert_int_equal(aio_barrier(a), 0);
		assert_int_equal(write(fd, "end", 3), 3);
		assert_int_equal(pread(fd, back, sizeof(back), 0), 17);
		assert_memory_equal(back, "begin one two end", 17);
		aio_free(a);
		close(fd);
	}
}

static void failures_have_their_cookies(void **state)
{
	struct aio *a = make(*state, 4);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), fd = temp_file();
	int readonly = open("/dev/null", O_RDONLY | O_CLOEXEC), i;
	char cookies[4];

	assert_true(full >= 0 && readonly >= 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(aio_submit(a, full, "x", 1, 0, &cookies[0]), 0);
		reap_this(a, &cookies[0], -ENOSPC);
		assert_int_equal(aio_submit(a, readonly, "x", 1, 0, &cookies[1]), 0);
		reap_this(a, &cookies[1], -EBADF);
		assert_int_equal(aio_submit(a, fd, "x", 1, 0, &cookies[2]), 0);
		reap_this(a, &cookies[2], 0);
	}
	aio_free(a);
	close(full);
	close(readonly);
	close(fd);
}

/* SIGPIPE is blocked, not ignored: threads of the engine must not have it open either. */
static void gone_reader(void **state)
{
	struct aio *a = make(*state, 4);
	sigset_t mask, before;
	const struct timespec none = {0};
	char cookies[3];
	int fds[2];

	sigemptyset(&mask);
	sigaddset(&mask, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &mask, &before);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	assert_int_equal(aio_submit(a, fds[1], "a", 1, AIO_STREAM, &cookies[0]), 0);
	assert_int_equal(aio_submit(a, fds[1], "b", 1, AIO_STREAM, &cookies[1]), 0);
	assert_int_equal(aio_submit(a, fds[1], "c", 1, AIO_STREAM, &cookies[2]), 0);
	reap_this(a, &cookies[0], -EPIPE);
	assert_int_equal(aio_pending(a), 2);
	aio_free(a);
	close(fds[1]);
	while (sigtimedwait(&mask, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *submit_and_end(void *arg)
{
	static uint8_t big[4 << 20];
	struct aio *a = ((void **)arg)[0];
	int fd = *(int *)((void **)arg)[1], i;

	for (i = 0; i < 4; i++)
		assert_int_equal(aio_submit(a, fd, big, sizeof(big), (off_t)sizeof(big) * i, big),
				 0);
	return NULL;
}

/* The thread that submitted ends before its writes do. */
static void thread_ends_meanwhile(void **state)
{
	struct aio *a = make(*state, 4);
	int fd = temp_file(), i;
	void *args[] = {a, &fd};
	struct aio_completion done;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, submit_and_end, args), 0);
	pthread_join(thread, NULL);
	for (i = 0; i < 4; i++) {
		assert_int_equal(aio_reap(a, true, &done), 1);
		assert_int_equal(done.result, 0);
	}
	assert_int_equal(lseek(fd, 0, SEEK_END), 16 << 20);
	aio_free(a);
	close(fd);
}

static void posix_is_there(void **state)
{
	struct error err = ERROR_INIT;
	struct aio *a;

	assert_int_equal(aio_new(AIO_AUTOMATIC, 2, &a, &err), 0);
	if (!strcmp(aio_engine_name(a), "io_uring"))
		assert_int_equal(aio_uring_refused(a), 0);
	else
		assert_true(aio_uring_refused(a) < 0);
	aio_free(a);
	assert_int_equal(aio_new(AIO_AUTOMATIC, 0, &a, &err), -EINVAL);
	assert_int_equal(aio_new(AIO_AUTOMATIC, AIO_DEPTH_MAX + 1, &a, &err), -EINVAL);
	assert_int_equal(aio_new(AIO_AUTOMATIC, AIO_DEPTH_MAX, &a, &err), 0);
	aio_free(a);
	aio_free(NULL);
}

/* --- an engine that does what it is told --------------------------------------------------------
 */

#define SLOTS 4

struct script {
	const ssize_t *results; /* of one write(2) after the other; then all is written */
	size_t nr, next;
	struct aio_part parts[SLOTS]; /* len 0: free */
	unsigned int order[SLOTS], nr_started;
	bool newest_first, started[SLOTS];
	uint8_t file[64];
	size_t stream_at;
	unsigned int writes;
	int broken;
};

static int script_open(void *arg, unsigned int depth, void **ret)
{
	assert_true(depth <= SLOTS);
	*ret = arg;
	return 0;
}

static int script_start(void *engine, unsigned int slot, const struct aio_part *part)
{
	struct script *s = engine;

	assert_false(s->started[slot]);
	s->started[slot] = true;
	s->parts[slot] = *part;
	s->order[s->nr_started++] = slot;
	return 0;
}

static int script_collect(void *engine, bool wait, unsigned int *ret_slot, ssize_t *ret_result)
{
	struct script *s = engine;
	unsigned int at = s->newest_first ? s->nr_started - 1 : 0;
	struct aio_part *part;
	size_t offset;

	assert_true(s->nr_started > 0);
	if (s->broken)
		return s->broken;
	*ret_slot = s->order[at];
	part = &s->parts[*ret_slot];
	memmove(s->order + at, s->order + at + 1, (SLOTS - 1 - at) * sizeof(s->order[0]));
	s->nr_started--;
	s->started[*ret_slot] = false;
	*ret_result = s->next < s->nr ? s->results[s->next++] : (ssize_t)part->len;
	s->writes++;
	offset = part->offset == AIO_STREAM ? s->stream_at : (size_t)part->offset;
	if (*ret_result > 0) {
		assert_true(offset + (size_t)*ret_result <= sizeof(s->file));
		memcpy(s->file + offset, part->data, (size_t)*ret_result);
		if (part->offset == AIO_STREAM)
			s->stream_at += (size_t)*ret_result;
	}
	return 1;
}

static void script_close(void *engine)
{
	struct script *s = engine;

	assert_true(!s->nr_started || s->broken);
}

static const struct aio_engine script_engine = {
	.name = "script",
	.open = script_open,
	.start = script_start,
	.collect = script_collect,
	.close = script_close,
};

static struct aio *make_script(struct script *s, const ssize_t *results, size_t nr)
{
	struct aio *a;

	*s = (struct script){.results = results, .nr = nr};
	assert_int_equal(aio_new_engine(&script_engine, s, SLOTS, &a), 0);
	return a;
}

static void rest_follows_short_writes(void **state)
{
	static const ssize_t results[] = {3, -EINTR, 1, -EAGAIN, -EAGAIN, 2, -ECANCELED};
	static const off_t offsets[] = {7, AIO_STREAM};
	struct script s;
	struct aio *a;
	size_t i;
	int fd = temp_file();

	for (i = 0; i < 2; i++) {
		a = make_script(&s, results, 7);
		assert_int_equal(aio_submit(a, fd, "abcdefgh", 8, offsets[i], &s), 0);
		reap_this(a, &s, 0);
		assert_int_equal(s.writes, 8);
		assert_memory_equal(s.file + (i ? 0 : 7), "abcdefgh", 8);
		aio_free(a);
	}
	close(fd);
}

static void errors_end_a_write(void **state)
{
	static const int errors[] = {ENOSPC, EIO, EPIPE, EFBIG, EDQUOT};
	struct script s;
	struct aio *a;
	size_t i;
	int fd = temp_file();

	for (i = 0; i < 5; i++) {
		const ssize_t results[] = {3, -errors[i]};

		a = make_script(&s, results, 2);
		assert_int_equal(aio_submit(a, fd, "abcdefgh", 8, 0, &s), 0);
		reap_this(a, &s, -errors[i]);
		assert_int_equal(s.writes, 2);
		assert_int_equal(aio_pending(a), 0);
		aio_free(a);
	}
	a = make_script(&s, (const ssize_t[]){0}, 1);
	assert_int_equal(aio_submit(a, fd, "abcdefgh", 8, 0, &s), 0);
	reap_this(a, &s, -EIO);
	aio_free(a);
	close(fd);
}

static void stream_waits_for_the_rest(void **state)
{
	static const ssize_t results[] = {2, 2, 1, 3};
	struct script s;
	struct aio *a = make_script(&s, results, 4);
	char cookies[3];
	int fd = temp_file();

	assert_int_equal(aio_submit(a, fd, "abcd", 4, AIO_STREAM, &cookies[0]), 0);
	assert_int_equal(aio_submit(a, fd, "efgh", 4, AIO_STREAM, &cookies[1]), 0);
	assert_int_equal(aio_submit(a, fd, "ijkl", 4, AIO_STREAM, &cookies[2]), 0);
	assert_int_equal(s.nr_started, 1);
	reap_this(a, &cookies[0], 0);
	reap_this(a, &cookies[1], 0);
	reap_this(a, &cookies[2], 0);
	assert_memory_equal(s.file, "abcdefghijkl", 12);
	aio_free(a);
	close(fd);
}

static void nothing_behind_a_gap(void **state)
{
	static const ssize_t results[] = {2, 4, -EIO};
	struct script s;
	struct aio *a = make_script(&s, results, 3);
	char cookies[4];
	int fd = temp_file(), other = temp_file();

	assert_int_equal(aio_submit(a, fd, "abcd", 4, AIO_STREAM, &cookies[0]), 0);
	assert_int_equal(aio_submit(a, fd, "efgh", 4, AIO_STREAM, &cookies[1]), 0);
	assert_int_equal(aio_submit(a, fd, "ijkl", 4, AIO_STREAM, &cookies[2]), 0);
	assert_int_equal(aio_submit(a, other, "mnop", 4, 20, &cookies[3]), 0);
	assert_int_equal(aio_barrier(a), 0);
	reap_this(a, &cookies[3], 0);
	reap_this(a, &cookies[0], -EIO);
	reap_this(a, &cookies[1], -ECANCELED);
	reap_this(a, &cookies[2], -ECANCELED);
	assert_int_equal(s.stream_at, 2);
	aio_free(a);
	close(fd);
	close(other);
}

static void order_is_that_of_the_ends(void **state)
{
	struct script s;
	struct aio *a = make_script(&s, NULL, 0);
	char cookies[SLOTS];
	int fd = temp_file(), i;

	s.newest_first = true;
	for (i = 0; i < SLOTS; i++)
		assert_int_equal(aio_submit(a, fd, "x", 1, i, &cookies[i]), 0);
	assert_int_equal(aio_submit(a, fd, "x", 1, i, NULL), -EBUSY);
	for (i = SLOTS; i--;)
		reap_this(a, &cookies[i], 0);
	aio_free(a);
	close(fd);
}

/* Neither reap nor barrier nor free waits for what will never come. */
static void broken_engine(void **state)
{
	struct script s;
	struct aio *a = make_script(&s, NULL, 0);
	struct aio_completion done;
	int fd = temp_file();

	assert_int_equal(aio_submit(a, fd, "x", 1, 0, &s), 0);
	s.broken = -EPERM;
	assert_int_equal(aio_reap(a, true, &done), -EPERM);
	assert_int_equal(aio_barrier(a), -EPERM);
	assert_int_equal(aio_pending(a), 1);
	aio_free(a);
	close(fd);
}

// clang-format off
#define EACH(test)                                                            \
	{#test " (io_uring)", test, NULL, NULL, (void *)(uintptr_t)&engines[0]}, \
	{#test " (POSIX AIO)", test, NULL, NULL, (void *)(uintptr_t)&engines[1]}
// clang-format on

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(blocks_arrive),
		EACH(reap_without_waiting),
		EACH(pipe_in_order),
		EACH(stream_to_a_file),
		EACH(failures_have_their_cookies),
		EACH(gone_reader),
		EACH(thread_ends_meanwhile),
		cmocka_unit_test(posix_is_there),
		cmocka_unit_test(rest_follows_short_writes),
		cmocka_unit_test(errors_end_a_write),
		cmocka_unit_test(stream_waits_for_the_rest),
		cmocka_unit_test(nothing_behind_a_gap),
		cmocka_unit_test(order_is_that_of_the_ends),
		cmocka_unit_test(broken_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
