// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of this very process, with its registers, its stack and its maps, go through the stage.
 * Their callers are known. Samples that cannot get a chain must come out as they went in. Linked
 * with --wrap=build_id_open, --wrap=image_loader_wait and --wrap=task_spaces_new.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "record/chains/image_loader.h"
#include "record/chains/task_spaces.h"
#include "record/initial/buildid.h"
#include "record/pipeline/chain_stage.h"

#if defined(__x86_64__)
#define REGS_MASK 0xff01ffull
#define SP	  7
#elif defined(__aarch64__)
#define REGS_MASK 0x1ffffffffull
#define SP	  31
#else
#define REGS_MASK 0ull
#define SP	  0
#endif
#define REGS	 ((unsigned int)__builtin_popcountll(REGS_MASK))
#define STACK	 49152
#define EVENT_ID 77
#define DEPTH	 12

/* --- a sink that keeps what it gets ------------------------------------------------------------
 */

struct keeper {
	struct sink sink;
	struct buf got;
};

static int keeper_write(struct sink *s, const struct run *run, struct error *err)
{
	struct keeper *k = (struct keeper *)s;

	assert_int_equal(buf_append(&k->got, run->a, run->a_len), 0);
	assert_int_equal(buf_append(&k->got, run->b, run->b_len), 0);
	return 0;
}

static int keeper_flush(struct sink *s, struct error *err)
{
	return 0;
}

static const struct sink_ops keeper_ops = {.write = keeper_write, .flush = keeper_flush};

/* --- what the chain maker uses -----------------------------------------------------------------
 */

static atomic_bool slow; /* files are read for ever, and each wait takes as long as it may */
static unsigned int waits;
static struct task_spaces *spaces;   /* those of the newest chain maker */
static void (*meanwhile)(void *arg); /* called once, when a sample waits for its files */
static void *meanwhile_arg;

struct task_spaces *__real_task_spaces_new(const struct pd_attr *attr, void (*forgotten)(void *arg),
					   void *arg);
struct task_spaces *__wrap_task_spaces_new(const struct pd_attr *attr, void (*forgotten)(void *arg),
					   void *arg);
bool __real_image_loader_wait(struct image_loader *l, unsigned int ms);
bool __wrap_image_loader_wait(struct image_loader *l, unsigned int ms);

struct task_spaces *__wrap_task_spaces_new(const struct pd_attr *attr, void (*forgotten)(void *arg),
					   void *arg)
{
	spaces = __real_task_spaces_new(attr, forgotten, arg);
	return spaces;
}

bool __wrap_image_loader_wait(struct image_loader *l, unsigned int ms)
{
	void (*call)(void *arg) = meanwhile;

	meanwhile = NULL;
	if (call)
		call(meanwhile_arg);
	if (slow) {
		waits++;
		usleep(ms * 1000);
		return false;
	}
	return __real_image_loader_wait(l, ms);
}

int __real_build_id_open(const char *path, const struct build_id_key *file);
int __wrap_build_id_open(const char *path, const struct build_id_key *file);

int __wrap_build_id_open(const char *path, const struct build_id_key *file)
{
	while (slow)
		usleep(1000);
	return __real_build_id_open(path, file);
}

/* --- this process ------------------------------------------------------------------------------
 */

struct captured {
	uint64_t regs[40];
	uint8_t stack[STACK];
	void *callers[DEPTH + 2]; /* of each deep(), the innermost at 1 */
};

static struct captured captured;

