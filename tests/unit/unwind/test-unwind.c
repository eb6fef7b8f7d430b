// SPDX-License-Identifier: Apache-2.0
/*
 * Unwinds this very program: its own registers, stack and files, and return addresses from the
 * compiler.
 */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/kernel/procfs.h"
#include "unwind/expr.h"
#include "unwind/section.h"
#include "unwind/unwind.h"

#define PID	  42
#define MAX	  64
#define STACK_MAX 16384
#define DEPTH	  5

/* What is to be unwound, and what has to come out. */
struct taken {
	uint64_t regs[UNWIND_REGS]; /* as in a sample: a word for each bit of @mask */
	uint64_t mask, pc;
	uint8_t stack[STACK_MAX];
	uint64_t size;		 /* of it */
	uint64_t stack_end;	 /* address */
	uint64_t ret[DEPTH + 1]; /* where the calls return to, innermost first */
};

struct chain {
	uint64_t ip[MAX];
	size_t nr;
};

struct place {
	struct resolver *resolver;
	struct state *state;
	struct cfi_tables *tables;
	struct utsname uts;
	const struct unwind_arch *arch;
	struct taken taken;
	struct chain whole;
};

#ifdef __x86_64__
/* perf's numbers of what take() stores, in its order. */
static const uint8_t stored[] = {8, 7, 3, 6, 20, 21, 22, 23};

/* Not instrumented: it reads the frames of others. */
__attribute__((noinline, no_sanitize_address)) static void take(struct taken *t)
{
	uint64_t v[sizeof(stored)];

	__asm__ volatile("lea 0(%%rip), %%rax\n\tmov %%rax, 0(%0)\n\tmov %%rsp, 8(%0)\n\t"
			 "mov %%rbx, 16(%0)\n\tmov %%rbp, 24(%0)\n\tmov %%r12, 32(%0)\n\t"
			 "mov %%r13, 40(%0)\n\tmov %%r14, 48(%0)\n\tmov %%r15, 56(%0)"
			 :
			 : "r"(v)
			 : "rax", "memory");
	if (v[1] + t->size > t->stack_end)
		t->size = t->stack_end - v[1];
	for (uint64_t i = 0; i < t->size; i++)
		t->stack[i] = ((const volatile uint8_t *)v[1])[i];
	/* a sample has them by rising numbers */
	for (unsigned int bit = 0, n = 0; bit < 64; bit++)
		for (size_t i = 0; i < sizeof(stored); i++)
			if (stored[i] == bit) {
				t->regs[n++] = v[i];
				t->mask |= 1ull << bit;
			}
	t->pc = v[0];
	t->ret[0] = (uint64_t)__builtin_return_address(0);
}

/* Each level has another frame, and something to do after the call, so that it is a call. */
__attribute__((noinline)) static uint64_t level(struct taken *t, unsigned int n)
{
	volatile uint8_t room[24 * DEPTH];

	room[n * 24] = (uint8_t)n;
	if (n)
		level(t, n - 1);
	else
		take(t);
	t->ret[1 + n] = (uint64_t)__builtin_return_address(0);
	return room[n * 24];
}
#endif

/* Adds the maps of /proc/self/maps to the state. */
static void add_maps(struct state *s, uint64_t *ret_stack_end)
{
	FILE *f = fopen("/proc/self/maps", "r");
	struct moment at = {0};
	struct proc_map map;
	char line[4096];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2,
						.misc = PERF_RECORD_MISC_USER};
		struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};
		char name[4096];

		if (proc_map_parse(line, strcspn(line, "\n"), &map) || !map.name_len)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)map.name_len, map.name);
		if (!strcmp(name, "[stack]"))
			*ret_stack_end = map.end;
		if (!(map.prot & PROT_EXEC))
			continue;
		rec.mmap = (struct pd_mmap){.pid = PID,
					    .tid = PID,
					    .addr = map.start,
					    .len = map.end - map.start,
					    .pgoff = map.pgoff,
					    .prot = map.prot,
					    .filename = name};
		assert_int_equal(state_apply(s, &rec, at), 0);
	}
	fclose(f);
	assert_int_equal(state_finish(s), 0);
}

