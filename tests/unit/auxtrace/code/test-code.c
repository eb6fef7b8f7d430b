// SPDX-License-Identifier: Apache-2.0
/* Code as decoders read it: this program's own file stands for what was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "auxtrace/code/code.h"

#define PID	  77
#define TID	  78 /* of its second thread */
#define BASE	  0x400000ULL
#define INTO_PART 0x1040
#define VDSO	  0x70000000000ULL
#define BPF	  0x80000000000ULL

/* Longer than messages show. */
#define LONG_NAME "/no/such/directory/and/another/one/and/one/more/with/lib/libnone.so.1"

struct machine {
	struct state *state;
	struct resolver *resolver;
	struct code_files *files;
	const struct aux_code *code;
	uint8_t *file; /* what the code must be */
	size_t size;
	char path[4096];
};

static void add_map(struct state *s, uint16_t mode, uint64_t time, uint64_t addr, uint64_t len,
		    const char *name)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = mode};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.mmap = (struct pd_mmap){.pid = mode == PERF_RECORD_MISC_KERNEL ? UINT32_MAX : PID,
				    .addr = addr,
				    .len = len,
				    .prot = PROT_EXEC,
				    .filename = name};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, 0}), 0);
}

static void add_thread(struct state *s)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_FORK};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.task = (struct pd_task){.pid = PID, .ppid = PID, .tid = TID, .ptid = PID, .time = 15};
	assert_int_equal(state_apply(s, &rec, (struct moment){15, 0}), 0);
}

static void read_self(struct machine *m)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = readlink("/proc/self/exe", m->path, sizeof(m->path) - 1);

	assert_true(fd >= 0 && n > 0);
	m->path[n] = 0;
	m->size = (size_t)lseek(fd, 0, SEEK_END);
	m->file = malloc(m->size);
	assert_int_equal(pread(fd, m->file, m->size, 0), (ssize_t)m->size);
	close(fd);
}

/* A BPF program, whose code a record of a change has. */
static void add_program(struct state *s)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_KSYMBOL};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.ksymbol = (struct pd_ksymbol){.addr = BPF, .len = 64, .name = "bpf_prog_1"};
	assert_int_equal(state_apply(s, &rec, (struct moment){20, 0}), 0);
	hdr.type = PERF_RECORD_TEXT_POKE;
	rec.text_poke = (struct pd_text_poke){BPF, 0, 4, (const uint8_t *)"\x01\x02\x03\x04"};
	assert_int_equal(state_apply(s, &rec, (struct moment){25, 0}), 0);
}

static void add_build_id(struct state *s, const char *name)
{
	struct pd_build_id id = {.pid = -1, .size = 20, .filename = name};

	for (uint8_t i = 0; i < 20; i++)
		id.build_id[i] = i;
	assert_int_equal(state_set_build_id(s, &id, PERF_RECORD_MISC_USER), 0);
}

static int start(void **state, const struct resolver_opts *opts)
{
	struct machine *m = calloc(1, sizeof(*m));

	read_self(m);
	m->state = state_new();
	state_keep_cpu_tasks(m->state);
	state_keep_code_changes(m->state);
	add_map(m->state, PERF_RECORD_MISC_KERNEL, 0, 0x1000, 1ULL << 40, "[kernel.kallsyms]_text");
	add_map(m->state, PERF_RECORD_MISC_USER, 10, BASE, m->size, "/no/such/file");
	add_thread(m->state);
	add_map(m->state, PERF_RECORD_MISC_USER, 20, BASE, m->size, m->path);
	add_map(m->state, PERF_RECORD_MISC_USER, 20, BASE + (1 << 30), 4096, "//anon");
	add_map(m->state, PERF_RECORD_MISC_USER, 20, VDSO, 4096, "[vdso]");
	add_map(m->state, PERF_RECORD_MISC_USER, 20, BASE + (2ull << 30), 4096, LONG_NAME);
	add_program(m->state);
	add_build_id(m->state, LONG_NAME);
	assert_int_equal(state_finish(m->state), 0);
	assert_int_equal(resolver_new(opts, &m->resolver, NULL), 0);
	assert_int_equal(code_files_new(m->state, m->resolver, &m->files), 0);
	m->code = code_files_source(m->files);
	*state = m;
	return 0;
}

