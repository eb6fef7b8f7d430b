// SPDX-License-Identifier: Apache-2.0
/* The decoded branches of written traces are the true ones; damage becomes errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>

#include "auxtrace/coresight/coresight.h"
#include "etm-program.h"
#include "etm-setup.h"

#define FLIPS 10000

/* What a decoder told. */
struct told {
	struct etm_true_branch *branches;
	size_t nr, cap;
	size_t errors, damage, lost, insns, blocks;
	uint64_t insns_of_blocks;
	uint64_t offset, time; /* of the last branch */
	bool backward;	       /* a branch was before the one before it */
	uint32_t cpus;	       /* a bit for each cpu_plus_1 of branches */
	char first_error[160];
};

static const struct aux_decoder_ops *const ops = &aux_coresight_decoder;

static struct aux_stretch stretch_of(const struct buf *b)
{
	return (struct aux_stretch){
		.data = b->data, .len = b->len, .offset = 4096, .cpu = 1, .tid = UINT32_MAX};
}

static void take(const struct aux_event *e, uint32_t tid, struct told *t)
{
	if (tid && e->task.tid != tid && e->kind != AUX_EVENT_ERROR)
		return;
	switch (e->kind) {
	case AUX_EVENT_BRANCH:
		assert_int_equal(array_grow(&t->branches, &t->cap, t->nr + 1, sizeof(*t->branches)),
				 0);
		t->branches[t->nr++] = (struct etm_true_branch){e->ip, e->to, e->flags};
		t->backward |= e->time < t->time;
		t->cpus |= 1u << e->cpu_plus_1;
		t->offset = e->offset;
		t->time = e->time;
		break;
	case AUX_EVENT_BLOCK:
		t->blocks++;
		t->insns_of_blocks += e->insns;
		break;
	case AUX_EVENT_INSN:
		assert_int_equal(e->insn_len, 4);
		t->insns++;
		break;
	case AUX_EVENT_LOST: t->lost++; break;
	case AUX_EVENT_ERROR:
		if (!t->errors++)
			memcpy(t->first_error, e->text, sizeof(e->text));
		assert_true(*e->text);
		t->damage += e->cause == AUX_CAUSE_TRACE;
		break;
	default: fail();
	}
}

/* Decodes a stretch; @tid not 0: the branches of this thread alone. */
static void decode(const struct aux_setup *setup, const struct aux_stretch *s, unsigned int want,
		   uint32_t tid, void *kernel_missing, struct told *t)
{
	struct aux_code code = etm_program_code(kernel_missing);
	struct aux_decoder *d;
	struct aux_event e;
	int rc;

	assert_int_equal(ops->begin(setup, s, &code, want, &d), 0);
	while ((rc = ops->next(d, &e)) > 0) {
		assert_true(e.offset >= s->offset && e.offset <= s->offset + s->len);
		take(&e, tid, t);
	}
	assert_int_equal(rc, 0);
	ops->end(d);
}

static void told_release(struct told *t)
{
	free(t->branches);
}

static bool same(const struct etm_true_branch *a, const struct etm_true_branch *b)
{
	return a->ip == b->ip && a->to == b->to && a->flags == b->flags;
}

/* The last branch may wait for its target at the end of the trace. */
static void assert_branches(const struct told *t, const struct etm_run *run)
{
	for (size_t i = 0; i < t->nr && i < run->nr; i++) {
		const struct etm_true_branch *got = &t->branches[i], *want = &run->branches[i];

		if (i + 1 == t->nr && !got->to)
			break;
		if (!same(got, want))
			fail_msg("branch %zu is 0x%lx -> 0x%lx (%x), not 0x%lx -> 0x%lx (%x)", i,
				 got->ip, got->to, got->flags, want->ip, want->to, want->flags);
	}
	assert_true(t->nr == run->nr || (t->nr == run->nr + 1 && !t->branches[run->nr].to));
}

static void test_raw(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 40; seed++) {
		struct etm_plan plan = {.seed = seed,
					.tid = 77,
					.steps = 3000,
					.sync_every = seed % 2 ? 300 : 0,
					.user_only = seed % 4 > 1};
		struct aux_setup setup = etm_setup(true);
		struct aux_stretch s;
		struct told t = {0};
		struct etm_run run;

		setup.kernel = !plan.user_only;
		etm_run(&plan, &run);
		s = stretch_of(&run.writer.out);
		decode(&setup, &s, AUX_WANT_BRANCHES | AUX_WANT_BLOCKS | AUX_WANT_INSNS, 77, NULL,
		       &t);
		assert_branches(&t, &run);
		assert_int_equal(t.errors, 0);
		assert_int_equal(t.insns, t.insns_of_blocks);
		/* Instructions behind the last branch are not traced yet. */
		assert_true(t.insns <= run.insns && t.insns + 8 > run.insns);
		assert_true(t.time >= 5 + 40 * ETM_STAMP && !t.backward);
		assert_int_equal(t.cpus, 1);
		told_release(&t);
		etm_run_release(&run);
	}
}

