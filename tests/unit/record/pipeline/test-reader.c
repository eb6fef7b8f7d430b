// SPDX-License-Identifier: Apache-2.0
/*
 * Reader, fifo, tally and shed: rings in plain memory, and a sink that keeps all bytes. On every
 * path a record arrives whole, once, and in the order of its ring. If there is no room behind the
 * reader, only samples are dropped, and they are counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "perfdata/abi.h"
#include "perfdata/aux_record.h"
#include "record/pipeline/reader.h"
#include "record/pipeline/tally.h"

#define PAGE  4096u
#define RING  (512u << 10)
#define RINGS 3u

/* The ring of which nothing may be given up. */
#define SIDEBAND 2u

/* --- a sink that keeps what it gets --------------------------------------------------------------
 */

struct keeper {
	struct sink sink;
	struct buf bytes;
	uint64_t fail_after; /* bytes; 0: never */
};

static int keeper_write(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	if (k->fail_after && k->bytes.len + run_bytes(run) > k->fail_after)
		return error_set(err, -ENOSPC, "full");
	assert_int_equal(buf_append(&k->bytes, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->bytes, run->b, run->b_len), 0);
	return 0;
}

static const struct sink_ops keeper_ops = {.write = keeper_write};

/* --- rings as the kernel fills them --------------------------------------------------------------
 */

struct fake_ring {
	uint8_t *memory;
	struct perf_event_mmap_page *page;
	uint64_t head, made; /* made: records */
};

/* What follows the header of every record here. */
struct body {
	uint64_t id, ip; /* id: of the event */
	uint32_t ring, number;
	uint64_t time;
};

struct lab {
	struct fake_ring rings[RINGS];
	struct fifo *fifo;
	struct keeper keeper;
	struct sink *tally;
	struct reader *reader;
	uint64_t time, samples, made;
};

static void copy_in(struct fake_ring *f, const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->memory[PAGE + ((f->head + i) & (RING - 1))] = ((const uint8_t *)p)[i];
	f->head += len;
}

/* Puts a record of @size bytes (40 at least, a multiple of 8) if there is room. */
static bool put(struct lab *lab, unsigned int ring, uint32_t type, uint16_t size)
{
	struct fake_ring *f = &lab->rings[ring];
	const struct perf_event_header h = {.type = type, .size = size};
	const struct body b = {
		.id = 7, .ring = ring, .number = (uint32_t)f->made, .time = lab->time + 1};
	uint8_t rest[UINT16_MAX];

	if (f->head + size - f->page->data_tail > RING)
		return false;
	memset(rest, (int)f->made, sizeof(rest));
	copy_in(f, &h, sizeof(h));
	copy_in(f, &b, sizeof(b));
	copy_in(f, rest, size - sizeof(h) - sizeof(b));
	f->page->data_head = f->head;
	f->made++;
	lab->time++;
	lab->made++;
	lab->samples += type == PERF_RECORD_SAMPLE;
	return true;
}

static void lab_open(struct lab *lab, size_t memory, struct shed *shed)
{
	const struct tally_opts opts = {.time_at = 32};
	struct error err = ERROR_INIT;

	*lab = (struct lab){.keeper.sink.ops = &keeper_ops};
	lab->fifo = fifo_new(memory);
	lab->tally = tally_new(&lab->keeper.sink, &opts);
	assert_non_null(lab->fifo);
	assert_int_equal(reader_new(lab->fifo, shed, true, &lab->reader, &err), 0);
	for (unsigned int i = 0; i < RINGS; i++) {
		struct fake_ring *f = &lab->rings[i];
		struct reader_source source = {
			.page_size = PAGE,
			.data_size = RING,
			.ring = i,
			.cpu = (int)i,
			.sideband = i == SIDEBAND,
		};

		f->memory = calloc(1, PAGE + RING);
		f->page = (void *)f->memory;
		/* Each ring begins elsewhere, so that they wrap at different times. */
		f->head = f->page->data_head = f->page->data_tail = i * 77776;
		source.memory = f->memory;
		assert_int_equal(reader_add(lab->reader, &source, &err), 0);
	}
}

static void lab_close(struct lab *lab)
{
	reader_free(lab->reader);
	sink_free(lab->tally);
	fifo_free(lab->fifo);
	for (unsigned int i = 0; i < RINGS; i++)
		free(lab->rings[i].memory);
	buf_release(&lab->keeper.bytes);
}

/* The writer's part: what is in the fifo goes on. Returns what the sink says. */
static int write_all(struct lab *lab, struct error *err)
{
	struct run run;
	int rc = 0;

	fifo_mark(lab->fifo, 1);
	while (!fifo_wait(lab->fifo, &run)) {
		if (!rc)
			rc = sink_write(lab->tally, &run, err);
		fifo_done(lab->fifo);
	}
	assert_int_equal(fifo_fullness(lab->fifo), 0);
	return rc;
}

