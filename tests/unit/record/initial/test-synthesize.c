// SPDX-License-Identifier: Apache-2.0
/*
 * Synthesized records of tasks, maps, kernel code, BPF programs and cgroups of a made-up machine.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "perfdata/record.h"
#include "record/initial/buildid.h"
#include "record/initial/machine.h"
#include "record/initial/synthesize.h"
#include "sys/kernel/bpf.h"
#include "tree.h"

/* All emitted records, with the event that describes them. */
struct sink {
	struct pd_evsel evsel;
	struct buf records;
	size_t count, fail_at; /* fail_at: emit fails there, if not 0 */
};

static void sink_init(struct sink *k)
{
	*k = (struct sink){0};
	k->evsel.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	k->evsel.attr.flags = PD_ATTR_SAMPLE_ID_ALL;
}

/* Whatever is emitted must be a record that readers accept, with a trailer of zeros. */
static int take(const struct perf_event_header *hdr, void *arg)
{
	struct sink *k = arg;
	size_t id_size = pd_attr_id_trailer_size(&k->evsel.attr);
	struct pd_record rec;

	if (++k->count == k->fail_at)
		return -ENOSPC;
	assert_int_equal(hdr->size % 8, 0);
	assert_true(hdr->size > sizeof(*hdr) + id_size);
	assert_int_equal(pd_record_decode(hdr, &k->evsel, &rec), 0);
	for (size_t i = hdr->size - id_size; i < hdr->size; i++)
		assert_int_equal(((const uint8_t *)hdr)[i], 0);
	assert_int_equal(rec.id.time, 0);
	assert_int_equal(buf_append(&k->records, hdr, hdr->size), 0);
	return 0;
}

/* Walks what was emitted. */
static bool next_record(const struct sink *k, size_t *at, struct pd_record *ret)
{
	const struct perf_event_header *hdr = (const void *)(k->records.data + *at);

	if (*at >= k->records.len)
		return false;
	assert_int_equal(pd_record_decode(hdr, &k->evsel, ret), 0);
	*at += hdr->size;
	return true;
}

static const char *text_of(const struct pd_record *rec, char *out, size_t size)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_FORK:
		assert_true(rec->hdr->misc & PERF_RECORD_MISC_FORK_EXEC);
		snprintf(out, size, "FORK %u:%u %u:%u", rec->task.pid, rec->task.tid,
			 rec->task.ppid, rec->task.ptid);
		break;
	case PERF_RECORD_COMM:
		snprintf(out, size, "COMM %u:%u %s", rec->comm.pid, rec->comm.tid, rec->comm.comm);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		snprintf(out, size, "%s%s %d:%d %llx+%llx@%llx %x %x %llu %s",
			 pd_record_name(rec->hdr->type),
			 rec->hdr->misc & PERF_RECORD_MISC_MMAP_DATA &&
					 rec->hdr->type == PERF_RECORD_MMAP2
				 ? "d"
				 : "",
			 (int)rec->mmap.pid, (int)rec->mmap.tid, (unsigned long long)rec->mmap.addr,
			 (unsigned long long)rec->mmap.len, (unsigned long long)rec->mmap.pgoff,
			 rec->mmap.prot, rec->mmap.flags, (unsigned long long)rec->mmap.ino,
			 rec->mmap.filename);
		break;
	case PERF_RECORD_KSYMBOL:
		snprintf(out, size, "KSYMBOL %llx+%x %u %s", (unsigned long long)rec->ksymbol.addr,
			 rec->ksymbol.len, rec->ksymbol.ksym_type, rec->ksymbol.name);
		break;
	case PERF_RECORD_CGROUP: snprintf(out, size, "CGROUP %s", rec->cgroup.path); break;
	default: snprintf(out, size, "%s", pd_record_name(rec->hdr->type));
	}
	return out;
}

static void expect(const struct sink *k, const char *const *lines)
{
	struct pd_record rec;
	char text[8192];
	size_t at = 0;

	while (next_record(k, &at, &rec)) {
		assert_non_null(*lines);
		assert_string_equal(text_of(&rec, text, sizeof(text)), *lines);
		lines++;
	}
	assert_null(*lines);
}