#if defined(__x86_64__)
static uint64_t perf_reg(const ucontext_t *uc, unsigned int reg)
{
	static const int greg[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				   REG_RBP, REG_RSP, REG_RIP, -1,      -1,	-1,
				   -1,	    -1,	     -1,      -1,      REG_R8,	REG_R9,
				   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	return (uint64_t)uc->uc_mcontext.gregs[greg[reg]];
}
#elif defined(__aarch64__)
static uint64_t perf_reg(const ucontext_t *uc, unsigned int reg)
{
	return reg < 31	   ? uc->uc_mcontext.regs[reg]
	       : reg == 31 ? uc->uc_mcontext.sp
			   : uc->uc_mcontext.pc;
}
#else
static uint64_t perf_reg(const ucontext_t *uc, unsigned int reg)
{
	return 0;
}
#endif

static void copy_stack(uint64_t from, uint64_t top) __attribute__((no_sanitize("address")));

static void copy_stack(uint64_t from, uint64_t top)
{
	const volatile uint8_t *p = (const volatile uint8_t *)from;

	for (size_t i = 0; i < STACK && from + i < top; i++)
		captured.stack[i] = p[i];
}

static uint64_t stack_top(void)
{
	unsigned long start, end = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) &&
	       (sscanf(line, "%lx-%lx", &start, &end) != 2 || start > (uintptr_t)&line ||
		end <= (uintptr_t)&line))
		;
	fclose(f);
	return end;
}

static int __attribute__((noinline)) deep(int n)
{
	volatile int frame = n; /* so that no call becomes a loop */
	ucontext_t uc;
	unsigned int nr = 0;

	captured.callers[n + 1] = __builtin_return_address(0);
	if (n) {
		frame = deep(n - 1);
		return frame + 1;
	}
	getcontext(&uc);
	for (unsigned int reg = 0; reg < 64; reg++)
		if (REGS_MASK >> reg & 1)
			captured.regs[nr++] = perf_reg(&uc, reg);
	copy_stack(perf_reg(&uc, SP), stack_top());
	return 1;
}

/* --- records -----------------------------------------------------------------------------------
 */

/* Its attribute has a time and a CPU in the trailer, as a sample has them. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time, id;
};

#define TRAILER_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static void put(struct buf *b, const void *p, size_t len)
{
	assert_int_equal(buf_append(b, p, len), 0);
}

static void put64(struct buf *b, uint64_t word)
{
	put(b, &word, sizeof(word));
}

static void end_record(struct buf *b, size_t at)
{
	struct perf_event_header hdr;

	memcpy(&hdr, b->data + at, sizeof(hdr));
	hdr.size = (uint16_t)(b->len - at);
	memcpy(b->data + at, &hdr, sizeof(hdr));
}

static void add_map(struct buf *b, uint64_t time, const char *line)
{
	struct perf_event_header hdr = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0};
	const struct trailer t = {(uint32_t)getpid(), (uint32_t)getpid(), time, EVENT_ID};
	char prot[8], name[256] = "";
	uint64_t start, end, pgoff;
	unsigned int maj, min;
	unsigned long ino;
	size_t at = b->len, len;
	uint32_t words[4];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %lu %255[^\n]", &start,
		   &end, prot, &pgoff, &maj, &min, &ino, name) < 7 ||
	    prot[2] != 'x')
		return;
	put(b, &hdr, sizeof(hdr));
	put(b, &t, 8);
	put64(b, start);
	put64(b, end - start);
	put64(b, pgoff);
	put(b, &maj, 4);
	put(b, &min, 4);
	put64(b, ino);
	put64(b, 0);
	words[0] = PROT_READ | PROT_EXEC;
	words[1] = MAP_PRIVATE;
	put(b, words, 8);
	len = (strlen(name) + 8) & ~7ull;
	put(b, name, len);
	put(b, &t, sizeof(t));
	end_record(b, at);
}

/* The executable maps of this process. */
static void add_maps(struct buf *b, uint64_t time)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		add_map(b, time, line);
	fclose(f);
}

static const uint64_t kernel_chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000000ull,
					0xffffffff81000010ull};

/* A sample in the middle of whose fields the chain, the registers and the stack are. */
static void add_sample(struct buf *b, uint64_t time, uint64_t stack)
{
	struct perf_event_header hdr = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};
	static const char raw[12] = "raw data";
	const uint32_t raw_size = sizeof(raw);
	size_t at = b->len;

	put(b, &hdr, sizeof(hdr));
	put64(b, EVENT_ID);
	put64(b, 0x1234);
	put64(b, (uint32_t)getpid() | (uint64_t)getpid() << 32);
	put64(b, time);
	put64(b, sizeof(kernel_chain) / 8);
	put(b, kernel_chain, sizeof(kernel_chain));
	put(b, &raw_size, 4);
	put(b, raw, sizeof(raw));
	put64(b, PERF_SAMPLE_REGS_ABI_64);
	put(b, captured.regs, REGS * 8);
	put64(b, stack);
	if (stack) {
		put(b, captured.stack, stack);
		put64(b, stack); /* dyn_size */
	}
	put64(b, 0x5678); /* weight */
	end_record(b, at);
}

