// SPDX-License-Identifier: Apache-2.0
/*
 * Parses texts of -e on machines with made-up PMUs and tracepoints: their attributes, the error
 * messages, and randomly mutated texts, which must do no harm.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "event/parse/event.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A sysfs and a tracefs of our own, so that every machine has the same events. */
struct tree {
	char root[64], sysfs[80], tracefs[80];
	struct event_env env;
};

struct tree_file {
	const char *path; /* below the root */
	const char *text;
};

#define DEVICES "sysfs/bus/event_source/devices/"
#define EVENTS	"tracefs/events/"

// clang-format off
static const struct tree_file tree_files[] = {
	{DEVICES "cpu/type", "4\n"},
	{DEVICES "cpu/format/event", "config:0-7\n"},
	{DEVICES "cpu/format/umask", "config:8-15\n"},
	{DEVICES "cpu/format/inv", "config:23\n"},
	{DEVICES "cpu/format/cmask", "config:24-31\n"},
	{DEVICES "cpu/format/ldlat", "config1:0-15\n"},
	{DEVICES "cpu/format/frontend", "config2:0-23\n"},
	{DEVICES "cpu/format/third", "config3:0-63\n"},
	{DEVICES "cpu/format/late", "config9:0-3\n"},
	{DEVICES "cpu/events/cpu-cycles", "event=0x3c\n"},
	{DEVICES "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{DEVICES "cpu/events/topdown-fetch-bubbles", "event=0x9c,umask=1\n"},
	{DEVICES "cpu/events/topdown-fetch-bubbles.scale", "2\n"},
	{DEVICES "cpu/events/slots", "event=0x00,umask=0x4,period=77\n"},
	{DEVICES "cpu/events/broken", "event==,\n"},
	{DEVICES "intel_pt/type", "8\n"},
	{DEVICES "intel_pt/format/pt", "config:0\n"},
	{DEVICES "intel_pt/format/cyc", "config:1\n"},
	{DEVICES "intel_pt/format/mtc", "config:9\n"},
	{DEVICES "intel_pt/format/tsc", "config:10\n"},
	{DEVICES "intel_pt/format/noretcomp", "config:11\n"},
	{DEVICES "intel_pt/format/branch", "config:13\n"},
	{DEVICES "intel_pt/format/mtc_period", "config:14-17\n"},
	{DEVICES "intel_pt/format/psb_period", "config:24-27\n"},
	{DEVICES "intel_pt/caps/mtc", "1\n"},
	{DEVICES "intel_pt/caps/mtc_periods", "249\n"},
	{DEVICES "intel_pt/caps/psb_cyc", "1\n"},
	{DEVICES "intel_pt/caps/psb_periods", "3f\n"},
	{DEVICES "cstate_core/type", "19\n"},
	{DEVICES "cstate_core/cpumask", "0-3\n"},
	{DEVICES "cstate_core/format/event", "config:0-63\n"},
	{DEVICES "cstate_core/events/c6-residency", "event=0x02\n"},
	{DEVICES "uncore_imc_0/type", "30\n"},
	{DEVICES "uncore_imc_0/cpumask", "0\n"},
	{DEVICES "uncore_imc_0/format/event", "config:0-7\n"},
	{DEVICES "uncore_imc_0/events/clockticks", "event=0xff\n"},
	{DEVICES "uncore_imc_1/type", "31\n"},
	{DEVICES "uncore_imc_1/cpumask", "8\n"},
	{DEVICES "uncore_imc_1/format/event", "config:0-7\n"},
	{DEVICES "uncore_imc_1/events/clockticks", "event=0xff\n"},
	{DEVICES "ibs_op/type", "11\n"},
	{DEVICES "ibs_op/format/cnt_ctl", "config:19\n"},
	{DEVICES "ibs_op/format/rand_en", "config:57\n"},
	{DEVICES "split/type", "40\n"},
	{DEVICES "split/format/id", "config:0-7,32-35\n"},
	{DEVICES "split/format/all", "config1:0-63\n"},
	{DEVICES "hv_24x7/type", "41\n"},
	{DEVICES "hv_24x7/format/domain", "config:0-3\n"},
	{DEVICES "hv_24x7/format/core", "config:16-31\n"},
	{DEVICES "hv_24x7/events/CYCLES", "domain=0x2,core=?\n"},
	{DEVICES "badformat/type", "42\n"},
	{DEVICES "badformat/format/x", "config:64\n"},
	{DEVICES "badtype/type", "many\n"},
	{DEVICES "software/type", "1\n"},
	{DEVICES "tracepoint/type", "2\n"},
	{EVENTS "enable", "0\n"},
	{EVENTS "sched/enable", "0\n"},
	{EVENTS "ftrace/function/id", "1\n"},
	{EVENTS "sched/sched_switch/id", "316\n"},
	{EVENTS "sched/sched_wakeup/id", "318\n"},
	{EVENTS "sched/sched_wakeup_new/id", "317\n"},
	{EVENTS "sched/sched_process_exec/id", "310\n"},
	{EVENTS "syscalls/sys_enter_read/id", "700\n"},
	{EVENTS "syscalls/sys_enter_write/id", "699\n"},
	{EVENTS "syscalls/sys_exit_read/id", "698\n"},
	{EVENTS "irq-vectors/u/id", "55\n"},
	{EVENTS "broken/event/id", "none\n"},
};

static const struct tree_file hybrid_files[] = {
	{DEVICES "cpu_core/type", "4\n"},
	{DEVICES "cpu_core/cpus", "0-7\n"},
	{DEVICES "cpu_core/format/event", "config:0-7\n"},
	{DEVICES "cpu_core/events/cpu-cycles", "event=0x3c\n"},
	{DEVICES "cpu_atom/type", "10\n"},
	{DEVICES "cpu_atom/cpus", "8-15\n"},
	{DEVICES "cpu_atom/format/event", "config:0-7\n"},
};
// clang-format on

static void make_file(const char *root, const struct tree_file *file)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, file->path);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(path, 0755) != 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(file->text, f);
	fclose(f);
}

