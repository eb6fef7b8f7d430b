// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/compress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/clock_ns.h"
#include "base/plural.h"
#include "perfdata/record.h"
#include "ring/ring.h"

/*
 * On samples of a tracepoint zstd needs 0.03 µs each at level 1, and makes 64 KB 43 times smaller,
 * 256 KB 46 times, 1 MB 47 times; call chains 13.5, 14.0 and 14.2 times. 256 KB stay in the L2
 * cache, with zstd's tables of 0.5 MB.
 */
#define HEADER	  sizeof(struct perf_event_header)
#define FRAME_MAX (UINT16_MAX - HEADER)

/* No record is longer, so each fits into an input. Only halving makes smaller inputs. */
#define INPUT_MIN ((size_t)64 << 10)

/* A smaller input whose frame is too large is stored, not split. */
#define SPLIT_MIN ((size_t)32 << 10)

#define CALM_NS NS_PER_SEC

/*
 * The backlog may take at most 1/BEHIND_PART s: a flush and the end of the recording wait for it.
 */
#define BEHIND_PART 4

/* The period over which compression's share of a CPU is measured. */
#define SHARE_NS 250000000ull

/* The next higher level takes several times the CPU time. */
#define RISE_PART 8

/* Bytes a second at which records can be written as they are: 0.05 µs for one of 136 bytes. */
#define PLAIN_SPEED 2500000000ull

#define AS_THEY_ARE 0

struct step {
	int level;
	unsigned int limit; /* fullness in percent from which the level drops */
};

/*
 * Levels that differ in speed: of call chains 3, 7, 44, 200, 330, 800 (3 and 1), 1050 MB/s. Above
 * level 9 a frame takes up to 0.1 s, so these levels need a nearly empty fifo.
 */
// clang-format off
static const struct step ladder[] = {
	{19, 20}, {16, 20}, {12, 20}, {9, 40}, {6, 45}, {3, 50}, {1, 60},
	{COMPRESS_LEVEL_FASTEST, 75}, {AS_THEY_ARE, 101},
};
// clang-format on

#define LADDER (sizeof(ladder) / sizeof(ladder[0]))

struct compress {
	struct sink sink;
	struct sink *next;
	ZSTD_CCtx *ctx;
	struct step steps[LADDER + 1]; /* the level that the user chose comes first */
	unsigned int step, nr_steps;
	size_t target; /* bytes of input to aim at, so that a frame fits */
	size_t len;    /* bytes gathered, whole records */

	struct fifo *fifo;   /* whose backlog decides about the level; NULL: it never changes */
	size_t room;	     /* bytes of backlog at 100 percent; 0: not known */
	uint64_t calm_since; /* ns */
	uint64_t speed;	     /* bytes a second (of CPU time) of the last frame at this level */
	unsigned int most, share;   /* percent of a CPU: the user's limit (0: none), and last
				     * measured */
	uint64_t share_since, busy; /* ns: start of the period, and CPU time in it */

	struct compress_stats stats;
	struct perf_event_header *frame; /* with room for FRAME_MAX bytes behind it */
	uint8_t gathered[COMPRESS_INPUT];
};

/* Returns the bytes of whole records at @p within both @len and @room. */
static size_t whole(const uint8_t *p, size_t len, size_t room)
{
	return ring_whole_records(p, len < room ? len : room);
}

/* --- level -------------------------------------------------------------------------------------
 */

static int level_now(const struct compress *c)
{
	return c->steps[c->step].level;
}

static void level_set(struct compress *c, unsigned int step)
{
	c->step = step;
	c->target = COMPRESS_INPUT;
	c->speed = UINT64_MAX;
	if (level_now(c) != AS_THEY_ARE)
		ZSTD_CCtx_setParameter(c->ctx, ZSTD_c_compressionLevel, level_now(c));
}

/* Takes the next faster level, with @plain also no compression. Returns false at the last. */
static bool level_lower(struct compress *c, bool plain)
{
	if (c->step + 1 == c->nr_steps)
		return false;
	if (c->steps[c->step + 1].level == AS_THEY_ARE && !plain)
		return false;
	level_set(c, c->step + 1);
	return true;
}

/* Whether the backlog would take too long at this level, if its speed is known. */
static bool is_behind(const struct compress *c, unsigned int full)
{
	return (uint64_t)c->room / 100 * full > c->speed / BEHIND_PART;
}

/* Whether a period of SHARE_NS has ended in which compression took too much CPU time. */
static bool takes_too_much(struct compress *c, uint64_t now)
{
	if (now - c->share_since < SHARE_NS)
		return false;
	c->share = (unsigned int)(c->busy * 100 / (now - c->share_since));
	c->share_since = now;
	c->busy = 0;
	return c->most && c->share > c->most;
}

