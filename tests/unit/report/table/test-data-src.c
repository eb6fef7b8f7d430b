// SPDX-License-Identifier: Apache-2.0
/* PERF_SAMPLE_DATA_SRC as text: like perf's, in a buffer that is large enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "report/table/data_src.h"
#include "report/table/keys.h"

/* perf 7.2 prints these texts. The first values are from processors; the others have each bit. */
static const struct {
	uint64_t value;
	const char *text;
} known[] = {
	{0x1e05080021, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
	{0x11868100242, "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
	{0x10650100842, "|OP LOAD|LVL L3 hit|SNP None|TLB L2 miss|LCK No|BLK  N/A"},
	{0x1026a100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A"},
	{0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x1c, "|OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x18, "|OP PFETCH|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x10, "|OP EXEC|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x340, "|OP No|LVL L1 or LFB/MAB hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x4080, "|OP No|LVL Remote RAM (2 hops) miss|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x400c0, "|OP No|LVL Uncached hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0xf80000, "|OP No|LVL N/A|SNP N/A or None or Hit or Miss or HitM|TLB N/A|LCK No|BLK  N/A"},
	{0xc000000000, "|OP No|LVL N/A|SNP Fwd or Peer|TLB N/A|LCK No|BLK  N/A"},
	{0x1c0000000, "|OP No|LVL N/A|SNP N/A|TLB L2 or Walker or Fault|LCK No|BLK  N/A"},
	{0x18000000, "|OP No|LVL N/A|SNP N/A|TLB N/A hit miss|LCK No|BLK  N/A"},
	{0x60000000000, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr"},
	{0x2400000002, "|OP LOAD|LVL Remote L2 |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x82a00000002,
	 "|OP LOAD|LVL Remote core, same node L2 MHB |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x181e00000002, "|OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0xe00000000, "|OP No|LVL Unknown level 7 |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	{0x200c00000002, "|OP LOAD|LVL board Memory-side Cache |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
};

static void test_as_perf(void **state)
{
	char text[DATA_SRC_TEXT_MAX];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		data_src_text(known[i].value, text);
		assert_string_equal(text, known[i].text);
	}
}

/* The longest names of all fields together, and hops that nobody has defined. */
static void test_fits(void **state)
{
	char text[DATA_SRC_TEXT_MAX];

	for (unsigned int number = 0; number < 16; number++) {
		memset(text, 'x', sizeof(text));
		data_src_text(~(15ull << 33) | (uint64_t)number << 33, text);
		assert_non_null(memchr(text, 0, sizeof(text)));
		assert_non_null(strstr(text, "|BLK  N/A"));
	}
}

/* Texts of perf 6.1's hist_entry__transaction_snprintf(). */
static void test_transactions(void **state)
{
	static const struct {
		uint64_t value;
		const char *text;
	} table[] = {
		{0, ""},
		{PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT, "TX SYNC CON "},
		{PERF_TXN_ELISION, "EL NEITHER "},
		{PERF_TXN_ASYNC | PERF_TXN_RETRY | 0xabULL << PERF_TXN_ABORT_SHIFT,
		 "ASYNC RETRY :ab"},
		{PERF_TXN_CAPACITY_WRITE | PERF_TXN_CAPACITY_READ, "CAP-WRITE CAP-READ NEITHER "},
	};
	const struct sort_key *key = sort_key_find("transaction", 11);

	assert_non_null(key);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct walk_sample ws = {.s.transaction = table[i].value};
		const struct key_source src = {.ws = &ws};
		struct hist_cell cell;
		struct buf text = {0};

		assert_int_equal(key->cell(&src, &cell), 0);
		assert_int_equal(key->text(NULL, cell, &text), 0);
		assert_int_equal(buf_zero(&text, 1), 0);
		assert_string_equal((const char *)text.data, table[i].text);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transactions),
		cmocka_unit_test(test_as_perf),
		cmocka_unit_test(test_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