/* Everything made so far arrived: whole, once, in the order of its ring; rounds hold. */
static void check_arrived(const struct lab *lab)
{
	uint32_t next[RINGS] = {0};
	uint64_t first = 0, last = 0; /* times of samples */
	uint64_t newest = 0, newest_at_mark = 0, complete = 0, records = 0, samples = 0;

	for (size_t at = 0; at < lab->keeper.bytes.len;) {
		struct perf_event_header h;
		struct body b;

		memcpy(&h, lab->keeper.bytes.data + at, sizeof(h));
		assert_true(h.size >= 8 && at + h.size <= lab->keeper.bytes.len);
		if (h.type == PERF_RECORD_FINISHED_ROUND) {
			complete = newest_at_mark;
			newest_at_mark = newest;
			at += h.size;
			continue;
		}
		memcpy(&b, lab->keeper.bytes.data + at + sizeof(h), sizeof(b));
		assert_true(b.ring < RINGS);
		assert_int_equal(b.number, next[b.ring]++);
		for (size_t i = sizeof(h) + sizeof(b); i < h.size; i++)
			assert_int_equal(lab->keeper.bytes.data[at + i], (uint8_t)b.number);
		assert_true(b.time > complete);
		if (b.time > newest)
			newest = b.time;
		if (h.type == PERF_RECORD_SAMPLE) {
			first = first && first < b.time ? first : b.time;
			last = b.time > last ? b.time : last;
		}
		records++;
		samples += h.type == PERF_RECORD_SAMPLE;
		at += h.size;
	}
	assert_int_equal(records, lab->made);
	assert_int_equal(samples, lab->samples);
	assert_int_equal(tally_get(lab->tally)->samples, samples);
	assert_int_equal(tally_get(lab->tally)->odd, 0);
	assert_int_equal(tally_get(lab->tally)->first, first);
	assert_int_equal(tally_get(lab->tally)->last, last);
}

static uint16_t random_size(void)
{
	return (uint16_t)(40 + 8 * (rand() % (rand() % 16 ? 12 : 8000)));
}

static void test_all_arrives(void **state)
{
	for (size_t memory = 2 * RINGS * RING; memory <= 8 * RINGS * RING;
	     memory += 2 * RING + 48) {
		struct error err = ERROR_INIT;
		struct lab lab;

		lab_open(&lab, memory, NULL);
		srand((unsigned int)memory);
		for (int pass = 0; pass < 40; pass++) {
			int records = rand() % 2 ? rand() % 20 : rand() % 4000;

			for (int i = 0; i < records; i++)
				put(&lab, (unsigned int)rand() % RINGS,
				    rand() % 9 ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM,
				    random_size());
			reader_pass_all(lab.reader, false);
			for (unsigned int i = 0; i < RINGS; i++)
				assert_int_equal(lab.rings[i].page->data_tail, lab.rings[i].head);
			assert_int_equal(write_all(&lab, &err), 0);
			check_arrived(&lab);
		}
		assert_true(reader_stats(lab.reader)->bytes > 0);
		lab_close(&lab);
	}
}

/* A patient reader waits for a slow writer, which has a thread of its own; nothing is dropped. */
static void *write_slowly(void *arg)
{
	struct lab *lab = arg;
	struct error err = ERROR_INIT;
	struct run run;

	while (!fifo_wait(lab->fifo, &run)) {
		assert_int_equal(sink_write(lab->tally, &run, &err), 0);
		usleep(100);
		fifo_done(lab->fifo);
	}
	return NULL;
}

static void test_patience(void **state)
{
	struct lab lab;
	pthread_t writer;

	lab_open(&lab, FIFO_MIN, NULL);
	assert_int_equal(pthread_create(&writer, NULL, write_slowly, &lab), 0);
	for (int pass = 0; pass < 20; pass++) {
		for (unsigned int i = 0; i < RINGS; i++)
			while (put(&lab, i, PERF_RECORD_SAMPLE, random_size()))
				;
		reader_pass_all(lab.reader, true);
	}
	fifo_mark(lab.fifo, 1);
	assert_int_equal(pthread_join(writer, NULL), 0);
	check_arrived(&lab);
	lab_close(&lab);
}

/* --- what is given up ----------------------------------------------------------------------------
 */

/* A shed that knows one event, whose samples all are. */
struct giver {
	struct plan_event event;
	struct plan plan;
	struct open_fd fd;
	struct opened opened;
	struct shed *shed;
};

static void giver_make(struct giver *g)
{
	*g = (struct giver){
		.event.attr =
			{
				.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					       PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				.flags = PD_ATTR_SAMPLE_ID_ALL,
			},
		.plan = {.events = &g->event, .nr = 1},
		.fd = {.id = 7},
		.opened = {.fds = &g->fd, .nr_fds = 1},
	};
	g->shed = shed_new(&g->plan, &g->opened, NULL);
	assert_non_null(g->shed);
}

struct lost {
	uint64_t dropped, others[RINGS];
};

/* Counts what arrived: each record is a sample, another one of ours, or tells of samples. */
static struct lost count_arrived(const struct lab *lab)
{
	struct lost lost = {0};