/* --- the stage ---------------------------------------------------------------------------------
 */

static struct plan_opts opts;
static struct plan_event event = {
	.attr =
		{
			.sample_type = TRAILER_TYPE | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
				       PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
				       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
			.sample_regs_user = REGS_MASK,
			.sample_stack_user = STACK,
			.flags = PD_ATTR_SAMPLE_ID_ALL,
		},
};
static struct plan plan = {.opts = &opts, .events = &event, .nr = 1};
static struct open_fd fd = {.event = 0, .id = EVENT_ID};
static struct opened opened = {.fds = &fd, .nr_fds = 1};

struct bench {
	struct keeper keeper;
	struct chain_maker *maker;
	struct sink *stage;
	struct chain_stats stats;
	struct pd_sample sample; /* the last one that came out */
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->keeper.sink.ops = &keeper_ops;
	opts = (struct plan_opts){.ring_size = 0};
	assert_int_equal(chain_maker_new(&event.attr, &b->maker), 0);
	b->stage = chain_stage_new(b->maker, &plan, &opened, &b->keeper.sink);
	assert_non_null(b->stage);
	deep(DEPTH);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	slow = false; /* after a failure, too */
	sink_free(b->stage);
	chain_maker_free(b->maker);
	buf_release(&b->keeper.got);
	free(b);
	return 0;
}

/* As the taps of rings do. */
static void show_sideband(struct bench *b, const struct buf *in)
{
	struct perf_event_header hdr;

	for (size_t at = 0; pd_record_at(in->data + at, in->len - at, &hdr); at += hdr.size)
		if (hdr.type != PERF_RECORD_SAMPLE)
			chain_maker_add((const void *)(in->data + at), b->maker);
}

/* Sends @in; what comes out is in b->keeper.got. The second span begins at @split. */
static void send(struct bench *b, const struct buf *in, size_t split)
{
	const struct run run = {.a = in->data,
				.a_len = split,
				.b = split < in->len ? in->data + split : NULL,
				.b_len = in->len - split};
	struct error err = ERROR_INIT;

	b->keeper.got.len = 0;
	show_sideband(b, in);
	assert_int_equal(sink_write(b->stage, &run, &err), 0);
	assert_int_equal(sink_flush(b->stage, &err), 0);
	chain_stage_stats(b->stage, &b->stats);
}

static void send_maps(struct bench *b, uint64_t time)
{
	struct buf in = {0};

	add_maps(&in, time);
	assert_true(in.len > 0);
	send(b, &in, in.len);
	assert_int_equal(b->keeper.got.len, in.len);
	assert_memory_equal(b->keeper.got.data, in.data, in.len);
	buf_release(&in);
}

/*
 * Sends one sample, again while files are being read. Returns whether it came out as it is.
 */
static bool send_sample(struct bench *b, uint64_t time, uint64_t stack)
{
	const struct pd_evsel evsel = {.attr = event.attr};
	const struct buf *got = &b->keeper.got;
	struct buf in = {0};
	uint64_t waited;
	bool same;

	add_sample(&in, time, stack);
	do {
		waited = b->stats.samples[CHAIN_WAITED];
		assert_true(waited < 6000);
		if (waited)
			usleep(10000);
		send(b, &in, in.len);
	} while (b->stats.samples[CHAIN_WAITED] > waited);
	assert_int_equal(pd_sample_decode((const void *)got->data, &evsel, &b->sample, NULL), 0);
	assert_int_equal(((const struct perf_event_header *)got->data)->size, got->len);
	same = got->len == in.len && !memcmp(got->data, in.data, in.len);
	buf_release(&in);
	return same;
}

