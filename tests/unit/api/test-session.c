// SPDX-License-Identifier: Apache-2.0
/* A program records itself. Tests the contents of the file, and the effects on the process. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <ringtail/ringtail.h>

extern char **environ;

struct place {
	char folder[32], path[64];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->folder, "/tmp/ringtail-api-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->path, sizeof(p->path), "%s/perf.data", p->folder);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	rmdir(p->folder);
	free(p);
	return 0;
}

/* All that a library could change, and a host would be surprised to find changed. */
struct process {
	void (*handlers[NSIG])(int);
	int flags[NSIG];
	bool masked[NSIG][NSIG]; /* by the handler of a signal; [0]: by the thread */
	int nice;
	char **environ, *first;
	char directory[256];
	struct rlimit files;
};

static void read_mask(const sigset_t *mask, bool ret[NSIG])
{
	for (int i = 1; i < NSIG; i++)
		ret[i] = sigismember(mask, i) == 1;
}

static void read_process(struct process *p)
{
	struct sigaction action = {0};
	sigset_t mask;

	memset(p, 0, sizeof(*p));
	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &action))
			continue; /* the C library's own */
		p->handlers[i] = action.sa_handler;
		p->flags[i] = action.sa_flags;
		read_mask(&action.sa_mask, p->masked[i]);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	read_mask(&mask, p->masked[0]);
	p->nice = getpriority(PRIO_PROCESS, 0);
	p->environ = environ;
	p->first = *environ;
	getrlimit(RLIMIT_NOFILE, &p->files);
	assert_non_null(getcwd(p->directory, sizeof(p->directory)));
}

static void check_process(const struct process *before)
{
	struct process now;

	read_process(&now);
	assert_memory_equal(&now, before, sizeof(now));
}

static struct ringtail_session *start_or_skip(const struct ringtail_session_opts *opts)
{
	struct ringtail_session *s = NULL;
	struct ringtail_error err = {0};
	int rc = ringtail_session_start(opts, &s, &err);

	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS || rc == -ENOENT) {
		print_message("no events may be opened here: %s\n", err.text);
		skip();
	}
	if (rc)
		fail_msg("%s", err.text);
	return s;
}

/* Half a second of this thread's CPU time. */
static __attribute__((noinline)) void burn_cpu_time(void)
{
	struct timespec begin, now;
	volatile uint64_t sum = 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 100000; i++)
			sum = sum * (uint64_t)i + 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec <
		 500000000);
}

static uint64_t count_samples(const char *path, uint64_t *in_burn)
{
	const struct ringtail_walk_opts opts = {.size = sizeof(opts), .samples = true};
	const struct ringtail_record *rec;
	struct ringtail_recording *r = NULL;
	struct ringtail_error err = {0};
	struct ringtail_walk *w = NULL;
	uint64_t samples = 0;

	if (ringtail_recording_open(path, NULL, &r, &err) || ringtail_walk_new(r, &opts, &w, &err))
		fail_msg("%s", err.text);
	for (*in_burn = 0; ringtail_walk_next(w, &rec, &err) > 0; samples++) {
		const struct ringtail_frame *f;

		if (ringtail_walk_frames(w, &f, &err) > 0 && f->symbol)
			*in_burn += !strcmp(f->symbol, "burn_cpu_time");
		assert_int_equal(rec->sample->pid, getpid());
		assert_non_null(ringtail_walk_comm(w));
	}
	ringtail_walk_free(w);
	ringtail_recording_close(r);
	return samples;
}

/* The threads of the session and their events are in no record: samples, and names of threads. */
static void check_no_thread_of_the_session(const char *path)
{
	const struct ringtail_walk_opts opts = {.size = sizeof(opts), .no_symbols = true};
	const struct ringtail_record *rec;
	struct ringtail_recording *r = NULL;
	struct ringtail_error err = {0};
	struct ringtail_walk *w = NULL;

	if (ringtail_recording_open(path, NULL, &r, &err) || ringtail_walk_new(r, &opts, &w, &err))
		fail_msg("%s", err.text);
	while (ringtail_walk_next(w, &rec, &err) > 0) {
		const char *comm = (const char *)(rec->header + 1) + 8; /* behind pid and tid */

		if (rec->sample)
			assert_int_equal(rec->sample->tid, getpid());
		if (rec->header->type == PERF_RECORD_COMM &&
		    !(rec->header->misc & PERF_RECORD_MISC_COMM_EXEC))
			assert_false(!strncmp(comm, "reader-", 7) || !strncmp(comm, "writer-", 7));
	}
	ringtail_walk_free(w);
	ringtail_recording_close(r);
}

static void test_records_this_process(void **state)
{
	const struct place *place = *state;
	const struct ringtail_session_opts opts = {
		.size = sizeof(opts), .output = place->path, .events = "cpu-clock:u"};
	struct process before;
	struct ringtail_session *s;
	uint64_t in_burn, samples;

	read_process(&before);
	s = start_or_skip(&opts);
	check_process(&before);
	assert_null(ringtail_session_result(s));
	burn_cpu_time();
	assert_int_equal(ringtail_session_snapshot(s, NULL, NULL), -EINVAL);
	assert_int_equal(ringtail_session_stop(s, NULL), 0);
	assert_int_equal(ringtail_session_stop(s, NULL), 0);
	assert_non_null(ringtail_session_result(s));
	samples = ringtail_session_result(s)->samples;
	assert_true(samples > 0 && ringtail_session_result(s)->bytes > 0);
	ringtail_session_free(s);
	check_process(&before);
	assert_int_equal(count_samples(place->path, &in_burn), samples);
	assert_true(in_burn > 0);
	check_no_thread_of_the_session(place->path);
}

