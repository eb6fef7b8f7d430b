// SPDX-License-Identifier: Apache-2.0
/* What is written arrives, compressed or not; of failures the first is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/wire/out.h"

#define LONG 100000

static void test_plain(void **state)
{
	static char text[LONG];
	char *bytes = NULL;
	size_t len;
	struct out o = {.f = open_memstream(&bytes, &len)};

	memset(text, 'x', LONG - 1);
	out_puts(&o, "a");
	out_put(&o, NULL, 0);
	out_printf(&o, "%d%s", 12, text);
	assert_int_equal(out_flush(&o), 0);
	assert_int_equal(len, LONG + 2);
	assert_int_equal(o.bytes, len);
	assert_memory_equal(bytes, "a12xxx", 6);
	fclose(o.f);
	free(bytes);
}

static void test_gzip(void **state)
{
	static uint8_t text[LONG], back[LONG + 1];
	z_stream z = {0};
	char *bytes = NULL;
	size_t len;
	struct out o = {.f = open_memstream(&bytes, &len)};

	for (size_t i = 0; i < LONG; i++)
		text[i] = (uint8_t)(i * i >> 7);
	assert_int_equal(out_begin_gzip(&o), 0);
	for (size_t i = 0; i < LONG; i += 1000)
		out_put(&o, text + i, 1000);
	assert_int_equal(out_end_gzip(&o), 0);
	assert_int_equal(out_flush(&o), 0);
	assert_int_equal(o.bytes, len);

	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	z.next_in = (uint8_t *)bytes;
	z.avail_in = (uInt)len;
	z.next_out = back;
	z.avail_out = sizeof(back);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, LONG);
	assert_int_equal(z.avail_in, 0);
	assert_memory_equal(back, text, LONG);
	inflateEnd(&z);
	fclose(o.f);
	free(bytes);
}

static void test_failure(void **state)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		struct out o = {.f = fopen("/dev/full", "w")};
		static const uint8_t text[LONG] = {1, 2, 3};

		setvbuf(o.f, NULL, _IONBF, 0);
		if (gzip)
			assert_int_equal(out_begin_gzip(&o), 0);
		out_put(&o, text, LONG);
		out_puts(&o, "more");
		if (gzip)
			out_end_gzip(&o);
		assert_int_equal(o.rc, -ENOSPC);
		assert_int_equal(out_flush(&o), -ENOSPC);
		assert_int_equal(o.bytes, 0);
		fclose(o.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
