// SPDX-License-Identifier: Apache-2.0
/*
 * Formats of tracepoints: which of them libtraceevent gets, which records it prints, and what is
 * printed without it. For the kernel's own formats, the text must be the same as from the library
 * alone.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <traceevent/trace-seq.h>

#include "data/tracing/tracing_event.h"

/*
 * The library leaks the operators and operands of an expression that it gives up on: some hundred
 * bytes for each format of the kernel that it does not understand. Therefore it does not get these
 * formats. Only print_alone() passes them, once each, to see whether it would have printed them.
 */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define LEAKS_BEGIN() __lsan_disable()
#define LEAKS_END()   __lsan_enable()
#else
#define LEAKS_BEGIN()
#define LEAKS_END()
#endif

#define TYPE	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
#define HEAD	    "name: x\nID: 5\nformat:\n" TYPE "\n"
#define FIELD(decl) "\tfield:" decl ";\toffset:8;\tsize:4;\tsigned:1;\n"
#define PRINT	    "\nprint fmt: \"%d\", REC->a\n"

/* One field of each sort. */
#define FIELDS                                                                \
	HEAD "\tfield:int i;\toffset:8;\tsize:4;\tsigned:1;\n"                \
	     "\tfield:__data_loc char[] s;\toffset:12;\tsize:4;\tsigned:0;\n" \
	     "\tfield:u8 mac[6];\toffset:16;\tsize:6;\tsigned:0;\n"           \
	     "\tfield:u8 n;\toffset:22;\tsize:1;\tsigned:0;\n"                \
	     "\tfield:char c;\toffset:23;\tsize:1;\tsigned:1;\n"              \
	     "\tfield:unsigned long l;\toffset:24;\tsize:8;\tsigned:0;\n"     \
	     "\tfield:u32 arr[4];\toffset:32;\tsize:16;\tsigned:0;\n"         \
	     "\tfield:__rel_loc u8[] r;\toffset:48;\tsize:4;\tsigned:0;\n"    \
	     "\tfield:char t[4];\toffset:52;\tsize:4;\tsigned:1;\n\n"
#define RECORD_SIZE 64

static struct tep_handle *new_tep(void)
{
	struct tep_handle *tep = tep_alloc();

	assert_non_null(tep);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tep_set_page_size(tep, 4096);
	return tep;
}

static void put(uint8_t *at, const void *p, size_t n)
{
	memcpy(at, p, n);
}

/* A record of FIELDS: "abcdefg" at 56, of which the relative one has four bytes. */
static void make_record(uint8_t *p)
{
	static const uint8_t mac[6] = {1, 2, 3, 4, 5, 0xab};
	static const uint32_t arr[4] = {10, 20, 30, 40};

	memset(p, 0, RECORD_SIZE);
	put(p, &(uint16_t){5}, 2);
	put(p + 8, &(int32_t){-7}, 4);
	put(p + 12, &(uint32_t){8 << 16 | 56}, 4);
	put(p + 16, mac, sizeof(mac));
	p[22] = 3;
	p[23] = (uint8_t)-2;
	put(p + 24, &(uint64_t){0xbeef}, 8);
	put(p + 32, arr, sizeof(arr));
	put(p + 48, &(uint32_t){4 << 16 | 4}, 4);
	put(p + 52, "tttt", 4);
	put(p + 56, "abcdefg", 8);
}

/* Loads FIELDS with that print fmt and prints @size bytes of @record; to be freed. */
static char *print(const char *fmt, const uint8_t *record, uint32_t size, int *ret_printer)
{
	struct tep_handle *tep = new_tep();
	uint8_t *copy = malloc(size + !size);
	struct tracing_data data = {.p = copy, .size = size};
	struct buf out = {0};
	struct tracing_event e;
	char *text;

	assert_true(asprintf(&text, FIELDS "print fmt: %s\n", fmt) > 0);
	assert_non_null(copy);
	memcpy(copy, record, size);
	assert_int_equal(tracing_event_load(tep, "sys", text, &e), 0);
	assert_int_equal(tracing_event_print(&e, tep, &data, &out), 0);
	assert_int_equal(buf_append(&out, "", 1), 0);
	if (ret_printer)
		*ret_printer = e.printer;
	tracing_event_release(&e);
	tep_free(tep);
	free(copy);
	free(text);
	return (char *)out.data;
}

