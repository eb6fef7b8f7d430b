// SPDX-License-Identifier: Apache-2.0
/* The table of keys: no key has two actions at one place, and the help names every key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "view/model/keys.h"

static void test_no_key_has_two_actions(void **state)
{
	const struct key_binding *a, *b;

	(void)state;
	for (size_t i = 0; (a = key_binding_at(i)); i++)
		for (size_t k = 0; k < i && (b = key_binding_at(k)); k++)
			for (size_t m = 0; m < 9; m++)
				if (a->key[m % 3] && a->key[m % 3] == b->key[m / 3] &&
				    a->key[m % 3] != ' ')
					assert_false(a->places & b->places);
}

/* A printable key stands in the names of its own line, or of the line of another key there. */
static void test_the_help_names_all(void **state)
{
	const struct key_binding *a, *b;

	(void)state;
	for (size_t i = 0; (a = key_binding_at(i)); i++)
		for (size_t m = 0; m < 3; m++) {
			size_t named = 0;

			if (a->key[m] <= ' ' || a->key[m] > '~')
				continue;
			for (size_t k = 0; (b = key_binding_at(k)); k++)
				named += b->names && strchr(b->names, a->key[m]);
			assert_true(named);
		}
}

static void test_actions(void **state)
{
	(void)state;
	assert_int_equal(key_action('j', VIEW_TABLE), ACTION_DOWN);
	assert_int_equal(key_action(VIEW_KEY_ENTER, VIEW_TABLE), ACTION_MENU);
	assert_int_equal(key_action(VIEW_KEY_ENTER, VIEW_FLAME), ACTION_ZOOM);
	assert_int_equal(key_action('t', VIEW_FLAME), ACTION_NONE);
	assert_int_equal(key_action('+', VIEW_TABLE), ACTION_TOGGLE);
	assert_int_equal(key_action('+', VIEW_LIVE), ACTION_LONGER);
	assert_int_equal(key_action(' ', VIEW_LIVE), ACTION_FREEZE);
	assert_int_equal(key_action(' ', VIEW_TABLE), ACTION_PAGE_DOWN);
	assert_int_equal(key_action(0, VIEW_TABLE), ACTION_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_key_has_two_actions),
		cmocka_unit_test(test_the_help_names_all),
		cmocka_unit_test(test_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