static int push(const struct unwind_frame *frame, void *arg)
{
	const struct map *map = frame->loc->map;
	struct chain *c = arg;

	assert_true(c->nr < MAX);
	assert_true(!map || (frame->ip >= map->start && frame->ip < map->end));
	c->ip[c->nr++] = frame->ip;
	return 0;
}

/* As walk(), the copy of the stack being elsewhere. */
static void walk_at(struct place *p, const struct taken *t, const uint8_t *stack, size_t max,
		    struct chain *ret)
{
	struct unwind_sample s = {
		.arch = p->arch,
		.pid = PID,
		.at = {.time = 1},
		.regs_mask = t->mask,
		.regs = t->regs,
		.stack = stack,
		.stack_size = t->size,
	};
	struct unwind u;

	ret->nr = 0;
	assert_int_equal(unwind_init(&u, p->state, p->tables), 0);
	assert_int_equal(unwind_walk(&u, &s, max, push, ret), 0);
	unwind_release(&u);
}

static void walk(struct place *p, const struct taken *t, size_t max, struct chain *ret)
{
	walk_at(p, t, t->stack, max, ret);
}

static int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	struct resolver_opts opts = {.kallsyms = "/dev/null"};

	*state = p;
	uname(&p->uts);
	opts.hostname = p->uts.nodename;
	opts.osrelease = p->uts.release;
	p->state = state_new();
	if (resolver_new(&opts, &p->resolver, NULL) || cfi_tables_new(p->resolver, &p->tables))
		return -1;
	add_maps(p->state, &p->taken.stack_end);
	p->arch = unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_64);
#ifdef __x86_64__
	p->taken.size = STACK_MAX;
	level(&p->taken, DEPTH - 1);
	walk(p, &p->taken, MAX, &p->whole);
#endif
	return 0;
}

static int place_free(void **state)
{
	struct place *p = *state;

	cfi_tables_free(p->tables);
	resolver_free(p->resolver);
	state_free(p->state);
	free(p);
	return 0;
}

static void need_stack(const struct place *p)
{
	if (!p->taken.mask) {
		print_message("taking one's own stack is written for x86-64 only\n");
		skip();
	}
}

static void test_own_chain(void **state)
{
	struct place *p = *state;

	need_stack(p);
	/* and main, what calls it, and _start */
	assert_true(p->whole.nr >= DEPTH + 2 + 3);
	assert_int_equal(p->whole.ip[0], p->taken.pc);
	for (size_t i = 0; i <= DEPTH; i++)
		assert_int_equal(p->whole.ip[i + 1], p->taken.ret[i] - 1);
}

/* However much of the stack there is, and however many frames are wanted: a part of the chain. */
static void test_truncated_stacks(void **state)
{
	struct place *p = *state;
	struct taken t = p->taken;
	struct chain c;
	size_t longest = 0;

	need_stack(p);
	for (t.size = 0; t.size <= p->taken.size; t.size += 8) {
		walk(p, &t, MAX, &c);
		assert_true(c.nr >= 1 && c.nr <= p->whole.nr && c.nr >= longest);
		assert_memory_equal(c.ip, p->whole.ip, c.nr * sizeof(c.ip[0]));
		longest = c.nr;
	}
	for (size_t max = 0; max <= p->whole.nr; max++) {
		walk(p, &p->taken, max, &c);
		assert_int_equal(c.nr, max);
	}
}

/* With no memory for tables but the one in use, the answer is the same. */
static void test_dropped_tables(void **state)
{
	struct place *p = *state;
	size_t all = cfi_tables_loaded(p->tables);
	struct chain c;

	need_stack(p);
	cfi_tables_limit(p->tables, 0);
	walk(p, &p->taken, MAX, &c);
	assert_int_equal(c.nr, p->whole.nr);
	assert_memory_equal(c.ip, p->whole.ip, c.nr * sizeof(c.ip[0]));
	assert_true(cfi_tables_loaded(p->tables) < all); /* of the program, or of the C library */
}