	for (size_t at = 0; at < lab->keeper.bytes.len;) {
		struct perf_event_header h;
		struct body b;
		uint64_t n;

		memcpy(&h, lab->keeper.bytes.data + at, sizeof(h));
		memcpy(&n, lab->keeper.bytes.data + at + sizeof(h), sizeof(n));
		if (h.type == PERF_RECORD_LOST_SAMPLES)
			lost.dropped += n;
		if (h.type == PERF_RECORD_COMM) {
			memcpy(&b, lab->keeper.bytes.data + at + sizeof(h), sizeof(b));
			lost.others[b.ring]++;
		}
		at += h.size;
	}
	return lost;
}

/* Nobody writes while the rings are filled many times over: samples go, and only they. */
static void test_full(void **state)
{
	struct giver giver;
	struct error err = ERROR_INIT;
	uint64_t others[RINGS] = {0};
	struct lost lost;
	struct lab lab;

	giver_make(&giver);
	lab_open(&lab, 1 << 20, giver.shed);
	for (int pass = 0; pass < 50; pass++) {
		for (unsigned int i = 0; i < SIDEBAND; i++)
			while (put(&lab, i, PERF_RECORD_SAMPLE, 4096))
				;
		for (unsigned int i = 0; i < RINGS; i++)
			others[i] += put(&lab, i, PERF_RECORD_COMM, 40);
		reader_pass_all(lab.reader, false);
		others[0] += put(&lab, 0, PERF_RECORD_COMM, 48);
		reader_pass_all(lab.reader, false);
	}
	assert_true(reader_stats(lab.reader)->full > 0);
	assert_int_equal(write_all(&lab, &err), 0);
	reader_pass_all(lab.reader, false);
	assert_int_equal(write_all(&lab, &err), 0);
	lost = count_arrived(&lab);
	assert_true(lost.dropped > 0);
	assert_int_equal(tally_get(lab.tally)->samples + lost.dropped, lab.samples);
	for (unsigned int i = 0; i < RINGS; i++)
		assert_int_equal(lost.others[i], others[i]);
	lab_close(&lab);
	shed_free(giver.shed);
}

static size_t held(const struct lab *lab, unsigned int ring)
{
	return (size_t)(lab->rings[ring].head - lab->rings[ring].page->data_tail);
}

/* Samples of a full ring, and what is among them, until the fifo has no room. */
static void fill_fifo(struct lab *lab)
{
	uint64_t before = reader_stats(lab->reader)->full;

	while (reader_stats(lab->reader)->full == before) {
		while (held(lab, 1) < RING / 2)
			put(lab, 1, PERF_RECORD_SAMPLE, random_size());
		reader_pass_round(lab->reader);
	}
	assert_true(held(lab, 1) > 0);
}

/*
 * While nobody writes, samples wait in half of their ring, whichever pass comes by, and no more
 * than necessary goes; other records among those get through. With room all that was left is taken
 * without being asked for, and a pass over all rings leaves nothing.
 */
static void test_half_a_ring_stays(void **state)
{
	for (unsigned int seed = 1; seed < 40; seed++) {
		struct giver giver;
		struct error err = ERROR_INIT;
		uint64_t bytes, others = 0;
		struct lab lab;

		srand(seed);
		giver_make(&giver);
		lab_open(&lab, FIFO_MIN + seed * PAGE, giver.shed);
		fill_fifo(&lab);
		for (int pass = 0; pass < 100; pass++) {
			size_t before = held(&lab, 1), after;

			for (int i = rand() % 50; i; i--)
				put(&lab, 1, PERF_RECORD_SAMPLE, random_size());
			others += put(&lab, 1, PERF_RECORD_COMM, 40);
			before = held(&lab, 1);
			if (pass % 2)
				reader_pass_round(lab.reader);
			else
				assert_int_equal(reader_pass_ready(lab.reader, &bytes, &err), 0);
			after = held(&lab, 1);
			assert_true(reader_waits(lab.reader));
			assert_true(before <= RING / 2
					    ? after == before
					    : after <= RING / 2 && after + UINT16_MAX > RING / 2);
		}
		assert_int_equal(write_all(&lab, &err), 0);
		assert_int_equal(reader_pass_ready(lab.reader, &bytes, &err), 0);
		assert_int_equal(held(&lab, 1), 0);
		assert_false(reader_waits(lab.reader));
		assert_int_equal(write_all(&lab, &err), 0);
		assert_int_equal(count_arrived(&lab).others[1], others);
		fill_fifo(&lab);
		reader_pass_all(lab.reader, false);
		assert_int_equal(held(&lab, 1), 0);
		assert_false(reader_waits(lab.reader));
		assert_int_equal(write_all(&lab, &err), 0);
		reader_pass_all(lab.reader, false);
		assert_int_equal(write_all(&lab, &err), 0);
		assert_int_equal(tally_get(lab.tally)->samples + count_arrived(&lab).dropped,
				 lab.samples);
		lab_close(&lab);
		shed_free(giver.shed);
	}
}

