/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that compresses runs of records into COMPRESSED records (type 81) with zstd.
 *
 * Each COMPRESSED record has a zstd frame of its own with whole records only. Frames therefore
 * decompress in any order and on any number of threads, and a damaged frame costs only its own
 * records.
 *
 * The stage gathers runs of all rings, up to COMPRESS_INPUT bytes, because many small frames
 * compress worse. It keeps the order of the records. It writes what it has gathered when there is
 * enough for a frame, at sink_flush(), and before a FINISHED_ROUND record. That record is passed on
 * uncompressed, so that readers find rounds without decompressing. Records that compression does
 * not make smaller are passed on uncompressed, too: a file may hold both kinds. AUXTRACE records
 * must not come here, because their data follow them.
 *
 * Levels are zstd's, 1 to COMPRESS_LEVEL_MAX. The level drops step by step
 *  - when rings or the fifo fill, before samples are dropped;
 *  - when compressing the backlog would take over a quarter of a second: a flush and the end wait
 *    for it;
 *  - when compression takes more of a CPU than compress_bound() allows, because the load needs that
 *    CPU.
 * Below level 1 comes COMPRESS_LEVEL_FASTEST, then no compression at all, if a plain write is
 * faster. The level rises again after a second of calm.
 *
 * Source: tools/perf of Linux 6.1, util/session.c (perf_session__process_compressed_event()) and
 * util/zstd.c: a record has 16 bits of size, decompressed it must fit the mmap_len of the
 * COMPRESSED feature, and its frame must take one call of ZSTD_decompressStream().
 *
 * Threads: one, the writer's, uses a stage.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_COMPRESS_H
#define RINGTAIL_RECORD_PIPELINE_COMPRESS_H

#include "perfdata/feature.h"
#include "record/plan/messages.h"
#include "record/pipeline/fifo.h"
#include "record/pipeline/sink.h"

#define COMPRESS_LEVEL_MAX     22
#define COMPRESS_LEVEL_DEFAULT 1
#define COMPRESS_LEVEL_FASTEST (-5)
#define COMPRESS_LEVELS	       (COMPRESS_LEVEL_MAX - COMPRESS_LEVEL_FASTEST + 1)

/* Bytes of records in a frame; fewer where the frame would be too large for a record. */
#define COMPRESS_INPUT (256u << 10)

/* The mmap_len of the COMPRESSED feature: no frame decompresses to more bytes. */
#define COMPRESS_MMAP_LEN (512u << 10)

struct compress_level {
	uint64_t in, out; /* bytes of records, and bytes written for them */
};

/* The counts of a stage. All zero: nothing was compressed. */
struct compress_stats {
	/* Index: level - COMPRESS_LEVEL_FASTEST. Level 0: uncompressed for lack of time. */
	struct compress_level levels[COMPRESS_LEVELS];
	int asked;	 /* the level of compress_new() */
	uint64_t stored; /* bytes of records that zstd cannot make smaller */
	uint64_t frames;
	uint64_t nsec;	  /* CPU time in zstd */
	uint64_t lowered; /* times that the level dropped because too much waited */
	uint64_t costly;  /* times that it dropped because compression took too much of a CPU */
	uint64_t memory;  /* bytes: the gathered records, the frame and zstd's context */
};

/*
 * Returns a stage of @level (1 to COMPRESS_LEVEL_MAX) before @next, which remains the caller's. It
 * allocates all its memory here. Returns NULL when out of memory.
 */
struct sink *compress_new(struct sink *next, int level);

/*
 * Passes on @run, which another stage compressed from @bytes of records, after what this stage has
 * gathered. Counts it as compressed here. Returns 0 or a negative errno with @err filled.
 */
int compress_pass(struct sink *s, const struct run *run, size_t bytes, struct error *err);

/*
 * Lets the level follow the backlog: before each frame the stage asks how full @fifo is, which has
 * @room bytes (0: size not known). Without this call the level never changes.
 */
void compress_watch(struct sink *s, size_t room, struct fifo *fifo);

#define COMPRESS_CPU_MAX 50

/*
 * Limits compression to @percent of a CPU, on average over a quarter of a second (0, the default:
 * no limit). Works only after compress_watch().
 */
void compress_bound(struct sink *s, unsigned int percent);

/* Returns the counts of stage @s, which owns them. */
const struct compress_stats *compress_stats(const struct sink *s);

/*
 * Sets the counts back to @stats and forgets the gathered records, after the output was rolled
 * back to where it was at @stats.
 */
void compress_restore(struct sink *s, const struct compress_stats *stats);

/* Returns the sum of all levels and of what was stored. */
struct compress_level compress_total(const struct compress_stats *stats);

/* Adds the counts @from, another stage's, to @to. */
void compress_stats_add(struct compress_stats *to, const struct compress_stats *from);

/* Fills *@ret, the COMPRESSED feature. Its ratio is 0 if nothing was compressed. */
void compress_feature(const struct compress_stats *stats, struct pd_compression *ret);

/* Prints how much was compressed at lower levels than asked, or not at all, if anything was. */
void compress_say_lowered(const struct compress_stats *stats, const struct messages *messages);

/* Prints sizes and ratio, after compress_say_lowered(). */
void compress_say(const struct compress_stats *stats, const struct messages *messages);

#endif
