// SPDX-License-Identifier: Apache-2.0
#include "export/wire/parquet_file.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAGIC	   "PAR1"
#define ZSTD_LEVEL 3
/* DELTA_BINARY_PACKED */
#define BLOCK	   128 /* values */
#define MINIBLOCKS 4   /* of a block */
#define MINIBLOCK  (BLOCK / MINIBLOCKS)

/* Numbers of parquet.thrift, by enum or struct. */
enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6, CONVERTED_UTF8 = 0, CONVERTED_UINT64 = 14 };
enum { HEAD_TYPE = 1, HEAD_SIZE, HEAD_PACKED_SIZE, HEAD_DATA = 5, HEAD_DICTIONARY = 7 };
enum { PAGE_VALUES = 1, PAGE_ENCODING, PAGE_DEFINITION_ENCODING, PAGE_REPETITION_ENCODING };
enum {
	SCHEMA_TYPE = 1,
	SCHEMA_REPETITION = 3,
	SCHEMA_NAME,
	SCHEMA_CHILDREN,
	SCHEMA_CONVERTED_TYPE,
	SCHEMA_LOGICAL_TYPE = 10,
	LOGICAL_STRING = 1
};
enum {
	CHUNK_TYPE = 1,
	CHUNK_ENCODINGS,
	CHUNK_PATH,
	CHUNK_CODEC,
	CHUNK_VALUES,
	CHUNK_SIZE,
	CHUNK_PACKED_SIZE,
	CHUNK_DATA_PAGE = 9,
	CHUNK_DICTIONARY_PAGE = 11
};
enum { COLUMN_OFFSET = 2, COLUMN_METADATA };
enum { GROUP_COLUMNS = 1, GROUP_SIZE, GROUP_ROWS };
enum { FILE_VERSION = 1, FILE_SCHEMA, FILE_ROWS, FILE_GROUPS, FILE_CREATED_BY = 6 };

struct parquet_values {
	struct buf values; /* PLAIN; of strings, numbers in @strings, 32 bits each */
	struct intern_strings strings;
};

/* What is known of a column's part of a group. */
struct parquet_chunk {
	uint64_t begin, data, end; /* offsets in the file; @data of the data page */
	uint64_t size;		   /* not compressed */
};

static const struct {
	int type, encoding;
	size_t bytes; /* in struct parquet_values */
} forms[] = {
	[PARQUET_INT32] = {TYPE_INT32, ENCODING_PLAIN, 4},
	[PARQUET_INT64] = {TYPE_INT64, ENCODING_PLAIN, 8},
	[PARQUET_ADDRESS] = {TYPE_INT64, ENCODING_PLAIN, 8},
	[PARQUET_RISING] = {TYPE_INT64, ENCODING_DELTA, 8},
	[PARQUET_BOOL] = {TYPE_BOOLEAN, ENCODING_PLAIN, 4},
	[PARQUET_STRING] = {TYPE_BYTE_ARRAY, ENCODING_DICTIONARY, 4},
};

/* --- encodings -----------------------------------------------------------------------------------
 */

static unsigned int bits_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* Appends @n values of @bits bits each, the lowest bits first. @n is a multiple of 8. */
static void put_bits(struct proto *p, const uint64_t *v, size_t n, unsigned int bits)
{
	uint8_t bytes[8 * BLOCK] = {0};
	size_t at = 0;

	for (size_t i = 0; i < n; i++, at += bits) {
		unsigned int shift = at % 8;

		for (unsigned int done = 0; done < bits; done += 8 - (shift + done) % 8)
			bytes[(at + done) / 8] |= (uint8_t)((v[i] >> done) << ((shift + done) % 8));
	}
	proto_raw(p, bytes, at / 8);
}