static void test_formats(void **state)
{
	static const struct {
		const char *text;
		uint32_t flags, count;
	} good[] = {
		{HEAD FIELD("int a") PRINT, TRACING_SIGNED, 0},
		{HEAD FIELD("const char * a[16]") PRINT,
		 TRACING_SIGNED | TRACING_ARRAY | TRACING_STRING | TRACING_POINTER, 16},
		{HEAD FIELD("__data_loc char[] a") PRINT,
		 TRACING_SIGNED | TRACING_ARRAY | TRACING_STRING | TRACING_DYNAMIC, 0},
		{HEAD FIELD("__rel_loc u16[] a") PRINT,
		 TRACING_SIGNED | TRACING_ARRAY | TRACING_DYNAMIC | TRACING_RELATIVE, 0},
		{HEAD FIELD("__u8 a[sizeof(struct sockaddr_in6)]") PRINT,
		 TRACING_SIGNED | TRACING_ARRAY | TRACING_STRING, 0},
		{HEAD "\tfield:long *a;\toffset:8;\tsize:4;\n" PRINT,
		 TRACING_LONG | TRACING_POINTER, 0},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct tracing_format f;
		const struct tracing_field *field;

		assert_int_equal(tracing_format_parse(good[i].text, &f), 0);
		assert_int_equal(f.id, 5);
		assert_string_equal(f.name, "x");
		assert_int_equal(f.nr, 2);
		assert_int_equal(f.nr_common, 1);
		assert_string_equal(f.print, " \"%d\", REC->a\n");
		field = tracing_format_field(&f, "a", 1);
		assert_ptr_equal(field, &f.fields[1]);
		assert_int_equal(field->flags, good[i].flags);
		assert_int_equal(field->count, good[i].count);
		assert_int_equal(field->offset, 8);
		assert_int_equal(field->size, 4);
		assert_null(tracing_format_field(&f, "ab", 2));
		tracing_format_release(&f);
	}
}

static void test_bad_formats(void **state)
{
	static const char *const bad[] = {
		"",
		"name: x\n",
		"name: \nID: 5\nformat:\n" TYPE "\n" FIELD("int a") PRINT,
		"name: x-y\nID: 5\nformat:\n" TYPE "\n" FIELD("int a") PRINT,
		"name: x\nID: 99999999999\nformat:\n" TYPE "\n" FIELD("int a") PRINT,
		"name: x\nID: 017\nformat:\n" TYPE "\n" FIELD("int a") PRINT,
		HEAD,
		HEAD FIELD("int a"),
		HEAD FIELD("int a") "print fmt: \"\"\n",
		HEAD FIELD("int a") "\n\nprint fmt: \"\"\n",
		HEAD FIELD("a") PRINT,
		HEAD FIELD("") PRINT,
		HEAD FIELD("* a") PRINT,
		HEAD FIELD("int a[4") PRINT,
		HEAD FIELD("int [4]") PRINT,
		HEAD FIELD("a[4] b") PRINT,
		HEAD FIELD("int a[4][4]") PRINT,
		HEAD FIELD("int a]") PRINT,
		HEAD FIELD("int a\"b") PRINT,
		HEAD FIELD("int a *") PRINT,
		HEAD FIELD("int STA_PR_FMT") PRINT,
		HEAD "\tfield:int a;\toffset:;\tsize:4;\n" PRINT,
		HEAD "\tfield:int a;\toffset:010;\tsize:4;\n" PRINT,
		HEAD "\tfield:int a;\toffset:99999999999;\tsize:4;\n" PRINT,
		HEAD "\tfield:int a;\toffset:1;\tsize:4;",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tracing_format f;

		if (tracing_format_parse(bad[i], &f) != -EBADMSG)
			fail_msg("taken for a format: %s", bad[i]);
	}
}

