// SPDX-License-Identifier: Apache-2.0
/* Lines of procfs files, valid and broken; files that are read whole, or refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "sys/io/file.h"
#include "sys/kernel/procfs.h"
#include "tree.h"

/* Parses a copy that ends exactly where the line does, so that ASan finds reads beyond it. */
static int parse_map(const char *line, struct proc_map *ret, char **ret_copy)
{
	size_t len = strlen(line);

	*ret_copy = malloc(len ? len : 1);
	memcpy(*ret_copy, line, len);
	return proc_map_parse(*ret_copy, len, ret);
}

static void maps_lines(void **unused)
{
	static const struct {
		const char *line, *name;
		uint32_t prot, flags;
	} rows[] = {
		{"1000-2000 r-xp 00002000 fe:00 247134                     /usr/bin/cat",
		 "/usr/bin/cat", PROT_READ | PROT_EXEC, MAP_PRIVATE},
		{"1000-2000 rw-s 00002000 fe:00 247134 /a b (deleted)", "/a b (deleted)",
		 PROT_READ | PROT_WRITE, MAP_SHARED},
		{"1000-2000 --xp 00002000 fe:00 247134 /x\\012y\\012", "/x\ny\n", PROT_EXEC,
		 MAP_PRIVATE},
		{"1000-2000 ---p 00002000 fe:00 247134 /x\\01", "/x\\01", 0, MAP_PRIVATE},
		{"1000-2000 ---p 00002000 fe:00 247134 ", "", 0, MAP_PRIVATE},
		{"1000-2000 ---p 00002000 fe:00 247134", "", 0, MAP_PRIVATE},
		{"1000-2000 r--p 00002000 fe:00 247134    [vdso]", "[vdso]", PROT_READ,
		 MAP_PRIVATE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc_map m;
		char *copy;

		assert_int_equal(parse_map(rows[i].line, &m, &copy), 0);
		assert_int_equal(m.start, 0x1000);
		assert_int_equal(m.end, 0x2000);
		assert_int_equal(m.pgoff, 0x2000);
		assert_int_equal(m.maj, 0xfe);
		assert_int_equal(m.min, 0);
		assert_int_equal(m.ino, 247134);
		assert_int_equal(m.prot, rows[i].prot);
		assert_int_equal(m.flags, rows[i].flags);
		assert_int_equal(m.name_len, strlen(rows[i].name));
		assert_memory_equal(m.name, rows[i].name, m.name_len);
		free(copy);
	}
}

static void broken_maps_lines_are_refused(void **unused)
{
	static const char whole[] = "1000-2000 r-xp 00002000 fe:00 24";
	static const char *const rows[] = {
		"",
		"-",
		"x",
		"2000-1000 r-xp 0 0:0 0",
		"1000-2000 r-zp 0 0:0 0 /x",
		"11112222333344445-2 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 1x /x",
		"1000-2000 r-xp 0 100000000:0 0 /x",
		"1000-2000 r-xp 0 0:0 99999999999999999999 /x",
	};
	struct proc_map m = {.start = 42};
	char *copy;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse_map(rows[i], &m, &copy), -EBADMSG);
		assert_int_equal(m.start, 42);
		free(copy);
	}
	for (size_t cut = 0; cut < sizeof(whole) - 2; cut++) {
		char line[sizeof(whole)];

		memcpy(line, whole, cut);
		line[cut] = '\0';
		assert_int_equal(parse_map(line, &m, &copy), -EBADMSG);
		free(copy);
	}
}

static void stat_lines(void **unused)
{
	static const char rest[] = " S 7 1 1 0 -1 2097216 0 0 0 0 1 2 3 4 20 0 3 0 99 0 0\n";
	static const char *const comms[] = {"cat", "a) S 1 (b", "x\ny", "", ":-) "};
	struct proc_stat st;
	char text[256];

	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "5 (%s)%s", comms[i], rest);

		assert_int_equal(proc_stat_parse(text, len, &st), 0);
		assert_int_equal(st.comm_len, strlen(comms[i]));
		assert_memory_equal(st.comm, comms[i], st.comm_len);
		assert_int_equal(st.ppid, 7);
		assert_int_equal(st.nr_threads, 3);
		assert_true(st.kthread);
	}
	assert_int_equal(proc_stat_parse("5 (x) S 1 2 3", 13, &st), -EBADMSG);
	assert_int_equal(proc_stat_parse("5 )x( S 1 2 3", 13, &st), -EBADMSG);
	assert_int_equal(proc_stat_parse("", 0, &st), -EBADMSG);
}