static struct tree *make_tree(const struct tree_file *files, size_t count)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	strcpy(tree->root, "/tmp/test-event-XXXXXX");
	assert_non_null(mkdtemp(tree->root));
	snprintf(tree->sysfs, sizeof(tree->sysfs), "%s/sysfs", tree->root);
	snprintf(tree->tracefs, sizeof(tree->tracefs), "%s/tracefs", tree->root);
	tree->env = (struct event_env){tree->sysfs, tree->tracefs};
	for (size_t i = 0; i < count; i++)
		make_file(tree->root, &files[i]);
	return tree;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int setup(void **state)
{
	*state = make_tree(tree_files, ARRAY_SIZE(tree_files));
	return 0;
}

static int setup_hybrid(void **state)
{
	*state = make_tree(hybrid_files, ARRAY_SIZE(hybrid_files));
	return 0;
}

static int teardown(void **state)
{
	struct tree *tree = *state;

	nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(tree);
	return 0;
}

#define GUEST	PD_ATTR_EXCLUDE_GUEST
#define HOST	PD_ATTR_EXCLUDE_HOST
#define USER	PD_ATTR_EXCLUDE_USER
#define KERNEL	PD_ATTR_EXCLUDE_KERNEL
#define HV	PD_ATTR_EXCLUDE_HV
#define FREQ	PD_ATTR_FREQ
#define PREC(n) ((uint64_t)(n) << PD_ATTR_PRECISE_IP_SHIFT)
#define CACHE(c, op, r)                                               \
	(PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##r << 16)

struct good_row {
	const char *text;
	uint32_t type;
	uint64_t config, config1, flags;
	uint64_t period;  /* 0: none given */
	const char *name; /* NULL: as @text */
};

// clang-format off
/* Each is one event. Checked against what perf 6.1 hands to the kernel, where it knows the text. */
static const struct good_row good_rows[] = {
	{"cycles", 0, 0, 0, GUEST, 0, NULL},
	{"cpu-cycles", 0, 0, 0, GUEST, 0, NULL},
	{"instructions", 0, 1, 0, GUEST, 0, NULL},
	{"cache-references", 0, 2, 0, GUEST, 0, NULL},
	{"cache-misses", 0, 3, 0, GUEST, 0, NULL},
	{"branch-instructions", 0, 4, 0, GUEST, 0, NULL},
	{"branches", 0, 4, 0, GUEST, 0, NULL},
	{"branch-misses", 0, 5, 0, GUEST, 0, NULL},
	{"bus-cycles", 0, 6, 0, GUEST, 0, NULL},
	{"stalled-cycles-frontend", 0, 7, 0, GUEST, 0, NULL},
	{"idle-cycles-backend", 0, 8, 0, GUEST, 0, NULL},
	{"ref-cycles", 0, 9, 0, GUEST, 0, NULL},
	{"cpu-clock", 1, 0, 0, GUEST, 0, NULL},
	{"task-clock", 1, 1, 0, GUEST, 0, NULL},
	{"page-faults", 1, 2, 0, GUEST, 0, NULL},
	{"faults", 1, 2, 0, GUEST, 0, NULL},
	{"cs", 1, 3, 0, GUEST, 0, NULL},
	{"context-switches", 1, 3, 0, GUEST, 0, NULL},
	{"migrations", 1, 4, 0, GUEST, 0, NULL},
	{"minor-faults", 1, 5, 0, GUEST, 0, NULL},
	{"major-faults", 1, 6, 0, GUEST, 0, NULL},
	{"alignment-faults", 1, 7, 0, GUEST, 0, NULL},
	{"emulation-faults", 1, 8, 0, GUEST, 0, NULL},
	{"dummy", 1, 9, 0, GUEST, 0, NULL},
	{"bpf-output", 1, 10, 0, GUEST, 0, NULL},
	{"cgroup-switches", 1, 11, 0, GUEST, 0, NULL},

	{"L1-dcache-loads", 3, CACHE(L1D, READ, ACCESS), 0, GUEST, 0, NULL},
	{"L1-dcache-load-misses", 3, CACHE(L1D, READ, MISS), 0, GUEST, 0, NULL},
	{"L1-d-load-refs", 3, CACHE(L1D, READ, ACCESS), 0, GUEST, 0, NULL},
	{"L1-icache-prefetches", 3, CACHE(L1I, PREFETCH, ACCESS), 0, GUEST, 0, NULL},
	{"LLC-store-misses", 3, CACHE(LL, WRITE, MISS), 0, GUEST, 0, NULL},
	{"LLC", 3, CACHE(LL, READ, ACCESS), 0, GUEST, 0, NULL},
	{"dTLB-load-misses", 3, CACHE(DTLB, READ, MISS), 0, GUEST, 0, NULL},
	{"Data-TLB-misses-write", 3, CACHE(DTLB, WRITE, MISS), 0, GUEST, 0, NULL},
	{"iTLB-loads", 3, CACHE(ITLB, READ, ACCESS), 0, GUEST, 0, NULL},
	{"branch-load-misses", 3, CACHE(BPU, READ, MISS), 0, GUEST, 0, NULL},
	{"node-speculative-read-miss", 3, CACHE(NODE, PREFETCH, MISS), 0, GUEST, 0, NULL},
	{"node-prefetches:u", 3, CACHE(NODE, PREFETCH, ACCESS), 0, KERNEL | HV | GUEST, 0, NULL},

	{"r1a8", 4, 0x1a8, 0, GUEST, 0, NULL},
	{"r0x1A8", 4, 0x1a8, 0, GUEST, 0, NULL},
	{"rffffffffffffffff", 4, UINT64_MAX, 0, GUEST, 0, NULL},
	{"r1a8:k", 4, 0x1a8, 0, USER | HV, 0, NULL},
	{"r1a8/period=7,config1=9/", 4, 0x1a8, 9, GUEST, 7, NULL},
	{"1:3", 1, 3, 0, GUEST, 0, NULL},
	{"0:0x10:u", 0, 16, 0, KERNEL | HV | GUEST, 0, NULL},

	{"cycles:u", 0, 0, 0, KERNEL | HV | GUEST, 0, NULL},
	{"cycles:k", 0, 0, 0, USER | HV, 0, NULL},
	{"cycles:h", 0, 0, 0, USER | KERNEL, 0, NULL},
	{"cycles:uk", 0, 0, 0, HV | GUEST, 0, NULL},
	{"cycles:ukh", 0, 0, 0, GUEST, 0, NULL},
	{"cycles:G", 0, 0, 0, HOST, 0, NULL},
	{"cycles:H", 0, 0, 0, GUEST, 0, NULL},
	{"cycles:GH", 0, 0, 0, 0, 0, NULL},
	{"cycles:p", 0, 0, 0, PREC(1) | GUEST, 0, NULL},
	{"cycles:upp", 0, 0, 0, KERNEL | HV | GUEST | PREC(2), 0, NULL},
	{"cycles:ppp", 0, 0, 0, PREC(3) | GUEST, 0, NULL},
	{"cycles:uGp", 0, 0, 0, KERNEL | HV | HOST | PREC(1), 0, NULL},
	{"cycles:I", 0, 0, 0, PD_ATTR_EXCLUDE_IDLE, 0, NULL},
	{"cycles:D", 0, 0, 0, PD_ATTR_PINNED, 0, NULL},
	{"cycles:e", 0, 0, 0, PD_ATTR_EXCLUSIVE, 0, NULL},
	{"cycles//u", 0, 0, 0, KERNEL | HV | GUEST, 0, NULL},
	{"cycles/period=1000/", 0, 0, 0, GUEST, 1000, NULL},
	{"cycles/period=0x10,name=foo/k", 0, 0, 0, USER | HV, 16, "foo"},
	{"cycles/freq=99/", 0, 0, 0, GUEST | FREQ, 99, NULL},
	{"cycles/freq=99,period=5/", 0, 0, 0, GUEST, 5, NULL},
	{"cycles/name='a,b/c:d'/", 0, 0, 0, GUEST, 0, "a,b/c:d"},
	{" cycles ", 0, 0, 0, GUEST, 0, "cycles"},
	{"cycles / period = 3 /", 0, 0, 0, GUEST, 3, NULL},

	{"cpu/event=0x3c/", 4, 0x3c, 0, GUEST, 0, NULL},
	{"cpu/event=0x3c,umask=1,name=x,period=12/", 4, 0x13c, 0, GUEST, 12, "x"},
	{"cpu/event=0xb1,inv,cmask=2/pp", 4, 0x28000b1, 0, PREC(2) | GUEST, 0, NULL},
	{"cpu/cycles/", 4, 0x3c, 0, GUEST, 0, NULL},
	{"cpu/cpu-cycles/u", 4, 0x3c, 0, KERNEL | HV | GUEST, 0, NULL},
	{"cpu/event=cpu-cycles/", 4, 0x3c, 0, GUEST, 0, NULL},
	{"cpu/instructions/", 0, 4ULL << 32 | 1, 0, GUEST, 0, NULL}, /* no alias: asked of the PMU */
	{"cpu/mem-loads/", 4, 0x1cd, 3, GUEST, 0, NULL},
	{"cpu/mem-loads,ldlat=50/P", 4, 0x1cd, 50, 0, 0, NULL},
	{"cpu/ldlat=50,MEM-LOADS/", 4, 0x1cd, 50, GUEST, 0, NULL},
	{"cpu/slots/", 4, 0x400, 0, GUEST, 77, NULL},
	{"cpu/r1a8/", 4, 0x1a8, 0, GUEST, 0, NULL},
	{"cpu/config=0x10,config1=2/", 4, 0x10, 2, GUEST, 0, NULL},
	{"cpu/umask=1,config=0x3c/", 4, 0x13c, 0, GUEST, 0, NULL},
	{"cpu//", 4, 0, 0, GUEST, 0, NULL},
	{"mem-loads", 4, 0x1cd, 3, GUEST, 0, NULL},
	{"mem-loads:ppu", 4, 0x1cd, 3, KERNEL | HV | GUEST | PREC(2), 0, NULL},
	{"mem-loads/ldlat=9/", 4, 0x1cd, 9, GUEST, 0, NULL},
	{"topdown-fetch-bubbles", 4, 0x19c, 0, GUEST, 0, NULL},
	{"c6-residency", 19, 2, 0, GUEST, 0, NULL},
	{"cstate_core/c6-residency/", 19, 2, 0, GUEST, 0, NULL},
	{"ibs_op/cnt_ctl=1,rand_en/", 11, 1ULL << 19 | 1ULL << 57, 0, GUEST, 0, NULL},
	{"split/id=0xfff/", 40, 0xf000000ff, 0, GUEST, 0, NULL},
	{"split/id=0x1ff,all=0xffffffffffffffff/", 40, 0x1000000ff, UINT64_MAX, GUEST, 0, NULL},
	{"hv_24x7/CYCLES,core=3/", 41, 0x30002, 0, GUEST, 0, NULL},
	{"intel_pt//", 8, 1 | 1 << 9 | 1 << 10 | 1 << 13 | 3 << 14 | 3 << 24, 0, GUEST, 0, NULL},
	{"intel_pt/cyc,mtc_period=9,tsc=0/u", 8, 1 | 2 | 1 << 9 | 1 << 13 | 9 << 14 | 3 << 24, 0,
	 KERNEL | HV | GUEST, 0, NULL},
	{"software/config=1/", 1, 1, 0, GUEST, 0, NULL},
	{"tracepoint/config=300/", 2, 300, 0, GUEST, 0, NULL},

	{"sched:sched_switch", 2, 316, 0, GUEST, 1, NULL},
	{"sched:sched_switch:u", 2, 316, 0, KERNEL | HV | GUEST, 1, "sched:sched_switch"},
	{"sched:sched_switch/period=10/k", 2, 316, 0, USER | HV, 10, "sched:sched_switch"},
	{"sched:*exec", 2, 310, 0, GUEST, 1, "sched:sched_process_exec"},
	{"irq-vectors:u", 2, 55, 0, GUEST, 1, NULL},
	{"mem:0x1000", 5, 0, 0x1000, GUEST, 1, NULL},
	{"mem:0x1000:rw:k", 5, 0, 0x1000, USER | HV, 1, NULL},
	{"mem:4096/8:w", 5, 0, 4096, GUEST, 1, NULL},
	{"mem:4096:u", 5, 0, 4096, KERNEL | HV | GUEST, 1, NULL},
};

struct bad_row {
	const char *text;
	int code;
	const char *says; /* a part of the sentence */
};

static const struct bad_row bad_rows[] = {
	{"", -EINVAL, "an event expected at the end"},
	{",", -EINVAL, "an event expected instead of ','"},
	{"cycles,", -EINVAL, "character 8 of 'cycles,': an event expected"},
	{"cycles,,cs", -EINVAL, "character 8"},
	{"cycles cs", -ENOENT, "unknown event 'cycles cs'"},
	{"cycels", -ENOENT, "unknown event 'cycels'; did you mean 'cycles'? 'ringtail list' lists events"},
	{"cs,cycels", -ENOENT, "character 4 of 'cs,cycels': unknown event"},
	{"contxt-switches", -ENOENT, "did you mean 'context-switches'?"},
	{"mem-load", -ENOENT, "'mem-loads'"},
	{"zzzzzzzzzzzz", -ENOENT, "unknown event 'zzzzzzzzzzzz'; 'ringtail list' lists"},
	{"latency:sched:sched_switch..sched:sched_switch>1ms", -ENOENT, "give it to --trigger"},
	{"cs,psi:cpu:10/1000", -EINVAL, "character 4 of 'cs,psi:cpu:10/1000': 'psi:cpu:10' is a trigger"},
	{"probe_ls:main", -ENOENT, "uprobe:FILE:FUNCTION"},
	{"sched_switch", -ENOENT, "did you mean 'sched:sched_switch'?"},
	{"sched_swich", -ENOENT, "did you mean 'sched:sched_switch'?"},
	{"sched:sched_swich", -ENOENT, "did you mean 'sched:sched_switch'?"},
	{"sched:zzzzzzz", -ENOENT, "/tracefs/events/sched' lists tracepoints"},
	{"f*:*", -ENOENT, "unknown event or tracepoint 'f*:*'"},
	{"zzzzz:zzzzzzz", -ENOENT, "/tracefs/events' lists tracepoints"},
	{"sched:sched_wake", -ENOENT, "'sched:sched_wakeup' or 'sched:sched_wakeup_new'?"},
	{"cpu/mem-lods,ldlat=9/", -ENOENT, "'mem-lods' of PMU 'cpu'; did you mean 'mem-loads'?"},
	{"sched:nosuch*", -ENOENT, "'sched:nosuch*'"},
	{"sched:", -ENOENT, "sched:"},
	{"..:sched", -ENOENT, "..:sched"},
	{"broken:event", -EBADMSG, "its id is no number"},
	{"broken:*", -EBADMSG, "an id is no number"},
	{"L1-icache-stores", -EINVAL, "no such operation"},
	{"L1-dcache-load-load", -ENOENT, "unknown event"},
	{"L1-dcache-", -ENOENT, "unknown event"},
	{"r10000000000000000", -EINVAL, "more than 64 bits"},
	{"cycles:", -EINVAL, "no modifier after ':'"},
	{"cycles:z", -EINVAL, "unknown modifier 'z'"},
	{"cycles:uu", -EINVAL, "'u' occurs twice"},
	{"cycles:pppp", -EINVAL, "precision"},
	{"cycles:b", -EINVAL, "modifier 'b'"},
	{"cycles:u/period=1/k", -EINVAL, "before and after"},
	{"cycles/period=1", -EINVAL, "closing '/' expected at the end"},
	{"cycles/period=/", -EINVAL, "character 15 of 'cycles/period=/': a value expected"},
	{"cycles/period=x/", -EINVAL, "'period' takes a number, not 'x'"},
	{"cycles/period=0/", -EINVAL, "at least 1"},
	{"cycles/freq/", -EINVAL, "needs a value"},
	{"cycles/period=99999999999999999999/", -EINVAL, "64 bits"},
	{"cycles/name='x/", -EINVAL, "closing quote is missing"},
	{"cycles/foo=1/", -ENOENT, "character 8 of 'cycles/foo=1/': unknown term 'foo'"},
	{"cycles/call-graph=orc/", -EINVAL, "fp, dwarf, lbr or no"},
	{"cycles/stack-size=12/", -EINVAL, "multiple of 8"},
	{"cycles/stack-size=1M/", -EINVAL, "at most 65528"},
	{"cycles/time=2/", -EINVAL, "at most 1"},
	{"cycles/percore/", -EINVAL, "no meaning in a recording"},
	{"cycles/branch_type=sideways/", -EINVAL, "unknown branch filter 'sideways'"},
	{"cpu/event=0x3c,umask=1,name=x,period=n/", -EINVAL, "'period' takes a number, not 'n'"},
	{"cpu/event=0x100/", -EINVAL, "0x100 is too big, at most 0xff"},
	{"cpu/event/", -EINVAL, "needs a value"},
	{"cpu/event=1,nosuch=2/", -ENOENT, "unknown term 'nosuch' of PMU 'cpu' (it knows cmask, event"},
	{"cpu/event=1,nosuch/", -ENOENT, "character 13"},
	{"cpu/late=1/", -EINVAL, "config9"},
	{"cpu/mem-loads,cpu-cycles/", -EINVAL, "second event"},
	{"cpu/broken/", -EBADMSG, "alias 'broken'"},
	{"hv_24x7/CYCLES/", -EINVAL, "'core' must be given"},
	{"badformat/x=1/", -EBADMSG, "config:64"},
	{"badtype/x=1/", -EBADMSG, "no number"},
	{"nosuch/event=1/", -ENOENT, "no PMU 'nosuch'"},
	{"nosuch/event=1/", -ENOENT, "/bus/event_source/devices' lists PMUs"},
	{"../event=1/", -ENOENT, "no PMU '..'"},
	{"/event=1/", -EINVAL, "an event expected instead of '/'"},
	{"{cycles", -EINVAL, "'}' expected"},
	{"{cycles,{cs}}", -EINVAL, "character 9 of '{cycles,{cs}}': an event expected"},
	{"{}", -EINVAL, "an event expected"},
	{"cycles}", -EINVAL, "',' expected instead of '}'"},
	{"{cycles}x", -EINVAL, "modifiers expected"},
	{"{cycles:pp}:pp", -EINVAL, "precision"},
	{"{cycles,cs}:q", -EINVAL, "unknown modifier 'q'"},
	{"mem:", -EINVAL, "is no address for a breakpoint"},
	{"mem:main", -EINVAL, "is no address for a breakpoint"},
	{"mem:0x10/9", -EINVAL, "1 to 8 bytes"},
	{"mem:0x10/", -EINVAL, "the length of the breakpoint"},
	{"mem:0x10:rr", -EINVAL, "'rr' is no access"},
	{"mem:0x10:w:u:k", -EINVAL, "nothing may follow"},
	{"4294967296:1", -EINVAL, "32 bits"},
	{"sched:sched_switch/config=1/", -EINVAL, "no meaning for a tracepoint"},
};
// clang-format on

/* What holds of every list at any time. */
static void check_list(const struct event_list *list)
{
	assert_true(list->count <= list->capacity);
	for (size_t i = 0; i < list->count; i++) {
		const struct event_spec *spec = &list->specs[i];

		assert_non_null(spec->name);
		assert_true(spec->leader >= 0 && (size_t)spec->leader <= i);
		assert_int_equal(list->specs[spec->leader].leader, spec->leader);
		assert_uint_in_range(spec->callgraph + 1, 0, 3);
		assert_uint_in_range(spec->time + 1, 0, 2);
		assert_uint_in_range(spec->inherit + 1, 0, 2);
		assert_int_equal(spec->stack_size % 8, 0);
		if (spec->leader != (int)i)
			assert_false(spec->attr.flags & (PD_ATTR_PINNED | PD_ATTR_EXCLUSIVE));
		if (spec->attr.flags & PD_ATTR_FREQ)
			assert_true(spec->attr.sample_period != 0);
		if (spec->explicit_period)
			assert_true(spec->attr.sample_period != 0);
	}
}

static void parse_good(struct event_list *list, const char *text, const struct tree *tree)
{
	struct error err = ERROR_INIT;
	int rc = event_parse(list, text, &tree->env, &err);

	if (rc)
		fail_msg("'%s': %d, %s", text, rc, err.text);
	check_list(list);
}

static void texts_become_attributes(void **state)
{
	struct event_list list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(good_rows); i++) {
		const struct good_row *row = &good_rows[i];
		const struct event_spec *spec;

		parse_good(&list, row->text, *state);
		spec = &list.specs[list.count - 1];
		if (spec->attr.type != row->type || spec->attr.config != row->config ||
		    spec->attr.config1 != row->config1 || spec->attr.flags != row->flags ||
		    spec->attr.sample_period != row->period)
			fail_msg("'%s': type %u config 0x%llx config1 0x%llx flags 0x%llx period "
				 "%llu",
				 row->text, spec->attr.type, (unsigned long long)spec->attr.config,
				 (unsigned long long)spec->attr.config1,
				 (unsigned long long)spec->attr.flags,
				 (unsigned long long)spec->attr.sample_period);
		assert_string_equal(spec->name, row->name ? row->name : row->text);
		assert_int_equal(spec->leader, list.count - 1);
	}
	event_list_release(&list);
	event_list_release(&list);
}