static void test_printed_by_library(void **state)
{
	/* NULL: versions of the library differ. */
	static const char *const good[][2] = {
		{"\"\"", ""},
		{"\"i=%d\", REC->i", "i=-7"},
		{"\"a\" \" b\" \"%d\", (REC)->i", "a b-7"},
		{"\"%s|%-8s|%.2s\", __get_str(s), __get_str(s), __get_str(s)",
		 "abcdefg|abcdefg |ab"},
		{"\"%.*s\", REC->n, __get_str(s)", "abc"},
		{"\"%.*s\", (1 << 2), __get_str(s)", "abcd"},
		{"\"%pM %llx\", REC->mac, (unsigned long long)REC->l", "01:02:03:04:05:ab beef"},
		{"\"%s\", __print_flags(REC->n, \"|\", { 1, \"A\" }, { (1 << 1), \"B\" })", "A|B"},
		{"\"%s\", __print_flags_u64(REC->n, \"|\", { 0x1UL, \"A\" })", "A|0x2"},
		{"\"%s\", __print_symbolic(REC->n & 3, { -1, \"x\" }, { 1 | 2, \"three\" })",
		 "three"},
		{"\"%s\", __print_hex(__get_dynamic_array(s), REC->n)", "61 62 63"},
		{"\"%s\", __print_hex_str(REC->mac, 6)", "0102030405ab"},
		{"\"%s\", __print_hex(__get_rel_dynamic_array(r), 4)", "61 62 63 64"},
		{"\"%s\", __print_array(REC->arr, 4, 4)", NULL},
		{"\"%s\", __print_array(__get_dynamic_array(s), __get_dynamic_array_len(s) / "
		 "sizeof(u32), sizeof(unsigned int))",
		 NULL},
		{"\"%d %u\", (int)REC->arr[1], REC->arr[3]", "20 40"},
		{"\"%s\", REC->n == 3 ? \"yes\" : \"no\"", "yes"},
		{"\"%s\", !REC->n ? \"none\" : (REC->n == 3 ? \"three\" : \"other\")", "three"},
		{"\"%d\", ((((u8)(REC->n << 1)) / 2) + 1)", "4"},
		{"\"%u\", __get_dynamic_array_len(s)", "8"},
		{"\"%pM %c%s\", REC->mac, 'x', REC->t", NULL},
		{"\"%c\", 'x'", NULL},
		{"\"\t%d\tb\", (int)REC->i", "\t-7\tb"},
		{"\"%lu\", __builtin_expect(!!(REC->n == 3), 0) ? 1UL : sizeof(char)", "1"},
		{"\"%p\", (void *)REC->l", "0xbeef"},
		{"\"%ps %%\", (void *)REC->l", "0xbeef %"},
	};
	uint8_t record[RECORD_SIZE];

	make_record(record);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int printer = -1;
		char *text = print(good[i][0], record, sizeof(record), &printer);

		if (printer != TRACING_BY_LIBRARY || (good[i][1] && strcmp(text, good[i][1])))
			fail_msg("%s: by %d: \"%s\"", good[i][0], printer, text);
		free(text);
	}
}

