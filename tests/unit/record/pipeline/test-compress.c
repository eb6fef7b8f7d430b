// SPDX-License-Identifier: Apache-2.0
/*
 * Sends random runs of records through the stage that compresses. Its output must be records, each
 * frame complete in itself and of whole records, and all frames together the input, in its order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <time.h>
#include <zstd.h>

#include "base/buf.h"
#include "perfdata/abi.h"
#include "record/history/pack.h"

#define HEADER sizeof(struct perf_event_header)

/* --- a sink that keeps what it gets ------------------------------------------------------------
 */

struct keeper {
	struct sink sink;
	struct buf got;
	unsigned int flushes, writes;
	int fail; /* errno of the next write */
};

static int keeper_write(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	k->writes++;
	if (k->fail)
		return error_set(err, k->fail, "as the test wants it");
	assert_int_equal(buf_append(&k->got, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->got, run->b, run->b_len), 0);
	return 0;
}

static int keeper_flush(struct sink *s, struct error *err)
{
	((struct keeper *)s)->flushes++;
	return 0;
}

static const struct sink_ops keeper_ops = {.write = keeper_write, .flush = keeper_flush};

/* --- records ------------------------------------------------------------------------------------
 */

static uint64_t random_state = 88172645463325252ull;

static uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

enum content {
	ZEROS,
	NOISE,
	SAMPLES, /* as much alike as samples are */
	MIXED,
};

/* Appends a record of @size bytes. Type 1 to 9: never one that a stage looks at. */
static void add_record(struct buf *b, size_t size, enum content content)
{
	struct perf_event_header h = {.type = (uint32_t)(1 + rnd(9)), .size = (uint16_t)size};
	size_t at = b->len + HEADER;
	uint64_t word = 0;

	if (content == MIXED)
		content = (enum content)rnd(3);
	assert_int_equal(buf_append(b, &h, HEADER), 0);
	assert_int_equal(buf_zero(b, size - HEADER), 0);
	for (; at < b->len && content != ZEROS; at += sizeof(word)) {
		word = content == NOISE ? rnd(UINT64_MAX) : rnd(16) ? word : rnd(1000);
		memcpy(b->data + at, &word, sizeof(word));
	}
}

static size_t record_size(size_t most)
{
	static const size_t shapes[] = {8, 16, 136, 136, 136, 1024, 8192, 65528};
	size_t size = shapes[rnd(8)];

	if (!rnd(3))
		size = 8 + 8 * rnd(8190);
	return size < most ? size : most;
}

/* A run over the bytes of @b, in two spans of which the first has @a_len. */
static struct run run_of(const struct buf *b, size_t a_len)
{
	return (struct run){
		.a = b->data,
		.a_len = a_len,
		.b = a_len < b->len ? b->data + a_len : NULL,
		.b_len = b->len - a_len,
		.ring = (unsigned int)rnd(4),
		.cpu = 0,
	};
}

/* --- what must be true of the output ------------------------------------------------------------
 */

struct unpacked {
	struct buf bytes; /* all records, those of frames included */
	size_t frames, plain, largest;
	size_t seen; /* bytes of the keeper's */
};

/* The walk of a reader: false if @len bytes are not whole records. */
static bool whole_records(const uint8_t *p, size_t len)
{
	struct perf_event_header h;

	while (len >= HEADER) {
		memcpy(&h, p, HEADER);
		if (h.size < HEADER || h.size > len)
			return false;
		p += h.size;
		len -= h.size;
	}
	return !len;
}

