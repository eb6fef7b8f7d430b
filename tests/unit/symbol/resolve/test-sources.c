// SPDX-License-Identifier: Apache-2.0
/*
 * Sources of symbols on a made-up machine: kallsyms, kernels and modules by build-id, perf-PID.map,
 * the vdso; and the message of each if it has none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/sources.h"
#include "symbol/elf/table.h"

static void assert_name(struct symtab *t, uint64_t addr, const char *name)
{
	const struct symbol *s = symtab_find(t, addr, true);

	if (!name)
		assert_null(s);
	else if (!s)
		fail_msg("nothing at 0x%llx, expected %s", (unsigned long long)addr, name);
	else
		assert_string_equal(s->name, name);
}

/* --- a machine made up ----------------------------------------------------------------------- */

struct place {
	char dir[64];
	struct symbol_host host;
	struct resolver_opts opts;
	struct resolver *r;
};

static void put_file(const struct place *p, const char *path, const void *data, size_t len)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", p->dir, path);
	for (slash = strchr(full + strlen(p->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const struct place *p, const char *path, const char *text)
{
	put_file(p, path, text, strlen(text));
}

static void put_notes(const struct place *p, const char *path, const uint8_t id[20])
{
	uint8_t note[36] = {0};
	const uint32_t words[3] = {4, 20, 3};

	memcpy(note, words, 12);
	memcpy(note + 12, "GNU", 4);
	memcpy(note + 16, id, 20);
	put_file(p, path, note, sizeof(note));
}

static int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/test-symbol-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->host = (struct symbol_host){
		.root = p->dir, .home = p->dir, .hostname = "here", .osrelease = "6.1"};
	p->opts = (struct resolver_opts){.hostname = "here", .osrelease = "6.1"};
	*state = p;
	return 0;
}

static int place_free(void **state)
{
	struct place *p = *state;
	char cmd[128];

	resolver_free(p->r);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", p->dir);
	if (system(cmd))
		return -1;
	free(p);
	return 0;
}

static void fresh(struct place *p)
{
	resolver_free(p->r);
	p->r = NULL;
	assert_int_equal(resolver_new_on(&p->opts, &p->host, &p->r, NULL), 0);
}

static void assert_symbol(struct place *p, const struct dso *dso, uint32_t pid, uint64_t addr,
			  const char *name)
{
	const struct symbol *s = resolver_find(p->r, dso, pid, addr);

	if (!s && name)
		fail_msg("nothing at 0x%llx: %s", (unsigned long long)addr,
			 resolver_why_not(p->r, dso));
	if (!name)
		assert_null(s);
	else
		assert_string_equal(s->name, name);
}

static void assert_why(struct place *p, const struct dso *dso, uint64_t addr, const char *part)
{
	const char *why;

	assert_null(resolver_find(p->r, dso, 1, addr));
	why = resolver_why_not(p->r, dso);
	assert_non_null(why);
	if (!strstr(why, part))
		fail_msg("\"%s\" does not say \"%s\"", why, part);
}

/* --- kallsyms -------------------------------------------------------------------------------- */

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000100 t local_fn\n"
			       "ffffffff81000200 W weak_fn\n"
			       "ffffffff81000200 T strong_fn\n"
			       "not a line\n"
			       "ffffffff81000300 D some_data\n"
			       "ffffffff81000400 T last_fn\n"
			       "ffffffffc0201000 t trampoline\t[__builtin__ftrace]\n"
			       "ffffffffc0300020 t snd_open\t[snd_pcm]\n"
			       "ffffffffc0300150 T snd_close\t[snd_pcm]\n"
			       "ffffffffc0400000 t other\t[other]\n"
			       "ffffffffc0500000 t bpf_prog_abc\t[bpf]";

static const uint8_t id_a[20] = {0xaa, 1,  2,  3,  4,  5,  6,  7,  8,  9,
				 10,   11, 12, 13, 14, 15, 16, 17, 18, 19};
static const uint8_t id_b[20] = {0xbb, 1,  2,  3,  4,  5,  6,  7,  8,  9,
				 10,   11, 12, 13, 14, 15, 16, 17, 18, 19};

#define TEXT 0xffffffff81000000ull

static struct dso kernel_dso(const uint8_t *id, uint64_t ref)
{
	struct dso d = {.name = "[kernel.kallsyms]", .kind = DSO_KERNEL, .ref_addr = ref};

	d.ref_name = ref ? "_text" : NULL;
	if (id) {
		d.build_id_size = 20;
		memcpy(d.build_id, id, 20);
	}
	return d;
}

static void test_kallsyms_text(void **state)
{
	struct buf text = {(uint8_t *)(uintptr_t)kallsyms, sizeof(kallsyms) - 1, 0};
	struct kallsyms_line line;
	size_t pos = 0, n = 0;
	struct symtab *t;
	uint64_t addr;

	while (kallsyms_next(&text, &pos, &line))
		n++;
	assert_int_equal(n, 13);
	assert_false(kallsyms_hidden(&text));
	assert_true(kallsyms_address(&text, "_text", &addr));
	assert_int_equal(addr, TEXT);
	assert_false(kallsyms_address(&text, "snd_open", &addr));
	assert_int_equal(kallsyms_table(&text, NULL, 0, &t), 0);
	assert_name(t, TEXT + 5, "_text");
	assert_name(t, TEXT + 0x1ff, "local_fn");
	assert_name(t, TEXT + 0x200, "strong_fn");
	assert_name(t, TEXT + 0x3ff, "strong_fn"); /* data is no boundary */
	assert_name(t, TEXT + 0x400, "last_fn");
	assert_name(t, TEXT + (2 << 20), NULL); /* the gap to the modules stays empty */
	assert_name(t, 0xffffffffc0201004, "trampoline");
	assert_name(t, 0xffffffffc0300020, "trampoline");
	assert_name(t, 0xffffffffc0500004, "bpf_prog_abc");
	symtab_free(t);
	assert_int_equal(kallsyms_table(&text, "snd-pcm", 0, &t), 0);
	assert_name(t, 0x1f, NULL);
	assert_name(t, 0x20, "snd_open");
	assert_name(t, 0x150, "snd_close");
	symtab_free(t);
	assert_int_equal(kallsyms_table(&text, "snd", 0, &t), -ENOENT);
}

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

static void test_modules(void **state)
{
	struct place *p = *state;
	struct dso path = {.name = "/lib/modules/6.1/kernel/sound/snd-pcm.ko.xz",
			   .kind = DSO_MODULE};
	struct dso bracket = {.name = "[snd_pcm]", .kind = DSO_MODULE, .index = 1};
	struct dso with_id = {
		.name = "[snd_pcm]", .kind = DSO_MODULE, .index = 2, .build_id_size = 20};

	memcpy(with_id.build_id, id_b, 20);
	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/module/snd_pcm/notes/.note.gnu.build-id", id_a);
	fresh(p);
	assert_symbol(p, &path, 1, 0x20, "snd_open");
	assert_symbol(p, &bracket, 1, 0x151, "snd_close");
	assert_why(p, &with_id, 0x20, "loaded module is not the recorded");
	memcpy(with_id.build_id, id_a, 20);
	p->opts.hostname = NULL;
	fresh(p);
	assert_symbol(p, &with_id, 1, 0x20, "snd_open");
	assert_why(p, &bracket, 0x20, "from another machine");
}

/* However many modules there are: what was read once need not be there any more. */
static void test_modules_read_once(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffffc0400000 t b1\t[snd_b]\n"
				   "ffffffffc0300010 t a1\t[snd_a]\n"
				   "not a line\n"
				   "ffffffffc0300020 t a2\t[snd_a]\n"
				   "ffffffffc0400030 t b2\t[snd_b]\n"
				   "ffffffffc0300030 t a3\t[snd_a]";
	struct place *p = *state;
	struct dso kernel = kernel_dso(NULL, TEXT);
	char path[128];

	put_text(p, "/proc/kallsyms", text);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", p->dir);
	fresh(p);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const names[] = {"[snd_a]", "[snd_b]", "[snd]",
						    "/lib/modules/6.1/snd-b.ko"};
		struct dso d = {.name = names[i], .kind = DSO_MODULE, .index = 1 + i};

		if (i == 2) {
			assert_why(p, &d, 0x20, "does not have the module");
			continue;
		}
		assert_symbol(p, &d, 1, 0x20, i ? "b1" : "a2");
		assert_symbol(p, &d, 1, 0x31, i ? "b2" : "a3");
		if (!i)
			assert_int_equal(unlink(path), 0);
	}
	kernel.index = 9;
	assert_symbol(p, &kernel, 1, TEXT + 1, "_text");
}