/* An ETE writes the same packets. */
static void test_ete(void **state)
{
	static const uint64_t words[] = {
		1,	    8ull << 32 | 1, 0,	      0x5050505050505050, 1,	    9,
		ETM_CONFIG, ETM_ID_1,	    ETM_IDR0, 0x4100fff0,	  ETM_IDR2, 0,
		0x8c,	    0x47705a13,	    1};
	struct etm_plan plan = {.seed = 21, .tid = 77, .steps = 3000, .user_only = true};
	struct aux_setup setup = etm_setup(true);
	struct aux_stretch s;
	struct told t = {0};
	struct etm_run run;

	(void)state;
	setup.priv = words;
	setup.nr_priv = sizeof(words) / sizeof(*words);
	etm_run(&plan, &run);
	s = stretch_of(&run.writer.out);
	decode(&setup, &s, AUX_WANT_BRANCHES, 77, NULL, &t);
	assert_branches(&t, &run);
	assert_int_equal(t.errors, 0);
	told_release(&t);
	etm_run_release(&run);
}

/* Makes runs on both CPUs, of threads 77 and 78, and frames of them. */
static void make_frames(uint32_t seed, size_t steps, size_t sync_every, struct etm_run runs[2],
			struct buf *frames)
{
	static const uint8_t ids[] = {ETM_ID_0, ETM_ID_1};
	const struct buf *traces[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct etm_plan plan = {.seed = seed + 100 * i,
					.tid = 77 + i,
					.steps = steps + 100 * i,
					.sync_every = sync_every};

		etm_run(&plan, &runs[i]);
		traces[i] = &runs[i].writer.out;
	}
	etm_frames(frames, traces, ids, 2, seed);
}

static void release_frames(struct etm_run runs[2], struct buf *frames)
{
	for (int i = 0; i < 2; i++)
		etm_run_release(&runs[i]);
	buf_release(frames);
}

static void test_frames(void **state)
{
	struct aux_setup setup = etm_setup(false);

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct buf frames = {0};
		struct etm_run runs[2];
		struct aux_stretch s;

		make_frames(seed, 2000, seed % 2 * 200, runs, &frames);
		s = stretch_of(&frames);
		assert_int_equal(ops->sync(&setup, frames.data, frames.len, 0), 0);
		for (uint32_t i = 0; i < 2; i++) {
			struct told t = {0};

			decode(&setup, &s, AUX_WANT_BRANCHES, 77 + i, NULL, &t);
			assert_int_equal(t.errors, 0);
			assert_int_equal(t.cpus, 2u << i);
			assert_branches(&t, &runs[i]);
			told_release(&t);
		}
		release_frames(runs, &frames);
	}
}

/* Two stretches tell the same as one. */
static void assert_same_split(const struct aux_setup *setup, const struct buf *b)
{
	struct aux_stretch whole = stretch_of(b);
	struct told all = {0};
	size_t from = 0, pieces = 0, nr = 0;

	decode(setup, &whole, AUX_WANT_BRANCHES, 0, NULL, &all);
	while (from < b->len) {
		struct aux_stretch s = whole;
		struct told t = {0};
		size_t to = ops->sync(setup, b->data, b->len, from + 1);

		s.data += from;
		s.offset += from;
		s.len = to - from;
		s.more = b->len - to;
		decode(setup, &s, AUX_WANT_BRANCHES, 0, NULL, &t);
		if (t.errors)
			fail_msg("at %zu: %s", from, t.first_error);
		for (size_t i = 0; i < t.nr; i++, nr++) {
			assert_true(nr < all.nr);
			assert_int_equal(t.branches[i].ip, all.branches[nr].ip);
			assert_true(same(&t.branches[i], &all.branches[nr]));
		}
		told_release(&t);
		from = to;
		pieces++;
	}
	assert_int_equal(nr, all.nr);
	assert_true(pieces > 5);
	told_release(&all);
}

