// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/spe/packet.h"

#include <errno.h>

#define SIZE_SHIFT   4
#define SIZE_MASK    0x30u /* of a header: log2 of the payload's bytes */
#define ADDRESS_BITS 56

/* A header byte without the bits of its index and its size. */
static const struct {
	uint8_t mask, value, index_mask;
	enum spe_kind kind;
} headers[] = {
	{0xcf, 0x42, 0, SPE_EVENTS},	{0xcf, 0x43, 0, SPE_SOURCE},
	{0xfc, 0x48, 3, SPE_OPERATION}, {0xfc, 0x64, 3, SPE_CONTEXT},
	{0xf8, 0x98, 7, SPE_COUNTER},	{0xf8, 0xb0, 7, SPE_ADDRESS},
	{0xff, 0x71, 0, SPE_TIMESTAMP},
};

static uint64_t load(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	for (size_t i = len; i--;)
		v = v << 8 | p[i];
	return v;
}

/* Reads a packet with payload, whose header byte is the last of @header bytes. */
static int read_payload(const uint8_t *p, size_t len, size_t header, struct spe_packet *ret)
{
	const uint8_t byte = p[header - 1];
	size_t size = (size_t)1 << ((byte & SIZE_MASK) >> SIZE_SHIFT);

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if ((byte & headers[i].mask) != headers[i].value)
			continue;
		ret->kind = headers[i].kind;
		/* Only addresses and counters have extended headers. */
		if (header == 2 && ret->kind != SPE_ADDRESS && ret->kind != SPE_COUNTER)
			return -EBADMSG;
		ret->index = byte & headers[i].index_mask;
		if (header == 2)
			ret->index |= (uint8_t)((p[0] & 3) << 3);
		ret->len = header + size;
		if (ret->len > len)
			return -ENODATA;
		ret->payload = load(p + header, size);
		return 0;
	}
	return -EBADMSG;
}

int spe_packet_read(const uint8_t *p, size_t len, uint64_t offset, struct spe_packet *ret)
{
	*ret = (struct spe_packet){.kind = SPE_PADDING};
	if (!len)
		return -ENODATA;
	if (!p[0]) {
		while (ret->len < len && !p[ret->len])
			ret->len++;
		return 0;
	}
	if (p[0] == 1) {
		ret->kind = SPE_END;
		ret->len = 1;
		return 0;
	}
	if ((p[0] & 0xfc) != 0x20)
		return read_payload(p, len, 1, ret);
	if (len < 2)
		return -ENODATA;
	if (p[1])
		return read_payload(p, len, 2, ret);
	ret->kind = SPE_ALIGNMENT;
	ret->payload = 2u << (p[0] & 3);
	ret->len = ret->payload - (offset & (ret->payload - 1));
	/* Its own two bytes may end an alignment of two. */
	if (ret->len < 2)
		ret->len += ret->payload;
	return ret->len > len ? -ENODATA : 0;
}

uint64_t spe_packet_address(const struct spe_packet *packet)
{
	uint64_t address = packet->payload & ((1ull << ADDRESS_BITS) - 1);

	/* The top byte has other contents; of a virtual address it repeats bit 55. */
	if (packet->index != SPE_PHYS && address >> (ADDRESS_BITS - 1))
		address |= UINT64_MAX << ADDRESS_BITS;
	return address;
}

unsigned int spe_packet_level(const struct spe_packet *packet)
{
	return packet->payload >> 61 & 3;
}
