// SPDX-License-Identifier: Apache-2.0
/* Functions and variables in events, on a machine with made-up PMUs and symbols. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/parse/event.h"
#include "tree.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define UPROBE 50
#define KPROBE 51

struct lab {
	struct tree tree;
	char sysfs[80];
	char program[128]; /* found in PATH */
	struct event_env env;
};

/* A function, a variable of 4 bytes, one of 32, and one that is not in the file. */
static const struct {
	const char *name;
	struct event_symbol symbol;
} names[] = {
	{"work", {.function = true, .address = 0x401200, .size = 64, .offset = 0x1200}},
	{"ns::f<int, 2>", {.function = true, .address = 0x401300, .size = 8, .offset = 0x1300}},
	{"operator+", {.function = true, .address = 0x401400, .offset = 0x1400}},
	{"hits", {.address = 0x404010, .size = 4, .offset = 0x3010}},
	{"w", {.address = 0x404018, .size = 8, .offset = 0x3018}},
	{"table", {.address = 0x404020, .size = 32}},
	{"0x1230", {.function = true, .address = 0x401230, .offset = 0x1230}},
};

static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*ret = names[i].symbol;
		ret->fixed = !file || strstr(file, "fixed");
		ret->first_address = 0x400000;
		return 0;
	}
	return error_set(err, -ENOENT, "no symbol '%s' in %s", name, file ? file : "the kernel");
}

static const struct event_symbols symbols = {find};

static int setup(void **state)
{
	static struct lab lab;
	struct tree *t = &lab.tree;

	tree_make(t);
	snprintf(lab.sysfs, sizeof(lab.sysfs), "%s/sysfs", t->root);
	tree_file(t, "sysfs/bus/event_source/devices/uprobe/type", "50\n");
	tree_file(t, "sysfs/bus/event_source/devices/uprobe/format/retprobe", "config:0\n");
	tree_file(t, "sysfs/bus/event_source/devices/uprobe/format/ref_ctr_offset",
		  "config:32-63\n");
	tree_file(t, "sysfs/bus/event_source/devices/kprobe/type", "51\n");
	tree_file(t, "sysfs/bus/event_source/devices/kprobe/format/retprobe", "config:3\n");
	tree_file(t, "bin/prog-in-path", "");
	snprintf(lab.program, sizeof(lab.program), "%s/bin/prog-in-path", t->root);
	snprintf(lab.sysfs, sizeof(lab.sysfs), "%s/bin", t->root);
	setenv("PATH", lab.sysfs, 1);
	snprintf(lab.sysfs, sizeof(lab.sysfs), "%s/sysfs", t->root);
	lab.env = (struct event_env){lab.sysfs, "/nonexistent", &symbols};
	if (chdir(t->root))
		return -1;
	*state = &lab;
	return 0;
}

static int teardown(void **state)
{
	tree_remove(&((struct lab *)*state)->tree);
	return 0;
}

#define RW HW_BREAKPOINT_RW
#define W  HW_BREAKPOINT_W
#define X  HW_BREAKPOINT_X
#define BP PERF_TYPE_BREAKPOINT