#define STAT_REST "1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 %d 0 99 0 0\n"

static void fake_thread(const struct tree *t, int pid, int tid, const char *comm, int ppid,
			int threads, const char *maps)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	snprintf(text, sizeof(text), "%d (%s) S %d " STAT_REST, tid, comm, ppid, threads);
	tree_file(t, path, text);
	snprintf(path, sizeof(path), "%d/task/%d/maps", pid, tid);
	tree_file(t, path, maps);
}

static void tasks_become_records(void **unused)
{
	static const char *const want[] = {
		"FORK 100:100 1:1",
		"COMM 100:100 a) b",
		"MMAP2 100:100 1000+1000@0 5 2 7 /usr/bin/a b (deleted)",
		"MMAP2 100:100 3000+1000@2000 5 1 8 /x\ny",
		"MMAP2 100:100 4000+1000@0 5 2 0 //anon",
		"MMAP2 100:100 5000+1000@0 7 2 0 //anon",
		"MMAP2 100:100 6000+1000@0 5 40002 9 //anon",
		"MMAP2 100:100 9000+1000@0 5 2 0 [vdso]",
		"FORK 100:101 100:100",
		"COMM 100:101 0123456789abcde",
		NULL,
	};
	struct sink k;
	struct tree t;
	pid_t pid = 100;
	struct synth_opts opts = {.pids = &pid, .nr_pids = 1, .proc = t.root};
	struct synth_stats stats;

	tree_make(&t);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	tree_file(&t, "mounts", "none /huge hugetlbfs rw 0 0\n");
	fake_thread(&t, 100, 100, "a) b", 1, 2,
		    "1000-2000 r-xp 00000000 fe:01 7      /usr/bin/a b (deleted)\n"
		    "2000-3000 rw-p 00000000 fe:01 7      /usr/bin/a b (deleted)\n"
		    "3000-4000 r-xs 00002000 fe:01 8      /x\\012y\n"
		    "garbage\n"
		    "4000-5000 r-xp 00000000 00:00 0 \n"
		    "5000-6000 rwxp 00000000 00:00 0      [anon:jit]\n"
		    "6000-7000 r-xp 00000000 00:0f 9      /huge/page\n"
		    "8000-9000 rw-p 00000000 00:00 0      [stack]\n"
		    "9000-a000 r-xp 00000000 00:00 0      [vdso]");
	fake_thread(&t, 100, 101, "0123456789abcdefgh", 1, 2, "");
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	expect(&k, want);
	assert_int_equal(stats.tasks, 2);
	assert_int_equal(stats.maps, 6);
	buf_release(&k.records);
	tree_remove(&t);
}

static void data_maps_are_marked(void **unused)
{
	static const char *const want[] = {
		"FORK 5:5 1:1",
		"COMM 5:5 x",
		"MMAP2d 5:5 2000+1000@0 3 2 7 /a",
		"MMAP2 5:5 4000+1000@0 5 2 7 /a",
		NULL,
	};
	struct sink k;
	struct tree t;
	struct synth_opts opts = {.all = true, .data_maps = true, .proc = t.root};

	tree_make(&t);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	fake_thread(&t, 5, 5, "x", 1, 1,
		    "2000-3000 rw-p 00000000 fe:01 7      /a\n"
		    "3000-4000 ---p 00000000 fe:01 7      /a\n"
		    "4000-5000 r-xp 00000000 fe:01 7      /a\n");
	assert_int_equal(synthesize(&opts, take, &k, NULL, NULL), 0);
	expect(&k, want);
	buf_release(&k.records);
	tree_remove(&t);
}

static void exited_leader_leaves_its_maps_to_its_threads(void **unused)
{
	static const char *const want[] = {
		"FORK 5:5 1:1",
		"COMM 5:5 x",
		"FORK 5:6 5:5",
		"COMM 5:6 y",
		"MMAP2 5:5 4000+1000@0 5 2 7 /a",
		NULL,
	};
	pid_t pids[] = {4, 5}; /* 4 is gone already */
	struct sink k;
	struct tree t;
	struct synth_opts opts = {.pids = pids, .nr_pids = 2, .proc = t.root};

	tree_make(&t);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	fake_thread(&t, 5, 5, "x", 1, 2, "");
	fake_thread(&t, 5, 6, "y", 1, 2, "4000-5000 r-xp 00000000 fe:01 7      /a\n");
	assert_int_equal(synthesize(&opts, take, &k, NULL, NULL), 0);
	expect(&k, want);
	buf_release(&k.records);
	tree_remove(&t);
}

