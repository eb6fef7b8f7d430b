// SPDX-License-Identifier: Apache-2.0
/*
 * The state against a model that keeps the list of records, and replays it up to the wanted moment
 * into an array with one cell for each address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "state/state.h"

#define PIDS   5
#define TIDS   9
#define CELLS  24
#define EVENTS 120

#define TEXT 0xffffffff81000000ULL /* of the kernel, in the model its ksymbols */

enum kind { MMAP, COMM, FORK, EXIT, KSYM };

struct event {
	enum kind kind;
	struct moment at;
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, pgoff;
	bool data, flag; /* flag: exec of COMM, FORK_EXEC of FORK, unregister of KSYM */
	char name[16];
};

struct model {
	/* Number of the MMAP or KSYM plus one. */
	int maps[PIDS][CELLS], ksym[CELLS];
	int comm[TIDS];		 /* number of the COMM plus one */
	uint32_t comm_pid[TIDS]; /* whose thread it was then; 0: never heard of */
};

static struct pd_record record_of(const struct event *e, struct perf_event_header *hdr)
{
	struct pd_record rec = {.hdr = hdr, .id = PD_SAMPLE_ID_NONE};

	*hdr = (struct perf_event_header){.misc = PERF_RECORD_MISC_USER};
	switch (e->kind) {
	case MMAP:
		hdr->type = PERF_RECORD_MMAP2;
		hdr->misc |= e->data ? PERF_RECORD_MISC_MMAP_DATA : 0;
		rec.mmap = (struct pd_mmap){.pid = e->pid,
					    .tid = e->tid,
					    .addr = e->start,
					    .len = e->len,
					    .pgoff = e->pgoff,
					    .prot = e->data ? PROT_READ : PROT_EXEC,
					    .filename = e->name};
		break;
	case COMM:
		hdr->type = PERF_RECORD_COMM;
		rec.comm = (struct pd_comm){e->pid, e->tid, e->flag, e->name};
		break;
	case FORK:
	case EXIT:
		hdr->type = e->kind == FORK ? PERF_RECORD_FORK : PERF_RECORD_EXIT;
		hdr->misc = e->flag ? PERF_RECORD_MISC_FORK_EXEC : 0;
		rec.task = (struct pd_task){e->pid, e->ppid, e->tid, e->ptid, e->at.time};
		break;
	case KSYM:
		hdr->type = PERF_RECORD_KSYMBOL;
		rec.ksymbol = (struct pd_ksymbol){.addr = TEXT + e->start,
						  .len = (uint32_t)e->len,
						  .flags = e->flag,
						  .name = e->name};
		break;
	}
	return rec;
}

/* Threads 1 to PIDS-1 lead the processes of the same number; the others may be anyone's. */
static struct event random_event(struct moment at)
{
	struct event e = {.kind = (enum kind)(rand() % 5), .at = at};

	e.pid = 1 + rand() % (PIDS - 1);
	e.tid = rand() % 2 ? e.pid : 1 + rand() % (TIDS - 1);
	e.flag = rand() % 4 == 0;
	e.start = rand() % CELLS;
	e.len = rand() % 3 ? 1 + rand() % 4 : 1 + rand() % CELLS;
	if (e.start + e.len > CELLS)
		e.len = CELLS - e.start;
	/* Often the same file, at an offset that makes two mappings one. */
	e.pgoff = rand() % 2 ? e.start : (uint64_t)rand() % 4;
	e.data = rand() % 4 == 0;
	snprintf(e.name, sizeof(e.name), "/%c%d", "mcf.k"[e.kind], rand() % 3);
	if (e.kind == KSYM)
		e.flag = rand() % 2;
	if (e.kind == FORK || e.kind == EXIT) {
		e.ppid = 1 + rand() % (PIDS - 1);
		e.ptid = rand() % 2 ? e.ppid : 1 + rand() % (TIDS - 1);
	}
	return e;
}

static void model_fork(struct model *m, const struct event *e)
{
	if (m->comm_pid[e->ptid] == e->ppid) {
		m->comm[e->tid] = m->comm[e->ptid];
	} else {
		m->comm[e->tid] = 0;
	}
	m->comm_pid[e->tid] = e->pid;
	if (e->pid == e->ppid)
		return;
	if (e->flag) {
		memset(m->maps[e->pid], 0, sizeof(m->maps[0]));
	} else {
		memcpy(m->maps[e->pid], m->maps[e->ppid], sizeof(m->maps[0]));
	}
}

