/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of Apache Thrift's compact protocol, in memory.
 *
 * Source: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md. A struct needs its fields
 * in rising order. The first failure is kept in bytes.rc, and later calls do nothing. One thread at
 * a time uses it.
 */
#ifndef RINGTAIL_EXPORT_WIRE_THRIFT_H
#define RINGTAIL_EXPORT_WIRE_THRIFT_H

#include <stdint.h>

#include "export/wire/proto.h"

#define THRIFT_DEPTH 8 /* structs in structs, at most */

enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_STRING = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/* All zero: an empty struct. */
struct thrift {
	struct proto bytes;		 /* varints are those of protobuf */
	unsigned int last[THRIFT_DEPTH]; /* numbers of fields */
	unsigned int depth;
};

/* Appends a field of a type that is a number. */
void thrift_int(struct thrift *t, unsigned int field, enum thrift_type type, int64_t v);
/* Appends a string. */
void thrift_string(struct thrift *t, unsigned int field, const char *s);
/* Appends the head of a list of @n items; the caller appends the items. */
void thrift_list(struct thrift *t, unsigned int field, enum thrift_type type, size_t n);
/* Appends a number that is an item of a list. */
void thrift_item_int(struct thrift *t, int64_t v);
/* Appends a string that is an item of a list. */
void thrift_item_string(struct thrift *t, const char *s);
/* Begins a struct that is a field, until thrift_end(). */
void thrift_begin(struct thrift *t, unsigned int field);
/* Begins a struct that is an item of a list, until thrift_end(). */
void thrift_item_begin(struct thrift *t);
/* Ends the innermost struct; the outermost one last. */
void thrift_end(struct thrift *t);
/* Appends a number in zigzag coding, as fields have it. */
void thrift_zigzag(struct proto *p, int64_t v);

#endif