/* Puts a sample with @stack bytes (a multiple of 8) of user stack if there is room. */
static bool put_stack(struct lab *lab, unsigned int ring, uint64_t stack)
{
	struct fake_ring *f = &lab->rings[ring];
	const struct perf_event_header h = {
		.type = PERF_RECORD_SAMPLE,
		.size = (uint16_t)(sizeof(h) + sizeof(struct body) + 8 + stack + (stack ? 8 : 0)),
	};
	const struct body b = {
		.id = 7, .ring = ring, .number = (uint32_t)f->made, .time = ++lab->time};
	uint8_t data[UINT16_MAX];

	if (f->head + h.size - f->page->data_tail > RING)
		return false;
	memset(data, 0x5a, sizeof(data));
	copy_in(f, &h, sizeof(h));
	copy_in(f, &b, sizeof(b));
	copy_in(f, &stack, sizeof(stack));
	if (stack) {
		copy_in(f, data, stack);
		copy_in(f, &stack, sizeof(stack)); /* dyn_size: all of it */
	}
	f->page->data_head = f->head;
	f->made++;
	return true;
}

/* All samples of ring @ring arrived in order, whole or but for their stack. Returns the latter. */
static uint64_t check_stacks(const struct lab *lab, unsigned int ring)
{
	const uint8_t *p = lab->keeper.bytes.data, *end = p + lab->keeper.bytes.len;
	uint64_t cut = 0, nr = 0, stack;
	struct perf_event_header h;
	struct body b;

	for (; p < end; p += h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&b, p + sizeof(h), sizeof(b));
		memcpy(&stack, p + sizeof(h) + sizeof(b), sizeof(stack));
		assert_int_equal(h.size, sizeof(h) + sizeof(b) + 8 + stack + (stack ? 8 : 0));
		for (size_t i = 0; i < stack; i++)
			assert_int_equal(p[sizeof(h) + sizeof(b) + 8 + i], 0x5a);
		if (b.ring != ring)
			continue;
		assert_int_equal(b.number, nr++);
		cut += !stack;
	}
	assert_int_equal(nr, lab->rings[ring].made);
	return cut;
}

/* A ring that is filled faster than it is copied costs stacks, and nothing else. */
static void test_crowded(void **state)
{
	for (uint64_t stack = 8; stack < 32768; stack = stack * 3 / 8 * 8 + 40) {
		struct giver giver;
		struct error err = ERROR_INIT;
		struct loss calm = {0}, cut = {0};
		struct lab lab;

		giver_make(&giver);
		shed_free(giver.shed);
		giver.event.attr.sample_type |= PERF_SAMPLE_STACK_USER;
		giver.event.attr.sample_stack_user = (uint32_t)stack;
		giver.shed = shed_new(&giver.plan, &giver.opened, NULL);
		assert_non_null(giver.shed);
		lab_open(&lab, 16 * RING, giver.shed);
		while (lab.rings[1].head - lab.rings[1].page->data_tail + stack + 256 < RING / 2)
			put_stack(&lab, 1, stack);
		reader_pass_all(lab.reader, false);
		assert_int_equal(shed_truncated(giver.shed, &calm), 0);
		for (int pass = 0; pass < 5; pass++) {
			while (put_stack(&lab, 0, stack))
				;
			put_stack(&lab, 1, stack);
			reader_pass_all(lab.reader, false);
			assert_int_equal(lab.rings[0].page->data_tail, lab.rings[0].head);
			assert_int_equal(write_all(&lab, &err), 0);
		}
		assert_int_equal(calm.total, 0);
		assert_int_equal(shed_truncated(giver.shed, &cut), 0);
		assert_int_equal(check_stacks(&lab, 1), 0);
		assert_int_equal(check_stacks(&lab, 0), cut.total);
		assert_true(cut.total > 0);
		for (size_t i = 0; i < cut.nr; i++)
			assert_int_equal(cut.entries[i].cause, LOSS_STACK_RING);
		loss_release(&cut);
		lab_close(&lab);
		shed_free(giver.shed);
	}
}

static void *write_later(void *arg)
{
	usleep(50000);
	return write_slowly(arg);
}

/* There was no room even to tell of what was dropped: that is made up for at the end. */
static void test_told_at_last(void **state)
{
	struct giver giver;
	pthread_t writer;
	struct lab lab;

	giver_make(&giver);
	lab_open(&lab, FIFO_MIN, giver.shed);
	while (fifo_reserve(lab.fifo, SHED_RECORD_MAX, true)) {
		put(&lab, SIDEBAND, PERF_RECORD_COMM, 40);
		reader_pass_all(lab.reader, false);
	}
	for (int i = 0; i < 100; i++)
		put(&lab, 0, PERF_RECORD_SAMPLE, 4096);
	reader_pass_all(lab.reader, false);
	assert_int_equal(lab.rings[0].page->data_tail, lab.rings[0].head);
	assert_int_equal(pthread_create(&writer, NULL, write_later, &lab), 0);
	reader_pass_all(lab.reader, true);
	fifo_mark(lab.fifo, 1);
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_int_equal(tally_get(lab.tally)->samples, 0);
	assert_int_equal(count_arrived(&lab).dropped, 100);
	lab_close(&lab);
	shed_free(giver.shed);
}