/* The same symbol registered once more, no longer than before, is what it was. */
static bool known_ksym(const struct model *m, const struct event *events, const struct event *e)
{
	int old = m->ksym[e->start];
	uint64_t i;

	for (i = e->start; i < e->start + e->len; i++) {
		if (!old || m->ksym[i] != old)
			return false;
	}
	return events[old - 1].start == e->start && !strcmp(events[old - 1].name, e->name);
}

static void model_ksym(struct model *m, const struct event *events, const struct event *e,
		       int number)
{
	int i = (int)e->start, old = m->ksym[i];

	if (!e->flag) {
		if (known_ksym(m, events, e))
			return;
		for (; i < (int)(e->start + e->len); i++)
			m->ksym[i] = number;
		return;
	}
	if (!old)
		return;
	for (; i < CELLS && m->ksym[i] == old; i++)
		m->ksym[i] = 0;
	for (i = (int)e->start - 1; i >= 0 && m->ksym[i] == old; i--)
		m->ksym[i] = 0;
}

static void model_apply(struct model *m, const struct event *events, int number)
{
	const struct event *e = &events[number - 1];
	uint64_t i;

	switch (e->kind) {
	case MMAP:
		for (i = e->start; i < e->start + e->len; i++)
			m->maps[e->pid][i] = number;
		break;
	case COMM:
		m->comm[e->tid] = number;
		m->comm_pid[e->tid] = e->pid;
		if (e->flag)
			memset(m->maps[e->pid], 0, sizeof(m->maps[0]));
		break;
	case FORK: model_fork(m, e); break;
	case KSYM: model_ksym(m, events, e, number); break;
	case EXIT: break;
	}
}

static struct model replay(const struct event *events, size_t n, struct moment at)
{
	struct model m = {0};
	size_t i;

	for (i = 0; i < n && !moment_before(at, events[i].at); i++)
		model_apply(&m, events, (int)i + 1);
	return m;
}

static void check_space(const struct state *s, const struct event *events, const struct model *m,
			uint32_t pid, struct moment at, unsigned int seed)
{
	struct state_view view = state_view(s, pid, at);
	struct location loc, alone;
	uint64_t ip;

	for (unsigned int i = 0; i < 2 * CELLS; i++) {
		ip = i < CELLS ? i : (uint64_t)(rand() % CELLS);
		int want = m->maps[pid][ip];
		const struct event *e = &events[want - 1];
		bool found = state_view_find(&view, PERF_RECORD_MISC_USER, ip, &loc);

		state_find(s, pid, PERF_RECORD_MISC_USER, ip, at, &alone);
		assert_ptr_equal(loc.map, alone.map);
		if (found != !!want || !found != !loc.map)
			fail_msg("seed %u: pid %u ip %d: found %d, want %d", seed, pid, (int)ip,
				 found, want);
		if (!found)
			continue;
		if (strcmp(loc.map->dso->name, e->name) || loc.addr != ip - e->start + e->pgoff ||
		    ip < loc.map->start || ip >= loc.map->end)
			fail_msg("seed %u: pid %u ip %d: %s+%d, want %s+%d", seed, pid, (int)ip,
				 loc.map->dso->name, (int)loc.addr, e->name,
				 (int)(ip - e->start + e->pgoff));
	}
}

static void check_moment(const struct state *s, const struct event *events, size_t n,
			 struct moment at, unsigned int seed)
{
	struct model m = replay(events, n, at);
	struct location loc;
	uint32_t i;

	for (i = 0; i < PIDS; i++)
		check_space(s, events, &m, i, at, seed);
	for (i = 1; i < TIDS; i++) {
		const char *want = m.comm[i] ? events[m.comm[i] - 1].name : NULL;
		const char *got = state_comm(s, 1, i, at);

		if (!want != !got || (want && strcmp(want, got)))
			fail_msg("seed %u: tid %u: %s, want %s", seed, i, got ? got : "none",
				 want ? want : "none");
	}
	for (i = 0; i < CELLS; i++) {
		const char *want = m.ksym[i] ? events[m.ksym[i] - 1].name : NULL;
		bool found = state_find(s, 1, PERF_RECORD_MISC_KERNEL, TEXT + i, at, &loc) &&
			     loc.map->dso->kind == DSO_KSYMBOL;

		if (found != !!want || (found && strcmp(loc.map->dso->name, want)))
			fail_msg("seed %u: ksymbol %u: want %s", seed, i, want ? want : "none");
		assert_true(!found || loc.addr == TEXT + i - loc.map->start);
	}
}

