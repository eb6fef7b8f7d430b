// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/spe/spe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/spe/packet.h"
#include "auxtrace/spe/record.h"

/* Bytes behind which packets that are read from anywhere have fallen in step. */
#define LOOKBEHIND 1024u
/* Whole records that make a place a synchronisation point. */
#define RECORDS 2

struct spe_decoder {
	const struct aux_setup *setup;
	struct aux_stretch stretch;
	const struct aux_code *code;
	unsigned int want;
	size_t at;	 /* in the stretch */
	size_t begin;	 /* of the record */
	uint64_t newest; /* time */
	struct spe_record record;
	bool has_branch; /* @branch is the next event */
	struct aux_event branch;
};

static struct spe_decoder *spe_of(struct aux_decoder *d)
{
	return (struct spe_decoder *)d;
}

/* --- synchronisation
 * ------------------------------------------------------------------------------
 */

static size_t find_sync(const uint8_t *data, size_t len, size_t from, uint64_t offset)
{
	size_t at = from > LOOKBEHIND ? from - LOOKBEHIND : 0;
	struct spe_packet p;

	if (!from && len && spe_records_at(data, len, offset, RECORDS))
		return 0;
	while (at < len) {
		if (spe_packet_read(data + at, len - at, offset + at, &p)) {
			at++;
			continue;
		}
		at += p.len;
		if ((p.kind == SPE_END || p.kind == SPE_TIMESTAMP) && at >= from && at < len &&
		    spe_records_at(data + at, len - at, offset + at, RECORDS))
			return at;
	}
	return len;
}

static size_t spe_sync(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from)
{
	(void)setup;
	/* Only alignment needs the offset. What is passed here begins at an aligned one. */
	return find_sync(data, len, from, 0);
}

/* --- packets
 * --------------------------------------------------------------------------------------
 */

static int spe_begin(const struct aux_setup *setup, const struct aux_stretch *stretch,
		     const struct aux_code *code, unsigned int want, struct aux_decoder **ret)
{
	struct spe_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->setup = setup;
	d->stretch = *stretch;
	d->code = code;
	d->want = want;
	*ret = (struct aux_decoder *)d;
	return 0;
}

static int spe_packets(const struct aux_setup *setup, const struct aux_stretch *stretch,
		       struct aux_decoder **ret)
{
	return spe_begin(setup, stretch, NULL, 0, ret);
}

static int read_packet(const struct spe_decoder *d, struct spe_packet *ret)
{
	return spe_packet_read(d->stretch.data + d->at, d->stretch.len - d->at,
			       d->stretch.offset + d->at, ret);
}

/* Returns where decoding goes on behind bad bytes at @at. */
static size_t resync(const struct spe_decoder *d)
{
	return find_sync(d->stretch.data, d->stretch.len, d->at + 1, d->stretch.offset);
}

static int spe_packet_next(struct aux_decoder *decoder, struct aux_packet *ret)
{
	struct spe_decoder *d = spe_of(decoder);
	struct spe_packet p;
	int rc;

	if (d->at >= d->stretch.len)
		return 0;
	*ret = (struct aux_packet){0};
	rc = read_packet(d, &p);
	if (rc) {
		ret->bad = true;
		ret->len = rc == -ENODATA ? d->stretch.len - d->at : resync(d) - d->at;
		snprintf(ret->text, sizeof(ret->text), "%s",
			 rc == -ENODATA ? "a packet that is cut off" : "no packet");
	} else {
		ret->len = p.len;
		spe_packet_text(&p, ret->text, sizeof(ret->text));
	}
	d->at += ret->len;
	return 1;
}

/* --- events
 * ---------------------------------------------------------------------------------------
 */

static uint32_t flags_of(const struct spe_record *r)
{
	uint32_t flags = AUX_BRANCH;

	if (!r->has_op || r->op.op_class != SPE_BRANCH)
		return 0;
	if (r->op.op_type & SPE_BRANCH_CONDITIONAL)
		flags |= AUX_CONDITIONAL;
	if ((r->op.op_type & SPE_BRANCH_KIND) == SPE_BRANCH_LINK)
		flags |= AUX_CALL;
	if ((r->op.op_type & SPE_BRANCH_KIND) == SPE_BRANCH_RETURN)
		flags |= AUX_RETURN;
	return flags;
}

