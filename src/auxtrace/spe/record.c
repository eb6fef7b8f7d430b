// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/spe/record.h"

#include <errno.h>

/* Notes a packet in *@seen. Returns false if there was one with this number. */
static bool note(uint32_t *seen, unsigned int number)
{
	const uint32_t bit = 1u << number;

	if (*seen & bit)
		return false;
	*seen |= bit;
	return true;
}

static bool add_address(struct spe_record *r, const struct spe_packet *p)
{
	uint64_t address = spe_packet_address(p);

	switch (p->index) {
	case SPE_PC:
		r->ip = address;
		r->has_ip = true;
		r->level = spe_packet_level(p);
		break;
	case SPE_TARGET:
		r->to = address;
		r->has_to = true;
		break;
	case SPE_VIRT: r->op.virt = address; break;
	case SPE_PHYS: r->op.phys = address; break;
	default: break;
	}
	return note(&r->addresses, p->index);
}

static bool add_counter(struct spe_record *r, const struct spe_packet *p)
{
	uint32_t cycles = p->payload > UINT32_MAX ? UINT32_MAX : (uint32_t)p->payload;

	switch (p->index) {
	case SPE_LATENCY_TOTAL: r->op.latency = cycles; break;
	case SPE_LATENCY_ISSUE: r->op.issue_latency = cycles; break;
	case SPE_LATENCY_TRANSLATION: r->op.translation_latency = cycles; break;
	default: break;
	}
	return note(&r->counters, p->index);
}

static bool add_other(struct spe_record *r, const struct spe_packet *p)
{
	switch (p->kind) {
	case SPE_EVENTS: r->op.events = p->payload; break;
	case SPE_SOURCE: r->op.source = (uint16_t)p->payload; break;
	case SPE_CONTEXT:
		r->op.context = p->payload;
		r->has_context = true;
		/* One for each exception level. */
		return note(&r->seen, 16u + p->index);
	case SPE_OPERATION:
		r->op.op_class = p->index;
		r->op.op_type = (uint8_t)p->payload;
		r->has_op = true;
		break;
	default: break;
	}
	return note(&r->seen, p->kind);
}

int spe_record_add(struct spe_record *r, const struct spe_packet *p)
{
	bool new;

	switch (p->kind) {
	case SPE_PADDING:
	case SPE_ALIGNMENT: return 0;
	case SPE_TIMESTAMP:
		r->stamp = p->payload;
		r->stamped = true;
		r->any = true;
		return 1;
	case SPE_END: return 1;
	case SPE_ADDRESS: new = add_address(r, p); break;
	case SPE_COUNTER: new = add_counter(r, p); break;
	default: new = add_other(r, p);
	}
	r->any = true;
	return new ? 0 : -EBADMSG;
}

static enum aux_simd_arch simd_arch(const struct aux_op *op)
{
	const unsigned int type = op->op_type;

	if (op->op_class == SPE_LOAD_STORE)
		return SPE_LOAD_STORE_IS_SVE(type)   ? AUX_SIMD_SVE
		       : SPE_LOAD_STORE_IS_ASE(type) ? AUX_SIMD_ASE
						     : AUX_SIMD_NONE;
	if (op->op_class != SPE_OTHER)
		return AUX_SIMD_NONE;
	return SPE_OTHER_IS_SVE(type)	? AUX_SIMD_SVE
	       : SPE_OTHER_IS_SME(type) ? AUX_SIMD_SME
	       : SPE_OTHER_IS_ASE(type) ? AUX_SIMD_ASE
					: AUX_SIMD_NONE;
}

uint8_t spe_record_simd(const struct spe_record *r)
{
	const enum aux_simd_arch arch = r->has_op ? simd_arch(&r->op) : AUX_SIMD_NONE;
	const bool sve = arch == AUX_SIMD_SVE;

	if (arch == AUX_SIMD_NONE)
		return 0;
	if (sve && !(r->op.op_type & SPE_PREDICATED))
		return aux_simd(arch, AUX_LANES_NO_PREDICATE);
	if (r->op.events & SPE_EVENT_PARTIAL_PREDICATE)
		return aux_simd(arch, AUX_LANES_PARTIAL);
	if (r->op.events & SPE_EVENT_EMPTY_PREDICATE)
		return aux_simd(arch, AUX_LANES_EMPTY);
	return aux_simd(arch, sve ? AUX_LANES_FULL : AUX_LANES_UNKNOWN);
}

bool spe_records_at(const uint8_t *p, size_t len, uint64_t offset, unsigned int nr)
{
	struct spe_record r = {0};
	struct spe_packet packet;

	for (size_t at = 0, begin = 0; nr && at < len;) {
		int rc = spe_packet_read(p + at, len - at, offset + at, &packet);

		if (rc == -ENODATA)
			return true;
		if (!rc)
			rc = spe_record_add(&r, &packet);
		if (rc < 0)
			return false;
		at += packet.len;
		if (packet.kind == SPE_PADDING && !r.any)
			begin = at;
		if (at - begin > SPE_RECORD_MAX)
			return false;
		if (!rc)
			continue;
		/* Whatever an operation did, it was somewhere. */
		if (!r.has_ip)
			return false;
		r = (struct spe_record){0};
		begin = at;
		nr--;
	}
	return true;
}
