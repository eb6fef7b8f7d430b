// SPDX-License-Identifier: Apache-2.0
#include "perfdata/attr.h"

#include <errno.h>
#include <string.h>

#include "perfdata/codec.h"

/*
 * Offsets and sizes of the fields, in the order of the wire, without the flag word. An old, shorter
 * attribute lacks the last ones.
 */
static const struct attr_field {
	uint8_t offset, size;
} attr_fields[] = {
	{0, 4},	  /* type */
	{4, 4},	  /* size */
	{8, 8},	  /* config */
	{16, 8},  /* sample_period */
	{24, 8},  /* sample_type */
	{32, 8},  /* read_format */
	{48, 4},  /* wakeup_events */
	{52, 4},  /* bp_type */
	{56, 8},  /* config1 */
	{64, 8},  /* config2 */
	{72, 8},  /* branch_sample_type */
	{80, 8},  /* sample_regs_user */
	{88, 4},  /* sample_stack_user */
	{92, 4},  /* clockid */
	{96, 8},  /* sample_regs_intr */
	{104, 4}, /* aux_watermark */
	{108, 2}, /* sample_max_stack */
	{110, 2}, /* reserved_2 */
	{112, 4}, /* aux_sample_size */
	{116, 4}, /* aux_action */
	{120, 8}, /* sig_data */
	{128, 8}, /* config3 */
	{136, 8}, /* config4 */
};

#define ATTR_FLAGS_OFFSET 40

static void bytes_reverse(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t b = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = b;
	}
}

/*
 * A machine of the other byte order lays bit fields out from the other end of the word. So the
 * flags keep the order of their bytes, and each byte is mirrored. That also mirrors precise_ip, the
 * only field of two bits, which is mirrored back.
 */
static void attr_flags_turn(uint8_t *p)
{
	uint64_t word = 0, precise;

	for (size_t i = 0; i < sizeof(word); i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			if (p[i] & (0x80u >> bit))
				word |= 1ULL << (8 * i + bit);
		}
	}
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	precise = (word & PD_ATTR_PRECISE_IP) >> PD_ATTR_PRECISE_IP_SHIFT;
	word &= ~PD_ATTR_PRECISE_IP;
	word |= ((precise & 1) << 1 | precise >> 1) << PD_ATTR_PRECISE_IP_SHIFT;
	memcpy(p, &word, sizeof(word));
}

void pd_attr_turn(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < sizeof(attr_fields) / sizeof(attr_fields[0]); i++) {
		const struct attr_field *f = &attr_fields[i];

		if (f->offset + f->size <= size)
			bytes_reverse(p + f->offset, f->size);
	}
	attr_flags_turn(p + ATTR_FLAGS_OFFSET);
}

int pd_attr_decode(const uint8_t *p, size_t len, bool swap, struct pd_attr *ret, bool *ret_unknown)
{
	struct pd_attr attr = {0};
	uint32_t size;
	bool unknown = false;

	if (len < PD_ATTR_SIZE_VER0)
		return -EBADMSG;
	memcpy(&size, p + offsetof(struct pd_attr, size), sizeof(size));
	if (swap)
		size = __builtin_bswap32(size);
	if (!size)
		size = PD_ATTR_SIZE_VER0;
	if (size < PD_ATTR_SIZE_VER0 || size > len)
		return -EBADMSG;

	memcpy(&attr, p, size < sizeof(attr) ? size : sizeof(attr));
	for (size_t i = sizeof(attr); i < size; i++)
		unknown |= p[i] != 0;
	if (swap)
		pd_attr_turn((uint8_t *)&attr, sizeof(attr));
	attr.size = size;
	*ret = attr;
	if (ret_unknown)
		*ret_unknown = unknown;
	return 0;
}

uint32_t pd_attr_wire_size(const struct pd_attr *attr)
{
	if (attr->config4)
		return 144;
	if (attr->config3)
		return 136;
	if (attr->sig_data)
		return 128;
	if (attr->aux_sample_size || attr->aux_action)
		return 120;
	return 112;
}

size_t pd_attr_id_trailer_size(const struct pd_attr *attr)
{
	if (!(attr->flags & PD_ATTR_SAMPLE_ID_ALL))
		return 0;
	return sizeof(uint64_t) *
	       (size_t)__builtin_popcountll(attr->sample_type & PD_SAMPLE_ID_BITS);
}
