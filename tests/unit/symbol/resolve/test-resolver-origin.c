// SPDX-License-Identifier: Apache-2.0
/* What a recording that is cut maps says whether it was made on this machine. */
#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "symbol-machine.h"

#define MOVED	    0xffffffff9a400000ull
#define STARTED	    1000000
#define AFTER_START (STARTED + 1000)

static const char moved_kallsyms[] = "ffffffff9a400000 T _text\nffffffff9a400100 t local_fn\n";
static const char stat_text[] = "cpu  1 2 3\nbtime 1000000\nprocesses 1\n";

static void add_map(struct state *s, uint16_t misc, struct pd_mmap mmap)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = misc};
	const struct pd_record rec = {.hdr = &hdr, .mmap = mmap};

	assert_int_equal(state_apply(s, &rec, (struct moment){0}), 0);
}

/* Maps the kernel at @text (0: it does not), and @path with an inode that is @off by. */
static struct origin origin_of(const struct place *p, uint64_t text, const char *path, uint64_t off,
			       time_t written)
{
	struct state *s = state_new();
	struct pd_mmap file = {.pid = 7, .addr = 0x1000, .len = 0x1000, .filename = path};
	struct pd_mmap kernel = {.pid = UINT32_MAX,
				 .addr = text,
				 .len = 0x1000000,
				 .pgoff = text,
				 .filename = "[kernel.kallsyms]_text"};
	struct origin o;
	char full[256];
	struct stat st;

	assert_non_null(s);
	if (text)
		add_map(s, PERF_RECORD_MISC_KERNEL, kernel);
	if (path) {
		snprintf(full, sizeof(full), "%s%s", p->dir, path);
		assert_int_equal(stat(full, &st), 0);
		file.maj = major(st.st_dev);
		file.min = minor(st.st_dev);
		file.ino = st.st_ino + off;
		add_map(s, PERF_RECORD_MISC_USER, file);
	}
	assert_int_equal(state_finish(s), 0);
	o = origin_of_cut(s, written, p->dir);
	state_free(s);
	return o;
}

/* A kernel where all are is no evidence; one at another address is. */
static void test_kernel(void **state)
{
	struct place *p = *state;

	assert_int_equal(origin_of(p, TEXT, NULL, 0, 0).kind, ORIGIN_UNKNOWN);
	put_text(p, "/proc/kallsyms", kallsyms);
	assert_int_equal(origin_of(p, TEXT, NULL, 0, 0).kind, ORIGIN_UNKNOWN);
	assert_int_equal(origin_of(p, MOVED, NULL, 0, 0).kind, ORIGIN_KERNEL);
	assert_int_equal(origin_of(p, 0, NULL, 0, 0).kind, ORIGIN_UNKNOWN);
	put_text(p, "/proc/kallsyms", moved_kallsyms);
	assert_int_equal(origin_of(p, MOVED, NULL, 0, 0).kind, ORIGIN_HERE);
	assert_true(origin_of(p, MOVED, NULL, 0, 0).moved);
	assert_int_equal(origin_of(p, TEXT, NULL, 0, 0).kind, ORIGIN_KERNEL);
	put_text(p, "/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 t local_fn\n");
	assert_int_equal(origin_of(p, MOVED, NULL, 0, 0).kind, ORIGIN_UNKNOWN);
}

static void test_files(void **state)
{
	struct place *p = *state;

	put_text(p, "/bin/prog", "any");
	assert_int_equal(origin_of(p, 0, "/bin/prog", 0, 0).kind, ORIGIN_HERE);
	assert_int_equal(origin_of(p, 0, "/bin/prog", 1, 0).kind, ORIGIN_FILES);
	put_text(p, "/proc/kallsyms", kallsyms);
	assert_int_equal(origin_of(p, TEXT, "/bin/prog", 0, 0).kind, ORIGIN_HERE);
	assert_int_equal(origin_of(p, TEXT, "/bin/prog", 1, 0).kind, ORIGIN_FILES);
	assert_int_equal(origin_of(p, MOVED, "/bin/prog", 0, 0).kind, ORIGIN_KERNEL);
	/* Another machine may have its kernel at that address by chance. */
	put_text(p, "/proc/kallsyms", moved_kallsyms);
	assert_int_equal(origin_of(p, MOVED, "/bin/prog", 0, 0).kind, ORIGIN_HERE);
	assert_int_equal(origin_of(p, MOVED, "/bin/prog", 1, 0).kind, ORIGIN_FILES);
}

static void test_times(void **state)
{
	struct place *p = *state;

	put_text(p, "/bin/prog", "any");
	assert_int_equal(origin_machine_start(p->dir), 0);
	put_text(p, "/proc/stat", stat_text);
	assert_int_equal(origin_machine_start(p->dir), STARTED);
	assert_int_equal(origin_of(p, 0, "/bin/prog", 0, AFTER_START).kind, ORIGIN_HERE);
	assert_int_equal(origin_of(p, 0, "/bin/prog", 0, STARTED - 1000).kind, ORIGIN_EARLIER);
}