static void test_no_mark_without_records(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;

	lab_open(&lab, 4 * RING, NULL);
	reader_pass_all(lab.reader, false);
	assert_int_equal(write_all(&lab, &err), 0);
	assert_int_equal(lab.keeper.bytes.len, 0);
	put(&lab, 0, PERF_RECORD_SAMPLE, 40);
	for (int i = 0; i < 3; i++)
		reader_pass_all(lab.reader, false);
	assert_int_equal(write_all(&lab, &err), 0);
	assert_int_equal(lab.keeper.bytes.len, 40 + 8);
	lab_close(&lab);
}

/* Rings with too little wait for a pass over all, or for a quarter to be full. */
static void test_least(void **state)
{
	static const uint64_t leasts[] = {0, 1, 41, 400, RING / 4, RING, UINT64_MAX};
	struct error err = ERROR_INIT;
	struct lab lab;

	for (size_t i = 0; i < sizeof(leasts) / sizeof(leasts[0]); i++) {
		uint64_t least = leasts[i] < RING / 4 ? leasts[i] : RING / 4;

		lab_open(&lab, 4 * RING, NULL);
		reader_set_least(lab.reader, leasts[i]);
		for (uint64_t held = 40; held <= RING / 2; held += 40) {
			uint64_t took;

			put(&lab, 1, PERF_RECORD_SAMPLE, 40);
			took = reader_pass_round(lab.reader);
			assert_int_equal(took, held < least ? 0 : held);
			assert_int_equal(reader_stats(lab.reader)->rounds, took > 0);
			if (took)
				break;
		}
		put(&lab, 1, PERF_RECORD_SAMPLE, 40);
		assert_int_equal(reader_pass_all(lab.reader, false), 40);
		assert_int_equal(write_all(&lab, &err), 0);
		assert_int_equal(tally_get(lab.tally)->samples, lab.samples);
		lab_close(&lab);
	}
}

/* What sideband holds now: of a ring whose event is always readable, as @fd is here. */
static uint64_t wait_for_sideband(struct lab *lab, int fd)
{
	struct error err = ERROR_INIT;
	uint64_t bytes = 0;

	while (!bytes) {
		assert_int_equal(reader_wait(lab->reader, &fd, 1, &err), 0);
		assert_int_equal(reader_pass_ready(lab->reader, &bytes, &err), 0);
	}
	return bytes;
}

/*
 * Replaces the reader by one whose only ring, of sideband, has the event @fd (NULL: none); it keeps
 * @fd.
 */
static void watch_sideband(struct lab *lab, const int *fd)
{
	const struct reader_source source = {
		.memory = lab->rings[SIDEBAND].memory,
		.page_size = PAGE,
		.data_size = RING,
		.sideband = true,
		.fds = fd,
		.nr_fds = fd ? 1 : 0,
	};
	struct error err = ERROR_INIT;

	reader_free(lab->reader);
	assert_int_equal(reader_new(lab->fifo, NULL, true, &lab->reader, &err), 0);
	assert_int_equal(reader_add(lab->reader, &source, &err), 0);
}

/*
 * A ring of sideband that woke the reader is not polled for a while, and then again. What other
 * descriptors say is not kept waiting.
 */
static void test_sideband_is_quiet_and_comes_back(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;
	int readable = eventfd(1, EFD_CLOEXEC), wake = eventfd(1, EFD_CLOEXEC), fd = -1, other;
	int mapped[3];
	uint64_t bytes;

	lab_open(&lab, 4 * RING, NULL);
	watch_sideband(&lab, &readable);
	for (int i = 0; i < 3; i++) {
		put(&lab, SIDEBAND, PERF_RECORD_COMM, 40);
		assert_int_equal(wait_for_sideband(&lab, readable), 40);
		/*
		 * As when a CPU comes back: another event gets the descriptor. The mapping keeps
		 * the old one.
		 */
		mapped[i] = dup(readable);
		other = eventfd(1, EFD_CLOEXEC);
		assert_int_equal(dup3(other, readable, O_CLOEXEC), readable);
		close(other);
	}
	assert_int_equal(reader_watch(lab.reader, wake, &err), 0);
	while (reader_wait(lab.reader, &fd, 1, &err) == 0)
		assert_int_equal(reader_pass_ready(lab.reader, &bytes, &err), 0);
	assert_int_equal(fd, wake);
	for (int i = 0; i < 3; i++)
		close(mapped[i]);
	close(readable);
	close(wake);
	lab_close(&lab);
}

/*
 * What comes while the ring is quiet is taken when that ends, though epoll tells nothing of it: of
 * a perf event, polling it again clears the report. Here the descriptor is readable no more.
 */