/* file "": none; beginning with "./": below the root of the tree. */
static const struct good_row {
	const char *text;
	uint32_t type;
	uint64_t config, config1, config2;
	uint32_t bp_type;
	const char *file;
	uint64_t address; /* of a breakpoint in a file */
} good_rows[] = {
	{"uprobe:/bin/a:work", UPROBE, 0, 0, 0x1200, 0, "/bin/a", 0},
	{"uprobe:/bin/a:work+0x10", UPROBE, 0, 0, 0x1210, 0, "/bin/a", 0},
	{"uprobe:/bin/a:0x1230", UPROBE, 0, 0, 0x1230, 0, "/bin/a", 0},
	{"uretprobe:/bin/a:work", UPROBE, 1, 0, 0x1200, 0, "/bin/a", 0},
	{"uprobe:./b/a:work", UPROBE, 0, 0, 0x1200, 0, "./b/a", 0},
	{"uprobe:b/a:work", UPROBE, 0, 0, 0x1200, 0, "./b/a", 0},
	{"uprobe:prog-in-path:work", UPROBE, 0, 0, 0x1200, 0, "./bin/prog-in-path", 0},
	{"uprobe:'/a b,c:d/{e}':work", UPROBE, 0, 0, 0x1200, 0, "/a b,c:d/{e}", 0},
	{"uprobe:/bin/a:'ns::f<int, 2>'", UPROBE, 0, 0, 0x1300, 0, "/bin/a", 0},
	{"uprobe:/bin/a:'ns::f<int, 2>'+4", UPROBE, 0, 0, 0x1304, 0, "/bin/a", 0},
	{"uprobe:/bin/a:operator+", UPROBE, 0, 0, 0x1400, 0, "/bin/a", 0},
	{"uprobe:/bin/a:operator++1", UPROBE, 0, 0, 0x1401, 0, "/bin/a", 0},
	{"uprobe:/bin/a:work:u", UPROBE, 0, 0, 0x1200, 0, "/bin/a", 0},
	{"uprobe:/bin/a:work/call-graph=fp/", UPROBE, 0, 0, 0x1200, 0, "/bin/a", 0},
	{"kprobe:work", KPROBE, 0, 0, 0x401200, 0, "", 0},
	{"kprobe:work+8", KPROBE, 0, 0, 0x401208, 0, "", 0},
	{"kretprobe:work", KPROBE, 8, 0, 0x401200, 0, "", 0},
	{"mem:hits", BP, 0, 0x404010, 4, RW, "", 0},
	{"mem:hits:w", BP, 0, 0x404010, 4, W, "", 0},
	{"mem:hits/2:w:k", BP, 0, 0x404010, 2, W, "", 0},
	{"mem:w", BP, 0, 0x404018, 8, RW, "", 0},
	{"mem:work", BP, 0, 0x401200, sizeof(long), X, "", 0},
	{"mem:/bin/a:hits", BP, 0, 0, 4, RW, "/bin/a", 0x404010},
	{"mem:/bin/a:hits+1/1:w", BP, 0, 0, 1, W, "/bin/a", 0x404011},
	{"mem:/bin/a:table+8/8:w:u", BP, 0, 0, 8, W, "/bin/a", 0x404028},
	{"mem:/bin/fixed:hits:w", BP, 0, 0x404010, 4, W, "/bin/fixed", 0x404010},
	{"mem:/bin/a:work", BP, 0, 0, sizeof(long), X, "/bin/a", 0x401200},
	{"mem:/bin/a:w:w", BP, 0, 0, 8, W, "/bin/a", 0x404018},
	{"mem:prog-in-path:hits:w", BP, 0, 0, 4, W, "./bin/prog-in-path", 0x404010},
	{"mem:'prog-in-path':w:w", BP, 0, 0, 8, W, "./bin/prog-in-path", 0x404018},
	{"mem:b/a:hits:w", BP, 0, 0, 4, W, "./b/a", 0x404010},
	{"mem:0x1000/2:w", BP, 0, 0x1000, 2, W, "", 0},
};

static void check_file(const struct lab *lab, const char *wanted, const char *file)
{
	char full[PATH_MAX];

	if (!*wanted) {
		assert_null(file);
		return;
	}
	snprintf(full, sizeof(full), "%s%s", *wanted == '.' ? lab->tree.root : "",
		 wanted + (*wanted == '.'));
	/* The directory that we are in may be reached by a link: /tmp may be one. */
	if (*wanted == '.')
		assert_non_null(strstr(file, full + strlen("/tmp")));
	else
		assert_string_equal(file, full);
	assert_int_equal(*file, '/');
}

