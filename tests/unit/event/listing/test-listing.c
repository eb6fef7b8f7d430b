// SPDX-License-Identifier: Apache-2.0
/* What listing.c, generic.c, kinds.c, pmus.c and tracing.c list of a made-up machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/listing/listing.h"
#include "perfdata/abi.h"
#include "../../support/tree.h"

#define CPU "bus/event_source/devices/cpu/"

struct machine {
	struct tree tree;
	struct event_env env;
};

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	tree_make(&m->tree);
	m->env.sysfs = m->env.tracefs = m->tree.root;
	tree_file(&m->tree, CPU "type", "4\n");
	tree_file(&m->tree, CPU "format/umask", "config:8-15\n");
	tree_file(&m->tree, CPU "format/event", "config:0-7\n");
	tree_file(&m->tree, CPU "events/slots", "event=0x0,umask=0x4\n");
	tree_file(&m->tree, CPU "events/slots.unit", "Slots\n");
	tree_file(&m->tree, "bus/event_source/devices/uncore/cpumask", "0,18\n");
	tree_file(&m->tree, "bus/event_source/devices/software/type", "1\n");
	tree_file(&m->tree, "events/sched/enable", "0\n");
	tree_file(&m->tree, "events/sched/sched_switch/id", "316\n");
	tree_file(&m->tree, "events/sched/sched_switch/format",
		  "name: sched_switch\nID: 316\nformat:\n"
		  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		  "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n");
	tree_file(&m->tree, "uprobe_events", "p:probe_a/main /bin/a:0x0000000000001230\nbroken\n");
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	tree_remove(&m->tree);
	free(m);
	return 0;
}

/* Events as "kind name alias what [terms]" lines. */
struct listed {
	char text[1 << 20];
	size_t len, nr;
};

static int take(void *arg, const struct listed_event *e)
{
	struct listed *l = arg;

	l->nr++;
	l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s|%s|%s|%s",
				   listing_kind_word(e->kind, NULL), e->name,
				   e->alias ? e->alias : "", e->what ? e->what : "");
	for (size_t i = 0; i < e->nr_terms; i++)
		l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "|%s",
					   e->terms[i]);
	l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "\n");
	assert_true(l->len < sizeof(l->text));
	return 0;
}

static struct listed *list(const struct machine *m, const struct listing_choice *choice)
{
	struct listed *l = calloc(1, sizeof(*l));
	struct error err = ERROR_INIT;

	assert_int_equal(listing_each(&m->env, choice, take, l, &err), 0);
	assert_string_equal(err.text, "");
	return l;
}

static bool counts_software(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE && config != PERF_COUNT_SW_DUMMY;
}

static void only_what_the_machine_counts(void **state)
{
	struct listed *l = list(*state, &(struct listing_choice){.counts = counts_software});

	assert_null(strstr(l->text, "hw|"));
	assert_null(strstr(l->text, "cache|"));
	assert_null(strstr(l->text, "raw|"));
	assert_null(strstr(l->text, "vendor|"));
	assert_null(strstr(l->text, "|dummy|"));
	assert_non_null(strstr(l->text, "sw|page-faults|faults|Page faults, minor and major\n"));
	free(l);
}

static void names_of_one_event_are_one_line(void **state)
{
	struct listed *l = list(*state, &(struct listing_choice){.kinds[LISTING_HARDWARE] = true});

	assert_int_equal(l->nr, 10);
	assert_non_null(strstr(l->text, "hw|cpu-cycles|cycles|"));
	assert_non_null(strstr(l->text, "hw|ref-cycles||"));
	free(l);
	l = list(*state, &(struct listing_choice){.kinds[LISTING_CACHE] = true});
	assert_non_null(strstr(l->text, "cache|LLC-store-misses||Stores that missed the last"));
	assert_non_null(strstr(l->text, "cache|iTLB-loads||Loads in the TLB for instructions\n"));
	assert_null(strstr(l->text, "iTLB-store"));
	free(l);
}