static void test_what_comes_in_the_quiet(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;
	int readable = eventfd(0, EFD_CLOEXEC), late = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	const struct itimerspec wait = {.it_value.tv_sec = 10};
	uint64_t count = 1;

	lab_open(&lab, 4 * RING, NULL);
	watch_sideband(&lab, &readable);
	assert_int_equal(timerfd_settime(late, 0, &wait, NULL), 0);
	assert_int_equal(reader_watch(lab.reader, late, &err), 0);
	put(&lab, SIDEBAND, PERF_RECORD_COMM, 56); /* while the other rings are added */
	assert_int_equal(wait_for_sideband(&lab, readable), 56);
	assert_int_equal(write(readable, &count, sizeof(count)), sizeof(count));
	put(&lab, SIDEBAND, PERF_RECORD_COMM, 40);
	assert_int_equal(wait_for_sideband(&lab, readable), 40);
	assert_int_equal(read(readable, &count, sizeof(count)), sizeof(count));
	put(&lab, SIDEBAND, PERF_RECORD_COMM, 48);
	assert_int_equal(wait_for_sideband(&lab, readable), 48);
	close(readable);
	close(late);
	lab_close(&lab);
}

/* A ring without events wakes nobody: only a pass over all rings drains it. */
static void test_ring_without_events(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;
	int late = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), fd = -1;
	const struct itimerspec wait = {.it_value.tv_nsec = 100000000}; /* longer than a quiet */
	uint64_t bytes;

	lab_open(&lab, 4 * RING, NULL);
	watch_sideband(&lab, NULL);
	assert_int_equal(timerfd_settime(late, 0, &wait, NULL), 0);
	assert_int_equal(reader_watch(lab.reader, late, &err), 0);
	put(&lab, SIDEBAND, PERF_RECORD_COMM, 40);
	assert_int_equal(reader_wait(lab.reader, &fd, 1, &err), 1);
	assert_int_equal(fd, late);
	assert_int_equal(reader_pass_ready(lab.reader, &bytes, &err), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(reader_pass_all(lab.reader, false), 40);
	close(late);
	lab_close(&lab);
}

/* --- AUX areas -----------------------------------------------------------------------------------
 */

#define AREA 16384u

static char switched[16]; /* d and e: the events of the area were disabled, and enabled */

int __wrap_perf_event_disable(int fd);
int __wrap_perf_event_enable(int fd);

int __wrap_perf_event_disable(int fd)
{
	assert_true(strlen(switched) + 1 < sizeof(switched));
	strcat(switched, "d");
	return 0;
}

int __wrap_perf_event_enable(int fd)
{
	assert_true(strlen(switched) + 1 < sizeof(switched));
	strcat(switched, "e");
	return 0;
}

/* A ring of AUX records, whose area a trace of counted bytes fills. */
struct traced {
	uint8_t *memory, data[AREA];
	struct perf_event_mmap_page *page;
	struct aux_area area;
	struct fifo *fifo;
	struct reader *reader;
	struct keeper keeper;
	struct sink *tally;
	uint64_t made, head;
	int fd, event;
};

static void traced_open(struct traced *t, size_t memory)
{
	const struct tally_opts opts = {.time_at = 32};
	struct reader_source source = {.page_size = PAGE, .data_size = RING, .ring = 5, .cpu = 3};
	struct error err = ERROR_INIT;

	*t = (struct traced){.keeper.sink.ops = &keeper_ops,
			     .memory = calloc(1, PAGE + RING),
			     .fifo = fifo_new(memory)};
	*switched = 0;
	t->page = (void *)t->memory;
	t->tally = tally_new(&t->keeper.sink, &opts);
	t->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->area = (struct aux_area){.mode = AUX_FULL,
				    .index = 5,
				    .cpu = 3,
				    .task = 77,
				    .fds = &t->fd,
				    .nr_fds = 1,
				    .on = true};
	pthread_mutex_init(&t->area.lock, NULL);
	assert_int_equal(aux_stays_init(&t->area.stays, 64), 0);
	assert_int_equal(ring_init(&t->area.records, t->page, t->memory + PAGE, RING), 0);
	assert_int_equal(aux_ring_init(&t->area.ring, t->page, t->data, AREA, false), 0);
	source.memory = t->memory;
	source.aux = &t->area;
	source.fds = &t->event;
	source.nr_fds = 1;
	assert_int_equal(reader_new(t->fifo, NULL, true, &t->reader, &err), 0);
	assert_int_equal(reader_add(t->reader, &source, &err), 0);
}

static void traced_close(struct traced *t)
{
	reader_free(t->reader);
	sink_free(t->tally);
	fifo_free(t->fifo);
	pthread_mutex_destroy(&t->area.lock);
	aux_stays_release(&t->area.stays);
	buf_release(&t->keeper.bytes);
	free(t->memory);
	close(t->event);
}

static uint8_t traced_byte(uint64_t at)
{
	return (uint8_t)(at * 167 >> 3);
}