static struct moment random_moment(struct moment last)
{
	return (struct moment){(uint64_t)rand() % (last.time + 2), (uint64_t)rand() % 6};
}

/* What is called steady gives one answer at each moment at which anything happened in between. */
static unsigned int check_steady(const struct state *s, const struct event *events, size_t n,
				 struct moment first, struct moment last)
{
	uint32_t pid = (uint32_t)(rand() % PIDS), tid = (uint32_t)(1 + rand() % (TIDS - 1));
	bool user = rand() % 2;
	uint8_t mode = user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	uint64_t ip = (user ? 0 : TEXT) + (uint64_t)(rand() % CELLS);
	struct location a, b;

	if (moment_before(last, first) || !state_steady(s, pid, tid, mode, ip, first, last))
		return 0;
	state_find(s, pid, mode, ip, first, &a);
	for (size_t i = 0; i < n; i++) {
		if (moment_before(events[i].at, first) || moment_before(last, events[i].at))
			continue;
		state_find(s, pid, mode, ip, events[i].at, &b);
		assert_ptr_equal(a.map, b.map);
		assert_ptr_equal(state_comm(s, pid, tid, first),
				 state_comm(s, pid, tid, events[i].at));
	}
	return 1;
}

/* In the span that state_calm() says, each address has the same map. Returns whether it said one.
 */
static int check_calm(const struct state *s, const struct event *events, size_t n, struct moment at)
{
	uint32_t pid = (uint32_t)(rand() % PIDS);
	struct moment from, until;

	if (!state_calm(s, pid, at, &from, &until))
		return 0;
	assert_false(moment_before(at, from));
	assert_true(moment_before(at, until) || until.time == UINT64_MAX);
	for (size_t i = 0; i < n; i++) {
		if (moment_before(events[i].at, from) || !moment_before(events[i].at, until))
			continue;
		for (unsigned int k = 0; k < 2 * CELLS; k++) {
			uint8_t mode = k % 2 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
			uint64_t ip = (k % 2 ? 0 : TEXT) + k / 2;
			struct location a, b;

			state_find(s, pid, mode, ip, at, &a);
			state_find(s, pid, mode, ip, events[i].at, &b);
			assert_ptr_equal(a.map, b.map);
		}
	}
	return 1;
}

/* In its span, a thread has the name that state_comm_span() said. Returns whether it is one. */
static int check_comm_span(const struct state *s, const struct event *events, size_t n,
			   struct moment at)
{
	uint32_t tid = (uint32_t)(rand() % TIDS);
	struct moment from, until;
	const char *comm = state_comm_span(s, tid, at, &from, &until);

	assert_ptr_equal(comm, state_comm(s, 1, tid, at));
	assert_false(moment_before(at, from));
	assert_true(moment_before(at, until));
	for (size_t i = 0; i < n; i++)
		if (!moment_before(events[i].at, from) && moment_before(events[i].at, until))
			assert_ptr_equal(comm, state_comm(s, 1, tid, events[i].at));
	return until.time != UINT64_MAX;
}

static void any_moment_as_replayed(void **unused)
{
	struct event events[EVENTS];
	struct perf_event_header hdr;
	unsigned int seed, i, n, steady = 0, calm = 0, renamed = 0;

	for (seed = 1; seed <= 1500; seed++) {
		struct state *s = state_new();
		struct moment at = {0, 0};

		assert_non_null(s);
		srand(seed);
		n = 1 + rand() % EVENTS;
		for (i = 0; i < n; i++) {
			struct pd_record rec;

			events[i] = random_event(at);
			rec = record_of(&events[i], &hdr);
			assert_int_equal(state_apply(s, &rec, at), 0);
			if (i % 16 == 0)
				check_moment(s, events, i + 1, random_moment(at), seed);
			if (rand() % 3)
				at = (struct moment){at.time + 1 + rand() % 2, rand() % 3};
			else
				at.seq++;
		}
		assert_int_equal(state_finish(s), 0);
		for (i = 0; i < 12; i++)
			check_moment(s, events, n, random_moment(at), seed);
		check_moment(s, events, n, (struct moment){UINT64_MAX, UINT64_MAX}, seed);
		for (i = 0; i < 40; i++)
			steady += check_steady(s, events, n, random_moment(at), random_moment(at));
		for (i = 0; i < 4; i++)
			calm += check_calm(s, events, n, random_moment(at));
		for (i = 0; i < 8; i++)
			renamed += check_comm_span(s, events, n, random_moment(at));
		assert_int_equal(state_comm(s, 0, 0, at)[0], 's');
		state_free(s);
	}
	assert_true(steady > 1000);
	assert_true(calm > 1000);
	assert_true(renamed > 1000);
}