/* The last sample has the callers of deep(), the first @nr of them at least. */
static void check_chain(const struct bench *b, size_t nr)
{
	const size_t kernel = sizeof(kernel_chain) / 8;
	const uint64_t *chain = b->sample.callchain;

	assert_true(b->sample.callchain_nr >= kernel + 1 + nr);
	assert_memory_equal(chain, kernel_chain, sizeof(kernel_chain));
	assert_int_equal(chain[kernel], PERF_CONTEXT_USER);
	for (size_t i = 1; i < nr; i++)
		assert_int_equal(chain[kernel + 1 + i], (uintptr_t)captured.callers[i] - 1);
	assert_int_equal(b->sample.user_stack_size, 0);
	assert_int_equal(b->sample.ip, 0x1234);
	assert_int_equal(b->sample.raw_size, 12);
	assert_memory_equal(b->sample.raw, "raw data", 9);
	assert_int_equal(b->sample.weight, 0x5678);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void a_stack_becomes_a_chain(void **state)
{
	struct bench *b = *state;

	send_maps(b, 10);
	assert_false(send_sample(b, 20, STACK));
	check_chain(b, DEPTH + 2);
	assert_int_equal(b->sample.user_regs_abi, PERF_SAMPLE_REGS_ABI_NONE);
	assert_int_equal(b->stats.samples[CHAIN_MADE], 1);
	assert_true(b->stats.in > b->stats.out + STACK - 4096);
	assert_int_equal(b->stats.cut, 0);
}

static void registers_that_are_wanted_stay(void **state)
{
	struct bench *b = *state;
	struct sink *stage;

	opts.sample.user_regs = 1;
	stage = chain_stage_new(b->maker, &plan, &opened, &b->keeper.sink);
	assert_non_null(stage);
	sink_free(b->stage);
	b->stage = stage;
	send_maps(b, 10);
	assert_false(send_sample(b, 20, STACK));
	check_chain(b, DEPTH);
	assert_int_equal(b->sample.user_regs_abi, PERF_SAMPLE_REGS_ABI_64);
	assert_memory_equal(b->sample.user_regs, captured.regs, REGS * 8);
}

/* The copy of the stack ends in the middle of deep(): so does the chain, and it is counted. */
static void a_cut_stack_has_a_part_of_the_chain(void **state)
{
	struct bench *b = *state;

	send_maps(b, 10);
	assert_false(send_sample(b, 20, 4096));
	check_chain(b, 2);
	assert_true(b->sample.callchain_nr < 4u + DEPTH + 2);
	assert_int_equal(b->stats.samples[CHAIN_MADE], 1);
	assert_int_equal(b->stats.cut, 1);
}

static void unmapped_code_keeps_the_stack(void **state)
{
	struct bench *b = *state;

	assert_true(send_sample(b, 20, STACK));
	assert_int_equal(b->stats.samples[CHAIN_NO_CODE], 1);
	/* Nor do maps that are younger than the sample count. */
	send_maps(b, 30);
	assert_true(send_sample(b, 20, STACK));
	assert_int_equal(b->stats.samples[CHAIN_NO_CODE], 2);
	assert_false(send_sample(b, 40, STACK));
	assert_int_equal(b->stats.samples[CHAIN_MADE], 1);
}

/* Generated code at every address that the process has: nothing says how to unwind it. */
static void generated_code_keeps_the_stack(void **state)
{
	struct bench *b = *state;
	char line[64] = "1000-7ffffffff000 r-xp 00000000 00:00 0 //anon\n";
	struct buf in = {0};

	send_maps(b, 10);
	add_map(&in, 15, line);
	send(b, &in, in.len);
	buf_release(&in);
	assert_false(send_sample(b, 12, STACK));
	assert_true(send_sample(b, 20, STACK));
	assert_int_equal(b->stats.samples[CHAIN_NO_CODE] + b->stats.samples[CHAIN_GUESSED], 1);
}

/* A file that is not the one that was mapped must not be used. */
static void another_file_keeps_the_stack(void **state)
{
	struct bench *b = *state;
	struct buf in = {0};
	char line[512], other[600];
	uint64_t start, end, pgoff;
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '/');

		if (name && sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64, &start, &end,
				   &pgoff) == 3) {
			snprintf(other, sizeof(other),
				 "%" PRIx64 "-%" PRIx64 " r-xp %" PRIx64 " fe:99 424242 %s", start,
				 end, pgoff, name);
			add_map(&in, 10, other);
		}
	}
	fclose(f);
	send(b, &in, in.len);
	buf_release(&in);
	assert_true(send_sample(b, 20, STACK));
	assert_int_equal(b->stats.samples[CHAIN_NO_CODE], 1);
}