/* One frame, by a context that has seen no other, in one call: so perf does it. */
static void unpack_frame(const uint8_t *p, size_t len, struct unpacked *u)
{
	static uint8_t out[COMPRESS_MMAP_LEN];
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	ZSTD_outBuffer to = {out, COMPRESS_MMAP_LEN, 0};
	ZSTD_inBuffer from = {p, len, 0};

	assert_int_equal(ZSTD_decompressStream(ctx, &to, &from), 0);
	assert_int_equal(from.pos, len);
	assert_true(to.pos > 0 && to.pos <= COMPRESS_INPUT);
	assert_true(to.pos > len + HEADER);
	assert_true(whole_records(out, to.pos));
	assert_int_equal(buf_append(&u->bytes, out, to.pos), 0);
	u->largest = to.pos > u->largest ? to.pos : u->largest;
	u->frames++;
	ZSTD_freeDCtx(ctx);
}

/* Takes apart what the keeper has got since the last time. */
static void unpack(const struct keeper *k, struct unpacked *u)
{
	struct perf_event_header h;

	assert_true(whole_records(k->got.data + u->seen, k->got.len - u->seen));
	while (u->seen < k->got.len) {
		const uint8_t *p = k->got.data + u->seen;

		memcpy(&h, p, HEADER);
		if (h.type == PERF_RECORD_COMPRESSED) {
			unpack_frame(p + HEADER, h.size - HEADER, u);
		} else {
			assert_int_equal(buf_append(&u->bytes, p, h.size), 0);
			u->plain++;
		}
		u->seen += h.size;
	}
}

static void expect_all(const struct unpacked *u, const struct buf *in)
{
	assert_int_equal(u->bytes.len, in->len);
	assert_memory_equal(u->bytes.data, in->data, in->len);
}

/* What the stage says of itself agrees with what came out. */
static void expect_stats(const struct sink *s, const struct buf *in, size_t out, size_t marks)
{
	const struct compress_stats *stats = compress_stats(s);
	uint64_t sum_in = stats->stored, sum_out = stats->stored;

	for (int i = 0; i < COMPRESS_LEVELS; i++) {
		sum_in += stats->levels[i].in;
		sum_out += stats->levels[i].out;
	}
	assert_int_equal(sum_in, in->len - marks * HEADER);
	assert_int_equal(sum_out, out - marks * HEADER);
}

/* --- tests ---------------------------------------------------------------------------------------
 */

struct fixture {
	struct keeper keeper;
	struct sink *stage;
	struct buf in; /* all that was given */
	struct unpacked out;
	struct error err;
};

static void begin(struct fixture *f, int level)
{
	*f = (struct fixture){.keeper.sink.ops = &keeper_ops, .err = ERROR_INIT};
	f->stage = compress_new(&f->keeper.sink, level);
	assert_non_null(f->stage);
}

static void end(struct fixture *f)
{
	sink_free(f->stage);
	buf_release(&f->keeper.got);
	buf_release(&f->in);
	buf_release(&f->out.bytes);
}

static void give(struct fixture *f, const struct buf *b, size_t a_len)
{
	struct run run = run_of(b, a_len);

	assert_int_equal(sink_write(f->stage, &run, &f->err), 0);
	assert_int_equal(buf_append(&f->in, b->data, b->len), 0);
}

static void flush(struct fixture *f)
{
	unsigned int flushes = f->keeper.flushes;

	assert_int_equal(sink_flush(f->stage, &f->err), 0);
	assert_int_equal(f->keeper.flushes, flushes + 1);
}

static void mark(struct fixture *f)
{
	const struct perf_event_header h = {.type = PERF_RECORD_FINISHED_ROUND, .size = HEADER};
	struct perf_event_header last;

	assert_int_equal(sink_record(f->stage, &h, &f->err), 0);
	assert_int_equal(buf_append(&f->in, &h, HEADER), 0);
	/* It is on its way, as itself, behind all that came before. */
	memcpy(&last, f->keeper.got.data + f->keeper.got.len - HEADER, HEADER);
	assert_memory_equal(&last, &h, HEADER);
}

/* After a flush: all is there. */
static void expect(struct fixture *f, size_t marks)
{
	unpack(&f->keeper, &f->out);
	expect_all(&f->out, &f->in);
	expect_stats(f->stage, &f->in, f->keeper.got.len, marks);
}