static void apply(struct state *s, uint32_t type, uint16_t misc, struct pd_record rec,
		  uint64_t time)
{
	struct perf_event_header hdr = {.type = type, .misc = misc};

	rec.hdr = &hdr;
	assert_int_equal(state_apply(s, &rec, (struct moment){time, 0}), 0);
}

static void apply_mmap(struct state *s, uint16_t misc, struct pd_mmap mmap)
{
	apply(s, PERF_RECORD_MMAP2, misc, (struct pd_record){.mmap = mmap}, 1);
}

static const struct moment later = {100, 0};

/* Maps that change elsewhere do not matter to an address, but an exec() does, also to the same
 * file. */
static void steady_beside_changes(void **unused)
{
	struct state *s = state_new();
	struct pd_record program = {
		.mmap = {.pid = 7, .addr = 0x1000, .len = 0x2000, .filename = "/bin/program"}};
	struct pd_record library = {
		.mmap = {.pid = 7, .addr = 0x8000, .len = 0x2000, .filename = "/lib/library"}};
	struct pd_record exec = {.comm = {.pid = 7, .tid = 7, .comm = "program", .exec = true}};

	assert_non_null(s);
	apply(s, PERF_RECORD_MMAP2, 2, program, 10);
	apply(s, PERF_RECORD_MMAP2, 2, library, 20);
	for (unsigned int i = 1; i < 4; i++) { /* new versions of all maps */
		library.mmap.pgoff = i * 0x1000;
		apply(s, PERF_RECORD_MMAP2, 2, library, 20 + i * 10);
	}
	apply(s, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, exec, 60);
	apply(s, PERF_RECORD_MMAP2, 2, program, 70);
	assert_int_equal(state_finish(s), 0);
	assert_true(state_steady(s, 7, 0, PERF_RECORD_MISC_USER, 0x1800, (struct moment){15, 0},
				 (struct moment){55, 0}));
	assert_false(state_steady(s, 7, 0, PERF_RECORD_MISC_USER, 0x8800, (struct moment){25, 0},
				  (struct moment){55, 0}));
	assert_false(state_steady(s, 7, 0, PERF_RECORD_MISC_USER, 0x1800, (struct moment){15, 0},
				  (struct moment){80, 0}));
	assert_false(state_steady(s, 7, 0, PERF_RECORD_MISC_USER, 0x7000, (struct moment){15, 0},
				  (struct moment){55, 0}));
	state_free(s);
}

/* What lies at @ip; @ret_addr may be NULL. */
static const struct dso *at_ip(const struct state *s, uint32_t pid, uint8_t cpumode, uint64_t ip,
			       uint64_t *ret_addr)
{
	struct location loc;
	bool found = state_find(s, pid, cpumode, ip, later, &loc);

	assert_int_equal(found, loc.map != NULL);
	if (ret_addr)
		*ret_addr = loc.addr;
	return found ? loc.map->dso : NULL;
}