static void test_stretches(void **state)
{
	static const uint8_t id = ETM_ID_1;
	struct etm_plan plan = {.seed = 3, .tid = 77, .steps = 20000, .sync_every = 100};
	struct aux_setup setup = etm_setup(true);
	struct buf frames = {0};
	const struct buf *trace;
	struct etm_run run;

	(void)state;
	etm_run(&plan, &run);
	assert_same_split(&setup, &run.writer.out);
	setup = etm_setup(false);
	trace = &run.writer.out;
	etm_frames(&frames, &trace, &id, 1, 1);
	assert_same_split(&setup, &frames);
	buf_release(&frames);
	etm_run_release(&run);
}

static void test_missing_code(void **state)
{
	struct etm_plan plan = {.seed = 5, .tid = 77, .steps = 3000};
	struct aux_setup setup = etm_setup(true);
	struct aux_stretch s;
	struct told t = {0};
	struct etm_run run;
	size_t into = 0, of_user = 0, found = 0;

	(void)state;
	etm_run(&plan, &run);
	s = stretch_of(&run.writer.out);
	decode(&setup, &s, AUX_WANT_BRANCHES, 0, &plan, &t);
	assert_string_equal(t.first_error, "no code of " ETM_MISSING " at 0xffff800000010000");
	for (size_t i = 0; i < run.nr; i++) {
		into += run.branches[i].ip < ETM_KERNEL && run.branches[i].to >= ETM_KERNEL;
		of_user += run.branches[i].ip < ETM_KERNEL;
	}
	for (size_t i = 0; i < t.nr; i++)
		found += t.branches[i].ip < ETM_KERNEL;
	/* One for each place that the trace leads to. */
	assert_true(t.errors >= into);
	assert_int_equal(t.damage, 0);
	assert_int_equal(found, of_user);
	told_release(&t);
	etm_run_release(&run);
}

/* A mapping of zeros has no branch: decoding it ends, and soon. */
static int read_zeros(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		      void *buf, size_t len, const char **ret_missing)
{
	(void)task;
	(void)time;
	(void)addr;
	(void)ret_missing;
	memset(buf, 0, len);
	++*(size_t *)arg;
	return (int)len;
}

static void test_no_branch(void **state)
{
	struct aux_setup setup = etm_setup(true);
	struct etm_writer w = {.tid = 77};
	size_t reads = 0, errors = 0;
	struct aux_code code = {read_zeros, etm_program_code(NULL).task_on, &reads};
	struct aux_decoder *d;
	struct aux_stretch s;
	struct aux_event e;

	(void)state;
	etm_sync(&w, ETM_USER);
	for (size_t i = 0; i < 1000; i++) {
		etm_target(&w, ETM_USER + (i << 20));
		etm_atom(&w, true);
	}
	etm_flush(&w);
	s = stretch_of(&w.out);
	assert_int_equal(ops->begin(&setup, &s, &code, AUX_WANT_BRANCHES, &d), 0);
	for (; ops->next(d, &e) > 0; errors++)
		assert_non_null(strstr(e.text, "no branch in the code before 0x"));
	ops->end(d);
	assert_int_equal(errors, 1000);
	assert_true(reads < 1000 * 8);
	buf_release(&w.out);
}

/* The address space ends at 0, and so does code that branches there. */
static int read_at_ends(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
			void *buf, size_t len, const char **ret_missing)
{
	(void)task;
	(void)time;
	(void)arg;
	(void)ret_missing;
	if (addr > UINT64_MAX - len)
		return -ENOENT;
	for (size_t i = 0; i < len; i++, addr++)
		/* At 0 `b -4`, then nop. */
		((uint8_t *)buf)[i] =
			"\xff\xff\xff\x17\x1f\x20\x03\xd5"[addr < 4 ? addr : 4 + addr % 4];
	return (int)len;
}

static void test_ends_of_address_space(void **state)
{
	static const uint64_t places[] = {0, UINT64_MAX - 3, UINT64_MAX - 8195, UINT64_MAX - 4095};
	struct aux_setup setup = etm_setup(true);
	struct etm_writer w = {.tid = 77};
	struct aux_code code = {read_at_ends, etm_program_code(NULL).task_on, NULL};
	struct aux_decoder *d;
	struct aux_stretch s;
	struct aux_event e;
	size_t errors = 0;

	(void)state;
	etm_sync(&w, ETM_USER);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		etm_target(&w, places[i]);
		etm_atom(&w, true);
	}
	etm_flush(&w);
	s = stretch_of(&w.out);
	assert_int_equal(ops->begin(&setup, &s, &code, AUX_WANT_BRANCHES, &d), 0);
	while (ops->next(d, &e) > 0)
		errors += e.kind == AUX_EVENT_ERROR;
	ops->end(d);
	assert_int_equal(errors, sizeof(places) / sizeof(*places));
	buf_release(&w.out);
}