static void long_names_are_whole_or_replaced_as_the_kernel_does(void **unused)
{
	static const size_t lens[] = {1, 7, 8, 255, 4087, 4088, 70000};

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		char *line = malloc(lens[i] + 100), *name;
		struct pd_record rec;
		struct sink k;
		struct tree t;
		struct synth_opts opts = {
			.all = true, .build_ids = true, .data_maps = true, .proc = t.root};
		size_t at = 0;

		tree_make(&t);
		sink_init(&k);
		opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
		name = line + sprintf(line, "4000-5000 r-xp 00000000 fe:01 7 ");
		memset(name, '/', lens[i]);
		name[lens[i]] = '\0';
		fake_thread(&t, 5, 5, "x", 1, 1, line);
		assert_int_equal(synthesize(&opts, take, &k, NULL, NULL), 0);
		for (int n = 0; n < 3; n++)
			assert_true(next_record(&k, &at, &rec));
		assert_string_equal(rec.mmap.filename, lens[i] > 4087 ? "//toolong" : name);
		buf_release(&k.records);
		tree_remove(&t);
		free(line);
	}
}

static void kernel_modules_and_loose_code(void **unused)
{
	static const char *const want[] = {
		"MMAP -1:0 ffffffff81000000+1200000@ffffffff81000000 4 0 0 "
		"[kernel.kallsyms]_text",
		"MMAP -1:0 ffffffffc0000000+2000@0 4 0 0 [one]",
		"MMAP -1:0 ffffffffc0002000+1000@0 4 0 0 [two]",
		"KSYMBOL ffffffffc0201000+40 1 bpf_prog_1",
		"KSYMBOL ffffffffc0201040+1000 1 bpf_trampoline_2",
		"KSYMBOL ffffffffc0301000+1000 2 ftrace_trampoline",
		"FORK 5:5 1:1",
		"COMM 5:5 x",
		NULL,
	};
	struct synth_stats stats;
	struct sink k;
	struct tree t;
	struct synth_opts opts = {.all = true, .kernel = true, .proc = t.root};
	uint32_t id;

	if (bpf_prog_next(0, &id) == 0) /* this machine's programs would be among the records */
		skip();
	tree_make(&t);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	tree_file(&t, "kallsyms",
		  "0000000000000000 A fixed_percpu_data\n"
		  "ffffffff81000000 T _stext\n"
		  "ffffffff81000000 T _text\n"
		  "ffffffff82200000 T _etext\n"
		  "ffffffffc0000000 t init_one\t[one]\n"
		  "ffffffffc0201040 t bpf_trampoline_2\t[bpf]\n"
		  "ffffffffc0201000 t bpf_prog_1\t[bpf]\n"
		  "ffffffffc0301000 t ftrace_trampoline\t[__builtin__ftrace]\n");
	tree_file(&t, "modules",
		  "two 4096 1 - Live 0xffffffffc0002000\n"
		  "hidden 4096 1 - Live 0x0000000000000000\n"
		  "one 999999 1 two, Live 0xffffffffc0000000 (O)\n");
	fake_thread(&t, 5, 5, "x", 1, 1, "");
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	expect(&k, want);
	assert_int_equal(stats.modules, 2);
	assert_int_equal(stats.ksymbols, 3);
	assert_int_equal(stats.hidden, 1);
	buf_release(&k.records);

	/* kptr_restrict: all addresses read as 0, and none is believed. */
	sink_init(&k);
	tree_file(&t, "kallsyms",
		  "0000000000000000 T _stext\n0000000000000000 T _text\n"
		  "0000000000000000 T _etext\n0000000000000000 t bpf_prog_1\t[bpf]\n");
	tree_file(&t, "modules", "two 4096 1 - Live 0x0000000000000000\n");
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	expect(&k, want + 6);
	assert_int_equal(stats.hidden, 2);
	buf_release(&k.records);
	tree_remove(&t);
}