static void module_lines(void **unused)
{
	static const char line[] = "nf_nat 57344 2 xt_nat,nft_nat, Live 0xffffffffc0a2b000 (OE)";
	static const char plain[] = "loop 40960 0 - Live 0x0000000000000000";
	struct proc_module m;

	assert_int_equal(proc_module_parse(line, sizeof(line) - 1, &m), 0);
	assert_int_equal(m.name_len, 6);
	assert_memory_equal(m.name, "nf_nat", 6);
	assert_int_equal(m.size, 57344);
	assert_int_equal(m.addr, 0xffffffffc0a2b000);
	assert_int_equal(proc_module_parse(plain, sizeof(plain) - 1, &m), 0);
	assert_int_equal(m.addr, 0);
	for (size_t cut = 0; cut < sizeof("nf_nat 57344 2 xt_nat,nft_nat, Live 0x") - 1; cut++)
		assert_int_equal(proc_module_parse(line, cut, &m), -EBADMSG);
}

static void kallsyms_lines(void **unused)
{
	static const char core[] = "ffffffff81000000 T _text";
	static const char bpf[] = "ffffffffc0201000 t bpf_prog_6deef7357e7b4530\t[bpf]";
	struct proc_kallsym s;

	assert_int_equal(proc_kallsym_parse(core, sizeof(core) - 1, &s), 0);
	assert_int_equal(s.addr, 0xffffffff81000000);
	assert_int_equal(s.type, 'T');
	assert_int_equal(s.name_len, 5);
	assert_int_equal(s.module_len, 0);
	assert_int_equal(proc_kallsym_parse(bpf, sizeof(bpf) - 1, &s), 0);
	assert_int_equal(s.name_len, 25);
	assert_int_equal(s.module_len, 3);
	assert_memory_equal(s.module, "bpf", 3);
	assert_int_equal(proc_kallsym_parse(bpf, sizeof(bpf) - 2, &s), -EBADMSG);
	assert_int_equal(proc_kallsym_parse(core, 19, &s), -EBADMSG);
	assert_int_equal(proc_kallsym_parse("", 0, &s), -EBADMSG);
}

static void lines_end_with_or_without_newline(void **unused)
{
	char text[] = "a\n\nbc";
	struct text_lines it = {text, text + 5};
	static const size_t lens[] = {1, 0, 2};
	char *line;
	size_t len;

	for (size_t i = 0; i < 3; i++) {
		assert_true(text_next_line(&it, &line, &len));
		assert_int_equal(len, lens[i]);
	}
	assert_false(text_next_line(&it, &line, &len));
}

static void files_are_read_whole_and_fifos_do_not_hang(void **unused)
{
	char path[PATH_MAX], *large = malloc(100001), *text;
	struct tree t;
	long long v;

	memset(large, 'x', 100000);
	large[100000] = '\0';
	tree_make(&t);
	tree_file(&t, "d/large", large);
	tree_file(&t, "number", "-12\n");
	tree_path(&t, "fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);

	assert_int_equal(file_text(&text, "%s/d/large", t.root), 0);
	assert_string_equal(text, large);
	free(text);
	assert_int_equal(file_text(&text, "%s/fifo", t.root), 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(file_number(&v, "%s/number", t.root), 0);
	assert_int_equal(v, -12);
	assert_int_equal(file_number(&v, "%s/d/large", t.root), -EBADMSG);
	assert_int_equal(file_number(&v, "%s/none", t.root), -ENOENT);
	tree_remove(&t);
	free(large);
}

static void mounts_are_found_by_type_and_option(void **unused)
{
	char path[PATH_MAX], dir[32];
	struct tree t;

	tree_make(&t);
	tree_file(&t, "mounts",
		  "proc /proc proc rw 0 0\n"
		  "cgroup /cg/cpu cgroup rw,cpu 0 0\n"
		  "cgroup /cg\\040p cgroup rw,perf_event 0 0\n"
		  "cgroup2 /cg2 cgroup2 rw 0 0\n");
	tree_path(&t, "mounts", path);
	assert_int_equal(mount_find(path, "cgroup", "perf_event", dir, sizeof(dir)), 0);
	assert_string_equal(dir, "/cg p");
	assert_int_equal(mount_find(path, "cgroup2", NULL, dir, sizeof(dir)), 0);
	assert_string_equal(dir, "/cg2");
	assert_int_equal(mount_find(path, "hugetlbfs", NULL, dir, sizeof(dir)), -ENOENT);
	assert_int_equal(mount_find(path, "cgroup2", NULL, dir, 3), -ENAMETOOLONG);
	tree_remove(&t);
	assert_int_equal(mount_find(path, "cgroup2", NULL, dir, sizeof(dir)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_lines),
		cmocka_unit_test(broken_maps_lines_are_refused),
		cmocka_unit_test(stat_lines),
		cmocka_unit_test(module_lines),
		cmocka_unit_test(kallsyms_lines),
		cmocka_unit_test(lines_end_with_or_without_newline),
		cmocka_unit_test(files_are_read_whole_and_fifos_do_not_hang),
		cmocka_unit_test(mounts_are_found_by_type_and_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
