// SPDX-License-Identifier: Apache-2.0
/*
 * Mutations of recordings. Of changes anywhere most only make a header wrong, behind which nothing
 * is read; these know where records begin, and leave them in a row. Every other change is still
 * one of libFuzzer's own, which know nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PLACES	  256
#define HEADER	  8
#define AUXTRACE  71
#define TRACING	  66
#define PIPE_SIZE 16
#define DATA_AT	  40 /* in the header: offset and size of the records */
#define DATA_SIZE 48

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

struct recording {
	uint8_t *p;
	size_t size, max;
	bool swap, pipe;
	unsigned int random; /* state of rand_r() */
	size_t place[PLACES];
	size_t nr;
};

static uint64_t load(const struct recording *r, size_t at, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)r->p[at + (r->swap ? bytes - 1 - i : i)] << (8 * i);
	return v;
}

static void store(struct recording *r, size_t at, size_t bytes, uint64_t v)
{
	for (size_t i = 0; i < bytes; i++)
		r->p[at + (r->swap ? bytes - 1 - i : i)] = (uint8_t)(v >> (8 * i));
}

static size_t draw(struct recording *r, size_t below)
{
	return (size_t)rand_r(&r->random) % below;
}

static void find_records(struct recording *r)
{
	uint64_t at;

	if (r->size < 2 * sizeof(uint64_t))
		return;
	r->swap = !memcmp(r->p, "2ELIFREP", 8);
	r->pipe = load(r, 8, 8) == PIPE_SIZE;
	at = r->pipe ? PIPE_SIZE : r->size < DATA_SIZE + 8 ? r->size : load(r, DATA_AT, 8);
	while (at <= r->size && r->size - at >= HEADER && r->nr < PLACES) {
		uint64_t size = load(r, at + 6, 2), payload = 0;
		uint32_t type = (uint32_t)load(r, at, 4);

		if (size < HEADER || size > r->size - at)
			break;
		r->place[r->nr++] = at;
		if (type == AUXTRACE && size >= HEADER + 8)
			payload = load(r, at + HEADER, 8);
		if (type == TRACING && size >= HEADER + 4)
			payload = (load(r, at + HEADER, 4) + 7) & ~7ULL;
		at += size;
		if (payload > r->size - at)
			break;
		at += payload;
	}
}

static size_t size_at(const struct recording *r, size_t at)
{
	return load(r, at + 6, 2);
}

/* The @len bytes at @at become @new_len; their contents are kept as far as there are any. */
static bool resize(struct recording *r, size_t at, size_t len, size_t new_len)
{
	if (new_len > len && new_len - len > r->max - r->size)
		return false;
	memmove(r->p + at + new_len, r->p + at + len, r->size - at - len);
	if (new_len > len)
		memset(r->p + at + len, 0, new_len - len);
	r->size += new_len - len;
	if (!r->pipe)
		store(r, DATA_SIZE, 8, load(r, DATA_SIZE, 8) + new_len - len);
	return true;
}

static void change_type(struct recording *r, size_t at)
{
	static const uint32_t last[] = {21, 64 + 22, 32768 + 16};
	size_t range = draw(r, 3);

	store(r, at, 4, last[range] - draw(r, 23));
}

static void change_misc(struct recording *r, size_t at)
{
	store(r, at + 4, 2, 1ULL << draw(r, 16));
}

static void change_size(struct recording *r, size_t at)
{
	size_t size = size_at(r, at), to = HEADER + draw(r, size + 32);

	if (draw(r, 4))
		to = (to + 7) & ~(size_t)7;
	if (to <= UINT16_MAX && resize(r, at, size, to))
		store(r, at + 6, 2, to);
}

/* A number that is a count, a size or an offset: ones that are just too large. */
static void change_word(struct recording *r, size_t at)
{
	size_t words = (size_at(r, at) - HEADER) / 8;
	const uint64_t sizes[] = {
		0, 1, words, words - 1, words * 8, UINT64_MAX, UINT64_MAX / 8 + 2};
	uint64_t v = sizes[draw(r, sizeof(sizes) / sizeof(sizes[0]))];

	if (!words)
		return;
	at += HEADER + 8 * draw(r, words);
	if (draw(r, 2))
		store(r, at, 8, v);
	else
		store(r, at + 4 * draw(r, 2), 4, v);
}

static void change_body(struct recording *r, size_t at)
{
	size_t len = size_at(r, at) - HEADER;
	uint8_t *copy = malloc(len + 1);

	if (!copy)
		abort();
	memcpy(copy, r->p + at + HEADER, len);
	if (len)
		LLVMFuzzerMutate(copy, len, len);
	memcpy(r->p + at + HEADER, copy, len);
	free(copy);
}

static void take_out(struct recording *r, size_t at)
{
	resize(r, at, size_at(r, at), 0);
}

/* A copy of another one before that at @at. */
static void put_in(struct recording *r, size_t at)
{
	size_t from = r->place[draw(r, r->nr)], len = size_at(r, from);
	uint8_t *copy = malloc(len);

	if (!copy)
		abort();
	memcpy(copy, r->p + from, len);
	if (resize(r, at, 0, len))
		memcpy(r->p + at, copy, len);
	free(copy);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static void (*const changes[])(struct recording * r, size_t at) = {
		change_type, change_misc, change_size, change_word, change_body, take_out, put_in,
	};
	struct recording r = {.p = data, .size = size, .max = max, .random = seed};

	find_records(&r);
	if (!r.nr || !draw(&r, 2))
		return LLVMFuzzerMutate(data, size, max);
	changes[draw(&r, sizeof(changes) / sizeof(changes[0]))](&r, r.place[draw(&r, r.nr)]);
	return r.size;
}
