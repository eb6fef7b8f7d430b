// SPDX-License-Identifier: Apache-2.0
/*
 * The table of dsos: which mappings share a dso, what it is called in tables and lines, and which
 * build-id it gets. Random mappings of few files check that no dso ever contradicts one of its
 * mappings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state/dso.h"

#define HUGETLB 0x40000

static int setup(void **state)
{
	struct dso_table *t = malloc(sizeof(*t));

	assert_non_null(t);
	assert_int_equal(dso_table_init(t), 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	dso_table_release(*state);
	free(*state);
	return 0;
}

/* A mapping of a file: @inode and @build_id are 0 if they are not known. */
static struct pd_mmap mapping(uint32_t pid, uint64_t inode, uint8_t build_id)
{
	struct pd_mmap m = {.pid = pid, .ino = inode, .maj = inode ? 8 : 0};

	if (build_id) {
		m.build_id_size = 20;
		memset(m.build_id, build_id, 20);
	}
	return m;
}

static struct dso *get(struct dso_table *t, enum dso_kind kind, const char *name,
		       const struct pd_mmap *mmap)
{
	const struct dso_want want = {.kind = kind, .mmap = mmap};
	struct dso *dso = dso_get(t, name, &want);

	assert_non_null(dso);
	assert_int_equal(dso->kind, kind);
	assert_string_equal(dso->name, name);
	assert_ptr_equal(t->dsos[dso->index], dso);
	return dso;
}

static struct dso *get_file(struct dso_table *t, const char *name, uint64_t inode, uint8_t build_id)
{
	const struct pd_mmap m = mapping(1, inode, build_id);

	return get(t, DSO_ELF, name, &m);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		enum dso_kind kind;
		bool jit;
	} names[] = {
		{"/usr/bin/ls", 0, DSO_ELF, false},
		{"/usr/bin/ls", HUGETLB, DSO_ANON, true},
		{"", 0, DSO_ANON, false},
		{"//anon", 0, DSO_ANON, true},
		{"//toolong", 0, DSO_ANON, false},
		{"[heap]", 0, DSO_ANON, true},
		{"[stack]", 0, DSO_ANON, true},
		{"[stack:77]", 0, DSO_ANON, true},
		{"[uprobes]", 0, DSO_ANON, false},
		{"[vdso]", 0, DSO_VDSO, false},
		{"[vdso32]", 0, DSO_VDSO, false},
		{"[vsyscall]", 0, DSO_VDSO, false},
		{"anon_inode:[io_uring]", 0, DSO_ANON, false},
		{"/anon_hugepage (deleted)", 0, DSO_ANON, true},
		{"/memfd:pool (deleted)", 0, DSO_ANON, false},
		{"/dev/zero (deleted)", 0, DSO_ANON, true},
		{"/SYSV00000000 (deleted)", 0, DSO_ANON, true},
		{"/dev/shm/x", 0, DSO_ELF, false},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(dso_kind_of_user(names[i].name, names[i].flags), names[i].kind);
		assert_int_equal(dso_is_jit_memory(names[i].name, names[i].flags), names[i].jit);
	}
}

static void test_names(void **state)
{
	static const struct {
		enum dso_kind kind;
		uint32_t pid;
		const char *name, *short_name, *line_name;
	} names[] = {
		{DSO_ELF, 0, "/usr/lib/libc.so.6", "libc.so.6", "/usr/lib/libc.so.6"},
		{DSO_ELF, 0, "plain", "plain", "plain"},
		{DSO_ELF, 0, "/ends/in/", "/ends/in/", "/ends/in/"},
		{DSO_KERNEL, 0, "[kernel.kallsyms]", "[kernel.kallsyms]", "[kernel.kallsyms]"},
		{DSO_MODULE, 0, "/lib/modules/6.1/snd-pcm.ko.xz", "[snd_pcm]", "[snd_pcm]"},
		{DSO_MODULE, 0, "/lib/modules/6.1/ext4.ko", "[ext4]", "[ext4]"},
		{DSO_MODULE, 0, "[ext4]", "[ext4]", "[ext4]"},
		{DSO_MODULE, 0, "/odd/name", "name", "/odd/name"},
		{DSO_GUEST, 0, "/guest/kvm.ko.zst", "[kvm]", "[kvm]"},
		{DSO_KSYMBOL, 0, "bpf_prog_1_a/b", "bpf_prog_1_a/b", "bpf_prog_1_a/b"},
		{DSO_ANON, 42, "//anon", "[JIT] tid 42", "/tmp/perf-42.map"},
		{DSO_ANON, 0, "/memfd:pool", "memfd:pool", "/memfd:pool"},
		{DSO_VDSO, 0, "[vdso]", "[vdso]", "[vdso]"},
	};
	struct dso_table *t = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct dso_want want = {.kind = names[i].kind, .pid = names[i].pid};
		const struct dso *dso = dso_get(t, names[i].name, &want);

		assert_non_null(dso);
		assert_string_equal(dso->short_name, names[i].short_name);
		assert_string_equal(dso->line_name, names[i].line_name);
		assert_int_equal(dso->jit_pid, names[i].pid);
		assert_int_equal(dso->index, i);
		assert_ptr_equal(dso_get(t, names[i].name, &want), dso);
	}
	assert_true(dso_memory(t) > 0);
}