/* Formats with a program, each of which must print what the library prints. */
static void test_programs(void **state)
{
	static const char *const formats[] = {
		"\"%d|%5d|%-5d|%05d|%-05d|%i|%u|%10u\", REC->i, REC->i, REC->i, REC->i, REC->i, "
		"REC->i, "
		"REC->i, REC->i",
		"\"%x|%#x|%08x|%#08x|%-6x|%X|%#X|%#12x\", REC->i, REC->i, REC->n, REC->n, REC->n, "
		"REC->i, "
		"REC->i, REC->n",
		"\"%#x|%#08x|%x\", REC->n - 3, REC->n - 3, REC->n - 3",
		"\"%32d|%032u|%-32d|%33d|%033u|%-33d|%#040x|%100lx\", REC->i, REC->i, REC->i, "
		"REC->i, REC->i, REC->i, REC->n, REC->l",
		"\"%ld|%lu|%lx|%lld|%llu|%llx|%zu|%Lu\", REC->l, REC->l, REC->l, REC->l, REC->l, "
		"REC->l, "
		"REC->l, REC->l",
		"\"%hd|%hu|%hhd|%hhx|%hx\", REC->i, REC->i, REC->i, REC->i, REC->l",
		"\"%o|%#o|%.3d|%5.3x\", REC->i, REC->i, REC->n, REC->n",
		"\"%p|%p\", (void *)REC->l, (void *)(REC->n - 3)",
		"\"%s|%8s|%-8s|%s\", REC->t, REC->t, REC->t, __get_rel_str(r)",
		"\"%s|%12s\", __get_str(s), __get_str(s)",
		"\"a%%b\\tc\\\\d%%\\n%d%%\", REC->n",
		"\"%5s|%-5s\", __print_flags(REC->n, \"|\", { 1, \"A\" }, { 2, \"B\" }), "
		"__print_flags(REC->n, \"|\", { 1, \"A\" })",
		"\"%s|%s\", __print_flags(REC->n - 3, \"|\", { 0, \"none\" }, { 1, \"A\" }), "
		"__print_flags(REC->l, \"\", { 0xe, \"x\" }, { 1, \"A\" })",
		"\"%5s|%s|%s\", __print_symbolic(REC->n, { 1, \"A\" }, { 3, \"B\" }), "
		"__print_symbolic(REC->n - 3, { 1, \"A\" }), __print_symbolic(REC->n - 2, "
		"{ TIMER_SOFTIRQ, \"t\" })",
		"\"%d %d %d %d\", (s8)REC->i, (u16)REC->i, (unsigned short)REC->i, (short)REC->c",
		"\"%u %llu %d\", ((unsigned int) ((REC->l) >> 20)), REC->l << 3, (REC->n | 4) & 6",
		"\"%d%d%d%d%d%d\", REC->n < 4, REC->n <= 3, REC->n > 3, REC->n >= 3, REC->n == 3, "
		"REC->n != 3",
		"\"%d %d %d %d\", REC->n && 0, REC->n || 0, !REC->n, ~REC->n",
		"\"%d %d %d %d\", REC->n - 5, -REC->n, REC->n * 7, REC->n / 2",
		"\"%s\", REC->n > 2 ? __get_str(s) : \"small\"",
		"\"%u %x\", REC->arr[2], __get_dynamic_array_len(s)",
	};
	uint8_t record[RECORD_SIZE];
	struct buf out = {0}, alone = {0};

	make_record(record);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tracing_data data = {.p = record, .size = sizeof(record)};
		struct tep_handle *tep = new_tep();
		struct tracing_program *program;
		struct tracing_event e;
		char *text;

		assert_true(asprintf(&text, FIELDS "print fmt: %s\n", formats[i]) > 0);
		assert_int_equal(tracing_event_load(tep, "sys", text, &e), 0);
		if (sizeof(long) == 8 && !e.program)
			fail_msg("%s: no program", formats[i]);
		for (uint8_t n = 0; n < 8; n++) {
			record[22] = n ^ 3;
			out.len = alone.len = 0;
			assert_int_equal(tracing_event_print(&e, tep, &data, &out), 0);
			program = e.program;
			e.program = NULL;
			assert_int_equal(tracing_event_print(&e, tep, &data, &alone), 0);
			e.program = program;
			if (out.len != alone.len || memcmp(out.data, alone.data, out.len))
				fail_msg("%s: \"%.*s\", by the library \"%.*s\"", formats[i],
					 (int)out.len, (char *)out.data, (int)alone.len,
					 (char *)alone.data);
		}
		tracing_event_release(&e);
		tep_free(tep);
		free(text);
	}
	buf_release(&out);
	buf_release(&alone);
}

