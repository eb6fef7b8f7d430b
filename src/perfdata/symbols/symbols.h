/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codec of a recording's own table of symbols: the names of the functions that its samples hit.
 *
 * Readers know it as the feature HEADER_RINGTAIL_SYMBOLS. In a file a struct pd_own_section says
 * where it is, which perf does not read. In a pipe stream it lies in HEADER_EVENT_TYPE records,
 * which perf skips:
 *
 *   u64 PD_SYMBOLS_MAGIC, offset, total; the bytes from offset on; zeros up to a multiple of 8
 *
 * The table has no byte order. Numbers are LEB128:
 *
 *   "RTSYMS01", number of bytes of the head; head: number of functions that are left out
 *   object:   number of bytes that follow; kind, pid, build-id and name (each with its length),
 *             parts
 *   part:     tag, number of bytes that follow; readers skip unknown tags
 *   function: start (beyond the start of the one before), size, name with its length; part 1
 *   lines:    perfdata/symbols/symbol_lines.h; part 2
 *
 * Addresses are those of struct location (state/state.h). Names are as in the symbol table, not
 * demangled; those of the PLT end with "@plt". Decoders accept any bytes: damage in an object
 * costs the rest of this object. Any thread; the decoded structs point into the table.
 */
#ifndef RINGTAIL_PERFDATA_SYMBOLS_H
#define RINGTAIL_PERFDATA_SYMBOLS_H

#include "base/buf.h"
#include "perfdata/record.h"

#define PD_SYMBOLS_MAGIC 0x31736d7973747261ull /* of a record: "artsyms1", little-endian */
/* The finding of a reader whose table cannot be read to its end. */
#define PD_SYMBOLS_DAMAGED "the recording's own table of symbols is damaged"
/* Bytes of the table in a record. */
#define PD_SYMBOLS_PIECE (32u << 10)

enum pd_symbols_kind {
	PD_SYMBOLS_KERNEL = 1,
	PD_SYMBOLS_MODULE,
	PD_SYMBOLS_FILE,
	PD_SYMBOLS_VDSO,
	PD_SYMBOLS_PROCESS, /* generated code of the process with this pid */
};

struct pd_symbols_function {
	uint64_t start, size; /* bytes; size is not 0, and the sum does not wrap */
	const char *name;     /* without NUL, not empty */
	size_t name_len;
};

struct pd_symbols_object {
	uint64_t kind; /* enum pd_symbols_kind, or unknown */
	uint32_t pid;  /* of PD_SYMBOLS_PROCESS */
	const uint8_t *build_id;
	size_t build_id_size; /* at most PD_BUILD_ID_MAX; 0: none */
	const char *name;     /* without NUL */
	size_t name_len;
	const uint8_t *functions; /* encoded; NULL: none */
	size_t functions_len;
	const uint8_t *lines; /* encoded (perfdata/symbols/symbol_lines.h); NULL: none */
	size_t lines_len;
};

/* Begins an empty table. Returns 0 or -ENOMEM. */
int pd_symbols_begin(struct buf *b, uint64_t left_out);
/*
 * Appends a function to the encoded functions of an object, whose starts must not decrease. @last
 * is the start of the function before; 0 before the first. Returns 0 or -ENOMEM.
 */
int pd_symbols_put_function(struct buf *b, uint64_t *last, const struct pd_symbols_function *f);
/* Appends an object with its functions to a table. Returns 0 or -ENOMEM. */
int pd_symbols_put_object(struct buf *b, const struct pd_symbols_object *o);
/*
 * Appends the whole table @p as records of a pipe stream, in the other byte order if @swap.
 * Returns 0 or -ENOMEM.
 */
int pd_symbols_put_records(struct buf *b, const uint8_t *p, size_t len, bool swap);

/* Place in encoded bytes. */
struct pd_symbols_cursor {
	const uint8_t *p, *end;
	uint64_t last; /* start of the function before */
};

/*
 * Begins to read a table. Returns 0 with the number of functions that the writer left out, or
 * -EBADMSG if it is none.
 */
int pd_symbols_open(const uint8_t *p, size_t len, struct pd_symbols_cursor *ret,
		    uint64_t *ret_left_out);
/* Reads the next object. Returns 1, 0 at the end, or -EBADMSG, where the table ends for readers. */
int pd_symbols_next_object(struct pd_symbols_cursor *c, struct pd_symbols_object *ret);
/* Begins to read the functions of @o. */
void pd_symbols_functions(const struct pd_symbols_object *o, struct pd_symbols_cursor *ret);
/* Reads the next function. Returns 1, 0 at the end, or -EBADMSG: nothing behind can be read. */
int pd_symbols_next_function(struct pd_symbols_cursor *c, struct pd_symbols_function *ret);

#endif