/* Files of one name are one until an inode or a build-id tells them apart. */
static void test_identity(void **state)
{
	struct dso_table *t = *state;
	struct pd_mmap young;
	struct dso *a, *b;

	a = get(t, DSO_ELF, "/bin/a", NULL);
	assert_ptr_equal(get_file(t, "/bin/a", 0, 0), a);
	assert_ptr_equal(get_file(t, "/bin/a", 7, 0), a);
	assert_int_equal(a->ino, 7);
	assert_ptr_equal(get_file(t, "/bin/a", 0, 1), a);
	assert_int_equal(a->build_id[0], 1);
	assert_ptr_equal(get_file(t, "/bin/a", 7, 1), a);
	b = get_file(t, "/bin/a", 8, 0); /* a new file */
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(get_file(t, "/bin/a", 7, 0), a);
	assert_ptr_equal(get_file(t, "/bin/a", 8, 2), b);
	assert_ptr_not_equal(get_file(t, "/bin/a", 8, 3), b);
	assert_ptr_not_equal(get_file(t, "/bin/b", 7, 1), a);
	assert_ptr_not_equal(get(t, DSO_ANON, "/bin/a", NULL), a);

	/* The same inode of another generation is another file. */
	young = mapping(1, 9, 0);
	a = get(t, DSO_ELF, "/bin/c", &young);
	young.ino_generation = 5;
	assert_ptr_equal(get(t, DSO_ELF, "/bin/c", &young), a);
	young.ino_generation = 6;
	assert_ptr_not_equal(get(t, DSO_ELF, "/bin/c", &young), a);
	/* Memory has no identity but its name and process. */
	young.ino = 10;
	a = get(t, DSO_ANON, "//anon", &young);
	young.ino = 11;
	assert_ptr_equal(get(t, DSO_ANON, "//anon", &young), a);
}

/* The latest processes that mapped a file; each once. */
static void test_pids(void **state)
{
	struct dso_table *t = *state;
	struct dso *dso = NULL;

	for (uint32_t pid = 1; pid < 50; pid++) {
		const struct pd_mmap m = mapping(pid, 7, 0);
		unsigned int found = 0;

		for (int i = 0; i < 3; i++)
			dso = get(t, DSO_ELF, "/bin/a", &m);
		for (uint32_t late = pid > DSO_PIDS ? pid - DSO_PIDS + 1 : 1; late <= pid; late++)
			for (size_t i = 0; i < DSO_PIDS; i++)
				found += dso->pids[i] == late;
		assert_int_equal(found, pid < DSO_PIDS ? pid : DSO_PIDS);
	}
}

static void set(struct dso_table *t, const char *name, uint64_t inode, uint64_t generation,
		uint8_t byte, uint16_t misc)
{
	struct pd_build_id id = {
		.size = 20, .filename = name, .ino = inode, .ino_generation = generation};

	id.maj = inode ? 8 : 0;
	memset(id.build_id, byte, 20);
	assert_int_equal(dso_set_build_id(t, &id, misc), 0);
}