static bool is_calm(const struct compress *c, unsigned int full)
{
	return full < c->steps[c->step - 1].limit * 3 / 4 &&
	       (!c->most || c->share <= c->most / RISE_PART);
}

/* Chooses the level for the next frame by the backlog and by the CPU time. */
static void level_choose(struct compress *c)
{
	unsigned int full, before = c->step;
	uint64_t now;

	if (!c->fifo)
		return;
	full = fifo_fullness(c->fifo);
	now = now_ns(CLOCK_MONOTONIC);
	while ((full >= c->steps[c->step].limit || is_behind(c, full)) &&
	       level_lower(c, c->speed <= PLAIN_SPEED))
		;
	c->stats.lowered += c->step > before;
	if (takes_too_much(c, now) && c->step == before)
		c->stats.costly += level_lower(c, false);
	if (!c->step)
		return;
	if (c->step > before || !is_calm(c, full)) {
		c->calm_since = now;
	} else if (now - c->calm_since > CALM_NS) {
		level_set(c, c->step - 1);
		c->calm_since = now;
	}
}

/* --- frames ------------------------------------------------------------------------------------
 */

static void count(struct compress *c, size_t in, size_t out)
{
	struct compress_level *l = &c->stats.levels[level_now(c) - COMPRESS_LEVEL_FASTEST];

	l->in += in;
	l->out += out;
}

static int put_plain(struct compress *c, const uint8_t *p, size_t len, struct error *err)
{
	const struct run run = {.a = p, .a_len = len, .ring = RUN_NO_RING, .cpu = -1};

	return sink_write(c->next, &run, err);
}

/* Passes on records that compression does not make smaller. */
static int put_stored(struct compress *c, const uint8_t *p, size_t len, struct error *err)
{
	c->stats.stored += len;
	return put_plain(c, p, len, err);
}

/* Returns the bytes of the frame, or zstd's error if it does not fit into a record. */
static size_t make_frame(struct compress *c, const uint8_t *p, size_t len)
{
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID), took;
	size_t n = ZSTD_compress2(c->ctx, c->frame + 1, FRAME_MAX, p, len);

	took = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	c->stats.nsec += took;
	c->busy += took;
	if (took)
		c->speed = len * NS_PER_SEC / took;
	return n;
}

static int put_frame(struct compress *c, size_t len, size_t n, struct error *err)
{
	const struct run run = {
		.a = (const uint8_t *)c->frame,
		.a_len = HEADER + n,
		.ring = RUN_NO_RING,
		.cpu = -1,
	};
	size_t target = len * (FRAME_MAX - FRAME_MAX / 8) / n;

	*c->frame = (struct perf_event_header){
		.type = PERF_RECORD_COMPRESSED,
		.size = (uint16_t)(HEADER + n),
	};
	c->target = target > COMPRESS_INPUT ? COMPRESS_INPUT
		    : target < INPUT_MIN    ? INPUT_MIN
					    : target;
	c->stats.frames++;
	count(c, len, HEADER + n);
	return sink_write(c->next, &run, err);
}

/*
 * Writes whole records, at most COMPRESS_INPUT bytes, as one frame, or as halves if it is too
 * large.
 */
static int put_records(struct compress *c, const uint8_t *p, size_t len, struct error *err)
{
	size_t n, half = 0;
	int rc;

	level_choose(c);
	if (level_now(c) == AS_THEY_ARE) {
		count(c, len, len);
		return put_plain(c, p, len, err);
	}
	n = make_frame(c, p, len);
	if (!ZSTD_isError(n) && n + HEADER < len)
		return put_frame(c, len, n, err);
	if (ZSTD_isError(n) && len >= SPLIT_MIN)
		half = whole(p, len, len / 2);
	c->target = INPUT_MIN;
	if (!half)
		return put_stored(c, p, len, err);
	rc = put_records(c, p, half, err);
	return rc ? rc : put_records(c, p + half, len - half, err);
}

static int put_gathered(struct compress *c, struct error *err)
{
	size_t len = c->len;

	c->len = 0;
	return len ? put_records(c, c->gathered, len, err) : 0;
}

/* --- gathering ---------------------------------------------------------------------------------
 */

/*
 * Takes the whole records at the front of a span. Compresses them in place if there are enough for
 * a frame, and gathers the others. *@ret_taken: bytes.
 */
static int take_span(struct compress *c, const uint8_t *p, size_t len, size_t *ret_taken,
		     struct error *err)
{
	struct perf_event_header hdr;
	size_t at = 0, n;
	int rc = 0;