static void test_takes_snapshots(void **state)
{
	const struct place *place = *state;
	const struct ringtail_session_opts opts = {.size = sizeof(opts),
						   .output = place->path,
						   .events = "cpu-clock:u",
						   .memory = 16 << 20};
	struct ringtail_session *s;
	struct ringtail_error err = {0};
	struct process before;
	uint64_t in_burn;

	read_process(&before);
	s = start_or_skip(&opts);
	burn_cpu_time();
	if (ringtail_session_snapshot(s, "a request was slow", &err))
		fail_msg("%s", err.text);
	check_process(&before);
	assert_true(count_samples(place->path, &in_burn) > 0);
	assert_true(in_burn > 0);
	assert_int_equal(ringtail_session_snapshot(s, "a --last", &err), -EINVAL);
	assert_int_equal(ringtail_session_stop(s, &err), 0);
	assert_int_equal(ringtail_session_result(s)->snapshots, 1);
	assert_int_equal(ringtail_session_snapshot(s, NULL, &err), -ESHUTDOWN);
	ringtail_session_free(s);
	check_process(&before);
}

/* The signals that thread @tid of this process blocks now, a bit each. */
static uint64_t blocked_now(const char *tid)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", tid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	fclose(f);
	return mask;
}

/* The same without @brief, if it blocks those only at its beginning: libc blocks all then. */
static uint64_t blocked_by(const char *tid, uint64_t brief)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	uint64_t mask = blocked_now(tid);

	for (int i = 0; i < 5000 && (mask & brief); i++) {
		nanosleep(&ms, NULL);
		mask = blocked_now(tid);
	}
	return mask;
}

static uint64_t bit_of(int signal)
{
	return 1ull << (signal - 1);
}

/* A handler for crashes is called in threads of the library, and a handler of ^C is not. */
static void test_signals_of_its_threads(void **state)
{
	const struct place *place = *state;
	const struct ringtail_session_opts opts = {
		.size = sizeof(opts), .output = place->path, .events = "cpu-clock:u"};
	const uint64_t faults = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) |
				bit_of(SIGTRAP);
	const uint64_t others = bit_of(SIGINT) | bit_of(SIGTERM) | bit_of(SIGPIPE) |
				bit_of(SIGXFSZ) | bit_of(SIGALRM);
	struct ringtail_session *s = start_or_skip(&opts);
	DIR *tasks = opendir("/proc/self/task");
	size_t threads = 0;
	struct dirent *d;
	uint64_t blocked;

	assert_non_null(tasks);
	while ((d = readdir(tasks))) {
		if (*d->d_name == '.' || atoi(d->d_name) == getpid())
			continue;
		blocked = blocked_by(d->d_name, faults);
		assert_int_equal(blocked & faults, 0);
		assert_int_equal(blocked & others, others);
		threads++;
	}
	closedir(tasks);
	assert_true(threads >= 3); /* the session's, a reader and a writer */
	ringtail_session_free(s);
}

static void test_failures_say_why(void **state)
{
	struct ringtail_session_opts opts = {.size = sizeof(opts), .events = "no-such-event"};
	const int nobody[] = {0x3fffffff};
	struct ringtail_session *s = NULL;
	struct ringtail_error err = {0};
	struct process before;

	read_process(&before);
	assert_int_equal(ringtail_session_start(&opts, &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no-such-event"));
	opts.events = NULL;
	opts.frequency = opts.period = 1;
	assert_int_equal(ringtail_session_start(&opts, &s, &err), -EINVAL);
	opts.frequency = 0;
	opts.pids = nobody;
	opts.nr_pids = 1;
	assert_int_equal(ringtail_session_start(&opts, &s, &err), -ESRCH);
	opts.size = 1;
	assert_int_equal(ringtail_session_start(&opts, &s, &err), -EINVAL);
	assert_null(s);
	check_process(&before);
	ringtail_session_free(NULL);
}

static void test_output_that_cannot_be_made(void **state)
{
	const struct ringtail_session_opts opts = {
		.size = sizeof(opts), .events = "cpu-clock:u", .output = "/proc/no/perf.data"};
	struct ringtail_session *s = NULL;
	struct ringtail_error err = {0};
	int rc = ringtail_session_start(&opts, &s, &err);

	assert_true(rc < 0);
	assert_int_equal(err.code, rc);
	assert_true(*err.text);
	assert_null(s);
}

static void test_a_session_that_nobody_stops(void **state)
{
	const struct place *place = *state;
	const struct ringtail_session_opts opts = {
		.size = sizeof(opts), .output = place->path, .events = "cpu-clock:u"};
	uint64_t in_burn;

	ringtail_session_free(start_or_skip(&opts));
	count_samples(place->path, &in_burn); /* it opens */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records_this_process, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(test_takes_snapshots, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_signals_of_its_threads, make_place,
						remove_place),
		cmocka_unit_test(test_failures_say_why),
		cmocka_unit_test(test_output_that_cannot_be_made),
		cmocka_unit_test_setup_teardown(test_a_session_that_nobody_stops, make_place,
						remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