static void names_become_attributes(void **state)
{
	const struct lab *lab = *state;

	for (size_t i = 0; i < ARRAY_SIZE(good_rows); i++) {
		const struct good_row *row = &good_rows[i];
		struct event_list list = {0};
		struct error err = ERROR_INIT;
		const struct event_spec *spec;
		char text[256];

		/* Behind one and before another, so that it takes no more than is its own. */
		snprintf(text, sizeof(text), "{cs,%s} , cs", row->text);
		if (event_parse(&list, text, &lab->env, &err))
			fail_msg("'%s': %s", text, err.text);
		assert_int_equal(list.count, 3);
		spec = &list.specs[1];
		assert_string_equal(spec->name, row->text);
		if (spec->attr.type != row->type || spec->attr.config != row->config ||
		    spec->attr.config1 != row->config1 || spec->attr.config2 != row->config2 ||
		    spec->attr.bp_type != row->bp_type || spec->place.address != row->address)
			fail_msg("'%s': type %u, config 0x%llx 0x%llx 0x%llx, bp_type %u, address "
				 "0x%llx",
				 row->text, spec->attr.type, (unsigned long long)spec->attr.config,
				 (unsigned long long)spec->attr.config1,
				 (unsigned long long)spec->attr.config2, spec->attr.bp_type,
				 (unsigned long long)spec->place.address);
		check_file(lab, row->file, spec->place.file);
		assert_true(spec->each);
		assert_int_equal(spec->attr.sample_period, 1);
		assert_int_equal(spec->place.probe, row->type == UPROBE);
		assert_int_equal(spec->place.kernel, row->type == KPROBE);
		event_list_release(&list);
	}
}

static void terms_and_modifiers_apply(void **state)
{
	const struct lab *lab = *state;
	struct event_list list = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(event_parse(&list, "uprobe:/bin/a:work/name=w,period=7,call-graph=dwarf/k",
				     &lab->env, &err),
			 0);
	assert_string_equal(list.specs[0].name, "w");
	assert_true(list.specs[0].explicit_period);
	assert_int_equal(list.specs[0].attr.sample_period, 7);
	assert_int_equal(list.specs[0].callgraph, 2);
	assert_true(list.specs[0].attr.flags & PD_ATTR_EXCLUDE_USER);
	assert_int_equal(event_set_filter(&list, 0, "common_pid > 1", &err), 0);
	event_list_release(&list);
	assert_int_equal(event_parse(&list, "mem:hits", &lab->env, &err), 0);
	assert_int_equal(event_set_filter(&list, 0, "common_pid > 1", &err), -EINVAL);
	event_list_release(&list);
}

static const struct bad_row {
	const char *text;
	int code;
	const char *says;
} bad_rows[] = {
	{"uprobe:", -EINVAL, "FILE:FUNCTION expected"},
	{"uprobe:/bin/a", -EINVAL, "FILE:FUNCTION expected"},
	{"uprobe:/bin/a:", -EINVAL, "name of a function"},
	{"uprobe::work", -EINVAL, "FILE:FUNCTION expected"},
	{"uprobe:/bin/a,b:work", -EINVAL, "FILE:FUNCTION expected"},
	{"uprobe:'/bin/a:work", -EINVAL, "closing quote is missing"},
	{"uprobe:/bin/a:'work", -EINVAL, "closing quote is missing"},
	{"uprobe:/bin/a:work/config1=1/", -EINVAL, "a tracepoint or probe"},
	{"uprobe:/bin/a:'work'x", -EINVAL, "only +OFFSET"},
	{"uprobe:/bin/a:wrk", -ENOENT, "no symbol 'wrk' in /bin/a"},
	{"uprobe:/bin/a:work+64", -EINVAL, "has only 64 bytes"},
	{"uprobe:/bin/a:operator++0xffffffffffffffff", -EINVAL, "too large"},
	{"uprobe:/bin/a:hits", -EINVAL, "mem:/bin/a:hits"},
	{"uprobe:/bin/a:work:z", -EINVAL, "unknown modifier"},
	{"uprobe:/bin/a:work/config=1/", -EINVAL, "no meaning"},
	{"uprobe:no-such-program:work", -ENOENT, "no program or library"},
	{"uretprobe:/bin/a:work+4", -EINVAL, "leave out the offset"},
	{"kprobe:", -EINVAL, "name of a function"},
	{"kprobe:wrk", -ENOENT, "in the kernel"},
	{"kprobe:hits", -EINVAL, "mem:hits"},
	{"mem:wrk", -ENOENT, "in the kernel"},
	{"mem:", -EINVAL, "a number (0x...) or a name"},
	{"mem:/bin/a", -EINVAL, "FILE:FUNCTION expected"},
	{"mem:/bin/a:", -EINVAL, "name of a function"},
	{"mem:/bin/a:table:w", -EINVAL, "table+0/8"},
	{"mem:/bin/a:hits/9", -EINVAL, "1 to 8 bytes"},
	{"mem:/bin/a:hits/4:q", -EINVAL, "of r, w and x"},
	{"mem:/bin/a:hits:w:u:k", -EINVAL, "nothing may follow"},
};