/* What all fields of the record are without the library. */
#define ALL_FIELDS                                                                              \
	"i=-7 s=abcdefg mac=ARRAY[01, 02, 03, 04, 05, ab] n=3 c=-2 l=0xbeef arr=ARRAY[0a, 00, " \
	"00, 00, 14, 00, 00, 00, 1e, 00, 00, 00, 28, 00, 00, 00] r=abcd t=tttt"

static void test_not_for_library(void **state)
{
	static const char *const bad[] = {
		"",
		"REC->i",
		"\"%d\"",
		"\"%d\", ",
		"\"%d\", REC->",
		"\"%d\", REC->none",
		"\"%d\", longREC->i",
		"\"%d\", (long REC)->i",
		"\"%d\", REC->i + REC->none",
		"\"%d\", REC->i REC->n",
		"\"%d\", REC->i / 0",
		"\"%d\", REC->i / 00",
		"\"%d\", REC->i / REC->n",
		"\"%d\", REC->i % (REC->n)",
		"\"%d\", 8 / 2 / 4",
		"\"%d\", 8 / (4 - 4)",
		"\"%d\", REC->arr[4]",
		"\"%d\", REC->arr[REC->i]",
		"\"%d\", REC->arr[1][1]",
		"\"%d\", REC->i[0]",
		"\"%d\", REC->n ? 1 : REC->arr[1]",
		"\"%d\", REC->n ? 1",
		"\"%d\", ()",
		"\"%d\", -",
		"\"%d\", &REC->i",
		"\"%d\", *REC->s",
		"\"%d\", REC->i ++",
		"\"%d\", REC->i = 1",
		"\"%d\", (int)~REC->i",
		"\"%d\", 08",
		"\"%d\", ({ int x = 1; x; })",
		"\"%d\", jiffies_to_msecs(REC->i)",
		"\"%d\", __get_str(none)",
		"\"%d\", __get_str(i)",
		"\"%d\", __get_str(common_type)",
		"\"%d\", __get_rel_dynamic_array_len(r)",
		"\"%d\", __get_dynamic_array_len(r)",
		"\"%p\", __get_dynamic_array(s)",
		"\"%d\", __get_dynamic_array(s)[0]",
		"\"%s\", __print_hex((void *)REC->i, 4)",
		"\"%s\", __print_hex(REC->mac, REC->n + 1)",
		"\"%s\", __print_array(REC->arr, 4, 3)",
		"\"%s\", __print_array(REC->arr, 4, REC->n)",
		"\"%s\", __print_flags(REC->n, \"|\")",
		"\"%s\", __print_flags(REC->n, \"|\", { REC->n, \"x\" })",
		"\"%s\", __print_flags(REC->n, \"|\", { 4 / 2, \"x\" })",
		"\"%s\", __print_flags(REC->n, \"|\", { 1, })",
		"\"%s\", __print_flags(REC->n, \"|\", { 1, -1 })",
		"\"%pM\", REC->i",
		"\"%pI6\", REC->mac",
		"\"%*ph\", 3, REC->mac",
		"\"%c %.*s\", 'x', 1, REC->t",
		"\"%+d %*d\", 1, 1, REC->i",
		"\"%ls\", REC->t",
		"\"%n\", REC->l",
		"\"%9999d\", REC->i",
		"\"%*.*d\", 1, 1, REC->i",
		"\"%y\", REC->i",
		"\"%\"",
		"\"abc\\\\\"",
		"\"a\\\tb\"",
		"\"a\",\tREC->i",
		"\"\xc3\xa9\"",
		"\"%s\", STA_PR_FMT",
		"\"%d\", REC->i)",
		"\"%d\", REC->i;",
		"\"%d\", REC->i\nprint fmt: \"\"",
	};
	uint8_t record[RECORD_SIZE];

	make_record(record);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int printer = -1;
		char *text = print(bad[i], record, sizeof(record), &printer);

		if (printer != TRACING_BY_US || strcmp(text, ALL_FIELDS))
			fail_msg("%s: by %d: \"%s\"", bad[i], printer, text);
		free(text);
	}
}

