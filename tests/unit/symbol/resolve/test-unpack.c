// SPDX-License-Identifier: Apache-2.0
/*
 * Reads whole files, packed in each format or not at all. A file that is truncated or damaged
 * anywhere is refused, and so is what is no file.
 */
#include <errno.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "symbol-machine.h"

/* Longer than a step of the decoders, and not all alike. */
#define LONG (700u << 10)

static uint8_t *make_text(size_t len)
{
	uint8_t *text = malloc(len + 1);
	uint32_t seed = 1;

	assert_non_null(text);
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1103515245 + 12345;
		text[i] = i % 8 ? (uint8_t)i : (uint8_t)(seed >> 24);
	}
	return text;
}

static size_t pack_gz(const uint8_t *in, size_t len, uint8_t *out, size_t room)
{
	z_stream s = {.next_in = (Bytef *)(uintptr_t)in,
		      .avail_in = (uInt)len,
		      .next_out = out,
		      .avail_out = (uInt)room};

	assert_int_equal(deflateInit2(&s, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
	deflateEnd(&s);
	return room - s.avail_out;
}

static size_t pack_xz(const uint8_t *in, size_t len, uint8_t *out, size_t room)
{
	size_t at = 0;

	assert_int_equal(
		lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, in, len, out, &at, room),
		LZMA_OK);
	return at;
}

/* Two frames, as several threads of zstd write them. */
static size_t pack_zst(const uint8_t *in, size_t len, uint8_t *out, size_t room)
{
	size_t half = len / 2, n = ZSTD_compress(out, room, in, half, 1);

	assert_false(ZSTD_isError(n));
	n += ZSTD_compress(out + n, room - n, in + half, len - half, 1);
	return n;
}

static const struct {
	const char *name;
	size_t (*pack)(const uint8_t *in, size_t len, uint8_t *out, size_t room);
} formats[] = {{"/a.ko.gz", pack_gz}, {"/a.ko.xz", pack_xz}, {"/a.ko.zst", pack_zst}};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static int read_it(const struct place *p, const char *name, struct buf *ret, struct error *why)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", p->dir, name);
	*why = (struct error)ERROR_INIT;
	return source_read(path, ret, why);
}

static void test_formats(void **state)
{
	static const size_t lengths[] = {2, 4096, LONG};
	uint8_t *text = make_text(LONG), *packed = malloc(2 * LONG);
	struct place *p = *state;
	struct error why;

	for (size_t i = 0; i < FORMATS; i++) {
		for (size_t n = 0; n < 3; n++) {
			size_t len = formats[i].pack(text, lengths[n], packed, 2 * LONG);
			struct buf b = {0};

			put_file(p, formats[i].name, packed, len);
			assert_int_equal(read_it(p, formats[i].name, &b, &why), 0);
			assert_int_equal(b.len, lengths[n]);
			assert_memory_equal(b.data, text, b.len);
			buf_release(&b);
			/* Only the name tells the format. */
			put_file(p, "/a.ko", packed, len);
			assert_int_equal(read_it(p, "/a.ko", &b, &why), 0);
			assert_int_equal(b.len, len);
			assert_memory_equal(b.data, packed, len);
			buf_release(&b);
		}
	}
	free(packed);
	free(text);
}

/* Truncated at any byte. Two frames have an end in between. */
static void test_truncated(void **state)
{
	uint8_t *text = make_text(3000), *packed = malloc(8000);
	struct place *p = *state;
	struct error why;

	for (size_t i = 0; i < FORMATS; i++) {
		size_t len = formats[i].pack(text, 3000, packed, 8000);
		size_t whole = i == 2 ? ZSTD_findFrameCompressedSize(packed, len) : 0;

		for (size_t n = 0; n < len; n += 1 + n / 20) {
			struct buf b = {0};

			if (n && n == whole)
				continue;
			put_file(p, formats[i].name, packed, n);
			if (read_it(p, formats[i].name, &b, &why) != -EBADMSG)
				fail_msg("%s of %zu bytes is read", formats[i].name, n);
			assert_non_null(strstr(why.text, "cannot unpack"));
			assert_null(b.data);
		}
		packed[len / 2] ^= 0xff;
		packed[len / 2 + 1] ^= 0xff;
		put_file(p, formats[i].name, packed, len);
		if (i < 2) { /* with checksums */
			struct buf b = {0};

			assert_int_equal(read_it(p, formats[i].name, &b, &why), -EBADMSG);
		}
	}
	free(packed);
	free(text);
}

static void test_no_files(void **state)
{
	struct place *p = *state;
	struct buf b = {0};
	struct error why;
	char path[512];

	assert_int_equal(read_it(p, "/absent.gz", &b, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/absent.gz"));
	assert_int_equal(read_it(p, "/", &b, &why), -EINVAL);
	assert_int_equal(source_read("/dev/zero", &b, &why), -EINVAL);
	put_text(p, "/large", "");
	snprintf(path, sizeof(path), "%s/large", p->dir);
	assert_int_equal(truncate(path, ((off_t)1 << 30) + 1), 0);
	assert_int_equal(read_it(p, "/large", &b, &why), -EFBIG);
	put_text(p, "/empty", "");
	assert_int_equal(read_it(p, "/empty", &b, &why), 0);
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_formats),
		PLACE_TEST(test_truncated),
		PLACE_TEST(test_no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
