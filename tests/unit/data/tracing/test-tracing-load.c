// SPDX-License-Identifier: Apache-2.0
/*
 * Formats of tracepoints in a recording: loaded whole, truncated anywhere, and used for printing.
 */
#include <errno.h>

#include "data-image.h"

#include "data/file/findings.h"
#include "data/tracing/tracing.h"

#define CONFIG 5

static const char header_page[] = "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
#define FORMAT(print)                                                            \
	"name: x\nID: 5\nformat:\n"                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:unsigned long l;\toffset:8;\tsize:8;\tsigned:0;\n"              \
	"\tfield:int low;\toffset:8;\tsize:4;\tsigned:1;\n"                      \
	"\tfield:char word[8];\toffset:8;\tsize:8;\tsigned:0;\n\n"               \
	"print fmt: \"<" print ">\", REC->l\n"

static const char text_format[] = FORMAT("%s"), function_format[] = FORMAT("%ps"),
		  offset_format[] = FORMAT("%pS"), value_format[] = FORMAT(" l=0x%lx! word=cut");

/* Texts of the kernel's own, printed where a record has their address. */
static const struct {
	const char *line;
	uint64_t addr;
	const char *text;
} printks[] = {
	{"0x10 : \"two words\"", 0x10, "<two words>"},
	{"0x20 : \"ended\\n\"", 0x20, "<ended>"},
	{"0x30 : \"\\n\"", 0x30, "<>"},
	/* Shorter than what libtraceevent takes from the end. */
	{"0x40 : \"xy\"", 0x40, "<xy>"},
	{"0x50 : \"x\"", 0x50, "<x>"},
	{"0x60 : \"\"\"", 0x60, "<\">"},
	{"0x70 : \"\"", 0x70, "<>"},
	/* What is no text is left out. */
	{"0x80 : \"", 0x80, "<80>"},
	{"0x90 : \"cut", 0x90, "<90>"},
	{"0xa0 : ", 0xa0, "<a0>"},
	{"0xb0", 0xb0, "<b0>"},
	{" : \"no address\"", 0xc0, "<c0>"},
	{"", 0xd0, "<d0>"},
};

static void append(struct image *im, const void *p, size_t n)
{
	assert_int_equal(buf_append(&im->b, p, n), 0);
}

/* The blob, by tools/perf/util/trace-event-info.c. Returns its length. */
static size_t append_blob(struct image *im, const char *format)
{
	size_t begin = im->b.len, printk;
	uint32_t len;

	append(im, "\x17\x08\x44tracing0.6", 14);
	append(im, "\0\x08", 2); /* little-endian, bytes of a long */
	image_u32(im, 4096);
	append(im, "header_page", 12);
	image_u64(im, strlen(header_page));
	append(im, header_page, strlen(header_page));
	append(im, "header_event", 13);
	image_u64(im, 0);
	image_u32(im, 0); /* formats of ftrace */
	image_u32(im, 1); /* systems */
	append(im, "sys", 4);
	image_u32(im, 1);
	image_u64(im, strlen(format));
	append(im, format, strlen(format));
	image_u32(im, 0); /* kallsyms */
	printk = im->b.len;
	image_u32(im, 0);
	for (size_t i = 0; i < sizeof(printks) / sizeof(printks[0]); i++) {
		append(im, printks[i].line, strlen(printks[i].line));
		append(im, "\n", 1);
	}
	len = (uint32_t)(im->b.len - printk - sizeof(len));
	memcpy(im->b.data + printk, &len, sizeof(len));
	return im->b.len - begin;
}

/* A pipe stream with a tracepoint and the first @len bytes of the blob. */
static void make(struct image *im, const char *format, size_t len)
{
	struct image blob = {0};

	append_blob(&blob, format);
	image_pipe_begin(im);
	image_head(im, PERF_RECORD_HEADER_ATTR, 8 + PD_ATTR_SIZE_VER0);
	image_u32(im, PERF_TYPE_TRACEPOINT);
	image_u32(im, PD_ATTR_SIZE_VER0);
	image_u64(im, CONFIG);
	assert_int_equal(buf_zero(&im->b, PD_ATTR_SIZE_VER0 - 16), 0);
	image_head(im, PERF_RECORD_HEADER_TRACING_DATA, 12);
	image_u32(im, (uint32_t)len);
	append(im, blob.b.data, len);
	assert_int_equal(buf_zero(&im->b, -len & 7), 0);
	image_release(&blob);
}

static char *print(struct tracing *t, struct data_file *df, uint64_t addr)
{
	uint64_t raw[2] = {CONFIG, addr};
	struct buf out = {0};

	assert_int_equal(tracing_print(t, pd_evlist_at(data_evlist(df), 0), raw, sizeof(raw), &out),
			 0);
	assert_int_equal(buf_append(&out, "", 1), 0);
	return (char *)out.data;
}

static size_t blob_length(const char *format)
{
	struct image blob = {0};
	size_t len = append_blob(&blob, format);

	image_release(&blob);
	return len;
}

static void test_printk(void **state)
{
	struct image im = {0};
	struct data_file *df;
	struct tracing *t;
	size_t nr;

	make(&im, text_format, blob_length(text_format));
	df = image_open(&im);
	assert_int_equal(tracing_load(df, &t, NULL), 0);
	data_findings(df, &nr);
	assert_int_equal(nr, 0);
	assert_string_equal(pd_evlist_at(data_evlist(df), 0)->name, "sys:x");
	for (size_t i = 0; i < sizeof(printks) / sizeof(printks[0]); i++) {
		char *text = print(t, df, printks[i].addr);

		assert_string_equal(text, printks[i].text);
		free(text);
	}
	tracing_free(t);
	data_close(df);
	image_release(&im);
}