static struct aux_task task_of(const struct spe_decoder *d)
{
	const struct spe_record *r = &d->record;
	struct aux_task task = {.pid = UINT32_MAX, .tid = UINT32_MAX};
	bool known = d->code && d->code->task_on && d->stretch.cpu != UINT32_MAX && d->newest &&
		     d->code->task_on(d->code->arg, d->stretch.cpu, d->newest, &task);

	if (!known && r->has_context)
		task.tid = (uint32_t)r->op.context;
	else if (!known && d->stretch.cpu == UINT32_MAX)
		task.tid = d->stretch.tid;
	task.cpumode = r->level ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	return task;
}

/* Makes the events of the whole record, whose last packet is at @last. */
static void make_sample(struct spe_decoder *d, size_t last, struct aux_event *ret)
{
	const struct spe_record *r = &d->record;
	uint64_t time;

	if (r->stamped && aux_time(d->setup->time_conv, r->stamp, &time))
		d->newest = time;
	*ret = (struct aux_event){
		.kind = AUX_EVENT_SAMPLE,
		.offset = d->stretch.offset + last,
		.time = d->newest,
		.task = task_of(d),
		.ip = r->ip,
		.to = r->to,
		.flags = flags_of(r),
		.simd = spe_record_simd(r),
		.sample = r->op,
	};
	if (!ret->flags || !r->has_to || r->op.events & SPE_EVENT_NOT_TAKEN ||
	    !(d->want & AUX_WANT_BRANCHES))
		return;
	d->has_branch = true;
	d->branch = *ret;
	d->branch.kind = AUX_EVENT_BRANCH;
}

/* Makes an error, and goes on at @next. */
static int make_error(struct spe_decoder *d, size_t next, const char *text, struct aux_event *ret)
{
	*ret = (struct aux_event){
		.kind = AUX_EVENT_ERROR,
		.offset = d->stretch.offset + d->at,
		.time = d->newest,
		.task = {.pid = UINT32_MAX, .tid = UINT32_MAX},
	};
	snprintf(ret->text, sizeof(ret->text), "%s", text);
	d->at = d->begin = next;
	d->record = (struct spe_record){0};
	return 1;
}

static int spe_next(struct aux_decoder *decoder, struct aux_event *ret)
{
	struct spe_decoder *d = spe_of(decoder);
	struct spe_packet p;

	if (d->has_branch) {
		d->has_branch = false;
		*ret = d->branch;
		return 1;
	}
	while (d->at < d->stretch.len) {
		int rc = read_packet(d, &p);

		if (rc == -ENODATA)
			return make_error(d, d->stretch.len, "the trace ends within a packet", ret);
		if (rc)
			return make_error(d, resync(d), "bytes that are no SPE packet", ret);
		rc = spe_record_add(&d->record, &p);
		if (rc < 0)
			return make_error(d, resync(d), "a record with two packets of a kind", ret);
		if (!d->record.any)
			d->begin = d->at;
		if (d->at + p.len - d->begin > SPE_RECORD_MAX && p.kind != SPE_PADDING)
			return make_error(d, resync(d), "a record of more than 2048 bytes", ret);
		d->at += p.len;
		if (!rc)
			continue;
		rc = d->record.any;
		if (rc)
			make_sample(d, d->at - p.len, ret);
		d->begin = d->at;
		d->record = (struct spe_record){0};
		if (rc)
			return 1;
	}
	if (!d->record.any)
		return 0;
	d->at = d->begin;
	return make_error(d, d->stretch.len, "the trace ends within a record", ret);
}

static void spe_end(struct aux_decoder *decoder)
{
	free(decoder);
}

const struct aux_decoder_ops aux_spe_decoder = {
	.name = "arm_spe",
	.sync = spe_sync,
	.packets = spe_packets,
	.packet_next = spe_packet_next,
	.begin = spe_begin,
	.next = spe_next,
	.end = spe_end,
};