/* As deep and as long as may be, and beyond. */
static void test_bounds(void **state)
{
	static const struct {
		const char *open, *close;
		unsigned int nr;
		int printer;
	} cases[] = {
		{"(", ")", 40, TRACING_BY_LIBRARY},    {"(", ")", 50000, TRACING_BY_US},
		{"!", "", 40, TRACING_BY_LIBRARY},     {"-(", ")", 30000, TRACING_BY_US},
		{"1+", "", 390, TRACING_BY_LIBRARY},   {"1+", "", 410, TRACING_BY_US},
		{"1?2:", "", 100, TRACING_BY_LIBRARY}, {"1?", ":2", 1000, TRACING_BY_US},
		{"(u8)", "", 40, TRACING_BY_LIBRARY},  {"(u8)", "", 5000, TRACING_BY_US},
	};
	uint8_t record[RECORD_SIZE];

	make_record(record);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf fmt = {0};
		int printer = -1;

		buf_printf(&fmt, "\"%%d\", ");
		for (unsigned int j = 0; j < cases[i].nr; j++)
			buf_printf(&fmt, "%s", cases[i].open);
		buf_printf(&fmt, "REC->n");
		for (unsigned int j = 0; j < cases[i].nr; j++)
			buf_printf(&fmt, "%s", cases[i].close);
		assert_int_equal(buf_append(&fmt, "", 1), 0);
		/* Too long to be a format at all. */
		if (fmt.len < TRACING_FORMAT_MAX - 1000) {
			free(print((char *)fmt.data, record, sizeof(record), &printer));
			if (printer != cases[i].printer)
				fail_msg("%u of \"%s\": by %d", cases[i].nr, cases[i].open,
					 printer);
		}
		buf_release(&fmt);
	}
}

static const char all_by_library[] =
	"\"%d %s %*d %s %s\", REC->i, __get_str(s), REC->n, REC->n, "
	"__print_hex(__get_rel_dynamic_array(r), REC->n), __print_array(REC->arr, REC->n, 4)";

/* No number in a record, and no length of it, may lead the library out of it. */
static void test_hostile_records(void **state)
{
	uint8_t record[RECORD_SIZE], one[RECORD_SIZE];
	char *text;

	make_record(record);
	text = print(all_by_library, record, sizeof(record), NULL);
	assert_ptr_equal(strstr(text, "-7 abcdefg   3 61 62 63 "), text);
	free(text);
	for (uint32_t size = 0; size < sizeof(record); size++) {
		text = print(all_by_library, record, size, NULL);
		assert_non_null(strstr(text, "s=[bad data]"));
		free(text);
	}
	/* A field of the record's beyond it; no other number is in the way. */
	for (uint32_t size = 24; size < 32; size++) {
		text = print("\"%lu\", REC->l", record, size, NULL);
		assert_non_null(strstr(text, "l=[bad data] arr=[bad data]"));
		free(text);
	}
	for (size_t i = 0; i < sizeof(record); i++) {
		for (unsigned int v = 0; v < 256; v += 5) {
			memcpy(one, record, sizeof(one));
			one[i] = (uint8_t)v;
			text = print(all_by_library, one, sizeof(one), NULL);
			assert_true(strlen(text) < 1000);
			free(text);
		}
	}
}

