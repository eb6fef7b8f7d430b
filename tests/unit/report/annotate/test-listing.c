// SPDX-License-Identifier: Apache-2.0
/* The arrows of jumps: known ones drawn, and random ones, which must never share a place in a lane.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "report/annotate/listing.h"

#define BASE 0x401000

static void make_code(struct function_code *c, const uint8_t *code, size_t len)
{
	*c = (struct function_code){
		.start = 0x1000,
		.to_file = BASE - 0x1000,
		.machine = {.machine = EM_X86_64, .is_64 = true},
	};
	assert_int_equal(buf_append(&c->bytes, code, len), 0);
}

static void check_drawn(const uint8_t *code, size_t len, const char *const *margins, size_t nr)
{
	struct function_code c;
	struct listing l;
	size_t first = 0;

	make_code(&c, code, len);
	assert_int_equal(listing_init(&l, &c, DISASM_DEFAULT, NULL), 0);
	assert_int_equal(l.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		char margin[LISTING_MARGIN];

		listing_margin(&l, i, &first, margin);
		assert_string_equal(margin, margins[i]);
	}
	listing_release(&l);
	function_code_release(&c);
}

static void drawn(void **state)
{
	static const uint8_t loop[] = {
		0x90, 0x90, 0x75, 0xfd, /* jne to the second nop */
		0xc3,
	};
	static const uint8_t nested[] = {
		0x74, 0x06,	  /* je to the ret */
		0x90,		  /* nop */
		0x75, 0xfd, 0x90, /* jne to the nop */
		0x75, 0xfa,	  /* and once more */
		0xc3,		  /* ret */
	};
	static const uint8_t none[] = {
		0xeb, 0x7e,	  /* out of the function */
		0xeb, 0xfe,	  /* to itself */
		0xeb, 0xff, 0xc0, /* into itself */
		0xc3,
	};
	static const char *const loop_margins[] = {"   ", "/->", "\\--", "   "};
	static const char *const nested_margins[] = {"/---", "|/->",  "||--",
						     "||  ", "|\\--", "\\-->"};
	static const char *const none_margins[] = {"", "", "", "", ""};

	check_drawn(loop, sizeof(loop), loop_margins, 4);
	check_drawn(nested, sizeof(nested), nested_margins, 6);
	check_drawn(none, 4, none_margins, 2);
}

/* Each lane holds one arrow at a time; an arrow's rows include its target and sources. */
static void check_lanes(const struct listing *l)
{
	uint8_t *taken = calloc(l->nr + 1, 1);

	assert_non_null(taken);
	for (size_t i = 0; i < l->nr_arrows; i++) {
		const struct listing_arrow *a = &l->arrow[i];

		assert_true(a->lane < l->lanes && l->lanes <= LISTING_LANES);
		assert_true(a->first < a->last && a->last < l->nr);
		assert_true(a->last - a->first <= 2 * LISTING_REACH);
		assert_true(a->target >= a->first && a->target <= a->last && a->nr_sources);
		assert_true(!i || l->arrow[i - 1].first <= a->first);
		for (uint32_t k = 0; k < a->nr_sources; k++) {
			uint32_t row = l->source[a->source + k];

			assert_true(row >= a->first && row <= a->last && row != a->target);
			assert_true(!k || row > l->source[a->source + k - 1]);
		}
		for (uint32_t row = a->first; row <= a->last; row++) {
			assert_false(taken[row] & 1 << a->lane);
			taken[row] |= (uint8_t)(1 << a->lane);
		}
	}
	free(taken);
}

static void check_margins(const struct listing *l)
{
	size_t first = 0;

	for (size_t i = 0; i < l->nr; i++) {
		char margin[LISTING_MARGIN];
		bool target = false;

		listing_margin(l, i, &first, margin);
		assert_int_equal(strlen(margin), l->lanes ? l->lanes + 2 : 0);
		for (size_t k = 0; k < l->nr_arrows; k++)
			target |= l->arrow[k].target == i;
		assert_int_equal(target, strchr(margin, '>') != NULL);
	}
}

static void random_jumps(void **state)
{
	uint8_t code[6000];

	srandom(2);
	for (int round = 0; round < 20; round++) {
		struct function_code c;
		struct listing l;
		size_t at = 0;

		while (at + 6 < sizeof(code)) {
			int32_t to = (int32_t)(random() % (sizeof(code) / 4)) - 700;
			long kind = random() % 4;

			code[at++] = kind == 0 ? 0x75 : kind == 1 ? 0xe9 : 0x90;
			if (kind == 0)
				code[at++] = (uint8_t)random();
			if (kind == 1) {
				memcpy(&code[at], &to, 4);
				at += 4;
			}
		}
		make_code(&c, code, at);
		assert_int_equal(listing_init(&l, &c, DISASM_DEFAULT, NULL), 0);
		assert_true(l.nr_arrows > 20);
		check_lanes(&l);
		check_margins(&l);
		listing_release(&l);
		function_code_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawn),
		cmocka_unit_test(random_jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
