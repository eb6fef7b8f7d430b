// SPDX-License-Identifier: Apache-2.0
#include "record/history/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "perfdata/record.h"

struct packer {
	struct sink sink; /* behind the compression */
	struct sink *compress;
	struct buf packed;
	struct fifo *fifo; /* or NULL */
};

static int gather(struct sink *s, const struct run *run, struct error *err)
{
	struct packer *p = (struct packer *)s;
	int rc = buf_append(&p->packed, run->a, run->a_len);

	if (!rc && run->b_len)
		rc = buf_append(&p->packed, run->b, run->b_len);
	return rc ? error_set(err, rc, "out of memory") : 0;
}

static int keep(struct sink *s, struct error *err)
{
	return 0;
}

/* Frees nothing: the sink is a member of the packer. */
static void leave(struct sink *s)
{
}

static const struct sink_ops packer_ops = {
	.write = gather,
	.flush = keep,
	.free = leave,
};

struct packer *packer_new(int level)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink.ops = &packer_ops;
	p->compress = compress_new(&p->sink, level);
	if (p->compress)
		return p;
	packer_free(p);
	return NULL;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	sink_free(p->compress);
	buf_release(&p->packed);
	free(p);
}

void packer_watch(struct packer *p, size_t room, struct fifo *fifo)
{
	p->fifo = fifo;
	compress_watch(p->compress, room, fifo);
	compress_bound(p->compress, COMPRESS_CPU_MAX);
}

bool packer_may(const struct packer *p)
{
	return !p->fifo || fifo_fullness(p->fifo) < PACK_CALM;
}

/* Without memory the chunk stays unpacked. */
size_t packer_pack(const uint8_t *samples, size_t len, const uint8_t **ret, void *packer)
{
	const struct run run = {.a = samples, .a_len = len, .ring = RUN_NO_RING, .cpu = -1};
	struct packer *p = packer;
	int rc;

	p->packed.len = 0;
	rc = sink_write(p->compress, &run, NULL);
	if (sink_flush(p->compress, NULL) || rc)
		return 0;
	*ret = p->packed.data;
	return p->packed.len;
}

/* Unpacks a COMPRESSED record, or copies another one. Returns the bytes, 0 if they do not fit. */
static size_t unpack_record(const struct perf_event_header *hdr, const uint8_t *p, uint8_t *to,
			    size_t room)
{
	size_t n;

	if (hdr->type == PERF_RECORD_COMPRESSED) {
		n = ZSTD_decompress(to, room, p + sizeof(*hdr), hdr->size - sizeof(*hdr));
		return ZSTD_isError(n) ? 0 : n;
	}
	if (hdr->size > room)
		return 0;
	memcpy(to, p, hdr->size);
	return hdr->size;
}

int packer_unpack(const uint8_t *packed, size_t len, uint8_t *samples, size_t bytes)
{
	struct perf_event_header hdr;
	size_t at = 0, made = 0, size, n;

	while ((size = pd_record_at(packed + at, len - at, &hdr))) {
		n = unpack_record(&hdr, packed + at, samples + made, bytes - made);
		if (!n)
			return -EBADMSG;
		made += n;
		at += size;
	}
	return made == bytes ? 0 : -EBADMSG;
}

const struct compress_stats *packer_stats(const struct packer *p)
{
	return compress_stats(p->compress);
}