static void test_bad_data(void **state)
{
	static const struct {
		uint32_t offset, value;
		const char *contains;
	} cases[] = {
		{12, 9 << 16 | 56, "s=[bad data] mac="},   /* longer than the record */
		{12, 0xffffffff, "s=[bad data] mac="},	   /* far away */
		{12, 60, "s= mac="},			   /* nothing, in the record */
		{48, 4 << 16 | 9, "r=[bad data] t=tttt"},  /* counted from behind the field */
		{48, 0xffff << 16 | 4, "r=[bad data] t="}, /* longer than the record */
		{20, 5 << 16, "n=5 c="},		   /* more than the data have */
		{0, 6, "i=-7 s=abcdefg mac="},		   /* another event's */
	};
	uint8_t record[RECORD_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		make_record(record);
		put(record + cases[i].offset, &cases[i].value, 4);
		text = print(all_by_library, record, sizeof(record), NULL);
		if (i != 2 && !strstr(text, cases[i].contains))
			fail_msg("%zu: \"%s\"", i, text);
		free(text);
	}
	/* A text that runs to the end without its NUL. */
	make_record(record);
	memcpy(record + 56, "abcdefgh", 8);
	{
		char *text = print("\"%s.\", __get_str(s)", record, sizeof(record), NULL);

		assert_string_equal(text, "abcdefgh.");
		free(text);
	}
	/* A width from the record, which the library would take as it is. */
	put(record + 8, &(int32_t){-1}, 4);
	{
		char *text = print("\"%.*s\", REC->i, REC->t", record, sizeof(record), NULL);

		assert_non_null(strstr(text, "i=-1 "));
		free(text);
	}
}

