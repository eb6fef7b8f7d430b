// SPDX-License-Identifier: Apache-2.0
/* Code of JITs as of the time: made, moved and replaced while other maps come and go. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jitdump-writer.h"
#include "report/trace/jit.h"

#define PATH  "/tmp/jit-42.dump"
#define CACHE 0x7f0000000000ULL

struct process {
	char dir[64];
	struct state *state;
	struct resolver *resolver;
	struct pd_evlist *evlist;
	struct jit_maps *jit;
	size_t first, second, third; /* places in the jitdump */
};

static void write_dump(struct process *p, uint64_t flags)
{
	struct jitdump_writer d = {0};
	char path[128];
	FILE *f;

	jitw_header(&d, flags);
	p->first = jitw_load(&d, 100, CACHE, 1, "first", "abcdefgh");
	jitw_move(&d, 150, CACHE + 64, CACHE + 128, 8, 9); /* of unknown code */
	p->second = jitw_load(&d, 200, CACHE + 4, 2, "second", "ijkl");
	jitw_move(&d, 300, CACHE, CACHE + 256, 8, 1);
	p->third = jitw_load(&d, 400, CACHE, 3, "third", "mnop");
	snprintf(path, sizeof(path), "%s/tmp", p->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s%s", p->dir, PATH);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(d.b.data, 1, d.b.len, f), d.b.len);
	fclose(f);
	buf_release(&d.b);
}

static void apply(struct process *p, uint64_t time, const struct pd_record *rec)
{
	struct moment at = {time, 0};

	assert_int_equal(jit_maps_apply(p->jit, at), 0);
	assert_int_equal(state_apply(p->state, rec, at), 0);
	assert_int_equal(jit_maps_note(p->jit, rec, at), 0);
}

static void map(struct process *p, uint64_t time, uint64_t addr, uint64_t len, const char *name)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.mmap = (struct pd_mmap){
		.pid = JITDUMP_PID, .addr = addr, .len = len, .prot = 4, .filename = name};
	apply(p, time, &rec);
}

static void begin(struct process *p, int clockid, uint64_t flags)
{
	static struct resolver_opts opts;
	struct pd_attr attr = {.size = sizeof(attr),
			       .flags = clockid < 0 ? 0 : PD_ATTR_USE_CLOCKID,
			       .clockid = clockid < 0 ? 0 : clockid};

	*p = (struct process){.dir = "/tmp/test-jit-XXXXXX"};
	assert_non_null(mkdtemp(p->dir));
	write_dump(p, flags);
	opts.symfs = p->dir;
	assert_int_equal(resolver_new(&opts, &p->resolver, NULL), 0);
	p->state = state_new();
	p->evlist = pd_evlist_new();
	assert_int_equal(pd_evlist_add(p->evlist, &attr, "cycles", NULL, 0), 0);
	p->jit = jit_maps_new(p->state, p->resolver, p->evlist);
	assert_non_null(p->jit);
}

static void finish(struct process *p)
{
	assert_int_equal(jit_maps_apply(p->jit, (struct moment){UINT64_MAX, 0}), 0);
	assert_int_equal(state_finish(p->state), 0);
}

static void end(struct process *p)
{
	char path[128];

	jit_maps_free(p->jit);
	pd_evlist_free(p->evlist);
	state_free(p->state);
	resolver_free(p->resolver);
	snprintf(path, sizeof(path), "%s%s", p->dir, PATH);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp", p->dir);
	rmdir(path);
	rmdir(p->dir);
}

/* Checks the symbol at an address, and the place of its code in the jitdump; NULL: none. */
static void assert_code(struct process *p, uint64_t time, uint64_t addr, const char *name,
			uint64_t place)
{
	const struct symbol *sym = NULL;
	struct location loc;

	if (state_find(p->state, JITDUMP_PID, PERF_RECORD_MISC_USER, addr,
		       (struct moment){time, UINT64_MAX}, &loc) &&
	    loc.map->dso->kind == DSO_JIT)
		sym = resolver_find(p->resolver, loc.map->dso, JITDUMP_PID, loc.addr);
	assert_int_equal(!!sym, !!name);
	if (!name)
		return;
	assert_string_equal(sym->name, name);
	assert_int_equal(loc.addr, place);
}

static void test_as_of_the_time(void **state)
{
	struct process p;

	(void)state;
	begin(&p, CLOCK_MONOTONIC, 0);
	map(&p, 10, CACHE, 1 << 20, "//anon");
	map(&p, 20, CACHE + (1 << 30), 4096, PATH);
	map(&p, 20, CACHE + (1 << 30), 4096, PATH); /* again: nothing changes */
	map(&p, 250, CACHE, 1 << 20, "//anon");	    /* as mprotect() records it */
	map(&p, 500, CACHE, 4096, "/lib/other.so");
	finish(&p);
	assert_code(&p, 99, CACHE, NULL, 0);
	assert_code(&p, 100, CACHE + 5, "first", p.first + 5);
	assert_code(&p, 199, CACHE + 4, "first", p.first + 4);
	assert_code(&p, 200, CACHE + 4, "second", p.second);
	assert_code(&p, 260, CACHE + 3, "first", p.first + 3);
	assert_code(&p, 299, CACHE + 256, NULL, 0);
	assert_code(&p, 300, CACHE + 256 + 7, "first", p.first + 7);
	assert_code(&p, 400, CACHE + 3, "third", p.third + 3);
	assert_code(&p, 450, CACHE + 5, "second", p.second + 1);
	assert_code(&p, 450, CACHE + 128, NULL, 0);
	assert_code(&p, 500, CACHE + 3, NULL, 0); /* a file is there now */
	end(&p);
}

/* With another clock the newest code counts at all times. */
static void test_other_clock(void **state)
{
	struct process p;

	(void)state;
	begin(&p, -1, 0);
	map(&p, 10, CACHE, 1 << 20, "//anon");
	map(&p, 20, CACHE + (1 << 30), 4096, PATH);
	finish(&p);
	assert_code(&p, 21, CACHE + 3, "third", p.third + 3);
	assert_code(&p, 21, CACHE + 7, "second", p.second + 3);
	assert_code(&p, 21, CACHE + 256, "first", p.first);
	end(&p);
}

/* Times of the CPU's clock are converted. */
static void test_cpu_clock(void **state)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_TIME_CONV};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};
	struct process p;

	(void)state;
	begin(&p, -1, 1);
	rec.time_conv = (struct pd_time_conv){
		.time_mult = 1, .time_zero = 1000, .cap_user_time_zero = true};
	apply(&p, 0, &rec);
	map(&p, 10, CACHE, 1 << 20, "//anon");
	map(&p, 20, CACHE + (1 << 30), 4096, PATH);
	finish(&p);
	assert_code(&p, 1099, CACHE, NULL, 0);
	assert_code(&p, 1100, CACHE, "first", p.first);
	assert_code(&p, 1400, CACHE, "third", p.third);
	end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_of_the_time),
		cmocka_unit_test(test_other_clock),
		cmocka_unit_test(test_cpu_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
