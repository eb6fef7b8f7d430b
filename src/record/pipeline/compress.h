/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage that compresses: runs of records become COMPRESSED records (type 81), each with a zstd
 * frame of its own that holds whole records only. Frames therefore decompress in any order and by
 * any number of threads, and one that is damaged costs its own records.
 *
 * Runs are gathered, across rings, to COMPRESS_INPUT bytes: what many small runs cost in ratio is
 * not lost. The order of the records stays. Gathered records go on when there are enough of them,
 * at sink_flush(), and before a FINISHED_ROUND record, which is passed on as it is, so that rounds
 * are seen without decompressing. What does not get smaller is passed on as it is, too: both kinds
 * may stand side by side in the data of a file. AUXTRACE records, whose data follow them, do not
 * belong here.
 *
 * Levels: what zstd calls so, 1 to COMPRESS_LEVEL_MAX. When the rings of the reader fill, the level
 * drops before events do, and when what waits would take more than a quarter of a second, since a
 * flush and the end wait for that: step by step down to a fast one below zstd's first, and to 0: as
 * they are, if a plain write is faster; it rises again when they have been calm for a second. It
 * also drops when compression takes more of a CPU than it may, since that is the load's: where the
 * load has to wait for the CPU nothing else would fill.
 *
 * Source: tools/perf of Linux 6.1, util/session.c (perf_session__process_compressed_event()) and
 * util/zstd.c: a record has 16 bits of size, decompressed it must fit the mmap_len of the
 * COMPRESSED feature, and its frame must take one call of ZSTD_decompressStream().
 *
 * One thread, its reader's, uses a stage.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_COMPRESS_H
#define RINGTAIL_RECORD_PIPELINE_COMPRESS_H

#include "perfdata/feature.h"
#include "record/plan/messages.h"
#include "record/pipeline/sink.h"

#define COMPRESS_LEVEL_MAX     22
#define COMPRESS_LEVEL_DEFAULT 1
#define COMPRESS_LEVEL_FASTEST (-5)
#define COMPRESS_LEVELS	       (COMPRESS_LEVEL_MAX - COMPRESS_LEVEL_FASTEST + 1)

/* Bytes of records in one frame: as many, unless the result would be too large for a record. */
#define COMPRESS_INPUT (256u << 10)

/* Mmap_len of the COMPRESSED feature: no frame decompresses to more. */
#define COMPRESS_MMAP_LEN (512u << 10)

struct compress_level {
	uint64_t in, out; /* bytes of records, and what was written for them */
};

/* What came in and went out. An all-zero struct is that of no stage. */
struct compress_stats {
	/* By level - COMPRESS_LEVEL_FASTEST. Level 0: as they are, since rings were too full. */
	struct compress_level levels[COMPRESS_LEVELS];
	int asked;	 /* level */
	uint64_t stored; /* bytes of records that zstd cannot make smaller */
	uint64_t frames;
	uint64_t nsec;	  /* of CPU time, spent in zstd */
	uint64_t lowered; /* times that the level was lowered because too much waited */
	uint64_t costly;  /* and because it took too much of a CPU */
	uint64_t memory;  /* bytes, of gathering, of the frame and of zstd's context */
};

/*
 * A stage of @level (1 to COMPRESS_LEVEL_MAX) before @next, which remains the caller's. All memory
 * is taken here. Returns NULL when there is not enough.
 */
struct sink *compress_new(struct sink *next, int level);

/*
 * Passes on what another stage has made of @bytes of records, and counts it as made here. Returns 0
 * or a negative errno with @err filled.
 */
int compress_pass(struct sink *s, const struct run *run, size_t bytes, struct error *err);

/*
 * @fullness is asked before each frame and tells, in percent of @room bytes (0: not known), how
 * much waits to be compressed. Without it the level stays.
 */
void compress_watch(struct sink *s, size_t room, unsigned int (*fullness)(void *arg), void *arg);

#define COMPRESS_CPU_MAX 50

/*
 * Of a CPU, in percent, that compression may take on average of a quarter of a second (0: any, as
 * without this call). For stages that are watched.
 */
void compress_bound(struct sink *s, unsigned int percent);

/* Bytes and frames so far. Valid as long as @s. */
const struct compress_stats *compress_stats(const struct sink *s);

/* What came since @stats were those has been taken back; what is gathered is forgotten. */
void compress_restore(struct sink *s, const struct compress_stats *stats);

/* Of all levels. */
struct compress_level compress_total(const struct compress_stats *stats);

/* Adds the figures of another stage. */
void compress_stats_add(struct compress_stats *to, const struct compress_stats *from);

/* The contents of the COMPRESSED feature. Before anything was compressed the ratio is 0. */
void compress_feature(const struct compress_stats *stats, struct pd_compression *ret);

/* Says what was compressed at lower levels than asked, or not at all, if anything was. */
void compress_say_lowered(const struct compress_stats *stats, const struct messages *messages);

/* Says what it came to: sizes and ratio, and what was compressed at lower levels than asked. */
void compress_say(const struct compress_stats *stats, const struct messages *messages);

#endif