/* The hardware produces up to @bytes; returns how many had room. */
static uint64_t produce(struct traced *t, uint64_t bytes)
{
	uint64_t room = AREA - (t->made - t->page->aux_tail);

	bytes = bytes < room ? bytes : room;
	for (uint64_t i = 0; i < bytes; i++, t->made++)
		t->data[t->made & (AREA - 1)] = traced_byte(t->made);
	__atomic_store_n(&t->page->aux_head, t->made, __ATOMIC_RELEASE);
	return bytes;
}

static void put_aux(struct traced *t, uint64_t flags)
{
	const struct {
		struct perf_event_header h;
		uint64_t offset, size, flags, rest[4];
	} r = {.h = {.type = PERF_RECORD_AUX, .size = sizeof(r)},
	       .offset = t->page->aux_head,
	       .flags = flags};

	memcpy(t->memory + PAGE + (t->head & (RING - 1)), &r, sizeof(r));
	t->head += sizeof(r);
	t->page->data_head = t->head;
}

static void write_trace(struct traced *t)
{
	struct error err = ERROR_INIT;
	struct run run;

	fifo_mark(t->fifo, 1);
	while (!fifo_wait(t->fifo, &run)) {
		assert_int_equal(sink_write(t->tally, &run, &err), 0);
		fifo_done(t->fifo);
	}
}

/* All trace that has arrived is whole and in its order. Returns the bytes. */
static uint64_t check_trace(const struct traced *t)
{
	const struct buf *b = &t->keeper.bytes;
	struct pd_auxtrace_record r;
	uint64_t next = 0, records = 0;

	for (size_t at = 0; at < b->len; records++) {
		memcpy(&r.header, b->data + at, sizeof(r.header));
		if (r.header.type != PERF_RECORD_AUXTRACE) {
			records -= r.header.type == PERF_RECORD_FINISHED_ROUND;
			at += r.header.size;
			continue;
		}
		memcpy(&r, b->data + at, sizeof(r));
		assert_int_equal(r.header.size, sizeof(r));
		assert_int_equal(r.size % PD_AUXTRACE_ALIGN, 0);
		assert_int_equal(r.offset, next);
		assert_int_equal(r.idx, 5);
		assert_int_equal(r.cpu, 3);
		assert_int_equal(r.tid, 77);
		at += sizeof(r);
		assert_true(at + r.size <= b->len);
		for (uint64_t i = 0; i < r.size; i++, next += next < t->made)
			assert_int_equal(b->data[at + i], next < t->made ? traced_byte(next) : 0);
		at += r.size;
	}
	assert_int_equal(tally_get(t->tally)->odd, 0);
	assert_true(tally_get(t->tally)->records >= records);
	assert_int_equal(next, t->area.bytes);
	return next;
}

/* Any number of bytes, around the area's end: all arrive; only the last record is padded. */
static void test_trace_arrives(void **state)
{
	struct traced t;

	traced_open(&t, FIFO_MIN);
	srand(1);
	for (int pass = 0; pass < 500; pass++) {
		uint64_t before = t.made, left = t.made - t.page->aux_tail;

		produce(&t, (uint64_t)rand() % (AREA - 4097 - left));
		reader_pass_all(t.reader, false);
		write_trace(&t);
		assert_true(t.made - check_trace(&t) < 8);
		assert_true(t.made >= before && t.made - t.page->aux_tail < 8);
	}
	produce(&t, 3);
	reader_pass_all(t.reader, true);
	write_trace(&t);
	assert_int_equal(check_trace(&t), t.made);
	assert_string_equal(switched, "");
	traced_close(&t);
}

/* More than a piece: all AUXTRACE records but the last end at a page, wherever the first begins. */
static void test_pieces_of_trace_end_at_pages(void **state)
{
	const uint64_t size = 256 << 10, begin = 4096 + 64, end = begin + size - 4096;
	uint8_t *data = calloc(1, size);
	struct pd_auxtrace_record r;
	uint64_t next = begin, records = 0;
	struct traced t;

	traced_open(&t, FIFO_MIN);
	assert_int_equal(aux_ring_init(&t.area.ring, t.page, data, size, false), 0);
	t.area.ring.tail = t.page->aux_tail = begin;
	__atomic_store_n(&t.page->aux_head, end, __ATOMIC_RELEASE);
	reader_pass_all(t.reader, false);
	write_trace(&t);
	for (size_t at = 0; next < end; at += sizeof(r) + r.size, records++) {
		assert_true(at + sizeof(r) <= t.keeper.bytes.len);
		memcpy(&r, t.keeper.bytes.data + at, sizeof(r));
		assert_int_equal(r.header.type, PERF_RECORD_AUXTRACE);
		assert_int_equal(r.offset, next);
		next += r.size;
		assert_true(next == end || next % 4096 == 0);
	}
	assert_int_equal(next, end);
	assert_true(records > 1);
	traced_close(&t);
	free(data);
}