/* Whatever is on the stack and in registers: an end, and nothing read beyond the copy. */
static void test_any_bytes(void **state)
{
	struct place *p = *state;
	struct taken t;
	struct chain c;
	uint8_t *copy;

	need_stack(p);
	srand(1);
	for (int round = 0; round < 300; round++) {
		t = p->taken;
		t.size = (uint64_t)rand() % 4096;
		for (int i = 0; i < round % 50; i++) {
			/* words that look like the others in it are the worst */
			size_t to = (size_t)rand() % (STACK_MAX / 8) * 8;
			size_t from = (size_t)rand() % 512 * 8;

			memcpy(t.stack + to % 4096, p->taken.stack + from, 8);
			t.regs[rand() % 8] ^= rand() % 3 ? 0 : (uint64_t)1 << rand() % 64;
		}
		copy = malloc(t.size + 1); /* for the address sanitizer */
		memcpy(copy, t.stack, t.size);
		walk_at(p, &t, copy, MAX, &c);
		free(copy);
		assert_true(c.nr <= MAX);
	}
}

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void test_expressions(void **state)
{
	static const uint64_t words[] = {0x1122334455667788, 0x1010};
	const struct unwind_stack stack = {(const uint8_t *)words, 0x1000, sizeof(words)};
	const struct unwind_regs regs = {
		.v = {[7] = 0x1000, [16] = 0x40102b, [UNWIND_CFA] = 0x1008},
		.known = 1 << 7 | 1 << 16 | 1ull << UNWIND_CFA,
	};
	const struct expr_frame frame = {unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64), &regs,
					 &stack};
	const struct {
		const uint8_t *code;
		size_t len;
		bool cfa;
		int rc;
		uint64_t v;
	} tests[] = {
		/* what binutils say of a PLT: the CFA is 8 farther from the 11th byte of 16 on */
		{CODE(DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
		      DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		 false, 0, 0x1010},
		{CODE(DW_OP_breg7, 8, DW_OP_deref), false, 0, 0x1010},
		{CODE(DW_OP_deref), true, 0, 0x1010},
		{CODE(DW_OP_bregx, 7, 0x78, DW_OP_plus_uconst, 8, DW_OP_deref_size, 2), false, 0,
		 0x7788},
		{CODE(DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_minus), false, 0,
		 (uint64_t)-1}, /* 3 1 2 */
		{CODE(DW_OP_lit5, DW_OP_lit9, DW_OP_swap, DW_OP_minus), false, 0, 4},
		{CODE(DW_OP_consts, 0x70, DW_OP_const1u, 2, DW_OP_shra), false, 0, (uint64_t)-4},
		{CODE(DW_OP_const1u, 99, DW_OP_const1u, 70, DW_OP_shl), false, 0, 0},
		{CODE(DW_OP_const2s, 0xfe, 0xff, DW_OP_neg), false, 0, 2},
		{CODE(DW_OP_breg7, 9, DW_OP_deref), false, -EINVAL, 0}, /* beyond the copy */
		{CODE(DW_OP_breg3, 0), false, -EINVAL, 0},		/* not known */
		{CODE(DW_OP_bregx, 99, 0), false, -EINVAL, 0},
		{CODE(DW_OP_breg7), false, -EINVAL, 0},
		{CODE(DW_OP_const8u, 1), false, -EINVAL, 0},
		{CODE(DW_OP_lit1, DW_OP_plus), false, -EINVAL, 0},
		{CODE(DW_OP_lit1, DW_OP_pick, 3), false, -EINVAL, 0},
		{CODE(DW_OP_lit1, DW_OP_swap), false, -EINVAL, 0},
		{CODE(DW_OP_lit1, DW_OP_skip, 0xfd, 0xff), false, -EINVAL, 0},
		{CODE(DW_OP_breg7, 0, DW_OP_deref_size, 9), false, -EINVAL, 0},
		{CODE(DW_OP_nop), false, -EINVAL, 0},
	};
	uint8_t many[100];
	uint64_t v;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		v = 0;
		assert_int_equal(expr_eval(tests[i].code, tests[i].len, &frame, tests[i].cfa, &v),
				 tests[i].rc);
		assert_int_equal(v, tests[i].v);
	}
	memset(many, DW_OP_lit1, sizeof(many));
	assert_int_equal(expr_eval(many, sizeof(many), &frame, false, &v), -EINVAL);
}