static void check_id(const struct dso *dso, uint8_t byte)
{
	assert_int_equal(dso->build_id_size, byte ? 20 : 0);
	for (size_t i = 0; i < dso->build_id_size; i++)
		assert_int_equal(dso->build_id[i], byte);
}

static void test_build_ids(void **state)
{
	struct dso_table *t = *state;
	struct dso *a = get_file(t, "/bin/a", 0, 0), *known = get_file(t, "/bin/known", 0, 9),
		   *none = get_file(t, "/bin/none", 0, 0),
		   *kernel = get(t, DSO_KERNEL, "[kernel.kallsyms]_text", NULL),
		   *anon = get(t, DSO_ANON, "/bin/a", NULL),
		   *module = get(t, DSO_MODULE, "/lib/x.ko", NULL);

	set(t, "/bin/a", 0, 0, 1, PERF_RECORD_MISC_USER);
	set(t, "/bin/a", 0, 0, 2, PERF_RECORD_MISC_USER); /* the last is valid */
	set(t, "/bin/known", 0, 0, 3, PERF_RECORD_MISC_USER);
	set(t, "/lib/x.ko", 0, 0, 4, PERF_RECORD_MISC_KERNEL);
	set(t, "[kernel.kallsyms]", 0, 0, 5, PERF_RECORD_MISC_KERNEL);
	set(t, "[vdso]", 0, 0, 6, PERF_RECORD_MISC_KERNEL);
	dso_apply_build_ids(t, 0);
	check_id(a, 2);
	check_id(known, 9); /* the mapping's own goes first */
	check_id(none, 0);
	check_id(kernel, 5);
	check_id(anon, 0);
	check_id(module, 4);
}

/* Several files of one name, as in containers. */
static void test_build_ids_of_files(void **state)
{
	struct dso_table *t = *state;
	struct dso *one = get_file(t, "/bin/a", 7, 0), *two = get_file(t, "/bin/a", 8, 0),
		   *three = get_file(t, "/bin/a", 9, 0), *other = get_file(t, "/bin/b", 0, 0);
	struct pd_mmap young = mapping(1, 20, 0);
	struct dso *first, *second;

	young.ino_generation = 1;
	first = get(t, DSO_ELF, "/bin/g", &young);
	young.ino_generation = 2;
	second = get(t, DSO_ELF, "/bin/g", &young);
	set(t, "/bin/a", 7, 0, 1, PERF_RECORD_MISC_USER);
	set(t, "/bin/a", 8, 0, 2, PERF_RECORD_MISC_USER);
	set(t, "/bin/b", 7, 0, 3, PERF_RECORD_MISC_USER);
	set(t, "/bin/g", 20, 1, 4, PERF_RECORD_MISC_USER);
	set(t, "/bin/g", 20, 2, 5, PERF_RECORD_MISC_USER);
	dso_apply_build_ids(t, 0);
	check_id(one, 1);
	check_id(two, 2);
	check_id(three, 0); /* whose file is not among them */
	check_id(other, 3);
	check_id(first, 4);
	check_id(second, 5);
}

/* No dso contradicts a mapping that got it, and none loses what it has learned. */
static void test_random(void **state)
{
	static const char *const names[] = {"/bin/a", "/bin/b", "/lib/c"};
	struct dso_table *t = *state;
	struct dso before[400];

	srand(1);
	for (int i = 0; i < 5000; i++) {
		size_t nr = t->count;
		const char *name = names[rand() % 3];
		uint64_t inode = (uint64_t)(rand() % 4);
		uint8_t build_id = (uint8_t)(rand() % 4);
		struct dso *dso;

		assert_true(nr < 400);
		for (size_t k = 0; k < nr; k++)
			before[k] = *t->dsos[k];
		dso = get_file(t, name, inode, build_id);
		assert_ptr_equal(get_file(t, name, inode, build_id), dso);
		assert_true(!inode || dso->ino == inode);
		assert_true(!build_id || dso->build_id[0] == build_id);
		for (size_t k = 0; k < nr; k++) {
			const struct dso *now = t->dsos[k];

			assert_true(!before[k].ino || before[k].ino == now->ino);
			assert_true(!before[k].build_id_size ||
				    !memcmp(before[k].build_id, now->build_id, 20));
			assert_ptr_equal(before[k].name, now->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_ids_of_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
