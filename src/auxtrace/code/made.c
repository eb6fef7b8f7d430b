// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/code/made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Returns how many pieces begin at or below @addr. */
static size_t pieces_upto(const struct code_made *m, uint64_t addr)
{
	size_t from = 0, to = m->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (m->pieces[middle].addr <= addr)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

int code_made_add(struct code_made *m, uint64_t addr, const uint8_t *bytes, size_t size)
{
	size_t at = pieces_upto(m, addr);

	if (!size || (at && m->pieces[at - 1].addr == addr))
		return 0;
	if (array_grow(&m->pieces, &m->cap, m->nr + 1, sizeof(*m->pieces)))
		return -ENOMEM;
	memmove(&m->pieces[at + 1], &m->pieces[at], (m->nr - at) * sizeof(*m->pieces));
	m->pieces[at] = (struct code_made_piece){addr, bytes, size};
	m->nr++;
	return 0;
}

int code_made_read(const struct code_made *m, uint64_t addr, uint8_t *buf, size_t len)
{
	size_t nr = pieces_upto(m, addr);
	const struct code_made_piece *p = nr ? &m->pieces[nr - 1] : NULL;
	uint64_t at = p ? addr - p->addr : 0;

	if (!p || at >= p->size)
		return -ENOENT;
	len = len < p->size - at ? len : p->size - at;
	memcpy(buf, p->bytes + at, len);
	return (int)len;
}

void code_made_release(struct code_made *m)
{
	free(m->pieces);
	*m = (struct code_made){0};
}