/* Runs of one content, split anywhere, with flushes and marks in between. */
static void random_runs(enum content content, int level, size_t most)
{
	struct fixture f;
	size_t marks = 0;

	begin(&f, level);
	for (int i = 0; i < 60; i++) {
		struct buf b = {0};
		size_t records = rnd(rnd(8) ? 20 : 300);

		for (size_t r = 0; r < records; r++)
			add_record(&b, record_size(most), content);
		give(&f, &b, rnd(2) ? b.len : rnd(b.len / 8 + 1) * 8);
		buf_release(&b);
		if (!rnd(6)) {
			mark(&f);
			marks++;
		}
		if (!rnd(6)) {
			flush(&f);
			expect(&f, marks);
		}
	}
	flush(&f);
	expect(&f, marks);
	end(&f);
}

static void random_runs_come_out_whole(void **state)
{
	for (int round = 0; round < 3; round++) {
		random_runs(ZEROS, 1, 65528);
		random_runs(NOISE, 1, 65528);
		random_runs(SAMPLES, 3, 65528);
		random_runs(MIXED, 1, 65528);
		random_runs(MIXED, 1, 136);
	}
	random_runs(MIXED, 7, 65528);
}

/* A run that is split at each byte where a ring can end. */
static void every_cut(void **state)
{
	struct buf b = {0};

	for (int i = 0; i < 20; i++)
		add_record(&b, 8 + 8 * rnd(20), SAMPLES);
	for (size_t cut = 0; cut <= b.len; cut += 8) {
		struct fixture f;

		begin(&f, 1);
		give(&f, &b, cut);
		give(&f, &b, b.len - cut);
		flush(&f);
		expect(&f, 0);
		end(&f);
	}
	buf_release(&b);
}

static void small_runs_share_a_frame(void **state)
{
	struct fixture f;

	begin(&f, 1);
	for (int i = 0; i < 5000; i++) {
		struct buf b = {0};

		add_record(&b, 136, SAMPLES);
		give(&f, &b, b.len);
		buf_release(&b);
	}
	flush(&f);
	expect(&f, 0);
	assert_int_equal(f.out.plain, 0);
	assert_int_equal(f.out.frames, (5000 * 136 + COMPRESS_INPUT - 1) / COMPRESS_INPUT);
	assert_true(f.out.largest > COMPRESS_INPUT - 136);
	end(&f);
}

/* Records that do not get smaller are passed on as they are, and cost no more than themselves. */
static void noise_stays_as_it_is(void **state)
{
	struct buf b = {0};
	struct fixture f;

	begin(&f, 1);
	for (int i = 0; i < 40; i++)
		add_record(&b, 65528, NOISE);
	give(&f, &b, b.len);
	flush(&f);
	expect(&f, 0);
	assert_int_equal(f.out.frames, 0);
	assert_int_equal(f.keeper.got.len, b.len);
	assert_int_equal(compress_stats(f.stage)->stored, b.len);
	buf_release(&b);
	end(&f);
}

/* What zstd makes barely smaller fits in frames of fewer records. */
static void halves_fit(void **state)
{
	struct buf b = {0};
	struct fixture f;

	begin(&f, 1);
	for (int i = 0; i < 4000; i++)
		add_record(&b, 512, i % 3 ? NOISE : ZEROS);
	give(&f, &b, b.len);
	flush(&f);
	expect(&f, 0);
	assert_int_equal(f.out.plain, 0);
	assert_true(f.out.largest < COMPRESS_INPUT);
	buf_release(&b);
	end(&f);
}

/* Frames of each size around the largest that a record can hold. */
static void largest_frame_fits(void **state)
{
	unsigned int frames = 0, plain = 0;

	for (size_t noise = 65350; noise <= 65520; noise++) {
		struct buf b = {0};
		struct fixture f;

		begin(&f, 1);
		add_record(&b, 65528, NOISE);
		memset(b.data + HEADER + noise, 0, b.len - HEADER - noise);
		add_record(&b, 4096, ZEROS);
		give(&f, &b, b.len);
		flush(&f);
		expect(&f, 0);
		frames += f.out.plain == 0;
		plain += f.out.plain > 0;
		buf_release(&b);
		end(&f);
	}
	assert_true(frames && plain);
}

