// SPDX-License-Identifier: Apache-2.0
#include "data/scan/decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Holds any record of 64 KiB and a good number of others; small enough for the L2 cache. */
#define OUTPUT_SIZE (512u << 10)

/*
 * Magic numbers of zstd frames before 1.0. All recorders that compress are younger. The library may
 * still have decoders for these frames, and they are not safe on hostile input. It compares these
 * numbers wherever it looks for a frame header: with all input that it gets before the header is
 * complete.
 */
#define LEGACY_MAGIC_FIRST 0xFD2FB522u
#define LEGACY_MAGIC_LAST  0xFD2FB527u
#define LEGACY_MAGIC_01	   0x1EB52FFDu
#define FRAME_HEADER_MAX   18u

/*
 * Limits the output of one container. The emptiest stacks expand to a few hundred times their size;
 * a container that expands further was made to fill memory and disks. Places inside a container
 * (scan.c) also end here.
 */
#define EXPANDED_MAX (64u << 20)

struct inflater {
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in;
	uint64_t offset;   /* of the container in @in */
	uint64_t produced; /* bytes of output from it so far */
	const char *fault; /* reason why its rest was given up */
	bool full;	   /* the output buffer was full: the context may hold more */
	bool in_frame;	   /* a frame began and has not ended */
	uint64_t frame_in; /* bytes of the frame that were consumed */

	/* Output is [pos, end). An earlier container produced the part before @seam. */
	size_t pos, end, seam;
	uint64_t old_offset, old_inner; /* place of the byte at @pos, while it is before @seam */

	uint64_t out[OUTPUT_SIZE / 8];
};

struct inflater *inflater_new(void)
{
	struct inflater *z = malloc(sizeof(*z));

	if (!z)
		return NULL;
	memset(z, 0, offsetof(struct inflater, out));
	z->ctx = ZSTD_createDCtx();
	if (!z->ctx) {
		free(z);
		return NULL;
	}
	return z;
}

void inflater_free(struct inflater *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->ctx);
	free(z);
}

void inflater_place(const struct inflater *z, uint64_t *ret_offset, uint64_t *ret_inner)
{
	if (z->pos < z->seam) {
		*ret_offset = z->old_offset;
		*ret_inner = z->old_inner;
	} else {
		*ret_offset = z->offset;
		*ret_inner = z->produced - (z->end - z->pos);
	}
}

/* The first bytes at @p as a number; 0 if there are too few. */
static uint32_t magic_at(const uint8_t *p, size_t len)
{
	uint32_t magic = 0;

	if (len >= sizeof(magic))
		memcpy(&magic, p, sizeof(magic));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	magic = __builtin_bswap32(magic);
#endif
	return magic;
}

static void new_frame(struct inflater *z)
{
	ZSTD_DCtx_reset(z->ctx, ZSTD_reset_session_only);
	z->in_frame = false;
	z->frame_in = 0;
}

void inflater_input(struct inflater *z, const uint8_t *p, size_t len, uint64_t offset)
{
	inflater_place(z, &z->old_offset, &z->old_inner);
	z->seam = z->end;
	z->in = (ZSTD_inBuffer){p, len, 0};
	z->offset = offset;
	z->produced = 0;
	z->fault = NULL;
	z->full = false;
	/* A new frame begins here, whether or not the last one ended. */
	if (magic_at(p, len) == ZSTD_MAGICNUMBER)
		new_frame(z);
}

const uint8_t *inflater_peek(const struct inflater *z, size_t *ret_len)
{
	*ret_len = z->end - z->pos;
	return (const uint8_t *)z->out + z->pos;
}

void inflater_consume(struct inflater *z, size_t n)
{
	if (z->pos < z->seam)
		z->old_inner += n;
	z->pos += n;
}

void inflater_drop(struct inflater *z)
{
	z->in.pos = z->in.size;
	z->full = false;
	z->pos = z->end = z->seam = 0;
}

void inflater_reset(struct inflater *z)
{
	inflater_drop(z);
	new_frame(z);
	z->in = (ZSTD_inBuffer){0};
	z->fault = NULL;
	z->produced = 0;
}

bool inflater_is_fresh(const struct inflater *z)
{
	return !z->in_frame && z->pos == z->end && z->in.pos == z->in.size;
}

/*
 * Moves unconsumed output to the front; this restores the alignment that records had when written.
 */
static void make_room(struct inflater *z)
{
	size_t left = z->end - z->pos;

	if (left)
		memmove(z->out, (uint8_t *)z->out + z->pos, left);
	z->seam = z->seam > z->pos ? z->seam - z->pos : 0;
	z->pos = 0;
	z->end = left;
}

static void give_up(struct inflater *z, const char *why)
{
	z->fault = why;
	z->full = false;
	z->in.pos = z->in.size;
	new_frame(z);
}

static bool meets_legacy(const struct inflater *z)
{
	uint32_t magic = magic_at((const uint8_t *)z->in.src + z->in.pos, z->in.size - z->in.pos);

	return z->frame_in < FRAME_HEADER_MAX &&
	       ((magic >= LEGACY_MAGIC_FIRST && magic <= LEGACY_MAGIC_LAST) ||
		magic == LEGACY_MAGIC_01);
}

/* Decompresses one step into @out, which has room, from a stream that has not ended. */
static void decompress(struct inflater *z, ZSTD_outBuffer *out)
{
	size_t in_pos = z->in.pos, out_pos = out->pos, r;

	if (meets_legacy(z)) {
		give_up(z, "Frame of a version before 1.0");
		return;
	}
	r = ZSTD_decompressStream(z->ctx, out, &z->in);
	z->full = out->pos == out->size;
	if (ZSTD_isError(r)) {
		give_up(z, ZSTD_getErrorName(r));
	} else if (z->in.pos == in_pos && out->pos == out_pos && z->in.pos < z->in.size) {
		give_up(z, "no progress");
	} else if (z->in.pos > in_pos || out->pos > out_pos) {
		z->in_frame = r != 0;
		z->frame_in = r ? z->frame_in + (z->in.pos - in_pos) : 0;
	}
}

int inflater_fill(struct inflater *z, const char **ret_why)
{
	ZSTD_outBuffer out;
	size_t before;

	make_room(z);
	out = (ZSTD_outBuffer){z->out, OUTPUT_SIZE, z->end};
	before = z->end;
	while (out.pos < out.size && (z->full || z->in.pos < z->in.size))
		decompress(z, &out);
	z->produced += out.pos - before;
	if (z->produced > EXPANDED_MAX - OUTPUT_SIZE && !z->fault &&
	    (z->full || z->in.pos < z->in.size))
		give_up(z, "it expands to more than 64 MB: the rest is left out");
	z->end = out.pos;
	if (out.pos > before)
		return 1;
	if (!z->fault)
		return 0;
	*ret_why = z->fault;
	z->fault = NULL;
	inflater_drop(z);
	return -EBADMSG;
}
