// SPDX-License-Identifier: Apache-2.0
#include "perfdata/symbols/leb.h"

#define LEB_MAX 10u /* bytes of a u64 */

int leb_put(struct buf *b, uint64_t v)
{
	uint8_t bytes[LEB_MAX];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	return buf_append(b, bytes, n);
}

int leb_put_bytes(struct buf *b, const void *p, size_t len)
{
	return leb_put(b, len) ?: buf_append(b, p, len);
}

bool leb_get(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

bool leb_get_bytes(const uint8_t **p, const uint8_t *end, const uint8_t **ret, size_t *ret_len)
{
	uint64_t len;

	if (!leb_get(p, end, &len) || len > (size_t)(end - *p))
		return false;
	*ret = *p;
	*ret_len = len;
	*p += len;
	return true;
}
