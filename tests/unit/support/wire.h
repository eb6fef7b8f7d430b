/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes records word by word, in either byte order. It follows the definition of the ABI and uses
 * no code under test.
 */
#ifndef RINGTAIL_TESTS_WIRE_H
#define RINGTAIL_TESTS_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>

struct wire {
	_Alignas(8) uint8_t data[8192];
	size_t len;
	bool foreign;
};

static inline void wire_bytes(struct wire *w, const void *p, size_t n)
{
	if (n > sizeof(w->data) - w->len)
		abort();
	memcpy(w->data + w->len, p, n);
	w->len += n;
}

static inline void wire_u16(struct wire *w, uint16_t v)
{
	v = w->foreign ? __builtin_bswap16(v) : v;
	wire_bytes(w, &v, sizeof(v));
}

static inline void wire_u32(struct wire *w, uint32_t v)
{
	v = w->foreign ? __builtin_bswap32(v) : v;
	wire_bytes(w, &v, sizeof(v));
}

static inline void wire_u64(struct wire *w, uint64_t v)
{
	v = w->foreign ? __builtin_bswap64(v) : v;
	wire_bytes(w, &v, sizeof(v));
}

static inline void wire_pad(struct wire *w)
{
	while (w->len % 8)
		wire_bytes(w, "", 1);
}

/* Writes a string with its NUL, padded to 8 bytes. */
static inline void wire_string(struct wire *w, const char *s)
{
	wire_bytes(w, s, strlen(s) + 1);
	wire_pad(w);
}

/* Begins a record. The header is native in either order, as the functions under test expect it. */
static inline void wire_begin(struct wire *w, bool foreign, uint32_t type, uint16_t misc)
{
	struct perf_event_header hdr = {.type = type, .misc = misc};

	memset(w, 0, sizeof(*w));
	w->foreign = foreign;
	wire_bytes(w, &hdr, sizeof(hdr));
}

static inline struct perf_event_header *wire_end(struct wire *w)
{
	struct perf_event_header *hdr = (struct perf_event_header *)w->data;

	hdr->size = (uint16_t)w->len;
	return hdr;
}

/* Copies the first @n bytes of a record to a block of exactly that size; its header has size @n. */
static inline struct perf_event_header *wire_truncated(const struct wire *w, size_t n)
{
	struct perf_event_header *hdr = malloc(n < sizeof(*hdr) ? sizeof(*hdr) : n);

	memcpy(hdr, w->data, n < sizeof(*hdr) ? sizeof(*hdr) : n);
	hdr->size = (uint16_t)n;
	return hdr;
}

#endif
