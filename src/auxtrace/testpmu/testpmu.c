// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/testpmu/testpmu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC	 0x32535841u /* "AXS2" */
#define SESSIONS (UINT16_MAX + 1u)

/* As tests/vm/auxsim/auxsim.h has it. */
struct testpmu_record {
	uint32_t magic, tid, seq, chain;
	uint64_t time;
	uint16_t cpu, session;
	uint32_t crc;
};

_Static_assert(sizeof(struct testpmu_record) == 32, "as struct axs_rec");

struct testpmu_decoder {
	struct aux_stretch stretch;
	size_t at;		 /* in the stretch */
	uint64_t newest;	 /* time */
	uint32_t next[SESSIONS]; /* number of a session's next record; 0: unknown */
};

static uint32_t checksum(const struct testpmu_record *r)
{
	uint64_t x = (uint64_t)r->tid << 32 | r->magic;

	x = (x ^ ((uint64_t)r->chain << 32 | r->seq)) * 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	x = (x ^ r->time) * 0xbf58476d1ce4e5b9ull;
	x ^= x >> 32;
	x = (x ^ ((uint64_t)r->session << 16 | r->cpu)) * 0x94d049bb133111ebull;
	return (uint32_t)(x >> 32);
}

static bool read_record(const uint8_t *p, size_t len, struct testpmu_record *ret)
{
	if (len < sizeof(*ret))
		return false;
	memcpy(ret, p, sizeof(*ret));
	return ret->magic == MAGIC && ret->crc == checksum(ret);
}

/* Each record can be verified by itself, at any offset. */
static size_t find_sync(const uint8_t *data, size_t len, size_t from, struct testpmu_record *ret)
{
	for (; from < len; from++)
		if (read_record(data + from, len - from, ret))
			return from;
	return len;
}

static size_t testpmu_sync(const struct aux_setup *setup, const uint8_t *data, size_t len,
			   size_t from)
{
	struct testpmu_record r;

	(void)setup;
	return find_sync(data, len, from, &r);
}

static int testpmu_begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
			 const struct aux_code *code, unsigned int want, struct aux_decoder **ret)
{
	struct testpmu_decoder *d = calloc(1, sizeof(*d));

	(void)setup;
	(void)code;
	(void)want;
	if (!d)
		return -ENOMEM;
	d->stretch = *stretch;
	*ret = (struct aux_decoder *)d;
	return 0;
}

static int testpmu_packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
			   struct aux_decoder **ret)
{
	return testpmu_begin(setup, stretch, NULL, 0, ret);
}

/* Returns the number of zero bytes. */
static size_t padding(const struct testpmu_decoder *d)
{
	size_t at = d->at;

	while (at < d->stretch.len && !d->stretch.data[at])
		at++;
	return at - d->at;
}

static int testpmu_packet_next(struct aux_decoder *decoder, struct aux_packet *ret)
{
	struct testpmu_decoder *d = (struct testpmu_decoder *)decoder;
	struct testpmu_record r;
	size_t pad = padding(d);

	if (d->at == d->stretch.len)
		return 0;
	*ret = (struct aux_packet){.len = pad};
	if (pad) {
		snprintf(ret->text, sizeof(ret->text), "PAD");
	} else if (read_record(d->stretch.data + d->at, d->stretch.len - d->at, &r)) {
		ret->len = sizeof(r);
		snprintf(ret->text, sizeof(ret->text),
			 "RECORD %" PRIu32 " session %u tid %" PRIu32 " chain %" PRIu32
			 " cpu %u time %" PRIu64,
			 r.seq, r.session, r.tid, r.chain, r.cpu, r.time);
	} else {
		ret->bad = true;
		ret->len = find_sync(d->stretch.data, d->stretch.len, d->at + 1, &r) - d->at;
		snprintf(ret->text, sizeof(ret->text), "no record");
	}
	d->at += ret->len;
	return 1;
}

static int testpmu_next(struct aux_decoder *decoder, struct aux_event *ret)
{
	struct testpmu_decoder *d = (struct testpmu_decoder *)decoder;
	struct testpmu_record r;
	uint32_t *next;

	d->at += padding(d);
	if (d->at == d->stretch.len)
		return 0;
	*ret = (struct aux_event){
		.offset = d->stretch.offset + d->at,
		.time = d->newest,
		.task = {.pid = UINT32_MAX, .tid = UINT32_MAX},
	};
	if (!read_record(d->stretch.data + d->at, d->stretch.len - d->at, &r)) {
		ret->kind = AUX_EVENT_ERROR;
		snprintf(ret->text, sizeof(ret->text), "bytes that are no record of the test PMU");
		d->at = find_sync(d->stretch.data, d->stretch.len, d->at + 1, &r);
		return 1;
	}
	ret->task.tid = r.tid;
	next = &d->next[r.session];
	if (*next && r.seq > *next) {
		ret->kind = AUX_EVENT_LOST;
		ret->value = r.seq - *next;
		*next = r.seq;
		return 1;
	}
	*next = r.seq + 1;
	d->newest = r.time;
	d->at += sizeof(r);
	ret->kind = AUX_EVENT_RECORD;
	ret->time = r.time;
	ret->value = r.seq;
	return 1;
}

static void testpmu_end(struct aux_decoder *decoder)
{
	free(decoder);
}

const struct aux_decoder_ops aux_testpmu_decoder = {
	.name = "auxsim",
	.sync = testpmu_sync,
	.packets = testpmu_packets,
	.packet_next = testpmu_packet_next,
	.begin = testpmu_begin,
	.next = testpmu_next,
	.end = testpmu_end,
};