static void faults_are_named_and_leave_the_list(void **state)
{
	const struct tree *tree = *state;
	struct event_list list = {0};
	struct event_spec before[2];

	parse_good(&list, "cycles:u,sched:sched_switch", tree);
	memcpy(before, list.specs, sizeof(before));
	for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
		struct error err = ERROR_INIT;
		int rc = event_parse(&list, bad_rows[i].text, &tree->env, &err);

		if (rc != bad_rows[i].code || !strstr(err.text, bad_rows[i].says))
			fail_msg("'%s': %d, %s", bad_rows[i].text, rc, err.text);
		assert_int_equal(err.code, rc);
		assert_int_equal(list.count, 2);
		assert_memory_equal(before, list.specs, sizeof(before));
		assert_int_equal(event_parse(&list, bad_rows[i].text, &tree->env, NULL), rc);
	}
	event_list_release(&list);
}

static void terms_reach_the_spec(void **state)
{
	struct event_list list = {0};
	const struct event_spec *s;

	parse_good(&list, "cycles", *state);
	s = &list.specs[0];
	assert_int_equal(s->callgraph, -1);
	assert_int_equal(s->time, -1);
	assert_int_equal(s->inherit, -1);
	assert_int_equal(s->overwrite, -1);
	assert_false(s->explicit_period || s->precise_max || s->modifier_given || s->sample_read);
	parse_good(&list,
		   "cpu/"
		   "event=1,call-graph=dwarf,stack-size=8k,time=0,no-inherit,overwrite,max-stack=7,"
		   "aux-output,aux-sample-size=4K,aux-action=pause,branch_type='any_call,u',period="
		   "9/P",
		   *state);
	s = &list.specs[1];
	assert_int_equal(s->callgraph, 2);
	assert_int_equal(s->stack_size, 8192);
	assert_int_equal(s->time, 0);
	assert_int_equal(s->inherit, 0);
	assert_int_equal(s->overwrite, 1);
	assert_int_equal(s->max_stack, 7);
	assert_true(s->attr.flags & PD_ATTR_AUX_OUTPUT);
	assert_int_equal(s->attr.aux_sample_size, 4096);
	assert_int_equal(s->attr.aux_action, 2);
	assert_int_equal(s->attr.branch_sample_type,
			 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_true(s->explicit_period);
	assert_true(s->precise_max);
	assert_false(s->modifier_given);
	parse_good(&list, "sched:sched_switch/call-graph=fp,no-overwrite=1,inherit=1,name=sw/u",
		   *state);
	s = &list.specs[2];
	assert_int_equal(s->callgraph, 1);
	assert_int_equal(s->overwrite, 0);
	assert_int_equal(s->inherit, 1);
	assert_string_equal(s->name, "sw");
	assert_false(s->explicit_period);
	assert_true(s->modifier_given);
	parse_good(&list, "cpu/event=1,frontend=0x400006,third=3/,mem:0x10:x,mem:0x10,mem:0x10/1:w",
		   *state);
	assert_int_equal(list.specs[3].attr.config2, 0x400006);
	assert_int_equal(list.specs[3].attr.config3, 3);
	assert_int_equal(list.specs[4].attr.config2, sizeof(long));
	assert_int_equal(list.specs[4].attr.bp_type, 4);
	assert_int_equal(list.specs[5].attr.config2, 4);
	assert_int_equal(list.specs[5].attr.bp_type, 3);
	assert_int_equal(list.specs[6].attr.config2, 1);
	assert_int_equal(list.specs[6].attr.bp_type, 2);
	event_list_release(&list);
}

static void groups_have_a_leader(void **state)
{
	struct event_list list = {0};

	parse_good(&list, "cs", *state);
	parse_good(&list, "faults,{cycles:p,instructions:k}:uSDW,dummy,grp{cs,cpu/event=1/u}",
		   *state);
	assert_int_equal(list.count, 7);
	assert_int_equal(list.specs[1].leader, 1);
	assert_int_equal(list.specs[2].leader, 2);
	assert_int_equal(list.specs[3].leader, 2);
	assert_int_equal(list.specs[4].leader, 4);
	assert_int_equal(list.specs[5].leader, 5);
	assert_int_equal(list.specs[6].leader, 5);
	assert_int_equal(list.specs[2].attr.flags, PREC(1) | KERNEL | HV | GUEST | PD_ATTR_PINNED);
	/* The group's :u is added to the member's :k. */
	assert_int_equal(list.specs[3].attr.flags, HV | GUEST);
	for (size_t i = 0; i < list.count; i++) {
		bool in = i == 2 || i == 3;

		assert_int_equal(list.specs[i].sample_read, in);
		assert_int_equal(list.specs[i].weak_group, in);
		assert_int_equal(list.specs[i].pinned_group, in);
	}
	assert_string_equal(list.specs[2].name, "cycles:p");
	event_list_release(&list);
}

static void globs_expand_sorted(void **state)
{
	static const char *const names[] = {
		"sched:sched_process_exec", "sched:sched_switch",      "sched:sched_wakeup",
		"sched:sched_wakeup_new",   "syscalls:sys_enter_read", "syscalls:sys_enter_write",
	};
	struct event_list list = {0};

	parse_good(&list, "s*:sched_*,sy?calls:sys_[e]nter_*:k", *state);
	assert_int_equal(list.count, ARRAY_SIZE(names));
	for (size_t i = 0; i < list.count; i++) {
		assert_string_equal(list.specs[i].name, names[i]);
		assert_int_equal(list.specs[i].attr.type, PERF_TYPE_TRACEPOINT);
		assert_int_equal(list.specs[i].modifier_given, i >= 4);
	}
	event_list_release(&list);
}

static void pmus_of_one_kind_are_all_taken(void **state)
{
	static const char *const texts[] = {"uncore_imc/clockticks/", "imc/event=0xff/",
					    "clockticks", "uncore_imc_*/event=0xff/"};
	struct event_list list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct event_spec *s;

		parse_good(&list, texts[i], *state);
		assert_int_equal(list.count, 2 * (i + 1));
		s = &list.specs[2 * i];
		assert_int_equal(s[0].attr.type, 30);
		assert_int_equal(s[1].attr.type, 31);
		assert_int_equal(s[0].attr.config, 0xff);
		assert_string_equal(s[0].cpus, "0");
		assert_string_equal(s[1].cpus, "8");
		assert_false(s[0].core);
	}
	parse_good(&list, "uncore_imc_1/clockticks/", *state);
	assert_int_equal(list.count, 9);
	assert_int_equal(list.specs[8].attr.type, 31);
	parse_good(&list, "cstate_core/event=1/,cpu/event=1/", *state);
	assert_string_equal(list.specs[9].cpus, "0-3");
	assert_null(list.specs[10].cpus);
	event_list_release(&list);
}

