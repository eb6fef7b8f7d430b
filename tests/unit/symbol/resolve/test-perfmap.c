// SPDX-License-Identifier: Apache-2.0
/* Reads perf-PID.map: its lines, its owner, its bound; and what is no such file. */
#include <errno.h>

#include "symbol-machine.h"

/* One of them is longer than a line may be, and one is behind a NUL byte. */
static void put_perfmap_of_lines(struct place *p, unsigned int pid)
{
	static char text[200000];
	size_t len = (size_t)sprintf(text, "1000 10 before\n2000 10 ");
	char path[64];

	memset(text + len, 'x', 150000);
	len += 150000;
	len += (size_t)sprintf(text + len, "\n3000 10 behind\n");
	text[len++] = '\0';
	len += (size_t)sprintf(text + len, "\n4000 10 unseen\n");
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	put_file(p, path, text, len);
}

/* Larger than any memory, and with nothing in it. */
static void put_sparse(const struct place *p, const char *path, char full[512])
{
	put_text(p, path, "");
	snprintf(full, 512, "%s%s", p->dir, path);
	assert_int_equal(truncate(full, (off_t)5 << 30), 0);
}

static void test_no_text(void **state)
{
	struct place *p = *state;
	struct dso anon = {.name = "//anon", .kind = DSO_ANON};
	struct error err = ERROR_INIT;
	struct resolver *r = NULL;
	char path[512];

	put_sparse(p, "/tmp/perf-42.map", path);
	fresh(p);
	assert_why(p, &anon, 0x1000, "perf-");
	assert_null(resolver_refused(p->r)); /* that one is absent */
	assert_symbol(p, &anon, 42, 0x1000, NULL);
	assert_non_null(strstr(resolver_refused(p->r), "perf-42.map has NUL bytes"));
	p->opts.kallsyms = path;
	assert_int_equal(resolver_new_on(&p->opts, &p->host, &r, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "--kallsyms: "));
	assert_non_null(strstr(err.text, "NUL bytes"));
	p->opts.kallsyms = NULL;
}

static void test_perfmap_bound(void **state)
{
	const char text[] = "1000 10 first\n1010 10 second\n";
	const uint64_t need = 2 * (PERFMAP_SYMBOL_BYTES + sizeof("second")) - 1;
	struct place *p = *state;
	struct sources src = {.opts = p->opts, .host = p->host, .same_machine = true};
	struct error why = ERROR_INIT;
	struct symtab *t = NULL;
	uint64_t left = need - 1;

	put_text(p, "/tmp/perf-42.map", text);
	assert_int_equal(perfmap_load(&src, 42, &left, &t, &why), -EFBIG);
	assert_non_null(strstr(why.text, "perf-42.map is left out"));
	assert_null(t);
	assert_int_equal(left, need - 1);
	left = need;
	assert_int_equal(perfmap_load(&src, 42, &left, &t, &why), 0);
	assert_int_equal(left, 0);
	symtab_free(t);
}

/* Threads ask in any order; which reason is shown must not depend on it. */
static void test_reason(void **state)
{
	static const uint32_t orders[][3] = {{51, 52, 53}, {53, 51, 52}, {52, 53, 51}};
	struct place *p = *state;
	struct dso anon = {.name = "//anon", .kind = DSO_ANON};
	struct dso jit = {.name = "[JIT] tid 52", .kind = DSO_ANON, .jit_pid = 52, .index = 1};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		fresh(p);
		for (size_t k = 0; k < 3; k++)
			assert_symbol(p, &anon, orders[i][k], 0x1000, NULL);
		assert_non_null(strstr(resolver_why_not(p->r, &anon), "perf-51.map"));
		assert_non_null(strstr(resolver_why_not(p->r, &jit), "perf-52.map"));
	}
}

static void test_perfmap(void **state)
{
	struct place *p = *state;
	struct dso anon = {.name = "//anon", .kind = DSO_ANON};
	char from[128], to[128];

	put_text(p, "/tmp/perf-42.map",
		 "1000 10 first\n1010 8 _ZN1AC2ERKS_\nbad line\n1000 10 second\n2000 0 empty\n"
		 "3000 20 with spaces in it\nffffffffffffffff ff wraps\n4000 4 end");
	snprintf(from, sizeof(from), "%s/tmp/perf-42.map", p->dir);
	snprintf(to, sizeof(to), "%s/tmp/perf-43.map", p->dir);
	assert_int_equal(symlink(from, to), 0);
	fresh(p);
	assert_symbol(p, &anon, 41, 0x1000, NULL);
	assert_why(p, &anon, 0x1000, "perf-");
	assert_symbol(p, &anon, 42, 0x1000, "second"); /* what was written last */
	assert_symbol(p, &anon, 42, 0x100f, "second");
	assert_symbol(p, &anon, 42, 0x1010, "A::A(A const&)");
	assert_symbol(p, &anon, 42, 0x1018, NULL);
	assert_symbol(p, &anon, 42, 0x301f, "with spaces in it");
	assert_symbol(p, &anon, 42, 0x4003, "end");
	assert_symbol(p, &anon, 43, 0x1000, NULL); /* a link */
	assert_null(resolver_why_not(p->r, &anon));
	/* code that a forked child has from the process that made it, unless it has its own */
	put_text(p, "/tmp/perf-44.map", "1000 10 own\n");
	anon.jit_pid = 42;
	assert_symbol(p, &anon, 45, 0x1000, "second");
	assert_symbol(p, &anon, 44, 0x1000, "own");
	assert_symbol(p, &anon, 44, 0x1010, "A::A(A const&)");
	anon.jit_pid = 0;
	if (!geteuid()) {
		assert_int_equal(chown(from, 12345, 12345), 0);
		fresh(p);
		assert_why(p, &anon, 0x1000, "perf-1.map");
		assert_symbol(p, &anon, 42, 0x1000, NULL);
		put_text(p, "/proc/42/status", "NSpid:\t42\t7\n");
		snprintf(to, sizeof(to), "%s/proc/42", p->dir);
		assert_int_equal(chown(to, 12345, 12345), 0);
		fresh(p);
		assert_symbol(p, &anon, 42, 0x1000, "second");
	}
	put_perfmap_of_lines(p, 44);
	fresh(p);
	assert_symbol(p, &anon, 44, 0x1000, "before");
	assert_symbol(p, &anon, 44, 0x2000, NULL); /* its line is too long */
	assert_symbol(p, &anon, 44, 0x3000, "behind");
	assert_symbol(p, &anon, 44, 0x4000, NULL); /* behind a NUL byte */
	assert_null(resolver_refused(p->r));
	put_text(p, "/proc/50/status", "Name:\tx\nNSpid:\t50\t7\n");
	put_text(p, "/proc/50/root/tmp/perf-7.map", "1000 10 inside\n");
	fresh(p);
	assert_symbol(p, &anon, 50, 0x1000, "inside");
	p->opts.hostname = "elsewhere";
	fresh(p);
	assert_why(p, &anon, 0x1000, "from another machine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_reason),
		PLACE_TEST(test_perfmap),
		PLACE_TEST(test_perfmap_bound),
		PLACE_TEST(test_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