static struct cfi_rules rules_at_ret(void)
{
	struct cfi_rules rules = {.ra = 16};

	rules.rule[UNWIND_CFA] = (struct cfi_rule){CFI_VALUE, .base = 7, .offset = 8};
	rules.rule[16] = (struct cfi_rule){CFI_MEMORY, .base = UNWIND_CFA, .offset = -8};
	rules.rule[6] = (struct cfi_rule){CFI_MEMORY, .base = UNWIND_CFA, .offset = -16};
	rules.rule[3] = (struct cfi_rule){CFI_MEMORY, .base = UNWIND_CFA, .offset = -24};
	return rules;
}

/* What a function has restored before it returns is below the stack pointer, and in the register.
 */
static void test_restored_registers(void **state)
{
	static const uint64_t words[] = {0x401000, 0x402000};
	const struct unwind_stack stack = {(const uint8_t *)words, 0x1000, sizeof(words)};
	const struct unwind_arch *arch = unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	const struct cfi_rules rules = rules_at_ret();
	struct unwind_regs regs = {.v = {[6] = 0xbeef, [7] = 0x1000}, .known = 1 << 6 | 1 << 7};
	struct cfi_row *row;
	uint64_t pc;

	assert_int_equal(cfi_row_new(&rules, arch, &row), 0);
	assert_true(cfi_row_apply(row, arch, &stack, &regs, &pc));
	assert_int_equal(pc, 0x401000);
	assert_int_equal(regs.v[7], 0x1008);
	assert_true(regs.known >> 6 & 1);
	assert_int_equal(regs.v[6], 0xbeef);
	assert_false(regs.known >> 3 & 1); /* it was not recorded */

	/* of a caller the slots lie in the copy, or cannot be known */
	assert_true(cfi_row_apply(row, arch, &stack, &regs, &pc));
	assert_int_equal(pc, 0x402000);
	assert_int_equal(regs.v[6], 0x401000);
	regs = (struct unwind_regs){.v = {[3] = 1, [6] = 2, [7] = 0x1008},
				    .known = 1 << 3 | 1 << 6 | 1 << 7};
	assert_true(cfi_row_apply(row, arch, &stack, &regs, &pc));
	assert_int_equal(regs.v[6], 0x401000);
	assert_false(regs.known >> 3 & 1);
	free(row);
}

/*
 * Rows that only read saved words are applied in a way of their own. It gives what the way of all
 * rows gives, to which a rule that changes nothing leads: for each stack pointer, size and start of
 * the copy.
 */
static void test_saved_words(void **state)
{
	static const uint64_t starts[] = {0x1000, 0, UINT64_MAX - 40, UINT64_MAX - 39};
	const struct unwind_arch *arch = unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	struct cfi_rules rules = rules_at_ret();
	struct cfi_row *saved, *any;
	uint64_t words[5], pc[2] = {0};

	assert_int_equal(cfi_row_new(&rules, arch, &saved), 0);
	rules.rule[12] = (struct cfi_rule){CFI_VALUE, .base = 12};
	assert_int_equal(cfi_row_new(&rules, arch, &any), 0);
	for (unsigned int i = 0; i < 5; i++)
		words[i] = 0x100 + i;
	for (unsigned int n = 0; n < 4u * 42 * 60; n++) {
		struct unwind_stack stack = {(const uint8_t *)words, starts[n % 4], n / 4 % 41};
		uint64_t sp = starts[n % 4] + n / (4 * 42) - 10;
		struct unwind_regs regs[2] = {{.v = {[3] = 1, [6] = 2, [7] = sp, [12] = 3},
					       .known = 1 << 6 | 1 << 7 | 1 << 12 | n % 8 << 1}};
		bool is[2];

		regs[1] = regs[0];
		is[0] = cfi_row_apply(saved, arch, &stack, &regs[0], &pc[0]);
		is[1] = cfi_row_apply(any, arch, &stack, &regs[1], &pc[1]);
		assert_int_equal(is[0], is[1]);
		if (!is[0])
			continue;
		assert_int_equal(pc[0], pc[1]);
		assert_int_equal(regs[0].known, regs[1].known);
		for (unsigned int i = 0; i < UNWIND_REGS; i++)
			if (regs[0].known >> i & 1)
				assert_int_equal(regs[0].v[i], regs[1].v[i]);
	}
	free(saved);
	free(any);
}