static void hybrid_machines_count_on_each_core(void **state)
{
	struct event_list list = {0};

	parse_good(&list, "cycles:u", *state);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.specs[0].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.specs[0].attr.config, 10ULL << 32);
	assert_string_equal(list.specs[0].cpus, "8-15");
	assert_string_equal(list.specs[0].name, "cpu_atom/cycles:u/");
	assert_int_equal(list.specs[1].attr.config, 4ULL << 32);
	assert_int_equal(list.specs[1].attr.flags, KERNEL | HV | GUEST);
	parse_good(&list, "{cycles,r1,LLC-loads}:S,cs,cpu_atom/instructions/,{cs,dummy}", *state);
	assert_int_equal(list.count, 12);
	for (size_t i = 2; i < 8; i++) {
		assert_int_equal(list.specs[i].leader, i < 5 ? 2 : 5);
		assert_string_equal(list.specs[i].cpus, i < 5 ? "8-15" : "0-7");
		assert_true(list.specs[i].core);
		assert_true(list.specs[i].sample_read);
	}
	assert_int_equal(list.specs[3].attr.type, 10);
	assert_int_equal(list.specs[6].attr.type, 4);
	assert_null(list.specs[8].cpus);
	assert_false(list.specs[8].core);
	assert_true(list.specs[9].core);
	assert_int_equal(list.specs[9].attr.config, 10ULL << 32 | 1);
	assert_int_equal(list.specs[11].leader, 10);
	event_list_release(&list);
}