static void cgroups_are_walked(void **unused)
{
	bool seen_root = false, seen_leaf = false;
	char path[PATH_MAX], mounts[PATH_MAX + 64];
	struct synth_stats stats;
	struct pd_record rec;
	struct stat st;
	struct sink k;
	struct tree t;
	struct synth_opts opts = {.cgroups = true, .proc = t.root};
	size_t at = 0;

	tree_make(&t);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	tree_file(&t, "cg/a/b.slice/cgroup.procs", "");
	tree_file(&t, "cg/c/cgroup.procs", "");
	snprintf(mounts, sizeof(mounts), "none %s/cg cgroup2 rw 0 0\n", t.root);
	tree_file(&t, "mounts", mounts);
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	assert_int_equal(stats.cgroups, 4);
	tree_path(&t, "cg/a/b.slice", path);
	assert_int_equal(stat(path, &st), 0);
	while (next_record(&k, &at, &rec)) {
		assert_int_equal(rec.hdr->type, PERF_RECORD_CGROUP);
		assert_int_not_equal(rec.cgroup.id, 0);
		seen_root |= !strcmp(rec.cgroup.path, "/");
		seen_leaf |= !strcmp(rec.cgroup.path, "/a/b.slice");
	}
	assert_true(seen_root && seen_leaf);
	buf_release(&k.records);
	tree_remove(&t);
}

static void emit_failure_ends_it(void **unused)
{
	struct error err = ERROR_INIT;
	struct sink k;
	struct synth_opts opts = {.all = true};

	sink_init(&k);
	k.fail_at = 3;
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	assert_int_equal(synthesize(&opts, take, &k, NULL, &err), -ENOSPC);
	assert_int_equal(k.count, 3);
	assert_int_equal(err.code, -ENOSPC);
	buf_release(&k.records);
	opts.proc = "/proc/nonexistent";
	assert_int_equal(synthesize(&opts, take, &k, NULL, &err), -ENOENT);
}

static void this_machine(void **unused)
{
	char exe[PATH_MAX] = "";
	uint8_t id[PD_BUILD_ID_MAX];
	struct synth_stats stats;
	struct pd_record rec;
	bool comm = false, map = false, namespaces = false;
	size_t at = 0, id_size;
	struct sink k;
	struct synth_opts opts = {.all = true,
				  .kernel = true,
				  .data_maps = true,
				  .build_ids = true,
				  .namespaces = true,
				  .cgroups = true};
	uint32_t pid = (uint32_t)getpid();
	struct stat net;

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(stat("/proc/self/ns/net", &net), 0);
	id_size = machine_file_build_id("/proc/self/exe", id);
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	assert_true(stats.tasks > 0 && stats.maps > 0);
	while (next_record(&k, &at, &rec)) {
		if (rec.hdr->type == PERF_RECORD_COMM && rec.comm.tid == pid)
			comm = true;
		if (rec.hdr->type == PERF_RECORD_NAMESPACES && rec.namespaces.tid == pid)
			namespaces = rec.namespaces.nr == NR_NAMESPACES &&
				     rec.namespaces.link[0] == (uint64_t)net.st_dev &&
				     rec.namespaces.link[1] == net.st_ino;
		if (rec.hdr->type != PERF_RECORD_MMAP2 || rec.mmap.pid != pid ||
		    strcmp(rec.mmap.filename, exe))
			continue;
		map |= rec.mmap.prot & PROT_EXEC;
		assert_int_equal(rec.mmap.build_id_size, id_size);
		assert_memory_equal(rec.mmap.build_id, id, id_size);
	}
	assert_true(comm);
	assert_true(map);
	assert_true(namespaces);
	buf_release(&k.records);
}