/* Reads this program, with another name for the section @name. */
static void read_self(const char *name, struct buf *ret)
{
	FILE *f = fopen("/proc/self/exe", "r");
	size_t n, len = strlen(name) + 1;
	char part[65536];
	uint8_t *at;

	assert_non_null(f);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		assert_int_equal(buf_append(ret, part, n), 0);
	fclose(f);
	at = ret->data;
	while ((at = memmem(at, (size_t)(ret->data + ret->len - at), name, len)))
		*at++ = 'X';
}

/* Of one address, by both sections: the same row, or none. Returns whether there is one. */
static bool same_row(const struct cfi_section *a, const struct cfi_section *b, uint64_t addr,
		     const struct unwind_arch *arch, const struct unwind_stack *stack)
{
	struct unwind_regs regs[2] = {{.known = UINT64_MAX >> (64 - arch->nr)}};
	struct cfi_row *row[2] = {NULL, NULL};
	uint64_t pc[2] = {0};
	bool is[2];

	for (unsigned int i = 0; i < arch->nr; i++)
		regs[0].v[i] = stack->start + 8ull * i;
	regs[1] = regs[0];
	assert_int_equal(cfi_section_row(a, arch, addr, &row[0]),
			 cfi_section_row(b, arch, addr, &row[1]));
	assert_int_equal(!row[0], !row[1]);
	if (!row[0])
		return false;
	for (unsigned int i = 0; i < 2; i++)
		is[i] = cfi_row_apply(row[i], arch, stack, &regs[i], &pc[i]);
	assert_int_equal(is[0], is[1]);
	assert_int_equal(pc[0], pc[1]);
	assert_int_equal(regs[0].known, regs[1].known);
	free(row[0]);
	free(row[1]);
	return true;
}

/* The linker's index and an own one, of this program: the same for each address. */
static void test_indices(void **state)
{
	const struct unwind_arch *arch = unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_64);
	struct elf_image image = ELF_IMAGE_INIT, other = ELF_IMAGE_INIT;
	struct cfi_section linked = {0}, own = {0};
	struct unwind_stack stack = {NULL, 0x1000, 4096};
	struct buf self = {0};
	size_t found = 0, n = 0;
	GElf_Shdr text;

	if (!arch)
		skip();
	stack.data = calloc(1, stack.size);
	assert_non_null(stack.data);
	assert_int_equal(elf_image_open("/proc/self/exe", &image, NULL), 0);
	read_self(".eh_frame_hdr", &self);
	assert_int_equal(elf_image_borrow(&self, &other, NULL), 0);
	assert_int_equal(cfi_section_load(&linked, &image, ".eh_frame"), 0);
	assert_int_equal(cfi_section_load(&own, &other, ".eh_frame"), 0);
	assert_int_equal(linked.nr, 0);
	assert_int_equal(own.search_nr, 0);
	assert_int_equal(linked.search_nr, own.nr);
	assert_non_null(elf_section(&image, ".text", &text));
	for (uint64_t at = text.sh_addr - 4096; at < text.sh_addr + text.sh_size + 4096; at += 13) {
		found += same_row(&linked, &own, at, arch, &stack);
		n++;
	}
	assert_true(found > n / 2);
	cfi_section_release(&linked);
	cfi_section_release(&own);
	elf_image_close(&image);
	elf_image_close(&other);
	buf_release(&self);
	free((uint8_t *)(uintptr_t)stack.data);
}

