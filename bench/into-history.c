// SPDX-License-Identifier: Apache-2.0
/*
 * What it costs to put samples into a history (record/history.h), beside a plain copy of the same
 * bytes into a ring of the same size.
 *
 * usage: into-history MB SAMPLE-BYTES ROUNDS [RUN-KB [SOURCE-MB]]
 *
 * Both take the same runs, RUN-KB (256) each, out of a source of SOURCE-MB (1: as a fifo whose
 * writer keeps up is, in a cache; larger than the caches: as one that lags). All memory has been
 * written to before, several times. Rounds are interleaved: copy, history, copy, ...; each round
 * takes MB, so all of the memory. Between them the samples get new times, which touches the source
 * alike before both. For each round one line: ns a sample of the copy, of the history; the last
 * line are the medians and their ratio.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/history/history.h"

#define TIME_AT 32u

struct bench {
	uint64_t bytes; /* of the history and of the ring */
	size_t sample, run, source_len;
	uint8_t *memory, *source, *ring;
	uint64_t time, renewed;
	struct history *history;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * Whole samples, with times that go on, from another place in the page each time: how fast memcpy
 * is depends on how both places lie to each other (on some CPUs by a factor of three).
 */
static void renew(struct bench *b)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE,
					      .size = (uint16_t)b->sample};

	b->source = b->memory + b->renewed++ * 264 % 4096;
	for (size_t at = 0; at < b->source_len; at += b->sample) {
		b->time += 100;
		memcpy(b->source + at, &hdr, sizeof(hdr));
		memcpy(b->source + at + TIME_AT, &b->time, sizeof(b->time));
	}
}

static int other(const struct perf_event_header *hdr, void *arg)
{
	return -1;
}

static size_t to_ring(struct bench *b, const uint8_t *p, size_t at)
{
	size_t room = b->bytes - at, first = b->run < room ? b->run : room;

	memcpy(b->ring + at, p, first);
	memcpy(b->ring, p + first, b->run - first);
	return first < b->run ? b->run - first : at + first;
}

static double copy_round(struct bench *b, size_t *at)
{
	double ns = 0, begin;

	for (uint64_t done = 0; done < b->bytes; done += b->source_len) {
		renew(b);
		begin = now();
		for (size_t from = 0; from < b->source_len; from += b->run)
			*at = to_ring(b, b->source + from, *at);
		ns += now() - begin;
	}
	return ns;
}

static double history_round(struct bench *b)
{
	double ns = 0, begin;

	for (uint64_t done = 0; done < b->bytes; done += b->source_len) {
		renew(b);
		begin = now();
		for (size_t from = 0; from < b->source_len; from += b->run) {
			const struct run run = {.a = b->source + from, .a_len = b->run, .cpu = 0};

			if (history_write(b->history, &run, other, NULL))
				exit(1);
		}
		ns += now() - begin;
	}
	return ns;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

static int measure(struct bench *b, size_t rounds)
{
	double *copy = calloc(rounds, sizeof(*copy)), *history = calloc(rounds, sizeof(*history));
	double *ratio = calloc(rounds, sizeof(*ratio)), samples;
	size_t at = 0;

	if (!copy || !history || !ratio)
		return 1;
	samples = (double)((b->bytes + b->source_len - 1) / b->source_len * b->source_len /
			   b->sample);
	for (int warm = 0; warm < 2; warm++) {
		copy_round(b, &at);
		history_round(b);
	}
	for (size_t i = 0; i < rounds; i++) {
		copy[i] = copy_round(b, &at) / samples;
		history[i] = history_round(b) / samples;
		ratio[i] = history[i] / copy[i];
		printf("%.2f %.2f\n", copy[i], history[i]);
	}
	printf("%.2f %.2f %.3f\n", median(copy, rounds), median(history, rounds),
	       median(ratio, rounds));
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	size_t per_run;

	if (argc < 4) {
		fprintf(stderr,
			"usage: into-history MB SAMPLE-BYTES ROUNDS [RUN-KB [SOURCE-MB]]\n");
		return 2;
	}
	b.bytes = strtoull(argv[1], NULL, 10) << 20;
	b.sample = strtoul(argv[2], NULL, 10) / 8 * 8;
	if (!b.bytes || b.sample < TIME_AT + 8 || b.sample > UINT16_MAX)
		return 2;
	per_run = ((argc > 4 ? strtoul(argv[4], NULL, 10) : 256) << 10) / b.sample;
	b.run = (per_run ? per_run : 1) * b.sample;
	b.source_len = ((argc > 5 ? strtoul(argv[5], NULL, 10) : 1) << 20) / b.run * b.run;
	if (!b.source_len)
		b.source_len = b.run;
	b.memory = malloc(b.source_len + 4096);
	b.ring = malloc(b.bytes);
	b.history = history_new(b.bytes, 1, TIME_AT);
	if (!b.memory || !b.ring || !b.history)
		return 1;
	memset(b.memory, 1, b.source_len + 4096);
	memset(b.ring, 1, b.bytes);
	return measure(&b, strtoul(argv[3], NULL, 10));
}