static void filters_are_for_tracepoints(void **state)
{
	struct event_list list = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(event_set_filter(&list, 0, "x", &err), -EINVAL);
	parse_good(&list, "cycles", *state);
	assert_int_equal(event_set_filter(&list, 0, "x", &err), -EINVAL);
	assert_non_null(strstr(err.text, "'cycles' is none"));
	parse_good(&list, "sched:sched_w*", *state);
	assert_int_equal(event_set_filter(&list, 1, "", &err), -EINVAL);
	assert_null(list.specs[1].filter);
	assert_int_equal(event_set_filter(&list, 0, "prev_pid==1", &err), -EINVAL);
	assert_null(list.specs[1].filter);
	assert_int_equal(event_set_filter(&list, 1, "pid==1", &err), 0);
	assert_string_equal(list.specs[2].filter, "pid==1");
	assert_int_equal(event_set_filter(&list, 1, "prio>2", &err), 0);
	assert_string_equal(list.specs[1].filter, "(pid==1) && (prio>2)");
	assert_int_equal(event_set_filter(&list, 3, "x", &err), -EINVAL);
	event_list_release(&list);
}

static void missing_tracefs_says_how(void **state)
{
	struct tree *tree = *state;
	struct event_env env = {tree->sysfs, "/nonexistent/tracing"};
	struct event_list list = {0};
	struct error err = ERROR_INIT;
	char path[128];

	assert_int_equal(event_parse(&list, "sched:sched_switch", &env, &err), -ENOENT);
	assert_non_null(strstr(err.text, "mount -t tracefs"));
	/* Root has all rights on what it mounts. */
	assert_int_equal(!strstr(err.text, "perf_event_paranoid=-1"), geteuid() == 0);
	assert_int_equal(event_parse(&list, "sched:*", &env, &err), -ENOENT);
	assert_int_equal(event_parse(&list, "*:*", &env, &err), -ENOENT);
	assert_non_null(strstr(err.text, "mount -t tracefs"));
	if (geteuid() == 0 && seteuid(65534) != 0)
		skip(); /* root reads everything, and we cannot become somebody else */
	snprintf(path, sizeof(path), "%s/closed", tree->root);
	if (geteuid() == 65534) {
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(chmod(tree->root, 0755), 0);
		assert_int_equal(seteuid(65534), 0);
	} else {
		assert_int_equal(mkdir(path, 0), 0);
	}
	env.tracefs = path;
	assert_int_equal(event_parse(&list, "sched:sched_switch", &env, &err), -EACCES);
	assert_non_null(strstr(err.text, "remount,mode=755,gid="));
	assert_non_null(strstr(err.text, "sysctl kernel.perf_event_paranoid=-1"));
	assert_int_equal(event_parse(&list, "*:sched_switch", &env, &err), -EACCES);
	assert_int_equal(event_parse(&list, "sched:s*", &env, &err), -EACCES);
	if (geteuid() == 65534 && getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(list.count, 0);
	event_list_release(&list);
}

/* A small generator, so that a failure comes back with the same rows. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void mutate(char *text, size_t size, uint32_t *random)
{
	static const char pool[] = ",/{}:=''ukp*?[]0x9rmem:sched \n\xff";
	size_t len = strlen(text), at = next_random(random) % (len + 1);
	char c = pool[next_random(random) % (sizeof(pool) - 1)];

	switch (next_random(random) % 4) {
	case 0: /* replace */
		if (at < len)
			text[at] = c;
		break;
	case 1: /* insert */
		if (len + 1 < size) {
			memmove(text + at + 1, text + at, len - at + 1);
			text[at] = c;
		}
		break;
	case 2: /* delete */
		if (at < len)
			memmove(text + at, text + at + 1, len - at);
		break;
	case 3: /* cut */ text[at] = '\0'; break;
	}
}