/* Differences may wrap, as the format wants. */
static void put_delta_block(struct proto *p, const uint64_t *v, size_t n)
{
	uint64_t delta[BLOCK] = {0}, or [MINIBLOCKS] = {0};
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		delta[i] = le64toh(v[i + 1]) - le64toh(v[i]);
		least = (int64_t)delta[i] < least ? (int64_t)delta[i] : least;
	}
	for (size_t i = 0; i < n; i++) {
		delta[i] -= (uint64_t)least;
		or [i / MINIBLOCK] |= delta[i];
	}
	thrift_zigzag(p, least);
	for (size_t i = 0; i < MINIBLOCKS; i++) {
		uint8_t bits = (uint8_t)bits_of(or [i]);

		proto_raw(p, &bits, 1);
	}
	for (size_t i = 0; i < MINIBLOCKS; i++)
		put_bits(p, delta + i * MINIBLOCK, MINIBLOCK, bits_of(or [i]));
}

static void put_deltas(struct proto *p, const uint64_t *v, size_t n)
{
	proto_varint(p, BLOCK);
	proto_varint(p, MINIBLOCKS);
	proto_varint(p, n);
	thrift_zigzag(p, (int64_t)le64toh(v[0]));
	for (size_t i = 0; i + 1 < n; i += BLOCK)
		put_delta_block(p, v + i, n - 1 - i < BLOCK ? n - 1 - i : BLOCK);
}

static void put_packed(struct proto *p, const uint32_t *v, size_t n, unsigned int bits)
{
	for (size_t i = 0; i < n; i += BLOCK) {
		uint64_t part[BLOCK] = {0};
		size_t nr = n - i < BLOCK ? n - i : BLOCK;

		for (size_t k = 0; k < nr; k++)
			part[k] = v[i + k];
		put_bits(p, part, (nr + 7) / 8 * 8, bits);
	}
}

/* Numbers of a dictionary of @nr_words: one run of packed bits. */
static void put_indexes(struct proto *p, const uint32_t *v, size_t n, size_t nr_words)
{
	uint8_t bits = (uint8_t)(bits_of(nr_words - 1) ?: 1);

	proto_raw(p, &bits, 1);
	proto_varint(p, (n + 7) / 8 << 1 | 1);
	put_packed(p, v, n, bits);
}

static void put_dictionary(struct proto *p, const struct intern_strings *strings)
{
	for (uint32_t i = 0; i < strings->table.nr; i++) {
		size_t n;
		const char *s = intern_string_at(strings, i, &n);
		uint32_t len = htole32((uint32_t)n);

		proto_raw(p, &len, sizeof(len));
		proto_raw(p, s, n);
	}
}

/* --- pages and groups ----------------------------------------------------------------------------
 */