/* A run that nobody can make records of is passed on byte by byte, behind what came before. */
static void odd_run_is_kept(void **state)
{
	const struct perf_event_header empty = {.type = 9};
	struct buf good = {0}, odd = {0};
	struct fixture f;

	add_record(&good, 136, SAMPLES);
	add_record(&odd, 64, SAMPLES);
	assert_int_equal(buf_append(&odd, &empty, HEADER), 0);
	assert_int_equal(buf_zero(&odd, 40), 0);
	for (size_t cut = 0; cut <= odd.len; cut += 8) {
		struct run run = run_of(&odd, cut);

		begin(&f, 1);
		give(&f, &good, good.len);
		assert_int_equal(sink_write(f.stage, &run, &f.err), 0);
		assert_true(f.keeper.got.len >= 48);
		assert_memory_equal(f.keeper.got.data + f.keeper.got.len - 48, odd.data + 64, 48);
		end(&f);
	}
	buf_release(&good);
	buf_release(&odd);
}

static void errors_are_handed_on(void **state)
{
	struct buf b = {0};
	struct fixture f;
	struct run run;

	begin(&f, 1);
	add_record(&b, 136, SAMPLES);
	give(&f, &b, b.len);
	f.keeper.fail = -ENOSPC;
	assert_int_equal(sink_flush(f.stage, &f.err), -ENOSPC);
	assert_int_equal(f.keeper.flushes, 0);
	for (int i = 0; i < 4000; i++)
		add_record(&b, 136, SAMPLES);
	run = run_of(&b, b.len);
	assert_int_equal(sink_write(f.stage, &run, &f.err), -ENOSPC);
	buf_release(&b);
	end(&f);
}

/* --- level ---------------------------------------------------------------------------------------
 */

/* The fifos of these tests are numbers: how full they are. */
unsigned int __wrap_fifo_fullness(struct fifo *f);

unsigned int __wrap_fifo_fullness(struct fifo *f)
{
	return *(const unsigned int *)f;
}

static void watch(struct fixture *f, size_t room, unsigned int *fullness)
{
	compress_watch(f->stage, room, (struct fifo *)fullness);
}

static uint64_t bytes_at(const struct fixture *f, int level)
{
	return compress_stats(f->stage)->levels[level - COMPRESS_LEVEL_FASTEST].in;
}