	while (!rc && pd_record_at(p + at, len - at, &hdr)) {
		if (!c->len && len - at >= c->target) {
			n = whole(p + at, len - at, c->target);
			rc = put_records(c, p + at, n, err);
		} else {
			n = c->len < c->target ? whole(p + at, len - at, c->target - c->len) : 0;
			if (n)
				memcpy(c->gathered + c->len, p + at, n);
			else
				rc = put_gathered(c, err);
			c->len += n;
		}
		at += n;
	}
	*ret_taken = at;
	return rc;
}

/* Gathers the record that begins at @from of the first span and ends in the second. */
static int take_across(struct compress *c, const struct run *run, size_t from, size_t *ret_rest,
		       struct error *err)
{
	size_t front = run->a_len - from;
	struct perf_event_header h;
	int rc = 0;

	*ret_rest = 0;
	if (front < sizeof(h))
		return 0;
	memcpy(&h, run->a + from, sizeof(h));
	if (h.size <= front || h.size - front > run->b_len)
		return 0;
	if (c->len + h.size > c->target)
		rc = put_gathered(c, err);
	memcpy(c->gathered + c->len, run->a + from, front);
	memcpy(c->gathered + c->len + front, run->b, h.size - front);
	c->len += h.size;
	*ret_rest = h.size - front;
	return rc;
}

/* Passes on an incomplete record at the end of a run: a frame holds whole records only. */
static int put_rest(struct compress *c, const struct run *run, size_t a_from, size_t b_from,
		    struct error *err)
{
	int rc = put_gathered(c, err);

	if (!rc && a_from < run->a_len)
		rc = put_stored(c, run->a + a_from, run->a_len - a_from, err);
	if (!rc && b_from < run->b_len)
		rc = put_stored(c, run->b + b_from, run->b_len - b_from, err);
	return rc;
}

static bool is_mark(const struct run *run)
{
	struct perf_event_header h;

	if (run->a_len != sizeof(h) || run->b_len)
		return false;
	memcpy(&h, run->a, sizeof(h));
	return h.type == PERF_RECORD_FINISHED_ROUND;
}

/* --- sink --------------------------------------------------------------------------------------
 */

static int compress_write(struct sink *s, const struct run *run, struct error *err)
{
	struct compress *c = (struct compress *)s;
	size_t a = 0, b = 0, n;
	int rc;

	if (run_is_aux(run)) {
		/* The trace of a snapshot stays between the records of its log. */
		rc = run->ring == RUN_NO_RING ? put_gathered(c, err) : 0;
		return rc ? rc : sink_write(c->next, run, err);
	}
	if (is_mark(run)) {
		rc = put_gathered(c, err);
		return rc ? rc : sink_write(c->next, run, err);
	}
	rc = take_span(c, run->a, run->a_len, &a, err);
	if (!rc && a < run->a_len) {
		rc = take_across(c, run, a, &b, err);
		if (b)
			a = run->a_len;
	}
	if (!rc && a == run->a_len) {
		rc = take_span(c, run->b + b, run->b_len - b, &n, err);
		b += n;
	}
	if (!rc && (a < run->a_len || b < run->b_len))
		rc = put_rest(c, run, a, b, err);
	return rc;
}

int compress_pass(struct sink *s, const struct run *run, size_t bytes, struct error *err)
{
	struct compress *c = (struct compress *)s;
	struct compress_level *asked = &c->stats.levels[c->stats.asked - COMPRESS_LEVEL_FASTEST];
	int rc = put_gathered(c, err);

	asked->in += bytes;
	asked->out += run_bytes(run);
	c->stats.frames++;
	return rc ? rc : sink_write(c->next, run, err);
}

static int compress_flush(struct sink *s, struct error *err)
{
	struct compress *c = (struct compress *)s;
	int rc = put_gathered(c, err);

	return rc ? rc : sink_flush(c->next, err);
}

static void compress_free(struct sink *s)
{
	struct compress *c = (struct compress *)s;

	ZSTD_freeCCtx(c->ctx);
	free(c->frame);
	free(c);
}

static const struct sink_ops compress_ops = {
	.write = compress_write,
	.flush = compress_flush,
	.free = compress_free,
};

/* Lists the level that the user chose and those of the ladder below it. */
static void make_steps(struct compress *c, int level)
{
	for (size_t i = 0; i < LADDER; i++) {
		if (ladder[i].level > level)
			continue;
		if (!c->nr_steps && ladder[i].level < level)
			c->steps[c->nr_steps++] = (struct step){level, ladder[i].limit};
		c->steps[c->nr_steps++] = ladder[i];
	}
	c->stats.asked = level;
	level_set(c, 0);
}