static int pack_page(struct parquet_file *f)
{
	size_t n = f->page.b.len, bound = ZSTD_compressBound(n);

	if (f->page.rc)
		return f->page.rc;
	if (n > INT32_MAX || bound > INT32_MAX)
		return -EFBIG;
	f->packed.len = 0;
	if (buf_reserve(&f->packed, bound))
		return -ENOMEM;
	n = ZSTD_compressCCtx(f->zstd, f->packed.data, bound, f->page.b.data, n, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	f->packed.len = n;
	return 0;
}

/* Writes what is in @f->page, of @nr values. */
static int write_page(struct parquet_file *f, int type, size_t nr, int encoding,
		      struct parquet_chunk *chunk)
{
	struct thrift *h = &f->head;
	size_t size = f->page.b.len;
	int rc = pack_page(f);

	if (rc)
		return rc;
	h->bytes.b.len = 0;
	thrift_int(h, HEAD_TYPE, THRIFT_I32, type);
	thrift_int(h, HEAD_SIZE, THRIFT_I32, (int64_t)size);
	thrift_int(h, HEAD_PACKED_SIZE, THRIFT_I32, (int64_t)f->packed.len);
	thrift_begin(h, type == PAGE_DATA ? HEAD_DATA : HEAD_DICTIONARY);
	thrift_int(h, PAGE_VALUES, THRIFT_I32, (int64_t)nr);
	thrift_int(h, PAGE_ENCODING, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_int(h, PAGE_DEFINITION_ENCODING, THRIFT_I32, ENCODING_RLE);
		thrift_int(h, PAGE_REPETITION_ENCODING, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(h);
	thrift_end(h);
	chunk->size += h->bytes.b.len + size;
	rc = proto_write(&h->bytes, f->out);
	out_put(f->out, f->packed.data, f->packed.len);
	f->page.b.len = 0;
	return rc ?: f->out->rc;
}

static int write_chunk(struct parquet_file *f, size_t column, struct parquet_chunk *chunk)
{
	enum parquet_type type = f->columns[column].type;
	struct parquet_values *v = &f->values[column];
	uint32_t words = v->strings.table.nr;
	int rc = 0;

	*chunk = (struct parquet_chunk){.begin = f->out->bytes};
	if (type == PARQUET_STRING) {
		put_dictionary(&f->page, &v->strings);
		rc = write_page(f, PAGE_DICTIONARY, words, ENCODING_PLAIN, chunk);
		put_indexes(&f->page, (const uint32_t *)v->values.data, f->rows, words);
	} else if (type == PARQUET_RISING) {
		put_deltas(&f->page, (const uint64_t *)v->values.data, f->rows);
	} else if (type == PARQUET_BOOL) {
		put_packed(&f->page, (const uint32_t *)v->values.data, f->rows, 1);
	} else {
		proto_raw(&f->page, v->values.data, v->values.len);
	}
	chunk->data = f->out->bytes;
	rc = rc ?: write_page(f, PAGE_DATA, f->rows, forms[type].encoding, chunk);
	chunk->end = f->out->bytes;
	v->values.len = 0;
	intern_strings_release(&v->strings);
	return rc;
}

static void describe_chunk(struct parquet_file *f, size_t column, const struct parquet_chunk *chunk)
{
	const struct parquet_column *c = &f->columns[column];
	struct thrift *g = &f->groups;
	bool words = c->type == PARQUET_STRING;

	thrift_item_begin(g);
	thrift_int(g, COLUMN_OFFSET, THRIFT_I64, (int64_t)chunk->begin);
	thrift_begin(g, COLUMN_METADATA);
	thrift_int(g, CHUNK_TYPE, THRIFT_I32, forms[c->type].type);
	thrift_list(g, CHUNK_ENCODINGS, THRIFT_I32, words ? 2 : 1);
	thrift_item_int(g, forms[c->type].encoding);
	if (words)
		thrift_item_int(g, ENCODING_PLAIN);
	thrift_list(g, CHUNK_PATH, THRIFT_STRING, 1);
	thrift_item_string(g, c->name);
	thrift_int(g, CHUNK_CODEC, THRIFT_I32, CODEC_ZSTD);
	thrift_int(g, CHUNK_VALUES, THRIFT_I64, f->rows);
	thrift_int(g, CHUNK_SIZE, THRIFT_I64, (int64_t)chunk->size);
	thrift_int(g, CHUNK_PACKED_SIZE, THRIFT_I64, (int64_t)(chunk->end - chunk->begin));
	thrift_int(g, CHUNK_DATA_PAGE, THRIFT_I64, (int64_t)chunk->data);
	if (words)
		thrift_int(g, CHUNK_DICTIONARY_PAGE, THRIFT_I64, (int64_t)chunk->begin);
	thrift_end(g);
	thrift_end(g);
}

static int write_group(struct parquet_file *f)
{
	uint64_t size = 0;
	int rc = 0;

	thrift_item_begin(&f->groups);
	thrift_list(&f->groups, GROUP_COLUMNS, THRIFT_STRUCT, f->nr_columns);
	for (size_t i = 0; !rc && i < f->nr_columns; i++) {
		struct parquet_chunk chunk;

		rc = write_chunk(f, i, &chunk);
		describe_chunk(f, i, &chunk);
		size += chunk.size;
	}
	thrift_int(&f->groups, GROUP_SIZE, THRIFT_I64, (int64_t)size);
	thrift_int(&f->groups, GROUP_ROWS, THRIFT_I64, f->rows);
	thrift_end(&f->groups);
	f->nr_groups++;
	f->all_rows += f->rows;
	f->rows = 0;
	return rc ?: f->groups.bytes.rc;
}

/* --- rows ----------------------------------------------------------------------------------------
 */

int parquet_begin(struct parquet_file *f, struct out *out, const struct parquet_column *columns,
		  size_t nr_columns)
{
	*f = (struct parquet_file){
		.out = out,
		.columns = columns,
		.nr_columns = nr_columns,
		.values = calloc(nr_columns, sizeof(*f->values)),
		.zstd = ZSTD_createCCtx(),
		.groups = {.depth = 1}, /* in the struct of the file */
	};
	if (!f->values || !f->zstd)
		return -ENOMEM;
	out_puts(out, MAGIC);
	return out->rc;
}

int parquet_int(struct parquet_file *f, size_t column, int64_t v)
{
	uint64_t bytes = htole64((uint64_t)v);

	return buf_append(&f->values[column].values, &bytes, forms[f->columns[column].type].bytes);
}

int parquet_string(struct parquet_file *f, size_t column, const char *s, size_t n)
{
	struct parquet_values *v = &f->values[column];
	uint32_t number = intern_string(&v->strings, s, n);

	return number == INTERN_NONE ? -ENOMEM : buf_append(&v->values, &number, sizeof(number));
}

int parquet_end_row(struct parquet_file *f)
{
	size_t strings = 0;

	f->rows++;
	for (size_t i = 0; i < f->nr_columns; i++)
		strings += f->values[i].strings.bytes.len;
	return f->rows < PARQUET_GROUP_ROWS && strings < PARQUET_GROUP_STRINGS ? 0 : write_group(f);
}

static void put_schema(struct thrift *t, const struct parquet_file *f)
{
	thrift_list(t, FILE_SCHEMA, THRIFT_STRUCT, f->nr_columns + 1);
	thrift_item_begin(t);
	thrift_string(t, SCHEMA_NAME, "schema");
	thrift_int(t, SCHEMA_CHILDREN, THRIFT_I32, (int64_t)f->nr_columns);
	thrift_end(t);
	for (size_t i = 0; i < f->nr_columns; i++) {
		const struct parquet_column *c = &f->columns[i];

		thrift_item_begin(t);
		thrift_int(t, SCHEMA_TYPE, THRIFT_I32, forms[c->type].type);
		thrift_int(t, SCHEMA_REPETITION, THRIFT_I32, 0); /* REQUIRED */
		thrift_string(t, SCHEMA_NAME, c->name);
		if (c->type == PARQUET_STRING) {
			thrift_int(t, SCHEMA_CONVERTED_TYPE, THRIFT_I32, CONVERTED_UTF8);
			thrift_begin(t, SCHEMA_LOGICAL_TYPE);
			thrift_begin(t, LOGICAL_STRING);
			thrift_end(t);
			thrift_end(t);
		} else if (c->type == PARQUET_ADDRESS) {
			thrift_int(t, SCHEMA_CONVERTED_TYPE, THRIFT_I32, CONVERTED_UINT64);
		}
		thrift_end(t);
	}
}

int parquet_end(struct parquet_file *f)
{
	struct thrift *t = &f->head;
	int rc = f->rows ? write_group(f) : 0;
	uint32_t len;

	if (rc)
		return rc;
	t->bytes.b.len = 0;
	thrift_int(t, FILE_VERSION, THRIFT_I32, 1);
	put_schema(t, f);
	thrift_int(t, FILE_ROWS, THRIFT_I64, (int64_t)f->all_rows);
	thrift_list(t, FILE_GROUPS, THRIFT_STRUCT, f->nr_groups);
	proto_raw(&t->bytes, f->groups.bytes.b.data, f->groups.bytes.b.len);
	thrift_string(t, FILE_CREATED_BY, "ringtail");
	thrift_end(t);
	if (t->bytes.b.len > INT32_MAX)
		return -EFBIG;
	len = htole32((uint32_t)t->bytes.b.len);
	rc = proto_write(&t->bytes, f->out);
	out_put(f->out, &len, sizeof(len));
	out_puts(f->out, MAGIC);
	return rc ?: f->out->rc;
}

void parquet_release(struct parquet_file *f)
{
	for (size_t i = 0; f->values && i < f->nr_columns; i++) {
		buf_release(&f->values[i].values);
		intern_strings_release(&f->values[i].strings);
	}
	free(f->values);
	proto_release(&f->groups.bytes);
	proto_release(&f->head.bytes);
	proto_release(&f->page);
	buf_release(&f->packed);
	ZSTD_freeCCtx(f->zstd);
}