/* What was not told is taken back: at most errors. */
static void assert_taken_back(const char *packets, size_t len, uint64_t depth)
{
	struct aux_setup setup = etm_setup(true);
	uint64_t words[sizeof(etm_words) / sizeof(*etm_words)];
	struct etm_writer w = {.tid = 77};
	struct aux_stretch s;
	struct told t = {0};

	memcpy(words, etm_words, sizeof(words));
	words[11] = words[22] = depth;
	setup.priv = words;
	etm_sync(&w, ETM_USER);
	etm_trace_on(&w, ETM_USER);
	assert_int_equal(buf_append(&w.out, packets, len), 0);
	etm_sync(&w, ETM_USER);
	etm_trace_on(&w, ETM_USER);
	etm_atom(&w, true);
	etm_target(&w, ETM_USER + 64);
	etm_atom(&w, true);
	etm_flush(&w);
	s = stretch_of(&w.out);
	decode(&setup, &s, AUX_WANT_BRANCHES, 0, NULL, &t);
	assert_true(depth || t.errors);
	told_release(&t);
	buf_release(&w.out);
}

static void test_speculation(void **state)
{
	static const char *const packets[] = {
		"\x2e", "\x2f", "\x30", "\x34", "\x38", "\x2e\x30", "\xf7\x2f\x2f\x30"};

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++)
		for (uint64_t depth = 0; depth <= 8; depth += 4)
			assert_taken_back(packets[i], strlen(packets[i]), depth);
}

static void test_overflow(void **state)
{
	struct aux_setup setup = etm_setup(true);
	struct etm_writer w = {.tid = 77};
	struct aux_stretch s;
	struct told t = {0};

	(void)state;
	etm_sync(&w, ETM_USER);
	etm_trace_on(&w, ETM_USER);
	etm_atom(&w, true);
	etm_overflow(&w);
	etm_sync(&w, ETM_USER);
	etm_trace_on(&w, ETM_USER);
	etm_atom(&w, true);
	etm_flush(&w);
	s = stretch_of(&w.out);
	decode(&setup, &s, AUX_WANT_BRANCHES, 0, NULL, &t);
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.errors, 0);
	/* Begin, the call with unknown target; begin, the call at the end. */
	assert_int_equal(t.nr, 4);
	assert_int_equal(t.branches[1].flags, AUX_BRANCH | AUX_CALL | AUX_TRACE_END);
	assert_int_equal(t.branches[3].flags, AUX_BRANCH | AUX_CALL);
	told_release(&t);
	buf_release(&w.out);
}

/* Each prefix of a trace tells a prefix of the branches. */
static void assert_prefixes(bool raw, const struct buf *b, size_t unit)
{
	struct aux_setup setup = etm_setup(raw);
	struct aux_stretch s = stretch_of(b);
	struct told all = {0};

	decode(&setup, &s, AUX_WANT_BRANCHES, 0, NULL, &all);
	for (s.len = 0; s.len <= b->len; s.len++) {
		struct told t = {0};
		/* A copy, so that a byte too many is seen. */
		uint8_t *copy = malloc(s.len ? s.len : 1);

		assert_non_null(copy);
		memcpy(copy, b->data, s.len);
		s.data = copy;
		decode(&setup, &s, AUX_WANT_BRANCHES, 0, NULL, &t);
		assert_int_equal(t.errors, s.len % unit != 0);
		for (size_t i = 0; i < t.nr; i++)
			if (t.branches[i].to)
				assert_true(i < all.nr);
		told_release(&t);
		free(copy);
	}
	told_release(&all);
}

static void test_cut(void **state)
{
	struct etm_plan plan = {.seed = 9, .tid = 77, .steps = 1500, .sync_every = 200};
	struct etm_run run, runs[2];
	struct buf frames = {0};

	(void)state;
	etm_run(&plan, &run);
	assert_prefixes(true, &run.writer.out, 1);
	etm_run_release(&run);
	make_frames(9, 500, 100, runs, &frames);
	assert_prefixes(false, &frames, 16);
	release_frames(runs, &frames);
}