/* BOLT leaves an empty entry before that of a function, and the index leads to the empty one. */
static void test_an_empty_entry_before(void **state)
{
	const struct unwind_arch *arch = unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_64);
	/* A CIE; then for 0x2000 an FDE of no bytes, one of 16 bytes, and one of 0x2010. */
	static const uint8_t entries[] = {
		20, 0,	  0,	0,    0,    0,	  0, 0,	 1,  'z', 'R', 0,  1, 0x78, 16, 1,    0x1b,
		12, 7,	  8,	0x90, 1,    0,	  0, 16, 0,  0,	  0,   28, 0, 0,    0,	0xe0, 0x0f,
		0,  0,	  0,	0,    0,    0,	  0, 0,	 0,  0,	  16,  0,  0, 0,    48, 0,    0,
		0,  0xcc, 0x0f, 0,    0,    16,	  0, 0,	 0,  0,	  0,   0,  0, 16,   0,	0,    0,
		68, 0,	  0,	0,    0xc8, 0x0f, 0, 0,	 16, 0,	  0,   0,  0, 0,    0,	0};
	/* Behind its head, which is read before: starts and entries. */
	static const uint32_t index[] = {0, 0, 0, 0x2000, 0x1000 + 24, 0x2010, 0x1000 + 64};
	struct cfi_section s = {.addr = 0x1000, .eh = true, .word = 8, .search_nr = 2};
	struct cfi_row *row = NULL;

	if (!arch)
		skip();
	assert_int_equal(buf_append(&s.data, entries, sizeof(entries)), 0);
	assert_int_equal(buf_append(&s.search, index, sizeof(index)), 0);
	for (uint64_t addr = 0x2000; addr < 0x2020; addr += 5) {
		assert_int_equal(cfi_section_row(&s, arch, addr, &row), 0);
		free(row);
	}
	assert_int_equal(cfi_section_row(&s, arch, 0x1fff, &row), -ENOENT);
	assert_int_equal(cfi_section_row(&s, arch, 0x2020, &row), -ENOENT);
	s.data.len = 44; /* nothing is behind the empty one */
	assert_int_equal(cfi_section_row(&s, arch, 0x2000, &row), -ENOENT);
	cfi_section_release(&s);
}

#define TEXT  0x10000ull /* of no file: no call frame information */
#define DATA  0x30000ull
#define VDSO  0x50000ull
#define STACK 0x70000000ull

static void add_map(struct state *s, uint64_t addr, uint32_t prot, const char *name)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};
	struct moment at = {0};

	if (!(prot & PROT_EXEC))
		hdr.misc |= PERF_RECORD_MISC_MMAP_DATA;
	rec.mmap = (struct pd_mmap){.pid = PID,
				    .tid = PID,
				    .addr = addr,
				    .len = 0x10000,
				    .prot = prot,
				    .filename = name};
	assert_int_equal(state_apply(s, &rec, at), 0);
}

static int push_guess(const struct unwind_frame *frame, void *arg)
{
	struct chain *c = arg;

	assert_int_equal(frame->guessed, c->nr > 0);
	c->ip[c->nr++] = frame->ip;
	return 0;
}