static int setup(void **state)
{
	static const struct resolver_opts opts = {.symfs = "/", .vmlinux = "/proc/self/exe"};

	return start(state, &opts);
}

/* A kcore, and a recording of this machine. */
static int setup_kcore(void **state)
{
	static const struct resolver_opts kcore = {.kcore = "/proc/self/exe"};
	struct resolver_opts opts = kcore;
	static struct utsname uts; /* outlives the resolver */

	assert_int_equal(uname(&uts), 0);
	opts.hostname = uts.nodename;
	opts.osrelease = uts.release;
	return start(state, &opts);
}

static int teardown(void **state)
{
	struct machine *m = *state;

	code_files_free(m->files);
	resolver_free(m->resolver);
	state_free(m->state);
	free(m->file);
	free(m);
	return 0;
}

static int read_at(struct machine *m, uint64_t time, uint64_t addr, void *buf, size_t len,
		   const char **missing)
{
	struct aux_task task = {PID, PID, PERF_RECORD_MISC_USER};

	return m->code->read(m->code->arg, &task, time, addr, buf, len, missing);
}

static void test_bytes_of_the_file(void **state)
{
	struct machine *m = *state;
	size_t len = m->size < 200000 ? m->size : 200000; /* across blocks */
	uint8_t *buf = malloc(len);

	assert_int_equal(read_at(m, 20, BASE, buf, len, NULL), (int)len);
	assert_memory_equal(buf, m->file, len);
	assert_int_equal(read_at(m, 0, BASE + 4321, buf, 15, NULL), 15); /* time unknown: newest */
	assert_memory_equal(buf, m->file + 4321, 15);
	/* A map ends. */
	assert_int_equal(read_at(m, 20, BASE + m->size - 3, buf, 15, NULL), 3);
	assert_memory_equal(buf, m->file + m->size - 3, 3);
	free(buf);
}

static void test_thread_without_process(void **state)
{
	struct aux_task task = {UINT32_MAX, TID, PERF_RECORD_MISC_USER};
	struct machine *m = *state;
	uint8_t buf[15];

	assert_int_equal(m->code->read(m->code->arg, &task, 20, BASE, buf, 15, NULL), 15);
	assert_memory_equal(buf, m->file, 15);
	task.tid = 5;
	assert_int_equal(m->code->read(m->code->arg, &task, 20, BASE, buf, 15, NULL), -ENOENT);
}

static void test_what_is_missing_has_a_name(void **state)
{
	struct machine *m = *state;
	const char *missing = NULL;
	uint8_t buf[16];

	assert_int_equal(read_at(m, 15, BASE, buf, 16, &missing), -ENOENT);
	assert_string_equal(missing, "/no/such/file");
	assert_int_equal(read_at(m, 30, BASE + (1 << 30), buf, 16, &missing), -ENOENT);
	assert_string_equal(missing, "//anon");
	assert_int_equal(read_at(m, 5, BASE, buf, 16, &missing), -ENOENT);
	assert_null(missing);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_at(m, 30, BASE + (2ull << 30), buf, 16, &missing), -ENOENT);
		assert_string_equal(missing, "...d/another/one/and/one/more/with/lib/libnone.so.1 "
					     "(build-id 000102030405060708090a0b0c0d0e0f10111213)");
		assert_true(strlen(missing) < AUX_MISSING_MAX);
	}
}

static void test_vdso(void **state)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct machine *m = *state;
	uint8_t buf[64];

	if (!vdso)
		skip();
	assert_int_equal(read_at(m, 30, VDSO, buf, sizeof(buf), NULL), sizeof(buf));
	assert_memory_equal(buf, vdso, sizeof(buf));
}

/* The address that the linker gave a byte of the file's first executable part, which may begin at
 * 0. */
static uint64_t linked(const struct machine *m, uint64_t *ret_offset)
{
	Elf64_Ehdr ehdr;

	memcpy(&ehdr, m->file, sizeof(ehdr));
	for (size_t i = 0; i < ehdr.e_phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, m->file + ehdr.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X) {
			*ret_offset = ph.p_offset + INTO_PART;
			return ph.p_vaddr + INTO_PART;
		}
	}
	fail();
	return 0;
}