/* Compresses zeros once, so that zstd allocates its memory now and not while recording. */
static bool reserve(struct compress *c)
{
	memset(c->gathered, 0, sizeof(c->gathered));
	if (ZSTD_isError(
		    ZSTD_compress2(c->ctx, c->frame + 1, FRAME_MAX, c->gathered, COMPRESS_INPUT)))
		return false;
	c->stats.memory = sizeof(*c) + HEADER + FRAME_MAX + ZSTD_sizeof_CCtx(c->ctx);
	return true;
}

struct sink *compress_new(struct sink *next, int level)
{
	struct compress *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, offsetof(struct compress, gathered));
	c->sink.ops = &compress_ops;
	c->next = next;
	c->ctx = ZSTD_createCCtx();
	c->frame = malloc(HEADER + FRAME_MAX);
	if (c->ctx && c->frame) {
		make_steps(c, level);
		if (reserve(c))
			return &c->sink;
	}
	compress_free(&c->sink);
	return NULL;
}

void compress_watch(struct sink *s, size_t room, struct fifo *fifo)
{
	struct compress *c = (struct compress *)s;

	c->room = room;
	c->fifo = fifo;
}

void compress_bound(struct sink *s, unsigned int percent)
{
	((struct compress *)s)->most = percent;
}

/* --- counts ------------------------------------------------------------------------------------
 */

const struct compress_stats *compress_stats(const struct sink *s)
{
	return &((const struct compress *)s)->stats;
}

void compress_restore(struct sink *s, const struct compress_stats *stats)
{
	struct compress *c = (struct compress *)s;

	c->stats = *stats;
	c->len = 0;
}

void compress_stats_add(struct compress_stats *to, const struct compress_stats *from)
{
	for (size_t i = 0; i < COMPRESS_LEVELS; i++) {
		to->levels[i].in += from->levels[i].in;
		to->levels[i].out += from->levels[i].out;
	}
	to->asked = from->asked;
	to->stored += from->stored;
	to->frames += from->frames;
	to->nsec += from->nsec;
	to->lowered += from->lowered;
	to->costly += from->costly;
	to->memory += from->memory;
}

struct compress_level compress_total(const struct compress_stats *stats)
{
	struct compress_level all = {stats->stored, stats->stored};

	for (size_t i = 0; i < COMPRESS_LEVELS; i++) {
		all.in += stats->levels[i].in;
		all.out += stats->levels[i].out;
	}
	return all;
}

static double ratio(const struct compress_level *l)
{
	return l->out ? (double)l->in / (double)l->out : 0;
}

void compress_feature(const struct compress_stats *stats, struct pd_compression *ret)
{
	const struct compress_level all = compress_total(stats);

	*ret = (struct pd_compression){
		.version = 1,
		.type = 1, /* zstd */
		.level = (uint32_t)stats->asked,
		.ratio = (uint32_t)(ratio(&all) + 0.5),
		.mmap_len = COMPRESS_MMAP_LEN,
	};
}

static double megabytes(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

void compress_say_lowered(const struct compress_stats *stats, const struct messages *messages)
{
	char text[256] = "";
	int n = 0;

	if (!stats->lowered && !stats->costly)
		return;
	for (int level = stats->asked - 1; level >= COMPRESS_LEVEL_FASTEST; level--) {
		uint64_t in = stats->levels[level - COMPRESS_LEVEL_FASTEST].in;

		if (in && level != AS_THEY_ARE && n < (int)sizeof(text))
			n += snprintf(text + n, sizeof(text) - (size_t)n, ", %.1f MB at level %d",
				      megabytes(in), level);
	}
	messages_say(messages, MESSAGE_INFO,
		     "compression level %d was lowered %" PRIu64
		     " time%s because too much data waited, and %" PRIu64
		     " time%s because it took too much of a CPU: %.1f MB of records compressed at "
		     "this level%s, %.1f MB left uncompressed",
		     stats->asked, stats->lowered, plural_s(stats->lowered), stats->costly,
		     plural_s(stats->costly),
		     megabytes(stats->levels[stats->asked - COMPRESS_LEVEL_FASTEST].in), text,
		     megabytes(stats->levels[AS_THEY_ARE - COMPRESS_LEVEL_FASTEST].in));
}

void compress_say(const struct compress_stats *stats, const struct messages *messages)
{
	const struct compress_level all = compress_total(stats);

	compress_say_lowered(stats, messages);
	messages_say(messages, MESSAGE_DETAIL,
		     "%.1f MB of records compressed to %.1f MB (ratio %.1f) in %" PRIu64
		     " frames and %.2f s of CPU time; %.1f MB are incompressible",
		     megabytes(all.in), megabytes(all.out), ratio(&all), stats->frames,
		     (double)stats->nsec / 1e9, megabytes(stats->stored));
}