/* Frame pointers are followed as long as what they lead to can be a frame. */
static void test_guesses(void **state)
{
	/* two frames of two words each at STACK + 16, and what leads to them */
	static const struct {
		uint64_t fp, up, ret, up2, ret2;
		size_t nr;
	} tests[] = {
		{STACK + 16, STACK + 32, TEXT + 1, 0, TEXT + 2, 3},
		{STACK + 16, 0, TEXT + 1, 0, 0, 2},			      /* the outermost */
		{STACK + 16, STACK + 32, TEXT + 1, STACK, TEXT + 2, 2},	      /* down again */
		{STACK + 16, STACK + 32, TEXT + 1, STACK + 999, TEXT + 2, 2}, /* not aligned */
		{STACK + 16, STACK + 32, TEXT + 1, 0, DATA + 2, 1},	      /* above is no text */
		{STACK + 16, STACK + 16, TEXT + 1, 0, TEXT + 2, 1},	      /* a circle */
		{STACK + 16, STACK + 32, DATA + 1, 0, TEXT + 2, 1},
		{STACK + 16, STACK + 32, 0, 0, TEXT + 2, 1},
		{STACK + 16, STACK + 32, VDSO, 0, TEXT + 2, 1},	    /* nothing is there */
		{STACK + 40, STACK + 32, TEXT + 1, 0, TEXT + 2, 1}, /* the copy ends before */
		{STACK - 16, STACK + 32, TEXT + 1, 0, TEXT + 2, 1},
		{STACK + 17, STACK + 32, TEXT + 1, 0, TEXT + 2, 1},
		{UINT64_MAX - 7, STACK + 32, TEXT + 1, 0, TEXT + 2, 1},
	};
	struct resolver_opts opts = {.kallsyms = "/dev/null"};
	struct place p = {.state = state_new()};

	assert_int_equal(resolver_new(&opts, &p.resolver, NULL), 0);
	assert_int_equal(cfi_tables_new(p.resolver, &p.tables), 0);
	add_map(p.state, TEXT, PROT_READ | PROT_EXEC, "//anon");
	add_map(p.state, DATA, PROT_READ | PROT_WRITE, "//anon");
	assert_int_equal(state_finish(p.state), 0);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const uint64_t words[] = {TEXT,		TEXT,	      tests[i].up,
					  tests[i].ret, tests[i].up2, tests[i].ret2};
		const uint64_t regs[] = {tests[i].fp, STACK, TEXT + 0x100}; /* rbp, rsp, rip */
		struct unwind_sample s = {
			.arch = unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64),
			.pid = PID,
			.at = {.time = 1},
			.regs_mask = 1 << 6 | 1 << 7 | 1 << 8,
			.regs = regs,
			.stack = (const uint8_t *)words,
			.stack_size = sizeof(words),
		};
		struct chain c = {.nr = 0};
		struct unwind u;

		assert_int_equal(unwind_init(&u, p.state, p.tables), 0);
		assert_int_equal(unwind_walk(&u, &s, MAX, push_guess, &c), 0);
		unwind_release(&u);
		assert_int_equal(c.nr, tests[i].nr);
		assert_int_equal(c.ip[0], TEXT + 0x100);
		if (c.nr > 1)
			assert_int_equal(c.ip[1], tests[i].ret - 1);
		if (c.nr > 2)
			assert_int_equal(c.ip[2], tests[i].ret2 - 1);
	}
	cfi_tables_free(p.tables);
	resolver_free(p.resolver);
	state_free(p.state);
}

/* Walks from @pc with a frame pointer of 0. Returns whether it ended for want of rules. */
static bool ends_without_rules(struct place *p, uint64_t pc)
{
	const uint64_t regs[] = {0, STACK, pc}, stack[16] = {1}; /* rbp, rsp, rip */
	struct unwind_sample s = {
		.arch = p->arch,
		.pid = PID,
		.at = {.time = 1},
		.regs_mask = 1 << 6 | 1 << 7 | 1 << 8,
		.regs = regs,
		.stack = (const uint8_t *)stack,
		.stack_size = sizeof(stack),
	};
	struct chain c = {.nr = 0};
	struct unwind u;
	bool without;

	assert_int_equal(unwind_init(&u, p->state, p->tables), 0);
	assert_int_equal(unwind_walk(&u, &s, MAX, push, &c), 0);
	without = u.no_rules;
	assert_int_equal(c.nr, 1);
	unwind_release(&u);
	return without;
}

/* Nothing called the first code of ld.so, which may have no call frame information. */
static void test_start(void **state)
{
	const uint64_t base = getauxval(AT_BASE);
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)base;
	struct place *p = *state;

	need_stack(p);
	if (!base) {
		print_message("a static program has no ld.so\n");
		skip();
	}
	assert_false(ends_without_rules(p, base + ehdr->e_entry));
	assert_false(ends_without_rules(p, base + ehdr->e_entry + 8));
	/* Data, and where nothing is mapped. */
	assert_true(ends_without_rules(p, base));
	assert_true(ends_without_rules(p, 8));
}

/* A stack of a handler, whose caller is in the vdso, and of the frame that the kernel made for it.
 */