static void mutated_texts_do_no_harm(void **state)
{
	const struct tree *tree = *state;
	uint32_t random = 1;

	for (size_t i = 0; i < ARRAY_SIZE(good_rows); i++) {
		for (int round = 0; round < 12; round++) {
			struct event_list list = {0};
			struct error err = ERROR_INIT;
			char text[256];
			int rc;

			snprintf(text, sizeof(text), "%s", good_rows[i].text);
			for (uint32_t n = next_random(&random) % 3 + 1; n > 0; n--)
				mutate(text, sizeof(text), &random);
			rc = event_parse(&list, text, &tree->env, &err);
			check_list(&list);
			if (rc) {
				assert_int_equal(list.count, 0);
				assert_true(err.text[0] != '\0');
				assert_int_equal(err.code, rc);
			} else {
				assert_true(list.count > 0);
			}
			event_list_release(&list);
		}
	}
}

/* Makes libpfm4 believe in a machine whose events this test knows. */
static void vendor_names_come_last(void **state)
{
	struct event_list list = {0};
	const struct event_spec *s;

#if !defined(__x86_64__) && !defined(__i386__)
	skip(); /* libpfm4 names only the PMUs of its architecture */
#endif
	parse_good(&list,
		   "INST_RETIRED:ANY_P:u,skl::BR_INST_RETIRED,INST_RETIRED/period=7,name=i/upp",
		   *state);
	s = list.specs;
	assert_int_equal(list.count, 3);
	assert_int_equal(s[0].attr.type, PERF_TYPE_RAW);
	assert_int_equal(s[0].attr.config, 0xc0);
	assert_int_equal(s[0].attr.flags, KERNEL | HV | GUEST);
	assert_true(s[0].modifier_given);
	assert_string_equal(s[0].name, "INST_RETIRED:ANY_P:u");
	assert_int_equal(s[1].attr.config, 0xc4);
	assert_int_equal(s[1].attr.flags, GUEST);
	assert_int_equal(s[2].attr.sample_period, 7);
	assert_string_equal(s[2].name, "i");
	assert_int_equal(s[2].attr.flags, KERNEL | HV | GUEST | PREC(2));
	event_list_release(&list);
}