static void test_kernel(void **state)
{
	struct machine *m = *state;
	struct aux_task task = {PID, PID, PERF_RECORD_MISC_KERNEL};
	uint64_t offset = 0, addr = linked(m, &offset);
	uint8_t buf[32];

	assert_int_equal(m->code->read(m->code->arg, &task, 30, addr, buf, 32, NULL), 32);
	assert_memory_equal(buf, m->file + offset, 32);
	assert_int_equal(m->code->read(m->code->arg, &task, 30, 1ULL << 39, buf, 32, NULL),
			 -ENOENT);
}

/* To find the running kernel's kcore takes long, so it is opened once. */
static void test_kcore_stays_open(void **state)
{
	struct aux_task task = {PID, PID, PERF_RECORD_MISC_KERNEL};
	char path[] = "/tmp/ringtail-kcore-XXXXXX";
	const struct resolver_opts opts = {.symfs = "/", .kcore = path};
	int fd = mkstemp(path);
	struct machine *m;
	uint64_t offset = 0, addr;
	uint8_t buf[32];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(start((void **)&m, &opts), 0);
	assert_int_equal(write(fd, m->file, m->size), (ssize_t)m->size);
	close(fd);
	addr = linked(m, &offset);
	code_files_limit(m->files, 0);
	assert_int_equal(m->code->read(m->code->arg, &task, 30, addr, buf, 32, NULL), 32);
	unlink(path);
	assert_int_equal(read_at(m, 20, BASE, buf, 32, NULL), 32); /* drops the other block */
	assert_int_equal(m->code->read(m->code->arg, &task, 30, addr, buf, 32, NULL), 32);
	assert_memory_equal(buf, m->file + offset, 32);
	teardown((void **)&m);
}

static void test_made_code(void **state)
{
	struct machine *m = *state;
	struct aux_task task = {PID, PID, PERF_RECORD_MISC_KERNEL};
	const char *missing = NULL;
	uint8_t buf[32];

	assert_int_equal(m->code->read(m->code->arg, &task, 24, BPF, buf, 32, &missing), -ENOENT);
	assert_string_equal(missing, "bpf_prog_1");
	/* The recording has the program's code. Pieces come in any order. */
	assert_int_equal(code_files_add(m->files, BPF + 32, (const uint8_t *)"efgh", 4), 0);
	assert_int_equal(code_files_add(m->files, BPF, (const uint8_t *)"abcdabcd", 8), 0);
	assert_int_equal(code_files_add(m->files, BPF, (const uint8_t *)"none", 4), 0);
	assert_int_equal(m->code->read(m->code->arg, &task, 24, BPF + 1, buf, 32, NULL), 7);
	assert_memory_equal(buf, "bcdabcd", 7);
	assert_int_equal(m->code->read(m->code->arg, &task, 24, BPF + 33, buf, 2, NULL), 2);
	assert_memory_equal(buf, "fg", 2);
	assert_int_equal(m->code->read(m->code->arg, &task, 24, BPF + 8, buf, 32, NULL), -ENOENT);
	/* A change that is recorded goes before it. */
	assert_int_equal(m->code->read(m->code->arg, &task, 25, BPF, buf, 32, NULL), 8);
	assert_memory_equal(buf,
			    "\x01\x02\x03\x04"
			    "abcd",
			    8);
	assert_true(m->code->version(m->code->arg, 24) != m->code->version(m->code->arg, 25));
}

static void *read_all(void *arg)
{
	struct machine *m = arg;
	uint8_t buf[64];

	for (uint64_t at = 0; at + 64 <= m->size; at += 4099) {
		assert_int_equal(read_at(m, 20, BASE + at, buf, 64, NULL), 64);
		assert_memory_equal(buf, m->file + at, 64);
	}
	return NULL;
}

/* With room for two blocks, threads drop what others have just loaded. */
static void test_bound_with_threads(void **state)
{
	struct machine *m = *state;
	pthread_t threads[4];

	code_files_limit(m->files, 128 << 10);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, m), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(code_files_loaded(m->files) <= 128 << 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes_of_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_missing_has_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread_without_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup_kcore, teardown),
		cmocka_unit_test(test_kcore_stays_open),
		cmocka_unit_test_setup_teardown(test_made_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup_kcore, teardown),
		cmocka_unit_test_setup_teardown(test_bound_with_threads, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