/* All sources without a build-id ask the same. */
static void test_sources(void **state)
{
	const enum origin_kind others[] = {ORIGIN_KERNEL, ORIGIN_EARLIER, ORIGIN_FILES,
					   ORIGIN_UNKNOWN};
	struct dso kernel = kernel_dso(NULL, TEXT);
	struct dso module = {.name = "[snd_pcm]", .kind = DSO_MODULE, .index = 1};
	struct dso vdso = {.name = "[vdso]", .kind = DSO_VDSO, .index = 2};
	struct dso anon = {.name = "//anon", .kind = DSO_ANON, .index = 3};
	struct dso dump = {.name = "/tmp/jit-42.dump", .kind = DSO_JIT, .index = 4, .pids = {42}};
	struct place *p = *state;

	p->opts.hostname = p->opts.osrelease = NULL;
	put_text(p, "/proc/kallsyms", kallsyms);
	put_text(p, "/tmp/perf-42.map", "1000 10 made\n");
	put_text(p, "/tmp/jit-42.dump", "no jitdump");
	p->opts.origin = (struct origin){.kind = ORIGIN_HERE, .written = time(NULL)};
	fresh(p);
	assert_symbol(p, &kernel, 0, TEXT + 0x101, "local_fn");
	assert_symbol(p, &module, 0, 0x20, "snd_open");
	assert_symbol(p, &anon, 42, 0x1000, "made");
	assert_why(p, &dump, 0, "not a jitdump");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		p->opts.origin.kind = others[i];
		fresh(p);
		assert_why(p, &kernel, TEXT + 0x101, "which is cut");
		assert_why(p, &module, 0x20, "which is cut");
		assert_why(p, &vdso, 0, "which is cut");
		assert_symbol(p, &anon, 42, 0x1000, NULL);
		assert_why(p, &anon, 0x1000, "which is cut");
		assert_why(p, &dump, 0, "which is cut");
	}
}

static bool has_births(const struct place *p)
{
	char path[128];
	struct statx sx;

	snprintf(path, sizeof(path), "%s/proc/stat", p->dir);
	return !statx(AT_FDCWD, path, 0, STATX_BTIME, &sx) && sx.stx_mask & STATX_BTIME;
}

static void assert_map_of(struct place *p, const char *why)
{
	struct dso anon = {.name = "//anon", .kind = DSO_ANON};

	fresh(p);
	if (!why) {
		assert_symbol(p, &anon, 42, 0x1000, "made");
		return;
	}
	assert_symbol(p, &anon, 42, 0x1000, NULL);
	if (!strstr(resolver_why_not(p->r, &anon), why))
		fail_msg("%s", resolver_why_not(p->r, &anon));
}

/* A jitdump has its recorded inode, unless the user names the folder of a copy. */
static void test_jitdump_of_another_process(void **state)
{
	struct place *p = *state;
	struct jitdump_info info;

	p->opts.origin = (struct origin){.kind = ORIGIN_HERE, .written = time(NULL)};
	put_text(p, "/tmp/jit-42.dump", "no jitdump");
	fresh(p);
	assert_int_equal(
		resolver_read_jitdump(p->r, "/tmp/jit-42.dump", 42, UINT64_MAX, &info, NULL, NULL),
		-ESTALE);
	p->opts.symfs = p->dir;
	fresh(p);
	assert_int_equal(
		resolver_read_jitdump(p->r, "/tmp/jit-42.dump", 42, UINT64_MAX, &info, NULL, NULL),
		-EBADMSG);
	p->opts.symfs = NULL;
}

/* The number of a process does not tell whose map it is. */
static void test_map_of_another_process(void **state)
{
	struct place *p = *state;
	time_t now = time(NULL);
	char text[512];

	p->opts.origin = (struct origin){.kind = ORIGIN_HERE, .written = now};
	snprintf(text, sizeof(text), "cpu 0\nbtime %lld\n", (long long)now - 5000);
	put_text(p, "/proc/stat", text);
	put_text(p, "/tmp/perf-42.map", "1000 10 made\n");
	assert_map_of(p, NULL);
	p->opts.origin.written = now - 100;
	assert_map_of(p,
		      has_births(p) ? "made after the recording, whose process has ended" : NULL);
	p->opts.symfs = p->dir; /* the user knows */
	assert_map_of(p, NULL);
	p->opts.symfs = NULL;
	/* While the process runs, it may go on with its map, or begin one; not if it is a new one.
	 */
	snprintf(text, sizeof(text), "42 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %ld 0\n",
		 1000 * sysconf(_SC_CLK_TCK));
	put_text(p, "/proc/42/stat", text);
	assert_map_of(p, NULL);
	snprintf(text, sizeof(text), "42 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %ld 0\n",
		 4950 * sysconf(_SC_CLK_TCK));
	put_text(p, "/proc/42/stat", text);
	assert_map_of(p, "its process began after the recording");
	sh(p, "rm $D/proc/42/stat; touch -d '3 hours ago' $D/tmp/perf-42.map");
	assert_map_of(p, "before this machine restarted");
	p->opts.origin.kind = ORIGIN_NAMED;
	assert_map_of(p, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_kernel),
		PLACE_TEST(test_files),
		PLACE_TEST(test_times),
		PLACE_TEST(test_sources),
		PLACE_TEST(test_jitdump_of_another_process),
		PLACE_TEST(test_map_of_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