static bool no_library;

int __real_library_load(const char *soname, const char *package, const char *const *names,
			size_t nr, void *ret, struct error *err);
int __wrap_library_load(const char *soname, const char *package, const char *const *names,
			size_t nr, void *ret, struct error *err);

int __wrap_library_load(const char *soname, const char *package, const char *const *names,
			size_t nr, void *ret, struct error *err)
{
	return no_library ? error_set(err, -ELIBACC, "%s: no file: install the Debian package %s",
				      soname, package)
			  : __real_library_load(soname, package, names, nr, ret, err);
}

/* That vendors' tables are missing hides neither the name that is unknown nor what it is like. */
static void names_without_the_library_of_vendors(void **state)
{
	const struct tree *tree = *state;
	struct event_list list = {0};
	struct error err = ERROR_INIT;

	no_library = true;
	assert_int_equal(event_parse(&list, "cycels", &tree->env, &err), -ENOENT);
	assert_non_null(strstr(err.text, "unknown event 'cycels'"));
	assert_non_null(strstr(err.text, "'cycles'"));
	assert_non_null(strstr(err.text, "install the Debian package libpfm4"));
	err = (struct error)ERROR_INIT;
	assert_int_equal(event_parse(&list, "cpu-clock:u,page-faults", &tree->env, &err), 0);
	event_list_release(&list);
	no_library = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(texts_become_attributes, setup, teardown),
		cmocka_unit_test_setup_teardown(faults_are_named_and_leave_the_list, setup,
						teardown),
		cmocka_unit_test_setup_teardown(terms_reach_the_spec, setup, teardown),
		cmocka_unit_test_setup_teardown(groups_have_a_leader, setup, teardown),
		cmocka_unit_test_setup_teardown(globs_expand_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(pmus_of_one_kind_are_all_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(hybrid_machines_count_on_each_core, setup_hybrid,
						teardown),
		cmocka_unit_test_setup_teardown(filters_are_for_tracepoints, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_tracefs_says_how, setup, teardown),
		cmocka_unit_test_setup_teardown(mutated_texts_do_no_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(vendor_names_come_last, setup, teardown),
		cmocka_unit_test_setup_teardown(names_without_the_library_of_vendors, setup,
						teardown),
	};

	/* Before libpfm4's first use. */
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