static void a_sample_without_a_stack_passes(void **state)
{
	struct bench *b = *state;

	send_maps(b, 10);
	assert_true(send_sample(b, 20, 0));
	for (size_t i = 0; i < CHAIN_REASONS; i++)
		assert_int_equal(b->stats.samples[i], 0);
}

/* While the fifo is half full because of the stage, stacks pass; then chains are made again. */
static void stacks_pass_while_it_is_behind(void **state)
{
	struct bench *b = *state;
	struct fifo *fifo = fifo_new(FIFO_MIN);
	struct run piece;

	assert_non_null(fifo);
	send_maps(b, 10);
	chain_stage_watch(b->stage, fifo);
	chain_stage_limits(b->stage, 50, 0);
	assert_false(send_sample(b, 20, STACK));
	for (unsigned int i = 0; fifo_fullness(fifo) < 50; i++) {
		assert_true(i < 100);
		assert_non_null(fifo_reserve(fifo, FIFO_MIN / 8, false));
		fifo_commit(fifo, FIFO_MIN / 8, 0, 0);
	}
	assert_true(send_sample(b, 30, STACK));
	assert_true(send_sample(b, 31, STACK));
	assert_int_equal(b->stats.samples[CHAIN_BEHIND], 2);
	/* An output that is slow is no reason. */
	chain_stage_limits(b->stage, 50, 1000);
	assert_false(send_sample(b, 40, STACK));
	chain_stage_limits(b->stage, 50, 0);
	while (fifo_fullness(fifo) >= 50) {
		assert_int_equal(fifo_wait(fifo, &piece), 0);
		fifo_done(fifo);
	}
	assert_false(send_sample(b, 50, STACK));
	assert_int_equal(b->stats.samples[CHAIN_MADE], 3);
	fifo_free(fifo);
}

/* Maps come until the history of them is made again. */
static void make_history_again(void *arg)
{
	struct bench *b = arg;
	struct buf in = {0};

	for (unsigned int i = 0; i < 100; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%x-%x r-xp 00000000 00:00 0 /map/%u\n", 0x1000 + i,
			 0x1001 + i, i);
		add_map(&in, 30 + i, line);
	}
	task_spaces_limit(spaces, 1024, (size_t)256 << 20);
	show_sideband(b, &in);
	buf_release(&in);
}

/* While it waits for files, the maps of its time are forgotten. */
static void a_sample_becomes_early(void **state)
{
	struct bench *b = *state;
	const struct pd_evsel evsel = {.attr = event.attr};
	struct chain_walker *w = chain_walker_new(b->maker);
	struct buf in = {0};
	uint8_t *out;

	assert_non_null(w);
	send_maps(b, 10);
	add_sample(&in, 20, STACK);
	out = malloc(in.len);
	assert_non_null(out);
	meanwhile = make_history_again;
	meanwhile_arg = b;
	assert_true(chain_walker_begin(w));
	assert_int_equal(
		chain_walker_put(w, (const void *)in.data, &evsel, false, now_ms() + 3600000, out),
		in.len);
	chain_walker_end(w);
	assert_null(meanwhile);
	assert_memory_equal(out, in.data, in.len);
	assert_int_equal(chain_walker_stats(w)->samples[CHAIN_EARLY], 1);
	chain_walker_free(w);
	free(out);
	buf_release(&in);
}