static void names_and_kinds(void **unused)
{
	static const struct {
		const char *name, *short_name;
		uint16_t misc;
		enum dso_kind kind;
		bool absolute;
	} rows[] = {
		{"/usr/lib/libc.so.6", "libc.so.6", 2, DSO_ELF, false},
		{"/opt/x.ko", "x.ko", 2, DSO_ELF, false},
		{"prog", "prog", 2, DSO_ELF, false},
		{"[vdso]", "[vdso]", 2, DSO_VDSO, false},
		{"[vsyscall]", "[vsyscall]", 2, DSO_VDSO, false},
		{"//anon", "[JIT] tid 7", 2, DSO_ANON, true},
		{"[heap]", "[JIT] tid 7", 2, DSO_ANON, true},
		{"[heap]", "[heap]", 2 | PERF_RECORD_MISC_MMAP_DATA, DSO_ANON, true},
		{"[stack]", "[JIT] tid 7", 2, DSO_ANON, true},
		{"/dev/zero (deleted)", "[JIT] tid 7", 2, DSO_ANON, true},
		{"/SYSV00000000 (deleted)", "[JIT] tid 7", 2, DSO_ANON, true},
		{"/memfd:jit (deleted)", "memfd:jit (deleted)", 2, DSO_ANON, true},
		{"anon_inode:[perf_event]", "anon_inode:[perf_event]", 2, DSO_ANON, true},
		{"[uprobes]", "[uprobes]", 2, DSO_ANON, true},
		{"/lib/modules/6.1/kernel/ext4.ko", "[ext4]", 1, DSO_MODULE, false},
		{"/lib/modules/6.1/kernel/snd-hda-intel.ko.xz", "[snd_hda_intel]", 1, DSO_MODULE,
		 false},
		{"/lib/modules/6.1/kernel/a.b.ko.zst", "[a.b]", 1, DSO_MODULE, false},
		{"/lib/modules/6.1/kernel/k.ko.gz", "[k]", 1, DSO_MODULE, false},
		{"[nfs]", "[nfs]", 1, DSO_MODULE, false},
		{"[guest.kernel.kallsyms.7]_text", "[guest.kernel.kallsyms.7]", 4, DSO_GUEST, true},
		{"[guest.nfs]", "[guest.nfs]", 4, DSO_GUEST, true},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct state *s = state_new();
		uint8_t cpumode = rows[i].misc & PERF_RECORD_MISC_CPUMODE_MASK;
		const struct dso *dso;
		uint64_t addr;

		apply_mmap(s, rows[i].misc,
			   (struct pd_mmap){.pid = 7,
					    .tid = 7,
					    .addr = 0x5000,
					    .len = 0x1000,
					    .pgoff = 0x2000,
					    .prot = PROT_EXEC,
					    .filename = rows[i].name});
		assert_int_equal(state_finish(s), 0);
		dso = at_ip(s, 7, cpumode, 0x5010, &addr);
		assert_non_null(dso);
		assert_string_equal(dso->short_name, rows[i].short_name);
		assert_int_equal(dso->kind, rows[i].kind);
		if (rows[i].absolute)
			assert_int_equal(addr, 0x5010);
		else
			assert_int_equal(addr, dso->kind == DSO_VDSO ? 0x10 : 0x2010);
		if (dso->kind != DSO_GUEST)
			assert_null(at_ip(s, 8, PERF_RECORD_MISC_USER, 0x5010, NULL));
		state_free(s);
	}
}

static void kernel_as_recorded(void **unused)
{
	struct state *s = state_new();
	struct pd_build_id id = {.pid = -1, .size = 20, .filename = "/boot/vmlinux"};
	const struct dso *dso;
	uint64_t addr;

	/* A module first, then an image whose recorded end is beyond it. */
	apply_mmap(s, PERF_RECORD_MISC_KERNEL,
		   (struct pd_mmap){.pid = ~0u,
				    .addr = TEXT + 0x10000,
				    .len = 0x1000,
				    .filename = "/lib/modules/1/a.ko"});
	apply_mmap(s, PERF_RECORD_MISC_USER, /* by its pid alone */
		   (struct pd_mmap){.pid = ~0u,
				    .addr = TEXT,
				    .len = 0x20000,
				    .pgoff = TEXT + 0x100,
				    .filename = "[kernel.kallsyms]_stext"});
	id.build_id[0] = 9;
	assert_int_equal(state_set_build_id(s, &id, PERF_RECORD_MISC_KERNEL), 0);
	assert_int_equal(state_finish(s), 0);
	dso = at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT + 0x42, &addr);
	assert_non_null(dso);
	assert_int_equal(dso->kind, DSO_KERNEL);
	assert_string_equal(dso->name, "[kernel.kallsyms]");
	assert_string_equal(dso->ref_name, "_stext");
	assert_true(dso->ref_addr == TEXT + 0x100 && addr == TEXT + 0x42);
	assert_int_equal(dso->build_id_size, 20);
	assert_int_equal(dso->build_id[0], 9);
	dso = at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT + 0x10042, &addr);
	assert_int_equal(dso->kind, DSO_MODULE);
	assert_int_equal(addr, 0x42);
	assert_null(at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT + 0x20000, NULL));
	assert_null(at_ip(s, 1, PERF_RECORD_MISC_USER, TEXT, NULL));
	assert_null(at_ip(s, 1, PERF_RECORD_MISC_GUEST_KERNEL, TEXT, NULL));
	assert_null(at_ip(s, 1, PERF_RECORD_MISC_HYPERVISOR, TEXT, NULL));
	state_free(s);

	s = state_new(); /* kptr_restrict: no map at all */
	assert_int_equal(state_finish(s), 0);
	dso = at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT, NULL);
	assert_non_null(dso);
	assert_int_equal(dso->kind, DSO_KERNEL);
	assert_null(dso->ref_name);
	state_free(s);
}

