// SPDX-License-Identifier: Apache-2.0
/* Symbols of kernels: by build-id, without one, moved, from the cache, named by the user. */
#include "symbol-machine.h"

static void test_kernel_by_build_id(void **state)
{
	struct place *p = *state;
	struct dso same = kernel_dso(id_a, TEXT), moved = kernel_dso(id_a, TEXT + 0x2000000);
	struct dso other = kernel_dso(id_b, TEXT);

	moved.index = 1;
	other.index = 2;
	p->opts.hostname = "elsewhere"; /* the build-id says it all */
	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/kernel/notes", id_a);
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "local_fn");
	assert_null(resolver_why_not(p->r, &same));
	/* recorded before a reboot, at another place */
	assert_symbol(p, &moved, 1, TEXT + 0x2000101, "local_fn");
	assert_symbol(p, &moved, 1, TEXT + 0x101, NULL);
	assert_why(p, &other, TEXT + 0x101, "build-id differs");
}

static void test_kernel_without_build_id(void **state)
{
	struct place *p = *state;
	struct dso same = kernel_dso(NULL, TEXT), moved = kernel_dso(NULL, TEXT + 0x2000000);
	struct dso unknown = kernel_dso(NULL, 0);

	moved.index = 1;
	unknown.index = 2;
	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/kernel/notes", id_a);
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "local_fn");
	assert_why(p, &moved, TEXT + 0x101, "not at the address");
	assert_why(p, &unknown, TEXT + 0x101, "not at the address");
	p->opts.osrelease = "6.2";
	fresh(p);
	assert_why(p, &same, TEXT + 0x101, "from another machine");
	p->opts.osrelease = NULL;
	fresh(p);
	assert_why(p, &same, TEXT + 0x101, "from another machine");
	/* What a recording that is cut maps may say that it is of this machine. */
	p->opts.origin.kind = ORIGIN_HERE;
	fresh(p);
	assert_symbol(p, &same, 1, TEXT + 0x101, "local_fn");
	assert_why(p, &moved, TEXT + 0x101, "not at the address");
}

static void test_kernel_other_sources(void **state)
{
	struct place *p = *state;
	struct dso other = kernel_dso(id_b, TEXT);
	char path[128];

	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/kernel/notes", id_a);
	put_text(p, "/.debug/[kernel.kallsyms]/bb0102030405060708090a0b0c0d0e0f10111213/kallsyms",
		 "ffffffff81000000 T _text\nffffffff81000100 T from_cache\n");
	fresh(p);
	assert_symbol(p, &other, 1, TEXT + 0x100, "from_cache");
	put_text(p, "/mine", "ffffffff91000000 T _text\nffffffff91000100 T from_option\n");
	snprintf(path, sizeof(path), "%s/mine", p->dir);
	p->opts.kallsyms = path;
	fresh(p);
	assert_symbol(p, &other, 1, TEXT + 0x100, "from_option");
}

/* What the user names and cannot be read is an error; /dev/null is not. */
static void test_kernel_named_absent(void **state)
{
	static const struct symbol_host host = {.root = ""};
	static const struct resolver_opts bad[] = {
		{.kallsyms = "/nonexistent/kallsyms"},
		{.kallsyms = "/"},
		{.kallsyms = "/dev/zero"},
		{.vmlinux = "/nonexistent/vmlinux"},
		{.vmlinux = "/"},
		{.vmlinux = "/proc/self/status"}, /* no ELF file */
	};
	static const struct resolver_opts good = {
		.kallsyms = "/dev/null", .vmlinux = "/dev/null", .symfs = "/nonexistent"};
	struct place *p = *state;
	struct dso d = kernel_dso(id_a, TEXT);
	struct resolver *r = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;

		assert_true(resolver_new_on(&bad[i], &host, &r, &err) < 0);
		assert_null(r);
		assert_non_null(strstr(err.text, bad[i].kallsyms ?: bad[i].vmlinux));
		assert_non_null(strstr(err.text, bad[i].kallsyms ? "--kallsyms" : "--vmlinux"));
	}
	p->opts = good;
	fresh(p);
	assert_false(resolver_was_asked(p->r, &d));
	assert_why(p, &d, TEXT, "/dev/null");
	assert_true(resolver_was_asked(p->r, &d));
}

static void test_kernel_hidden(void **state)
{
	struct place *p = *state;
	struct dso same = kernel_dso(id_a, TEXT);

	put_text(p, "/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 t local_fn\n");
	put_notes(p, "/sys/kernel/notes", id_a);
	fresh(p);
	assert_why(p, &same, TEXT, "kptr_restrict");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_kernel_by_build_id),   PLACE_TEST(test_kernel_without_build_id),
		PLACE_TEST(test_kernel_other_sources), PLACE_TEST(test_kernel_named_absent),
		PLACE_TEST(test_kernel_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
