// SPDX-License-Identifier: Apache-2.0
/*
 * flight-recorder FILE: a program that keeps its newest samples in memory, and writes them to FILE
 * when one of its requests was slow.
 *
 *   cc -o flight-recorder flight-recorder.c $(pkg-config --cflags --libs ringtail)
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ringtail/ringtail.h>

#define REQUESTS 5
#define SLOW_MS	 200

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The last one takes long. It is not inlined, so that reports show its name. */
static __attribute__((noinline)) void serve_request(int number)
{
	long end = milliseconds() + (number == REQUESTS - 1 ? 2 * SLOW_MS : SLOW_MS / 10);
	volatile uint64_t sum = 0;

	while (milliseconds() < end)
		for (int i = 0; i < 10000; i++)
			sum = sum * 31 + (uint64_t)i;
}

static int serve(struct ringtail_session *session, struct ringtail_error *err)
{
	char reason[64];
	int rc = 0;

	for (int i = 0; !rc && i < REQUESTS; i++) {
		long begin = milliseconds(), took;

		serve_request(i);
		took = milliseconds() - begin;
		if (took < SLOW_MS)
			continue;
		snprintf(reason, sizeof(reason), "request %d took %ld ms", i, took);
		rc = ringtail_session_snapshot(session, reason, err);
	}
	return rc;
}

static void message(enum ringtail_message level, const char *text, void *arg)
{
	if (level == RINGTAIL_WARNING)
		fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

int main(int argc, char **argv)
{
	struct ringtail_session_opts opts = {
		.size = sizeof(opts),
		.events = "cpu-clock:u",
		.memory = 16 << 20,
		.message = message,
		.message_arg = argv[0],
	};
	struct ringtail_session *session = NULL;
	struct ringtail_error err = {0};
	int rc, stopped;

	if (argc != 2) {
		fprintf(stderr, "usage: flight-recorder FILE\n");
		return 2;
	}
	opts.output = argv[1];
	rc = ringtail_session_start(&opts, &session, &err);
	if (!rc) {
		rc = serve(session, &err);
		stopped = ringtail_session_stop(session, rc ? NULL : &err);
		rc = rc ? rc : stopped;
	}
	if (rc) {
		fprintf(stderr, "flight-recorder: %s\n", err.text);
	} else {
		const struct ringtail_session_result *result = ringtail_session_result(session);

		printf("%llu snapshots, %llu samples\n", (unsigned long long)result->snapshots,
		       (unsigned long long)result->samples);
	}
	ringtail_session_free(session);
	return rc ? 1 : 0;
}