/* Which of two mappings of a file are of one dso. */
static void identity(void **unused)
{
	static const struct pd_mmap plain = {.filename = "/a"}, ino = {.filename = "/a", .ino = 5},
				    other = {.filename = "/a", .ino = 6},
				    id = {.filename = "/a", .build_id_size = 4, .build_id = {1}},
				    id2 = {.filename = "/a", .build_id_size = 4, .build_id = {2}};
	static const struct {
		const struct pd_mmap *a, *b;
		bool same;
	} rows[] = {
		{&plain, &plain, true}, {&plain, &ino, true},  {&ino, &plain, true},
		{&ino, &ino, true},	{&ino, &other, false}, {&ino, &id, true},
		{&id, &ino, true},	{&id, &id, true},      {&id, &id2, false},
	};
	struct pd_build_id late = {.pid = 1, .size = 4, .filename = "/a"};
	size_t i;

	late.build_id[0] = 3;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct state *s = state_new();
		struct pd_mmap a = *rows[i].a, b = *rows[i].b;
		const struct dso *da, *db;

		a.pid = b.pid = 1;
		a.len = b.len = b.addr = 0x1000;
		apply_mmap(s, PERF_RECORD_MISC_USER, a);
		apply_mmap(s, PERF_RECORD_MISC_USER, b);
		apply_mmap(s, PERF_RECORD_MISC_USER, a);
		assert_int_equal(state_set_build_id(s, &late, PERF_RECORD_MISC_USER), 0);
		assert_int_equal(state_finish(s), 0);
		da = at_ip(s, 1, PERF_RECORD_MISC_USER, 0, NULL);
		db = at_ip(s, 1, PERF_RECORD_MISC_USER, 0x1000, NULL);
		assert_int_equal(da == db, rows[i].same);
		/* The table's build-id is for those that recorded none. */
		assert_int_equal(da->build_id[0], a.build_id_size		    ? 1
						  : b.build_id_size && rows[i].same ? b.build_id[0]
										    : 3);
		assert_int_equal(da->ino, a.ino ? a.ino : rows[i].same ? b.ino : 0);
		assert_true(state_dso_at(s, da->index) == da);
		state_free(s);
	}
}

/* A recorder reads no generation from /proc; the kernel records it. */
static void generations(void **unused)
{
	struct pd_mmap map = {.filename = "/a", .ino = 5, .pid = 1, .len = 0x1000};
	const uint64_t seen[] = {0, 7, 7, 0, 8};
	const struct dso *dso[5];
	struct state *s = state_new();

	for (size_t i = 0; i < 5; i++) {
		map.addr = i * 0x1000;
		map.ino_generation = seen[i];
		apply_mmap(s, PERF_RECORD_MISC_USER, map);
	}
	assert_int_equal(state_finish(s), 0);
	for (size_t i = 0; i < 5; i++)
		dso[i] = at_ip(s, 1, PERF_RECORD_MISC_USER, i * 0x1000, NULL);
	assert_ptr_equal(dso[0], dso[1]);
	assert_ptr_equal(dso[0], dso[2]);
	assert_ptr_equal(dso[0], dso[3]);
	assert_ptr_not_equal(dso[0], dso[4]);
	state_free(s);
}

/* Two containers have a file of one name. */
static void build_ids_of_files(void **unused)
{
	const struct pd_mmap maps[] = {
		{.filename = "/a", .ino = 5, .maj = 8},
		{.filename = "/a", .ino = 5, .maj = 9},
		{.filename = "/a", .ino = 6, .maj = 8},
		{.filename = "/b", .ino = 5, .maj = 8},
	};
	struct state *s = state_new();

	for (size_t i = 0; i < 4; i++) {
		struct pd_mmap map = maps[i];

		map.pid = 1;
		map.len = 0x1000;
		map.addr = i * 0x1000;
		apply_mmap(s, PERF_RECORD_MISC_USER, map);
	}
	for (size_t i = 0; i < 2; i++) {
		struct pd_build_id id = {.pid = -1, .size = 4, .filename = "/a", .ino = 5};

		id.maj = maps[i].maj;
		id.build_id[0] = (uint8_t)(i + 1);
		assert_int_equal(state_set_build_id(s, &id, PERF_RECORD_MISC_USER), 0);
	}
	assert_int_equal(state_finish(s), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct dso *dso = at_ip(s, 1, PERF_RECORD_MISC_USER, i * 0x1000, NULL);

		/* Of one whose build-id is not known another's is not taken. */
		assert_int_equal(dso->build_id_size, i < 2 ? 4 : 0);
		assert_int_equal(dso->build_id[0], i < 2 ? i + 1 : 0);
	}
	state_free(s);
}

