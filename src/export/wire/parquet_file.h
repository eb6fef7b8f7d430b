/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of Apache Parquet: tables whose columns have a value in each row, compressed with zstd.
 *
 * Source: github.com/apache/parquet-format, README.md, Encodings.md,
 * src/main/thrift/parquet.thrift. Memory holds the rows of one group. A column of a group is a data
 * page, and for strings a dictionary page before it. One thread.
 */
#ifndef RINGTAIL_EXPORT_WIRE_PARQUET_FILE_H
#define RINGTAIL_EXPORT_WIRE_PARQUET_FILE_H

#include "export/wire/intern.h"
#include "export/wire/out.h"
#include "export/wire/thrift.h"

#define PARQUET_GROUP_ROWS    (128u << 10)
#define PARQUET_GROUP_STRINGS (8u << 20) /* bytes of strings; the last one may be longer */

enum parquet_type {
	PARQUET_INT32,
	PARQUET_INT64,
	PARQUET_ADDRESS, /* 64 bits without a sign */
	PARQUET_RISING,	 /* 64 bits, of which neighbours differ little, as times do */
	PARQUET_BOOL,
	PARQUET_STRING, /* UTF-8 */
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
};

struct parquet_values;

/* All zero: not begun. */
struct parquet_file {
	struct out *out;
	const struct parquet_column *columns;
	size_t nr_columns;
	struct parquet_values *values; /* of the rows that are not written yet, by column */
	uint32_t rows;		       /* of these */
	uint64_t all_rows;
	struct thrift groups; /* what the end says of the written ones */
	size_t nr_groups;
	struct thrift head;
	struct proto page;
	struct buf packed;
	void *zstd;
};

/* Begins a file of the caller's columns, at the beginning of @out. Both outlive it. Returns 0 or
 * a negative errno; the caller releases the file in either case.
 */
int parquet_begin(struct parquet_file *f, struct out *out, const struct parquet_column *columns,
		  size_t nr_columns);

/* Adds the value of a column to the row. Returns 0 or -ENOMEM. */
int parquet_int(struct parquet_file *f, size_t column, int64_t v);
/* Adds a string likewise; @s needs no NUL. */
int parquet_string(struct parquet_file *f, size_t column, const char *s, size_t n);
/*
 * Ends a row, in which each column has a value. Returns 0, out->rc, -ENOMEM, or -EFBIG if strings
 * are too long for the format.
 */
int parquet_end_row(struct parquet_file *f);

/* Writes the rest. Returns as parquet_end_row(). */
int parquet_end(struct parquet_file *f);
/* Frees the memory. */
void parquet_release(struct parquet_file *f);

#endif
