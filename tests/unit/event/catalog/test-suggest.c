// SPDX-License-Identifier: Apache-2.0
/* The names of events that suggest.c offers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event/catalog/suggest.h"
#include "../../support/tree.h"

struct seen {
	const char *wanted;
	unsigned int times;
};

static void take(void *arg, const char *name)
{
	struct seen *s = arg;

	s->times += !strcmp(name, s->wanted);
}

static unsigned int offers(const struct event_env *env, const char *name)
{
	struct seen s = {name, 0};

	suggest_each(env, take, &s);
	return s.times;
}

/* The folders of tracefs have files beside the tracepoints, which nobody can record. */
static void files_of_tracefs_are_no_events(void **state)
{
	struct event_env env = {0};
	struct tree tree;
	char said[256];

	tree_make(&tree);
	env.sysfs = env.tracefs = tree.root;
	tree_file(&tree, "events/enable", "0\n");
	tree_file(&tree, "events/header_event", "");
	tree_file(&tree, "events/header_page", "");
	tree_file(&tree, "events/sched/enable", "0\n");
	tree_file(&tree, "events/sched/filter", "none\n");
	tree_file(&tree, "events/sched/sched_switch/enable", "0\n");
	tree_file(&tree, "events/sched/sched_switch/id", "316\n");
	assert_int_equal(offers(&env, "sched:sched_switch"), 1);
	assert_int_equal(offers(&env, "sched:enable"), 0);
	assert_int_equal(offers(&env, "sched:filter"), 0);
	suggest_event(&env, "sched:filte", said, sizeof(said));
	assert_string_equal(said, "");
	suggest_event(&env, "sched_swich", said, sizeof(said));
	assert_string_equal(said, "; did you mean 'sched:sched_switch'?");
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_tracefs_are_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