/* A file that replaced another has its inode, but a build-id of its own. */
static void build_ids_of_generations(void **unused)
{
	const uint64_t generations[] = {7, 8, 9};
	const uint8_t want[] = {1, 2, 0};
	struct state *s = state_new();
	const struct dso *dso;

	for (size_t i = 0; i < 3; i++)
		apply_mmap(s, PERF_RECORD_MISC_USER,
			   (struct pd_mmap){.filename = "/a",
					    .ino = 5,
					    .ino_generation = generations[i],
					    .pid = 1,
					    .addr = i * 0x1000,
					    .len = 0x1000});
	for (size_t i = 0; i < 2; i++) {
		struct pd_build_id id = {.pid = -1, .size = 4, .filename = "/a", .ino = 5};

		id.ino_generation = generations[i];
		id.build_id[0] = want[i];
		assert_int_equal(state_set_build_id(s, &id, PERF_RECORD_MISC_USER), 0);
	}
	assert_int_equal(state_finish(s), 0);
	for (size_t i = 0; i < 3; i++) {
		dso = at_ip(s, 1, PERF_RECORD_MISC_USER, i * 0x1000, NULL);
		assert_int_equal(dso->build_id[0], want[i]);
		assert_int_equal(dso->build_id_size, want[i] ? 4 : 0);
	}
	state_free(s);
}

/* Maps that say what is known take no memory, however often they come. */
static void equal_maps_are_one(void **unused)
{
	static const struct {
		uint16_t misc;
		struct pd_mmap mmap;
	} maps[] = {
		{PERF_RECORD_MISC_USER,
		 {.pid = 1, .addr = 0x1000, .len = 0x1000, .filename = "/a"}},
		{PERF_RECORD_MISC_USER, {.pid = 1, .addr = 0x5000, .filename = "/empty"}},
		{PERF_RECORD_MISC_USER,
		 {.pid = 1, .addr = 0x8000, .len = 0x10, .filename = "[vdso]"}},
		{PERF_RECORD_MISC_KERNEL,
		 {.pid = ~0u, .addr = TEXT, .len = 0x1000, .filename = "[kernel.kallsyms]_text"}},
		{PERF_RECORD_MISC_KERNEL,
		 {.pid = ~0u, .addr = TEXT + 0x10000, .len = 0x1000, .filename = "/m/a.ko"}},
		{PERF_RECORD_MISC_GUEST_KERNEL,
		 {.pid = 7, .addr = TEXT, .len = 0x1000, .filename = "[guest.kernel.kallsyms]"}},
	};
	const struct pd_record cgroups[] = {{.cgroup = {.id = 1, .path = "/a"}},
					    {.cgroup = {.id = 1, .path = "/b"}}};
	const struct pd_record ksym = {
		.ksymbol = {.addr = TEXT + 0x20000, .len = 16, .name = "bpf_prog"}};
	struct state *s = state_new();
	size_t before = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		for (size_t k = 0; k < sizeof(maps) / sizeof(maps[0]); k++)
			apply_mmap(s, maps[k].misc, maps[k].mmap);
		apply(s, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, ksym, 1);
		apply(s, PERF_RECORD_CGROUP, 0, cgroups[i % 2], 1);
		if (i <= 1)
			before = state_memory(s);
	}
	assert_int_equal(state_memory(s), before);
	assert_int_equal(state_finish(s), 0);
	assert_non_null(at_ip(s, 1, PERF_RECORD_MISC_USER, 0x1010, NULL));
	assert_non_null(at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT + 0x10010, NULL));
	state_free(s);
}

/* Up to its limit a state is what it would be without; what comes later is counted. */
static void limit_of_memory(void **unused)
{
	const uint32_t n = 50000;
	struct state *s = state_new();
	const size_t limit = state_memory(s) + (1 << 20);
	uint64_t known = 0;

	state_limit(s, limit);
	for (uint32_t i = 1; i <= n; i++) {
		apply_mmap(s, PERF_RECORD_MISC_USER,
			   (struct pd_mmap){
				   .pid = i, .addr = 0x1000, .len = 0x1000, .filename = "/a"});
		apply(s, PERF_RECORD_SAMPLE, 0, (struct pd_record){0}, 1); /* has no meaning here */
	}
	assert_true(state_memory(s) < limit + (1 << 20));
	assert_true(state_refused(s) > 0 && state_refused(s) < n);
	assert_int_equal(state_finish(s), 0);
	for (uint32_t i = 1; i <= n; i++)
		known += at_ip(s, i, PERF_RECORD_MISC_USER, 0x1010, NULL) ? 1 : 0;
	assert_int_equal(known + state_refused(s), n);
	state_free(s);
}

