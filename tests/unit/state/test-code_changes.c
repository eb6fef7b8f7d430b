// SPDX-License-Identifier: Apache-2.0
/* Kernel code as of any time, from records of its changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "state/state.h"

#define BASE 0xffffffff81000030ULL /* so that changes lie across blocks */
#define SIZE 200

static void poke(struct state *s, uint64_t time, uint64_t addr, const void *old, size_t old_len,
		 const void *new, size_t new_len)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_TEXT_POKE};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};
	uint8_t bytes[2 * SIZE];

	memcpy(bytes, old, old_len);
	memcpy(bytes + old_len, new, new_len);
	rec.text_poke = (struct pd_text_poke){addr, (uint16_t)old_len, (uint16_t)new_len, bytes};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, 0}), 0);
}

static size_t patch(const struct state *s, uint64_t time, uint64_t addr, void *buf, size_t known,
		    size_t len)
{
	return state_patch_code(s, addr, (struct moment){time, UINT64_MAX}, buf, known, len);
}

static void test_changes_and_back(void **state)
{
	struct state *s = state_new();
	char buf[] = "????????????";

	(void)state;
	state_keep_code_changes(s);
	poke(s, 10, BASE + 4, "nop5!", 5, "jump!", 5);
	poke(s, 20, BASE + 4, "jump!", 5, "nop5!", 5);
	poke(s, 20, BASE + 8, "!z", 2, "AB", 2);
	assert_int_equal(state_finish(s), 0);
	/* The file may be as of any time. */
	assert_int_equal(patch(s, 9, BASE, buf, 12, 12), 12);
	assert_string_equal(buf, "????nop5!z??");
	patch(s, 10, BASE, buf, 12, 12);
	assert_string_equal(buf, "????jump!z??");
	patch(s, 20, BASE, buf, 12, 12);
	assert_string_equal(buf, "????nop5AB??");
	assert_true(state_code_version(s, (struct moment){9, 0}) <
		    state_code_version(s, (struct moment){10, 0}));
	assert_int_equal(state_code_version(s, (struct moment){10, 0}),
			 state_code_version(s, (struct moment){19, 0}));
	state_free(s);
}

/* Code that was made at run time, such as a trampoline, is in no file. */
static void test_made_code(void **state)
{
	struct state *s = state_new();
	char code[SIZE], buf[SIZE];

	(void)state;
	for (int i = 0; i < SIZE; i++)
		code[i] = (char)('a' + i % 26);
	state_keep_code_changes(s);
	poke(s, 10, BASE, "", 0, code, SIZE);
	poke(s, 20, BASE + 100, code + 100, 1, "#", 1);
	poke(s, 30, UINT64_MAX - 1, "abcd", 4, "efgh", 4); /* behind the end of addresses */
	assert_int_equal(state_finish(s), 0);
	assert_int_equal(patch(s, 5, BASE, buf, 0, SIZE), 0);
	assert_int_equal(patch(s, 15, BASE, buf, 0, SIZE), SIZE);
	assert_memory_equal(buf, code, SIZE);
	assert_int_equal(patch(s, 25, BASE + 90, buf, 0, SIZE), SIZE - 90);
	assert_int_equal(buf[10], '#');
	/* What is behind unknown bytes is of no use. */
	assert_int_equal(patch(s, 15, BASE - 1, buf, 0, SIZE), 0);
	assert_int_equal(patch(s, 15, BASE - 1, buf, 1, SIZE), SIZE);
	state_free(s);
}

static void test_not_kept(void **state)
{
	struct state *s = state_new();
	uint8_t byte = 7;

	(void)state;
	poke(s, 10, BASE, "a", 1, "b", 1);
	assert_int_equal(state_finish(s), 0);
	assert_int_equal(patch(s, 15, BASE, &byte, 1, 1), 1);
	assert_int_equal(byte, 7);
	state_free(s);
}

/* Any changes at all: each byte is that of the last change before, or of the first behind. */
static void test_random(void **state)
{
	enum { CHANGES = 300 };
	struct state *s = state_new();
	uint8_t truth[CHANGES + 1][SIZE];

	(void)state;
	srand(5);
	state_keep_code_changes(s);
	for (size_t i = 0; i < SIZE; i++)
		truth[0][i] = (uint8_t)rand();
	for (size_t n = 0; n < CHANGES; n++) {
		size_t at = (size_t)rand() % SIZE, len = (size_t)rand() % 16;

		len = len < SIZE - at ? len : SIZE - at;
		memcpy(truth[n + 1], truth[n], SIZE);
		for (size_t i = 0; i < len; i++)
			truth[n + 1][at + i] = (uint8_t)rand();
		poke(s, n + 1, BASE + at, truth[n] + at, len, truth[n + 1] + at, len);
	}
	assert_int_equal(state_finish(s), 0);
	for (size_t n = 0; n <= CHANGES; n++) {
		uint8_t buf[SIZE];

		memcpy(buf, truth[(n + 100) % CHANGES], SIZE);
		assert_int_equal(patch(s, n, BASE, buf, SIZE, SIZE), SIZE);
		assert_memory_equal(buf, truth[n], SIZE);
	}
	state_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_and_back),
		cmocka_unit_test(test_made_code),
		cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