static void assert_flips(bool raw, const struct buf *b)
{
	struct aux_setup setup = etm_setup(raw);
	struct aux_stretch s = stretch_of(b);
	uint32_t seed = 1, with_errors = 0;

	for (int i = 0; i < FLIPS / 2; i++) {
		struct told t = {0};
		size_t at;
		uint8_t bit;

		seed = seed * 1664525u + 1013904223u;
		at = (seed >> 8) % b->len;
		bit = (uint8_t)(1u << (seed >> 4 & 7));
		b->data[at] ^= bit;
		decode(&setup, &s, AUX_WANT_BRANCHES | AUX_WANT_BLOCKS, 0, NULL, &t);
		with_errors += t.damage > 0;
		/* An atom is a quarter of a bit at the least. */
		assert_true(t.nr + t.blocks + t.errors <= 64 * b->len);
		told_release(&t);
		b->data[at] ^= bit;
	}
	/* Others change an address, or say that a branch was taken that was not. */
	assert_true(with_errors > FLIPS / 50);
}

static void test_flips(void **state)
{
	struct etm_plan plan = {.seed = 11, .tid = 77, .steps = 800, .sync_every = 200};
	struct etm_run run, runs[2];
	struct buf frames = {0};

	(void)state;
	etm_run(&plan, &run);
	assert_flips(true, &run.writer.out);
	etm_run_release(&run);
	make_frames(11, 300, 100, runs, &frames);
	assert_flips(false, &frames);
	release_frames(runs, &frames);
}

/* Part of the work of a thread: damaged traces, so that libopencsd has errors to log. */
static void *decode_often(void *arg)
{
	const struct buf *b = arg;
	struct aux_setup setup = etm_setup(true);
	struct aux_stretch s = stretch_of(b);
	struct aux_code code = etm_program_code(NULL);
	uintptr_t nr = 0;

	for (int i = 0; i < 50; i++) {
		struct aux_decoder *d;
		struct aux_event e;

		if (ops->begin(&setup, &s, &code, AUX_WANT_BRANCHES, &d))
			return NULL;
		while (ops->next(d, &e) > 0)
			nr += 1 + (e.kind == AUX_EVENT_ERROR);
		ops->end(d);
	}
	return (void *)nr;
}

static void test_threads(void **state)
{
	struct etm_plan plan = {.seed = 11, .tid = 77, .steps = 800, .sync_every = 100};
	struct etm_run run;
	pthread_t threads[4];
	void *alone;

	(void)state;
	etm_run(&plan, &run);
	for (size_t i = 50; i < run.writer.out.len; i += 40)
		run.writer.out.data[i] ^= 0x55;
	alone = decode_often(&run.writer.out);
	assert_non_null(alone);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, decode_often, &run.writer.out),
				 0);
	for (int i = 0; i < 4; i++) {
		void *got;

		assert_int_equal(pthread_join(threads[i], &got), 0);
		assert_ptr_equal(got, alone);
	}
	etm_run_release(&run);
}

static void test_unknown(void **state)
{
	static const uint8_t ids[] = {0x20};
	struct etm_plan plan = {.seed = 1, .tid = 77, .steps = 100};
	struct aux_setup setup = etm_setup(false);
	struct aux_code code = etm_program_code(NULL);
	struct aux_stretch s;
	struct aux_decoder *d = NULL;
	struct buf frames = {0};
	const struct buf *trace;
	struct told t = {0};
	struct etm_run run;

	(void)state;
	etm_run(&plan, &run);
	trace = &run.writer.out;
	etm_frames(&frames, &trace, ids, 1, 1);
	s = stretch_of(&frames);
	decode(&setup, &s, AUX_WANT_BRANCHES, 0, NULL, &t);
	assert_string_equal(t.first_error, "the recording has no unit of this trace ID");
	assert_int_equal(t.nr, 0);
	setup = etm_setup(true);
	s = stretch_of(trace);
	s.cpu = 5;
	assert_int_equal(ops->begin(&setup, &s, &code, AUX_WANT_BRANCHES, &d), -ENOTSUP);
	told_release(&t);
	buf_release(&frames);
	etm_run_release(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),	     cmocka_unit_test(test_ete),
		cmocka_unit_test(test_frames),	     cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_missing_code), cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_cut),	     cmocka_unit_test(test_flips),
		cmocka_unit_test(test_unknown),	     cmocka_unit_test(test_threads),
		cmocka_unit_test(test_speculation),  cmocka_unit_test(test_ends_of_address_space),
		cmocka_unit_test(test_no_branch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