/* --- the rest -------------------------------------------------------------------------------- */

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

static void test_vdso(void **state)
{
	struct place *p = *state;
	struct dso vdso = {.name = "[vdso]", .kind = DSO_VDSO};
	uint64_t addr;
	int found = 0;

	fresh(p);
	if (resolver_why_not(p->r, &vdso))
		skip(); /* this kernel has none */
	for (addr = 0; addr < 0x4000; addr++) {
		const struct symbol *s = resolver_find(p->r, &vdso, 1, addr);

		found += s && strstr(s->name, "clock_gettime") && s->start == addr;
	}
	assert_true(found >= 1);
	vdso.build_id_size = 20;
	memcpy(vdso.build_id, id_a, 20);
	fresh(p);
	assert_why(p, &vdso, 0, "build-id");
	vdso.build_id_size = 0;
	p->opts.hostname = "elsewhere";
	fresh(p);
	assert_why(p, &vdso, 0, "from another machine");
}

static void test_kinds_without_files(void **state)
{
	struct place *p = *state;
	struct dso bpf = {.name = "bpf_prog_1234", .kind = DSO_KSYMBOL};
	struct dso guest = {.name = "[guest.kernel.kallsyms]", .kind = DSO_GUEST, .index = 100000};

	fresh(p);
	assert_symbol(p, &bpf, 1, 0xffffffffc0001234, "bpf_prog_1234");
	assert_null(resolver_why_not(p->r, &bpf));
	assert_why(p, &guest, 0x1000, "guest");
	resolver_free(NULL);
}

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, place_new, place_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms_text),
		PLACE_TEST(test_kernel_by_build_id),
		PLACE_TEST(test_kernel_without_build_id),
		PLACE_TEST(test_kernel_other_sources),
		PLACE_TEST(test_kernel_named_absent),
		PLACE_TEST(test_kernel_hidden),
		PLACE_TEST(test_modules),
		PLACE_TEST(test_modules_read_once),
		PLACE_TEST(test_perfmap),
		PLACE_TEST(test_perfmap_bound),
		PLACE_TEST(test_no_text),
		PLACE_TEST(test_vdso),
		PLACE_TEST(test_kinds_without_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