static void apply_task(struct state *s, uint32_t type, uint32_t pid, uint32_t ppid, uint64_t time)
{
	apply(s, type, 0,
	      (struct pd_record){.task = {.pid = pid, .tid = pid, .ppid = ppid, .ptid = ppid}},
	      time);
}

/* A chain of forks, each child mapping something of its own, must not slow a lookup down. */
static void long_lines_of_descent(void **unused)
{
	struct state *s = state_new();
	size_t before, half = 0;
	uint32_t i, n = 20000;

	before = state_memory(s);
	for (i = 1; i <= n; i++) {
		apply_mmap(s, PERF_RECORD_MISC_USER,
			   (struct pd_mmap){.pid = i,
					    .addr = (uint64_t)i << 12,
					    .len = 0x1800, /* over the beginning of the next */
					    .filename = "/a"});
		apply_task(s, PERF_RECORD_FORK, i + 1, i, 1);
		if (i == n / 2)
			half = state_memory(s) - before;
	}
	assert_true(state_memory(s) - before < 3 * half);
	assert_int_equal(state_finish(s), 0);
	for (i = 1; i <= n; i++) {
		uint64_t addr;

		assert_non_null(at_ip(s, n + 1, PERF_RECORD_MISC_USER, (uint64_t)i << 12, &addr));
		assert_int_equal(addr, 0);
		assert_null(at_ip(s, i, PERF_RECORD_MISC_USER, (uint64_t)(i + 2) << 12, NULL));
	}
	state_free(s);
}

static void odd_ranges(void **unused)
{
	struct state *s = state_new();
	uint64_t addr;

	apply_mmap(s, PERF_RECORD_MISC_USER,
		   (struct pd_mmap){.pid = 1, .addr = 0x10, .len = 0, .filename = "/empty"});
	apply_mmap(s, PERF_RECORD_MISC_USER,
		   (struct pd_mmap){
			   .pid = 1, .addr = UINT64_MAX - 9, .len = 100, .filename = "/wraps"});
	apply_mmap(s, PERF_RECORD_MISC_KERNEL,
		   (struct pd_mmap){.pid = ~0u, .filename = "[kernel.kallsyms"});
	apply_mmap(s, PERF_RECORD_MISC_GUEST_KERNEL,
		   (struct pd_mmap){.pid = 3, .len = 9, .filename = "[guest.kernel.kallsyms"});
	apply_mmap(s, PERF_RECORD_MISC_USER, (struct pd_mmap){.pid = 1, .len = 1, .filename = ""});
	apply_mmap(s, PERF_RECORD_MISC_USER,
		   (struct pd_mmap){.pid = 1, .addr = 1, .len = 1, .filename = "/"});
	assert_int_equal(state_finish(s), 0);
	assert_int_equal(state_finish(s), 0);
	assert_null(at_ip(s, 1, PERF_RECORD_MISC_USER, 0x10, NULL));
	assert_non_null(at_ip(s, 1, PERF_RECORD_MISC_USER, UINT64_MAX - 1, &addr));
	assert_int_equal(addr, 8);
	at_ip(s, 1, PERF_RECORD_MISC_USER, UINT64_MAX, NULL);
	assert_non_null(at_ip(s, 1, PERF_RECORD_MISC_KERNEL, TEXT, NULL));
	assert_non_null(at_ip(s, 3, PERF_RECORD_MISC_GUEST_KERNEL, 5, NULL));
	state_free(s);
	state_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_moment_as_replayed),
		cmocka_unit_test(steady_beside_changes),
		cmocka_unit_test(names_and_kinds),
		cmocka_unit_test(kernel_as_recorded),
		cmocka_unit_test(identity),
		cmocka_unit_test(generations),
		cmocka_unit_test(build_ids_of_files),
		cmocka_unit_test(build_ids_of_generations),
		cmocka_unit_test(long_lines_of_descent),
		cmocka_unit_test(equal_maps_are_one),
		cmocka_unit_test(limit_of_memory),
		cmocka_unit_test(odd_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