static const char *find_function(void *arg, uint64_t addr, uint64_t *ret_start)
{
	if (addr < 0x1000 || addr >= 0x1100)
		return NULL;
	*ret_start = 0x1000;
	return arg;
}

static void check_function(const char *format, const char *in_it, const char *behind)
{
	static char name[] = "do_it";
	struct image im = {0};
	struct data_file *df;
	struct tracing *t;

	make(&im, format, blob_length(format));
	df = image_open(&im);
	assert_int_equal(tracing_load(df, &t, NULL), 0);
	for (int i = 0; i < 3; i++) {
		char *in = print(t, df, 0x1020), *out = print(t, df, 0x1100);

		assert_string_equal(in, i == 1 ? in_it : "<0x1020>");
		assert_string_equal(out, behind);
		free(in);
		free(out);
		assert_int_equal(tracing_name_functions(t, i ? NULL : find_function, name), 0);
	}
	tracing_free(t);
	data_close(df);
	image_release(&im);
}

static void test_functions(void **state)
{
	check_function(function_format, "<do_it>", "<0x1100>");
	check_function(offset_format, "<do_it+0x20>", "<0x1100>");
}

/* Fields are read with their sign, as far as the record holds them. */
static void test_fields(void **state)
{
	uint64_t words[2] = {CONFIG, 0xffffff80};
	struct image im = {0};
	struct data_file *df;
	struct tracing *t;
	struct tracing_raw raw = {.p = words, .size = sizeof(words)};
	const char *text;
	size_t len;
	int64_t n = 1;

	make(&im, text_format, blob_length(text_format));
	df = image_open(&im);
	raw.evsel = pd_evlist_at(data_evlist(df), 0);
	assert_int_equal(tracing_load(df, &t, NULL), 0);
	assert_true(tracing_number(t, &raw, "l", &n));
	assert_int_equal(n, 0xffffff80);
	assert_true(tracing_number(t, &raw, "low", &n));
	assert_int_equal(n, -128);
	assert_false(tracing_number(t, &raw, "none", &n));
	assert_false(tracing_number(t, &raw, "word", &n));
	memcpy(&words[1], "word\0xyz", 8);
	assert_true(tracing_text(t, &raw, "word", &text, &len));
	assert_memory_equal(text, "word", len);
	assert_int_equal(len, 4);
	assert_false(tracing_text(t, &raw, "l", &text, &len));
	raw.size = 15;
	assert_false(tracing_number(t, &raw, "l", &n));
	assert_false(tracing_text(t, &raw, "word", &text, &len));
	assert_int_equal(n, -128);
	tracing_free(t);
	data_close(df);
	image_release(&im);
}

static void expect_field(struct tracing *t, const struct tracing_raw *raw, const char *field,
			 bool plain, const char *want)
{
	struct buf out = {0};

	assert_int_equal(tracing_print_field(t, raw, field, plain, &out), 0);
	assert_int_equal(buf_zero(&out, 1), 0);
	assert_string_equal((const char *)out.data, want);
	buf_release(&out);
}

/* A number is printed as the event prints it, a text and any other field as it is. */
static void test_print_field(void **state)
{
	uint64_t words[2] = {CONFIG, 0xffffff80};
	struct image im = {0};
	struct data_file *df;
	struct tracing *t;
	struct tracing_raw raw = {.p = words, .size = sizeof(words)};

	make(&im, value_format, blob_length(value_format));
	df = image_open(&im);
	raw.evsel = pd_evlist_at(data_evlist(df), 0);
	assert_int_equal(tracing_load(df, &t, NULL), 0);
	expect_field(t, &raw, "l", false, "0xffffff80!");
	expect_field(t, &raw, "l", true, "0xffffff80");
	expect_field(t, &raw, "low", false, "-128");
	expect_field(t, &raw, "none", false, "");
	memcpy(&words[1], "a b\0xyz", 8);
	expect_field(t, &raw, "word", false, "a b");
	expect_field(t, &raw, "l", false, "0x7a797800622061!");
	/* A text that would pass for the printed number makes it be shown as it is. */
	memcpy(&words[1], "x l=7\0y", 8);
	expect_field(t, &raw, "word", false, "x l=7");
	expect_field(t, &raw, "l", false, "0x7900373d6c2078");
	assert_true(tracing_has_field(t, raw.evsel, "low"));
	assert_true(tracing_has_field(t, raw.evsel, "common_type"));
	assert_false(tracing_has_field(t, raw.evsel, "lo"));
	assert_string_equal(tracing_field_name(t, raw.evsel, 0), "l");
	assert_null(tracing_field_name(t, raw.evsel, 3));
	raw.size = 15;
	expect_field(t, &raw, "l", false, "");
	tracing_free(t);
	data_close(df);
	image_release(&im);
}

/* The rest of a truncated blob is loaded, and the missing part does no harm. */
static void test_truncated(void **state)
{
	for (size_t len = blob_length(text_format); len--;) {
		struct image im = {0};
		struct data_file *df;
		struct tracing *t;
		int rc;

		make(&im, text_format, len);
		df = image_open(&im);
		rc = tracing_load(df, &t, NULL);
		if (rc)
			assert_int_equal(rc, -EBADMSG);
		else
			free(print(t, df, 0x10));
		if (!rc)
			tracing_free(t);
		data_close(df);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printk),	  cmocka_unit_test(test_functions),
		cmocka_unit_test(test_fields),	  cmocka_unit_test(test_print_field),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