/* What finds no room in the fifo stays in the area, is not lost, and comes when there is room. */
static void test_trace_waits_for_room(void **state)
{
	struct traced t;
	uint64_t full = 0;

	traced_open(&t, FIFO_MIN);
	for (int pass = 0; pass < 200; pass++) {
		full += !produce(&t, AREA / 4);
		reader_pass_all(t.reader, false);
	}
	assert_true(full > 0 && reader_stats(t.reader)->full > 0);
	/* No restart before there is room. */
	assert_true(t.area.stopped);
	for (int pass = 0; pass < 3; pass++) {
		write_trace(&t);
		reader_pass_all(t.reader, false);
	}
	assert_false(t.area.stopped);
	write_trace(&t);
	assert_true(t.made - check_trace(&t) < 8);
	traced_close(&t);
}

/* An area that was full restarts its events once, though no record reports that they stopped. */
static void test_full_area_restarts(void **state)
{
	struct traced t;

	traced_open(&t, FIFO_MIN);
	produce(&t, AREA);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	assert_int_equal(t.area.restarts, 1);
	assert_int_equal(t.area.unreported, 1);
	produce(&t, AREA / 2);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	write_trace(&t);
	assert_int_equal(check_trace(&t), t.made);
	traced_close(&t);
}

/* An area of one page is not full with its first bytes. */
static void test_small_area_restarts_when_full(void **state)
{
	static const uint64_t held[] = {8, 800, PAGE - 72, PAGE - 64, PAGE};
	struct traced t;

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		traced_open(&t, FIFO_MIN);
		assert_int_equal(aux_ring_init(&t.area.ring, t.page, t.data, PAGE, false), 0);
		produce(&t, held[i]);
		reader_pass_all(t.reader, false);
		assert_string_equal(switched, held[i] < PAGE - 64 ? "" : "de");
		write_trace(&t);
		assert_int_equal(check_trace(&t), held[i]);
		traced_close(&t);
	}
}

/* Rings with an area do not wait for more records: a stop would last as long. */
static void test_aux_records_do_not_wait(void **state)
{
	struct traced t;

	traced_open(&t, FIFO_MIN);
	reader_set_least(t.reader, UINT64_MAX);
	put_aux(&t, PERF_AUX_FLAG_TRUNCATED);
	reader_pass_round(t.reader);
	assert_int_equal(t.page->data_tail, t.head);
	assert_string_equal(switched, "de");
	write_trace(&t);
	traced_close(&t);
}

static void test_truncated_trace_restarts(void **state)
{
	struct traced t;

	traced_open(&t, FIFO_MIN);
	produce(&t, 800);
	put_aux(&t, 0);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "");
	put_aux(&t, PERF_AUX_FLAG_TRUNCATED);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	assert_int_equal(t.area.truncated, 1);
	/* The session has switched the event off: it stays off. */
	t.area.on = false;
	put_aux(&t, PERF_AUX_FLAG_TRUNCATED);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	write_trace(&t);
	check_trace(&t);
	traced_close(&t);
}

/* Snapshots: the reader takes no trace; it looks at the records before it releases them. */
static void test_overwritten_area_is_looked_at(void **state)
{
	struct traced t;

	traced_open(&t, FIFO_MIN);
	assert_int_equal(aux_ring_init(&t.area.ring, t.page, t.data, AREA, true), 0);
	t.area.mode = AUX_SNAPSHOT;
	t.page->aux_head = 640;
	reader_pass_all(t.reader, false);
	assert_int_equal(t.area.stays.nr, 0);
	for (uint64_t i = 1; i <= 3 * RING / 64; i++) {
		t.page->aux_head = 640 * i;
		put_aux(&t, PERF_AUX_FLAG_OVERWRITE);
		reader_pass_all(t.reader, false);
		if (i % 256 == 0)
			write_trace(&t);
		assert_int_equal(t.page->data_tail, t.head);
		assert_int_equal(t.area.stays.nr, i < 64 ? i : t.area.stays.nr);
	}
	assert_int_equal(t.area.ring.position, 640 * (3 * RING / 64));
	/* A stop that the kernel made by itself ends here, too. */
	put_aux(&t, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_TRUNCATED);
	reader_pass_all(t.reader, false);
	assert_string_equal(switched, "de");
	write_trace(&t);
	assert_int_equal(t.page->aux_tail, 0);
	traced_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrives),
		cmocka_unit_test(test_no_mark_without_records),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_told_at_last),
		cmocka_unit_test(test_crowded),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_half_a_ring_stays),
		cmocka_unit_test(test_sideband_is_quiet_and_comes_back),
		cmocka_unit_test(test_what_comes_in_the_quiet),
		cmocka_unit_test(test_ring_without_events),
		cmocka_unit_test(test_trace_arrives),
		cmocka_unit_test(test_pieces_of_trace_end_at_pages),
		cmocka_unit_test(test_trace_waits_for_room),
		cmocka_unit_test(test_full_area_restarts),
		cmocka_unit_test(test_small_area_restarts_when_full),
		cmocka_unit_test(test_aux_records_do_not_wait),
		cmocka_unit_test(test_truncated_trace_restarts),
		cmocka_unit_test(test_overwritten_area_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