static void test_other_byte_order(void **state)
{
	struct tep_handle *tep = new_tep();
	uint8_t record[RECORD_SIZE] = {0, 5, [8] = 0, 0, 1, 2, 0, 4, 0, 20, [20] = 'h', 'i'};
	struct tracing_data data = {.p = record, .size = 24, .swap = true};
	struct tracing_event e;
	struct buf out = {0};

	tep_set_file_bigendian(tep, TEP_BIG_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	assert_int_equal(tracing_event_load(tep, "sys",
					    HEAD FIELD("int i") "\tfield:__data_loc char[] s;"
								"\toffset:12;\tsize:4;\n"
								"\nprint fmt: \"%d %s\", REC->i, "
								"__get_str(s)\n",
					    &e),
			 0);
	assert_int_equal(tracing_event_print(&e, tep, &data, &out), 0);
	assert_int_equal(out.len, 6);
	assert_memory_equal(out.data, "258 hi", 6);
	data.size = 22;
	out.len = 0;
	assert_int_equal(tracing_event_print(&e, tep, &data, &out), 0);
	assert_int_equal(out.len, strlen("i=258 s=[bad data]"));
	assert_memory_equal(out.data, "i=258 s=[bad data]", out.len);
	buf_release(&out);
	tracing_event_release(&e);
	tep_free(tep);
}

/* The library alone. Returns NULL if it does not understand the format. */
static char *print_alone(const char *sys, const char *text, const uint8_t *record, size_t size)
{
	struct tep_handle *tep = new_tep();
	struct tep_record r = {.data = (void *)(uintptr_t)record, .size = (int)size};
	struct tep_event *event;
	struct trace_seq seq;
	char *out = NULL;
	int failed;

	LEAKS_BEGIN();
	failed = tep_parse_event(tep, text, strlen(text), sys);
	LEAKS_END();
	if (!failed) {
		event = tep_get_first_event(tep);
		if (event && !(event->flags & TEP_EVENT_FL_FAILED)) {
			trace_seq_init(&seq);
			tep_print_event(tep, &seq, &r, "%s", TEP_PRINT_INFO);
			trace_seq_terminate(&seq);
			out = strdup(seq.buffer);
			trace_seq_destroy(&seq);
		}
	}
	tep_free(tep);
	return out;
}

/* Numbers that vary, and eight bytes of text for each dynamic field. */
static size_t fill_record(const struct tracing_format *f, uint8_t *p, unsigned int seed)
{
	unsigned int zeros = seed < 4 ? 2 : 7; /* most bytes of the first records are 0 */
	size_t end = 8;

	for (size_t i = 0; i < f->nr; i++) {
		if (f->fields[i].offset + f->fields[i].size > end)
			end = f->fields[i].offset + f->fields[i].size;
	}
	assert_true(end < 4000);
	memset(p, 0, end + 24);
	for (size_t i = 0; i < end; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = (seed >> 16 & 7) > zeros ? 0 : (uint8_t)(seed >> 20);
	}
	memcpy(p + end, "a text\0", 8);
	memset(p + end + 8, 0x5a, 8);
	for (size_t i = 0; i < f->nr; i++) {
		const struct tracing_field *field = &f->fields[i];
		uint32_t at = (uint32_t)end;

		if (field->flags & TRACING_RELATIVE)
			at -= field->offset + field->size;
		at |= 8 << 16;
		if (field->flags & TRACING_DYNAMIC && field->size == sizeof(at))
			memcpy(p + field->offset, &at, sizeof(at));
	}
	memcpy(p, &(uint16_t){(uint16_t)f->id}, 2);
	return end + 16;
}

struct kernel_counts {
	unsigned int events, by_library, by_program, not_understood;
};

static void check_kernel_format(const char *sys, const char *text, struct kernel_counts *n)
{
	struct tep_handle *tep = new_tep();
	uint8_t record[4096];
	struct tracing_event e;

	assert_int_equal(tracing_event_load(tep, sys, text, &e), 0);
	assert_int_not_equal(e.printer, TRACING_REFUSED);
	n->events++;
	n->by_library += e.printer == TRACING_BY_LIBRARY;
	n->by_program += !!e.program;
	for (unsigned int seed = 0; seed < 10; seed++) {
		size_t size = fill_record(&e.format, record, seed);
		struct tracing_data data = {.p = record, .size = (uint32_t)size};
		struct buf out = {0};
		char *alone;

		/* What the record leads the library to may be anything. */
		if (e.printer == TRACING_BY_LIBRARY &&
		    !tracing_needs_hold(&e.needs, &e.format, &data))
			continue;
		assert_int_equal(tracing_event_print(&e, tep, &data, &out), 0);
		assert_int_equal(buf_append(&out, "", 1), 0);
		/* The library takes more widths of a buffer than are checked, such as
		 * "(int)REC->len". */
		alone = e.printer == TRACING_BY_LIBRARY || (!seed && !strstr(text, "%*p"))
				? print_alone(sys, text, record, size)
				: NULL;
		if (alone && strcmp(alone, (char *)out.data))
			fail_msg("%s:%s: \"%s\", by the library alone \"%s\"", sys, e.format.name,
				 (char *)out.data, alone);
		if (!seed)
			n->not_understood += !alone && !strstr(text, "%*p");
		free(alone);
		buf_release(&out);
	}
	tracing_event_release(&e);
	tep_free(tep);
}

static void check_kernel_system(const char *root, const char *sys, struct kernel_counts *n)
{
	static char text[TRACING_FORMAT_MAX];
	char path[1024];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", root, sys);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		size_t len = 0;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s/%s/format", root, sys, d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		len = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		text[len] = '\0';
		if (len)
			check_kernel_format(sys, text, n);
	}
	if (dir)
		closedir(dir);
}

/* All formats of the kernel that runs here come out as from the library alone. */
static void test_kernel_formats(void **state)
{
	static const char root[] = "/sys/kernel/tracing/events";
	struct kernel_counts n = {0};
	struct dirent *d;
	DIR *dir = opendir(root);

	while (dir && (d = readdir(dir))) {
		/* The function tracer's own records, which perf does not have. */
		if (d->d_name[0] != '.' && strcmp(d->d_name, "ftrace"))
			check_kernel_system(root, d->d_name, &n);
	}
	if (dir)
		closedir(dir);
	if (!n.events) {
		print_message("SKIP: no formats to be read in %s\n", root);
		skip();
	}
	print_message("%u formats, %u by the library, of these %u by programs, %u that it does not "
		      "understand\n",
		      n.events, n.by_library, n.by_program, n.not_understood);
	/* Most formats are simple. */
	assert_true(sizeof(long) != 8 || 2 * n.by_program > n.by_library);
	assert_true(n.by_library + n.not_understood >= n.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_bad_formats),
		cmocka_unit_test(test_printed_by_library),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_not_for_library),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_hostile_records),
		cmocka_unit_test(test_bad_data),
		cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_kernel_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
