// SPDX-License-Identifier: Apache-2.0
/* Lines survive encoding; damage costs no more than what lies behind it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfdata/symbols/symbol_lines.h"

static const char *texts[] = {"work", "/src/a.c", ""};
static struct pd_line_frame frames[] = {
	{1, 2, 10, true}, {0, 2, UINT32_MAX, false}, {3, 0, 0, false}};
static struct pd_line_chain chains[] = {{0, 2}, {2, 1}};
static struct pd_line_run runs[] = {
	{0, 1, 1}, {0x1000, 0x1010, 0}, {0x1010, 0x1020, 1}, {UINT64_MAX - 4, UINT64_MAX, 0}};
static const struct pd_symbol_lines lines = {
	.text = texts,
	.nr_texts = 3,
	.frame = frames,
	.nr_frames = 3,
	.chain = chains,
	.nr_chains = 2,
	.run = runs,
	.nr_runs = 4,
};

static void assert_chain(const struct pd_symbol_lines *l, uint64_t addr, uint32_t chain)
{
	const struct pd_line_run *run = pd_symbol_lines_find(l, addr);

	assert_non_null(run);
	assert_int_equal(run->chain, chain);
}

static void test_round_trip(void **state)
{
	struct pd_symbol_lines got;
	struct buf b = {0};

	assert_int_equal(pd_symbol_lines_encode(&lines, &b), 0);
	assert_int_equal(pd_symbol_lines_decode(b.data, b.len, &got), 0);
	assert_int_equal(got.nr_texts, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(got.text[i], texts[i]);
	assert_int_equal(got.nr_frames, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(got.frame[i].function, frames[i].function);
		assert_int_equal(got.frame[i].file, frames[i].file);
		assert_int_equal(got.frame[i].line, frames[i].line);
		assert_int_equal(got.frame[i].inlined, frames[i].inlined);
	}
	assert_int_equal(got.nr_chains, 2);
	assert_int_equal(got.chain[1].first, 2);
	assert_int_equal(got.chain[1].nr, 1);
	assert_chain(&got, 0, 1);
	assert_null(pd_symbol_lines_find(&got, 1));
	assert_null(pd_symbol_lines_find(&got, 0xfff));
	assert_chain(&got, 0x1000, 0);
	assert_chain(&got, 0x100f, 0);
	assert_chain(&got, 0x1010, 1);
	assert_null(pd_symbol_lines_find(&got, 0x1020));
	assert_chain(&got, UINT64_MAX - 1, 0);
	assert_null(pd_symbol_lines_find(&got, UINT64_MAX));
	pd_symbol_lines_release(&got);
	buf_release(&b);
}

/* Each part of the bytes is read up to its end, and no further. */
static void test_cut(void **state)
{
	struct buf b = {0};

	assert_int_equal(pd_symbol_lines_encode(&lines, &b), 0);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *part = malloc(len + 1);
		struct pd_symbol_lines got;
		int rc;

		memcpy(part, b.data, len);
		rc = pd_symbol_lines_decode(part, len, &got);
		assert_true(rc == -EBADMSG || (!rc && got.nr_chains == 2));
		assert_true(got.nr_runs < 4);
		pd_symbol_lines_release(&got);
		free(part);
	}
	buf_release(&b);
}

/* Numbers of texts and chains that are not there. */
static void test_damage(void **state)
{
	static const uint8_t no_text[] = {0, 1, 1, 1, 0, 0, 0}, no_chain[] = {0, 0, 1, 1, 0},
			     no_nul[] = {1, 2, 'a', 'b', 0};
	struct pd_symbol_lines got;

	assert_int_equal(pd_symbol_lines_decode(no_text, sizeof(no_text), &got), -EBADMSG);
	pd_symbol_lines_release(&got);
	assert_int_equal(pd_symbol_lines_decode(no_chain, sizeof(no_chain), &got), -EBADMSG);
	pd_symbol_lines_release(&got);
	assert_int_equal(pd_symbol_lines_decode(no_nul, sizeof(no_nul), &got), -EBADMSG);
	pd_symbol_lines_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