static void pmus_have_terms_and_events(void **state)
{
	struct listed *l = list(*state, &(struct listing_choice){.kinds[LISTING_PMU] = true});

	assert_string_equal(
		l->text,
		"pmu|cpu/slots/|slots|cpu/event=0x0,umask=0x4/, in Slots\n"
		"pmu|cpu/TERMS/||Any event of this PMU|event: config:0-7|umask: config:8-15\n"
		"pmu|uncore/TERMS/||Any event of this PMU, on CPUs 0,18\n");
	free(l);
}

static void tracepoints_have_fields(void **state)
{
	struct listed *l = list(*state, &(struct listing_choice){.kinds[LISTING_TRACEPOINT] = true,
								 .fields = true});

	assert_string_equal(l->text, "tracepoint|sched:sched_switch|||prev_comm: char prev_comm[16]"
				     "|filename: __data_loc char[] filename\n");
	free(l);
	l = list(*state, &(struct listing_choice){.kinds[LISTING_PROBE] = true});
	assert_string_equal(l->text, "probe|probe_a:main||/bin/a:0x0000000000001230\n");
	free(l);
}

static void words_choose(void **state)
{
	static const char *const rows[][2] = {{"SLOTS", "pmu|cpu/slots/"},
					      {"sched:*", "tracepoint|sched:sched_switch"},
					      {"*switch", "sw|"},
					      {"major-faults", "sw|major-faults"},
					      {"faults", "sw|page-faults"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct listed *l =
			list(*state, &(struct listing_choice){.words = &rows[i][0],
							      .nr_words = 1,
							      .counts = counts_software});

		if (i == 2) { /* a pattern is for the whole name */
			assert_string_equal(l->text, "tracepoint|sched:sched_switch||\n");
		} else {
			assert_int_equal(strncmp(l->text, rows[i][1], strlen(rows[i][1])), 0);
			assert_true(l->nr < 6);
		}
		free(l);
	}
}

static void vendors_events_have_masks(void **state)
{
	struct listed *l;

	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	l = list(*state, &(struct listing_choice){.kinds[LISTING_VENDOR] = true});
	if (!l->nr) /* libpfm4 of this architecture does not know it */
		skip();
	assert_non_null(strstr(l->text, "vendor|skl::INST_RETIRED||"));
	assert_non_null(strstr(l->text, "|ANY_P: "));
	assert_null(strstr(l->text, "perf::"));
	free(l);
}

static void kinds_have_perfs_words(void **state)
{
	enum listing_kind kind;

	(void)state;
	assert_true(listing_kind_find("hwcache", &kind));
	assert_int_equal(kind, LISTING_CACHE);
	assert_true(listing_kind_find("kprobe", &kind));
	assert_int_equal(kind, LISTING_PROBE);
	assert_false(listing_kind_find("sched", &kind));
}

static void missing_tracefs_says_why(void **state)
{
	const struct machine *m = *state;
	struct event_env env = {m->tree.root, "/nonexistent"};
	struct listed *l = calloc(1, sizeof(*l));
	struct error err = ERROR_INIT;

	assert_int_equal(listing_each(&env,
				      &(struct listing_choice){.kinds[LISTING_TRACEPOINT] = true},
				      take, l, &err),
			 0);
	assert_int_equal(l->nr, 0);
	assert_non_null(strstr(err.text, "mount -t tracefs"));
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_the_machine_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_one_event_are_one_line, setup, teardown),
		cmocka_unit_test_setup_teardown(pmus_have_terms_and_events, setup, teardown),
		cmocka_unit_test_setup_teardown(tracepoints_have_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(words_choose, setup, teardown),
		cmocka_unit_test_setup_teardown(vendors_events_have_masks, setup, teardown),
		cmocka_unit_test(kinds_have_perfs_words),
		cmocka_unit_test_setup_teardown(missing_tracefs_says_why, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
