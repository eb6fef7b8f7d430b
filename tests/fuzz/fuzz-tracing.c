// SPDX-License-Identifier: Apache-2.0
/*
 * Any text as a tracepoint's format, any bytes as its record. Input: the format, a NUL, a byte of
 * choices, the record. The library must take each format that it is given, and print its record
 * without fault; what is printed is bounded by what the record and format hold, and the same with a
 * program as without.
 */
#include <stdlib.h>
#include <string.h>

#include "data/tracing/tracing_event.h"

#define SWAP	   1
#define FTRACE	   2
#define SHORT_LONG 4
#define RIGHT_TYPE 8 /* the record gets the type of the format, without which little is reached */
#define TEXT_MAX   (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tep_handle *new_handle(uint8_t choices)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		abort();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, choices & SHORT_LONG ? 4 : 8);
	tep_set_page_size(tep, 4096);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(tep, choices & SWAP ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	return tep;
}

static void print(const struct tracing_event *e, struct tep_handle *tep, const uint8_t *data,
		  size_t size, uint8_t choices)
{
	struct tracing_data record = {.size = (uint32_t)size, .swap = choices & SWAP};
	uint8_t *copy = malloc(size + !size);
	uint16_t id = (uint16_t)e->format.id;
	struct tracing_event by_library = *e;
	struct buf out = {0}, alone = {0};

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (choices & SWAP)
		id = (uint16_t)(id << 8 | id >> 8);
	if (choices & RIGHT_TYPE && size >= sizeof(id))
		memcpy(copy, &id, sizeof(id));
	record.p = copy;
	by_library.program = NULL;
	/* Twice: the library changes what it keeps while it prints. */
	for (int i = 0; i < 2; i++) {
		out.len = alone.len = 0;
		if (tracing_event_print(e, tep, &record, &out) || out.len > TEXT_MAX ||
		    tracing_event_print(&by_library, tep, &record, &alone))
			abort();
		if (out.len != alone.len || (out.len && memcmp(out.data, alone.data, out.len)))
			abort();
	}
	buf_release(&out);
	buf_release(&alone);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t text = strnlen((const char *)data, size);
	struct tracing_event e;
	struct tep_handle *tep;
	uint8_t choices;

	if (text + 2 > size)
		return 0;
	choices = data[text + 1];
	tep = new_handle(choices);
	if (!tracing_event_load(tep, choices & FTRACE ? "ftrace" : "sys", (const char *)data, &e)) {
		/* The check is there so that the library refuses nothing: it would lose memory. */
		if (e.printer == TRACING_REFUSED)
			abort();
		print(&e, tep, data + text + 2, size - text - 2, choices);
		tracing_event_release(&e);
	}
	tep_free(tep);
	return 0;
}