/* Samples of one run wait for their files together, all runs up to a flush, too. */
static void a_run_waits_once(void **state)
{
	struct bench *b = *state;
	struct fifo *fifo = fifo_new(FIFO_MIN);
	struct buf in = {0};

	assert_non_null(fifo);
	chain_stage_watch(b->stage, fifo);
	send_maps(b, 10);
	for (unsigned int i = 0; i < 10; i++)
		add_sample(&in, 20 + i, 4096);
	slow = true;
	waits = 0;
	fifo_hurry(fifo, true);
	for (unsigned int i = 0; i < 5; i++)
		send(b, &in, in.len);
	assert_in_range(waits, 0, 2);
	assert_int_equal(b->stats.samples[CHAIN_WAITED], 50);
	fifo_hurry(fifo, false);
	waits = 0;
	send(b, &in, in.len);
	assert_in_range(waits, 0, 2);
	assert_int_equal(b->stats.samples[CHAIN_WAITED], 60);
	slow = false;
	assert_memory_equal(b->keeper.got.data, in.data, in.len);
	chain_stage_watch(b->stage, NULL);
	buf_release(&in);
	fifo_free(fifo);
}

/* Maps and samples in one run that lies in two spans, cut at any record or word. */
static void runs_may_have_two_spans(void **state)
{
	struct bench *b = *state;
	const struct pd_evsel evsel = {.attr = event.attr};
	struct buf in = {0};
	size_t at;

	send_maps(b, 5);
	send_sample(b, 6, STACK);
	add_maps(&in, 10);
	add_sample(&in, 20, STACK);
	at = in.len;
	add_sample(&in, 21, STACK);
	put64(&in, 0); /* no record */
	for (size_t split = 8; split < in.len; split += split < at ? 4096 : 1024) {
		struct perf_event_header hdr;
		unsigned int samples = 0;

		send(b, &in, split);
		for (size_t p = 0;
		     pd_record_at(b->keeper.got.data + p, b->keeper.got.len - p, &hdr);
		     p += hdr.size) {
			if (hdr.type != PERF_RECORD_SAMPLE)
				continue;
			samples++;
			assert_int_equal(pd_sample_decode((const void *)(b->keeper.got.data + p),
							  &evsel, &b->sample, NULL),
					 0);
			check_chain(b, DEPTH);
		}
		assert_int_equal(samples, 2);
		assert_memory_equal(b->keeper.got.data + b->keeper.got.len - 8, "\0\0\0\0\0\0\0",
				    8);
	}
	buf_release(&in);
}

static void keep_text(enum message_level level, const char *text, void *arg)
{
	char *kept = arg;
	size_t len = strlen(kept);

	snprintf(kept + len, 4096 - len, "%d %s\n", (int)level, text);
}

static void counts_are_said(void **state)
{
	char text[4096] = "";
	const struct messages messages = {keep_text, text};
	struct chain_stats stats = {.samples = {[CHAIN_MADE] = 3, [CHAIN_MANY_MAPS] = 2},
				    .in = 5000,
				    .out = 700,
				    .hung = 2,
				    .hung_name = "/net/program"};

	chain_stats_say(&stats, &messages);
	assert_non_null(strstr(text, "3 of 5 samples with stacks got call chains; 5000 bytes "
				     "became 700; others keep their stacks (2: the maps of all "
				     "processes take more than 128 MB)\n"));
	assert_non_null(strstr(text, "0 2 files did not answer within 5 s (first: /net/program): "
				     "samples of their code keep their stacks"));
	text[0] = '\0';
	stats = (struct chain_stats){0};
	chain_stats_say(&stats, &messages);
	assert_string_equal(text, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_stack_becomes_a_chain),
		TEST(registers_that_are_wanted_stay),
		TEST(a_cut_stack_has_a_part_of_the_chain),
		TEST(unmapped_code_keeps_the_stack),
		TEST(generated_code_keeps_the_stack),
		TEST(another_file_keeps_the_stack),
		TEST(a_sample_without_a_stack_passes),
		TEST(stacks_pass_while_it_is_behind),
		TEST(a_sample_becomes_early),
		TEST(a_run_waits_once),
		TEST(runs_may_have_two_spans),
		cmocka_unit_test(counts_are_said),
	};

	if (!REGS_MASK) {
		printf("1..0 # SKIP stacks of this architecture are not unwound\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