static void faults_are_named(void **state)
{
	const struct lab *lab = *state;
	const struct event_env without = {lab->sysfs, "/nonexistent", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
		struct event_list list = {0};
		struct error err = ERROR_INIT;
		int rc = event_parse(&list, bad_rows[i].text, &lab->env, &err);

		if (rc != bad_rows[i].code || !strstr(err.text, bad_rows[i].says))
			fail_msg("'%s': %d, %s", bad_rows[i].text, rc, err.text);
		assert_int_equal(list.count, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good_rows) - 1; i++) {
		struct event_list list = {0};
		struct error err = ERROR_INIT;

		assert_int_not_equal(event_parse(&list, good_rows[i].text, &without, &err), 0);
		assert_true(err.text[0] != '\0');
	}
}

static void a_kernel_without_probes_says_so(void **state)
{
	const struct event_env bare = {"/nonexistent", "/nonexistent", &symbols};
	struct event_list list = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(event_parse(&list, "kprobe:work", &bare, &err), -ENOENT);
	assert_non_null(strstr(err.text, "CONFIG_KPROBE_EVENTS"));
	assert_int_equal(event_parse(&list, "uprobe:/bin/a:work", &bare, &err), -ENOENT);
	assert_non_null(strstr(err.text, "CONFIG_UPROBE_EVENTS"));
}

static void places_have_lengths(void **state)
{
	static const struct {
		const char *place, *behind;
	} rows[] = {
		{"uprobe:/a/b/c:f", ",cs"},
		{"uprobe:/a/b/c:f", " x > 1"},
		{"uprobe:/a/b/c:f", "/name=a b/"},
		{"uprobe:'/a b':'f, g'", " x"},
		{"uprobe:/a:ns::f", ":u"},
		{"mem:/a/b:v/4:w", ",cs"},
		{"mem:0x10/4:w", " x"},
		{"kprobe:f", " x"},
		{"", "sched:sched_switch x > 1"},
		{"", "cpu/event=1/"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s%s", rows[i].place, rows[i].behind);
		assert_int_equal(event_place_length(text), strlen(rows[i].place));
	}
}

/* Characters that mean something, anywhere. */
static void any_text_does_no_harm(void **state)
{
	static const char pool[] = ",/{}:'+ 0x9w.";
	const struct lab *lab = *state;
	size_t parsed = 0;

	srand(7);
	for (size_t i = 0; i < 40000; i++) {
		struct event_list list = {0};
		struct error err = ERROR_INIT;
		char text[128];
		size_t len;
		int rc;

		snprintf(text, sizeof(text), "%s", good_rows[i % ARRAY_SIZE(good_rows)].text);
		len = strlen(text);
		for (int n = rand() % 3; n >= 0; n--)
			text[(size_t)rand() % len] = pool[(size_t)rand() % (sizeof(pool) - 1)];
		if (rand() % 4 == 0)
			text[(size_t)rand() % len] = '\0';
		assert_true(event_place_length(text) <= strlen(text));
		rc = event_parse(&list, text, &lab->env, &err);
		assert_int_equal(rc, err.code);
		assert_true(!rc == (list.count > 0));
		parsed += !rc;
		event_list_release(&list);
	}
	assert_true(parsed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_attributes),
		cmocka_unit_test(terms_and_modifiers_apply),
		cmocka_unit_test(faults_are_named),
		cmocka_unit_test(a_kernel_without_probes_says_so),
		cmocka_unit_test(places_have_lengths),
		cmocka_unit_test(any_text_does_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