/* One frame while rings are @full; returns the level it was made at. */
static int level_when(struct fixture *f, unsigned int *fullness, unsigned int full)
{
	struct compress_stats before = *compress_stats(f->stage);
	struct buf b = {0};
	int found = COMPRESS_LEVEL_MAX + 1;

	*fullness = full;
	for (int i = 0; i < 100; i++)
		add_record(&b, 136, SAMPLES);
	give(f, &b, b.len);
	flush(f);
	for (int i = 0; i < COMPRESS_LEVELS; i++) {
		if (compress_stats(f->stage)->levels[i].in == before.levels[i].in)
			continue;
		assert_int_equal(found, COMPRESS_LEVEL_MAX + 1);
		found = i + COMPRESS_LEVEL_FASTEST;
		assert_int_equal(bytes_at(f, found), before.levels[i].in + b.len);
	}
	buf_release(&b);
	return found;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void level_drops_while_rings_fill(void **state)
{
	unsigned int full = 0;
	struct fixture f;
	double before;
	int level;

	begin(&f, 19);
	assert_int_equal(level_when(&f, &full, 99), 19); /* nobody reports rings yet */
	watch(&f, 0, &full);
	assert_int_equal(level_when(&f, &full, 0), 19);
	assert_int_equal(level_when(&f, &full, 19), 19);
	assert_int_equal(compress_stats(f.stage)->lowered, 0);
	assert_int_equal(level_when(&f, &full, 30), 9);
	assert_int_equal(level_when(&f, &full, 30), 9);
	assert_int_equal(compress_stats(f.stage)->lowered, 1);
	before = seconds();
	assert_int_equal(level_when(&f, &full, 55), 1);
	assert_int_equal(compress_stats(f.stage)->lowered, 2);
	level = level_when(&f, &full, 0);
	assert_true(level == 1 || seconds() - before > 1);
	assert_int_equal(level_when(&f, &full, 74), COMPRESS_LEVEL_FASTEST);
	expect(&f, 0);
	end(&f);
}

/* What waits for it, not how full that is, is what a flush and the end wait for. */
static void level_drops_when_behind(void **state)
{
	const size_t little = 100 * 1024, much = (size_t)1 << 50;
	unsigned int full = 0;
	struct fixture f;

	(void)state;
	begin(&f, 22);
	watch(&f, little, &full);
	for (int i = 0; i < 3; i++)
		assert_int_equal(level_when(&f, &full, 1), 22);
	watch(&f, much, &full);
	assert_int_equal(level_when(&f, &full, 0), 22);
	assert_int_equal(level_when(&f, &full, 1), 19);
	/* Its speed is not known before there was a frame at it. */
	assert_int_equal(level_when(&f, &full, 1), 16);
	assert_int_equal(compress_stats(f.stage)->lowered, 2);
	expect(&f, 0);
	end(&f);
}

/* The CPU is the load's, too. Whatever else runs, these frames take more than a hundredth of it. */
static void level_drops_when_it_takes_too_much(void **state)
{
	unsigned int full = 0;
	struct fixture f;
	double begun;
	int level;

	(void)state;
	begin(&f, 22);
	watch(&f, 0, &full);
	assert_int_equal(level_when(&f, &full, 0), 22);
	compress_bound(f.stage, 1);
	begun = seconds();
	while ((level = level_when(&f, &full, 0)) == 22) {
		assert_int_equal(compress_stats(f.stage)->costly, 0);
		assert_true(seconds() - begun < 300);
	}
	assert_int_equal(level, 19);
	assert_int_equal(compress_stats(f.stage)->costly, 1);
	assert_int_equal(compress_stats(f.stage)->lowered, 0);
	expect(&f, 0);
	end(&f);
}

static void level_rises_when_rings_are_calm(void **state)
{
	const struct timespec pause = {.tv_sec = 1, .tv_nsec = 50000000};
	unsigned int full = 0;
	struct fixture f;
	double calm;
	int level;

	begin(&f, 3);
	watch(&f, 0, &full);
	assert_int_equal(level_when(&f, &full, 55), 1);
	nanosleep(&pause, NULL);
	calm = seconds();
	assert_int_equal(level_when(&f, &full, 40), 1); /* below the limit, but not calm */
	level = level_when(&f, &full, 10);
	assert_true(level == 1 || seconds() - calm > 1);
	nanosleep(&pause, NULL);
	level_when(&f, &full, 10); /* goes out at the new level */
	assert_int_equal(level_when(&f, &full, 10), 3);
	expect(&f, 0);
	end(&f);
}

/* --- figures -------------------------------------------------------------------------------------
 */

static void feature_has_the_ratio(void **state)
{
	struct compress_stats one = {.asked = 3}, sum = {0};
	struct pd_compression v;

	compress_feature(&one, &v);
	assert_int_equal(v.version, 1);
	assert_int_equal(v.type, 1);
	assert_int_equal(v.level, 3);
	assert_int_equal(v.ratio, 0);
	assert_int_equal(v.mmap_len, COMPRESS_MMAP_LEN);

	one.levels[3 - COMPRESS_LEVEL_FASTEST] = (struct compress_level){900, 50};
	one.stored = 50;
	compress_stats_add(&sum, &one);
	compress_stats_add(&sum, &one);
	compress_feature(&sum, &v);
	assert_int_equal(v.level, 3);
	assert_int_equal(v.ratio, 10); /* 1900 / 200 */
}

static void every_level_has_its_memory(void **state)
{
	for (int level = 1; level <= COMPRESS_LEVEL_MAX; level++) {
		struct fixture f;

		begin(&f, level);
		assert_int_equal(compress_stats(f.stage)->asked, level);
		assert_true(compress_stats(f.stage)->memory > COMPRESS_INPUT);
		assert_true(compress_stats(f.stage)->memory < (16u << 20));
		end(&f);
	}
	sink_free(NULL);
}

/* --- chunks that stay in memory ------------------------------------------------------------------
 */

/* Each chunk becomes frames that stand alone, or is refused; none of another one is in it. */
static void chunks_are_packed(void **state)
{
	struct packer *p = packer_new(1);
	unsigned int full = 0;

	assert_non_null(p);
	assert_true(packer_may(p));
	packer_watch(p, 0, (struct fifo *)&full);
	for (int i = 0; i < 60; i++) {
		enum content content = i % 3 ? SAMPLES : NOISE;
		struct keeper k = {0};
		struct buf in = {0};
		struct unpacked u = {0};
		const uint8_t *out = NULL;

		while (in.len < 16 * 1024 + rnd(112 * 1024))
			add_record(&in, record_size(1024), content);
		k.got.len = packer_pack(in.data, in.len, &out, p);
		k.got.data = (uint8_t *)out;
		assert_true(k.got.len <= (content == NOISE ? in.len : in.len / 2));
		unpack(&k, &u);
		expect_all(&u, &in);
		buf_release(&in);
		buf_release(&u.bytes);
	}
	full = PACK_CALM;
	assert_false(packer_may(p));
	packer_free(p);
}

/*
 * An AUXTRACE record and its trace pass as they are. The records before it stay before it if it
 * belongs to a snapshot; else they are gathered on.
 */
static void traces_pass(void **state)
{
	struct perf_event_header h = {.type = PERF_RECORD_AUXTRACE, .size = 48};
	struct fixture f;
	struct buf records = {0}, trace = {0};

	for (int i = 0; i < 4; i++)
		add_record(&records, 136, ZEROS);
	assert_int_equal(buf_append(&trace, &h, HEADER), 0);
	assert_int_equal(buf_zero(&trace, 48 + 4096 - HEADER), 0);
	begin(&f, 3);
	for (int snapshot = 0; snapshot < 2; snapshot++) {
		struct run run = {
			.a = trace.data, .a_len = trace.len, .ring = snapshot ? RUN_NO_RING : 1};

		f.keeper.got.len = f.keeper.writes = 0;
		give(&f, &records, records.len);
		assert_int_equal(f.keeper.writes, 0);
		assert_int_equal(sink_write(f.stage, &run, &f.err), 0);
		assert_int_equal(f.keeper.writes, 1 + snapshot);
		assert_true(f.keeper.got.len >= trace.len);
		assert_memory_equal(f.keeper.got.data + f.keeper.got.len - trace.len, trace.data,
				    trace.len);
		flush(&f);
	}
	buf_release(&records);
	buf_release(&trace);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_runs_come_out_whole),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(small_runs_share_a_frame),
		cmocka_unit_test(noise_stays_as_it_is),
		cmocka_unit_test(halves_fit),
		cmocka_unit_test(largest_frame_fits),
		cmocka_unit_test(odd_run_is_kept),
		cmocka_unit_test(errors_are_handed_on),
		cmocka_unit_test(level_drops_while_rings_fill),
		cmocka_unit_test(level_drops_when_behind),
		cmocka_unit_test(level_drops_when_it_takes_too_much),
		cmocka_unit_test(level_rises_when_rings_are_calm),
		cmocka_unit_test(feature_has_the_ratio),
		cmocka_unit_test(every_level_has_its_memory),
		cmocka_unit_test(chunks_are_packed),
		cmocka_unit_test(traces_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
