// SPDX-License-Identifier: Apache-2.0
#include "report/table/data_src.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Fields of union perf_mem_data_src, also those that an older <linux/perf_event.h> lacks. */
struct fields {
	unsigned int op, lvl, snoop, lock, tlb, lvl_num, remote, snoopx, blk, hops;
};

static unsigned int take(uint64_t *v, unsigned int bits)
{
	unsigned int ret = (unsigned int)(*v & ((1u << bits) - 1));

	*v >>= bits;
	return ret;
}

static struct fields split(uint64_t v)
{
	struct fields f;

	f.op = take(&v, 5);
	f.lvl = take(&v, 14);
	f.snoop = take(&v, 5);
	f.lock = take(&v, 2);
	f.tlb = take(&v, 7);
	f.lvl_num = take(&v, 4);
	f.remote = take(&v, 1);
	f.snoopx = take(&v, 2);
	f.blk = take(&v, 3);
	f.hops = take(&v, 3);
	return f;
}

struct data_src_text {
	char *s;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void put(struct data_src_text *t, const char *format,
						      ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->s + t->len, DATA_SRC_TEXT_MAX - t->len, format, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n;
	if (t->len >= DATA_SRC_TEXT_MAX)
		t->len = DATA_SRC_TEXT_MAX - 1;
}

/* Appends the names of the set bits, with "or" between them. Returns whether a bit was set. */
static bool put_alternatives(struct data_src_text *t, unsigned int bits, const char *const *names,
			     unsigned int nr)
{
	bool any = false;

	for (unsigned int i = 0; i < nr; i++)
		if (bits >> i & 1) {
			put(t, "%s%s", any ? " or " : "", names[i]);
			any = true;
		}
	return any;
}

/* Appends one operation, the first of several. */
static void put_op(struct data_src_text *t, const struct fields *f)
{
	static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
	const char *name = "No";

	for (unsigned int i = NR(names); i--;)
		if (f->op >> i & 1)
			name = names[i];
	put(t, "%s", name);
}

#define LVL_NA	   1u
#define LVL_HIT	   2u
#define LVL_MISS   4u
#define LVL_SHIFT  3 /* of the first level's bit */
#define LVL_NUM_NA 15

/* Uses the level's number if there is one: the older bits name fewer levels. */
static void put_lvl(struct data_src_text *t, const struct fields *f)
{
	static const char *const bits[] = {
		"L1",
		"LFB/MAB",
		"L2",
		"L3",
		"Local RAM",
		"Remote RAM (1 hop)",
		"Remote RAM (2 hops)",
		"Remote Cache (1 hop)",
		"Remote Cache (2 hops)",
		"I/O",
		"Uncached",
	};
	static const char *const numbers[16] = {
		"",	"L1",	    "L2",  "L3",  "L4",	       "L2 MHB",  "Memory-side Cache",
		NULL,	"Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
		"PMEM", "",
	};
	static const char *const hops[8] = {
		"", "core, same node ", "node, same socket ", "socket, same board ", "board ",
	};

	if (f->lvl_num && f->lvl_num != LVL_NUM_NA) {
		put(t, "%s%s", f->remote ? "Remote " : "", hops[f->hops] ?: "");
		if (numbers[f->lvl_num])
			put(t, "%s ", numbers[f->lvl_num]);
		else
			put(t, "Unknown level %u ", f->lvl_num);
	} else if (put_alternatives(t, f->lvl >> LVL_SHIFT, bits, NR(bits))) {
		put(t, " ");
	} else {
		put(t, "N/A");
		return;
	}
	put(t, "%s", f->lvl & LVL_HIT ? "hit" : f->lvl & LVL_MISS ? "miss" : "");
}

static void put_snoop(struct data_src_text *t, const struct fields *f)
{
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};

	if (!put_alternatives(t, f->snoop | f->snoopx << 5, names, NR(names)))
		put(t, "N/A");
}

#define TLB_HIT	 2u
#define TLB_MISS 4u

static void put_tlb(struct data_src_text *t, const struct fields *f)
{
	static const char *const names[] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};

	if (!put_alternatives(t, f->tlb & ~(TLB_HIT | TLB_MISS), names, NR(names)))
		put(t, "N/A");
	put(t, "%s%s", f->tlb & TLB_HIT ? " hit" : "", f->tlb & TLB_MISS ? " miss" : "");
}

#define BLK_NA	 1u
#define BLK_DATA 2u
#define BLK_ADDR 4u

static void put_blk(struct data_src_text *t, const struct fields *f)
{
	if (f->blk & BLK_NA || !f->blk)
		put(t, " N/A");
	else
		put(t, "%s%s", f->blk & BLK_DATA ? " Data" : "", f->blk & BLK_ADDR ? " Addr" : "");
}

static void put_lock(struct data_src_text *t, const struct fields *f)
{
	put(t, "%s", f->lock & 1 ? "N/A" : f->lock & 2 ? "Yes" : "No");
}

static const struct {
	const char *name;
	void (*put)(struct data_src_text *t, const struct fields *f);
} parts[] = {
	[DATA_SRC_OP] = {"OP", put_op},	       [DATA_SRC_LVL] = {"LVL", put_lvl},
	[DATA_SRC_SNOOP] = {"SNP", put_snoop}, [DATA_SRC_TLB] = {"TLB", put_tlb},
	[DATA_SRC_LOCK] = {"LCK", put_lock},   [DATA_SRC_BLOCKED] = {"BLK", put_blk},
};

void data_src_part(uint64_t data_src, enum data_src_part part, char *ret)
{
	struct fields f = split(data_src);
	struct data_src_text t = {.s = ret};

	*ret = '\0';
	parts[part].put(&t, &f);
}

void data_src_text(uint64_t data_src, char *ret)
{
	struct fields f = split(data_src);
	struct data_src_text t = {.s = ret};

	for (size_t i = 0; i < NR(parts); i++) {
		put(&t, "|%s ", parts[i].name);
		parts[i].put(&t, &f);
	}
}
