// SPDX-License-Identifier: Apache-2.0
#include "data/file/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_VERSION, WORD_MAGIC, WORD_COMPLETE, WORD_COUNT, WORDS_HEAD };
#define WORDS_PART 2u

int parts_encode(const struct parts *parts, struct buf *b)
{
	const uint64_t head[WORDS_HEAD] = {
		[WORD_VERSION] = PARTS_VERSION,
		[WORD_MAGIC] = PARTS_MAGIC,
		[WORD_COMPLETE] = parts->complete,
		[WORD_COUNT] = parts->nr,
	};
	const uint64_t single = PARTS_VERSION_SINGLE;
	int rc = parts->nr ? buf_append(b, head, sizeof(head))
			   : buf_append(b, &single, sizeof(single));

	for (size_t i = 0; !rc && i < parts->nr; i++) {
		const uint64_t words[WORDS_PART] = {parts->part[i].bytes, parts->part[i].records};

		rc = buf_append(b, words, sizeof(words));
	}
	return rc;
}

static uint64_t word(const uint8_t *p, size_t index, bool swap)
{
	uint64_t v;

	memcpy(&v, p + index * sizeof(v), sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

int parts_decode(const uint8_t *p, size_t len, bool swap, struct parts *ret)
{
	size_t words = len / sizeof(uint64_t);
	uint64_t nr;

	*ret = (struct parts){0};
	if (words <= WORD_MAGIC || word(p, WORD_MAGIC, swap) != PARTS_MAGIC)
		return -ENOENT;
	if (words < WORDS_HEAD)
		return -EBADMSG;
	nr = word(p, WORD_COUNT, swap);
	if (nr > (words - WORDS_HEAD) / WORDS_PART)
		return -EBADMSG;
	ret->part = calloc(nr ? nr : 1, sizeof(*ret->part));
	if (!ret->part)
		return -ENOMEM;
	ret->complete = word(p, WORD_COMPLETE, swap) != 0;
	ret->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		ret->part[i].bytes = word(p, WORDS_HEAD + WORDS_PART * i, swap);
		ret->part[i].records = word(p, WORDS_HEAD + WORDS_PART * i + 1, swap);
	}
	return 0;
}

void parts_release(struct parts *parts)
{
	free(parts->part);
	*parts = (struct parts){0};
}