static size_t walk_signal(struct place *p, uint32_t magic, uint64_t sp, struct chain *c)
{
	static const struct unwind_signal_layout layout = {
		.regs = 8, .pc = 144, .magic_at = 152, .magic = 0x1234};
	struct unwind_arch arch = *unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	const uint64_t regs[] = {STACK, STACK, TEXT + 0x100}; /* rbp, rsp, rip */
	/* Behind the two words of the handler's frame. */
	uint64_t words[2 + 20] = {0, VDSO + 0x11, [2 + 1 + 7] = sp, [2 + 18] = TEXT + 0x200,
				  [2 + 19] = magic};
	struct unwind_sample s = {
		.arch = &arch,
		.pid = PID,
		.at = {.time = 1},
		.regs_mask = 1 << 6 | 1 << 7 | 1 << 8,
		.regs = regs,
		.stack = (const uint8_t *)words,
		.stack_size = sizeof(words),
	};
	struct unwind u;

	arch.signal = &layout;
	c->nr = 0;
	assert_int_equal(unwind_init(&u, p->state, p->tables), 0);
	assert_int_equal(unwind_walk(&u, &s, MAX, push, c), 0);
	unwind_release(&u);
	return c->nr;
}

static void test_signals(void **state)
{
	struct resolver_opts opts = {.kallsyms = "/dev/null"};
	struct place p = {.state = state_new()};
	struct chain c;

	(void)state;
	assert_int_equal(resolver_new(&opts, &p.resolver, NULL), 0);
	assert_int_equal(cfi_tables_new(p.resolver, &p.tables), 0);
	add_map(p.state, TEXT, PROT_READ | PROT_EXEC, "//anon");
	add_map(p.state, VDSO, PROT_READ | PROT_EXEC, "[vdso]");
	assert_int_equal(state_finish(p.state), 0);
	assert_int_equal(walk_signal(&p, 0x1234, STACK + 500, &c), 3);
	assert_int_equal(c.ip[1], VDSO + 0x11);
	assert_int_equal(c.ip[2], TEXT + 0x200);
	/* No frame of a signal, and one that leads down. */
	assert_int_equal(walk_signal(&p, 0x1235, STACK + 500, &c), 2);
	assert_int_equal(c.ip[1], VDSO + 0x10);
	assert_int_equal(walk_signal(&p, 0x1234, STACK, &c), 2);
	cfi_tables_free(p.tables);
	resolver_free(p.resolver);
	state_free(p.state);
}

/* Functions of the vdso have no frame where a register has the return address. */
static void test_leaves(void **state)
{
	/* perf's numbers are DWARF's; words of x30, sp and pc. */
	const uint64_t regs[] = {0xffull << 56 | (TEXT + 0x80), STACK, VDSO + 0x100};
	const uint64_t word = 0;
	struct resolver_opts opts = {.kallsyms = "/dev/null"};
	struct place p = {.state = state_new()};
	struct unwind_sample s = {
		.arch = unwind_arch_find("aarch64", PERF_SAMPLE_REGS_ABI_64),
		.pid = PID,
		.at = {.time = 1},
		.regs_mask = 7ull << 30,
		.regs = regs,
		.stack = (const uint8_t *)&word,
		.stack_size = sizeof(word),
	};
	struct chain c = {.nr = 0};
	struct unwind u;

	(void)state;
	assert_int_equal(resolver_new(&opts, &p.resolver, NULL), 0);
	assert_int_equal(cfi_tables_new(p.resolver, &p.tables), 0);
	add_map(p.state, TEXT, PROT_READ | PROT_EXEC, "//anon");
	add_map(p.state, VDSO, PROT_READ | PROT_EXEC, "[vdso]");
	assert_int_equal(state_finish(p.state), 0);
	assert_int_equal(unwind_init(&u, p.state, p.tables), 0);
	assert_int_equal(unwind_walk(&u, &s, MAX, push, &c), 0);
	unwind_release(&u);
	assert_int_equal(c.nr, 2);
	assert_int_equal(c.ip[1], TEXT + 0x7f);
	cfi_tables_free(p.tables);
	resolver_free(p.resolver);
	state_free(p.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_chain, place_new, place_free),
		cmocka_unit_test_setup_teardown(test_truncated_stacks, place_new, place_free),
		cmocka_unit_test_setup_teardown(test_dropped_tables, place_new, place_free),
		cmocka_unit_test_setup_teardown(test_any_bytes, place_new, place_free),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_restored_registers),
		cmocka_unit_test(test_saved_words),
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_an_empty_entry_before),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test_setup_teardown(test_start, place_new, place_free),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