/* "return 0" as a socket filter. Returns a descriptor, or a negative errno. */
static int load_program(void)
{
	struct bpf_insn insns[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0},
				   {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insn_cnt = 2;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	memcpy(attr.prog_name, "ringtail_test", 14);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

static void bpf_program_is_told(void **unused)
{
	struct bpf_prog_info info;
	struct synth_stats stats;
	struct pd_record rec;
	bool event = false, ksymbol = false;
	struct synth_opts opts = {.kernel = true};
	struct sink k;
	size_t at = 0;
	int fd;

	fd = load_program();
	memset(&info, 0, sizeof(info));
	if (fd < 0 || bpf_prog_info_get(fd, &info) || !info.jited_prog_len) {
		print_message("no BPF program can be loaded and seen compiled here\n");
		if (fd >= 0)
			close(fd);
		skip();
	}
	sink_init(&k);
	opts.id_size = pd_attr_id_trailer_size(&k.evsel.attr);
	assert_int_equal(synthesize(&opts, take, &k, &stats, NULL), 0);
	while (next_record(&k, &at, &rec)) {
		if (rec.hdr->type == PERF_RECORD_BPF_EVENT && rec.bpf.id == info.id) {
			assert_int_equal(rec.bpf.type, PERF_BPF_EVENT_PROG_LOAD);
			assert_memory_equal(rec.bpf.tag, info.tag, sizeof(info.tag));
			event = true;
		}
		if (rec.hdr->type == PERF_RECORD_KSYMBOL &&
		    strstr(rec.ksymbol.name, "_ringtail_test")) {
			assert_false(ksymbol);
			assert_int_equal(rec.ksymbol.len, info.jited_prog_len);
			ksymbol = true;
		}
	}
	assert_true(event);
	assert_true(ksymbol);
	assert_true(stats.bpf >= 1);
	close(fd);
	buf_release(&k.records);
}

static void put_note(struct buf *b, uint32_t type, const char *name, const void *desc, uint32_t len)
{
	Elf32_Nhdr n = {(uint32_t)strlen(name) + 1, len, type};

	assert_int_equal(buf_append(b, &n, sizeof(n)), 0);
	assert_int_equal(buf_append(b, name, n.n_namesz), 0);
	assert_int_equal(buf_zero(b, -b->len & 3), 0);
	assert_int_equal(buf_append(b, desc, len), 0);
	assert_int_equal(buf_zero(b, -b->len & 3), 0);
}

static void notes_are_searched_within_their_bounds(void **unused)
{
	static const uint8_t want[] = "0123456789abcdefghij";
	struct build_id id;
	struct buf b = {0};

	put_note(&b, NT_GNU_BUILD_ID, "Xen", want, 20);
	put_note(&b, NT_VERSION, "GNU", want, 7);
	put_note(&b, NT_GNU_BUILD_ID, "GNU", want, 20);
	build_id_of_notes(b.data, b.len, 4, &id);
	assert_int_equal(id.size, 20);
	assert_memory_equal(id.id, want, 20);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *copy = malloc(len ? len : 1); /* exact, for ASan */

		memcpy(copy, b.data, len);
		build_id_of_notes(copy, len, 4, &id);
		assert_int_equal(id.size, 0);
		free(copy);
	}
	memset(b.data, 0xff, 12); /* sizes that overflow */
	build_id_of_notes(b.data, b.len, 4, &id);
	assert_int_equal(id.size, 0);
	buf_release(&b);
}

static void only_regular_files_have_build_ids(void **unused)
{
	uint8_t id[PD_BUILD_ID_MAX];
	char path[PATH_MAX];
	struct tree t;

	tree_make(&t);
	tree_path(&t, "fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(machine_file_build_id(path, id), 0);
	assert_int_equal(machine_file_build_id("/dev/zero", id), 0);
	assert_int_equal(machine_file_build_id("/proc/version", id), 0);
	assert_int_equal(machine_file_build_id("/nonexistent", id), 0);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_become_records),
		cmocka_unit_test(data_maps_are_marked),
		cmocka_unit_test(exited_leader_leaves_its_maps_to_its_threads),
		cmocka_unit_test(long_names_are_whole_or_replaced_as_the_kernel_does),
		cmocka_unit_test(kernel_modules_and_loose_code),
		cmocka_unit_test(cgroups_are_walked),
		cmocka_unit_test(emit_failure_ends_it),
		cmocka_unit_test(this_machine),
		cmocka_unit_test(bpf_program_is_told),
		cmocka_unit_test(notes_are_searched_within_their_bounds),
		cmocka_unit_test(only_regular_files_have_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
