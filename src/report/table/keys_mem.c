// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/itrace/samples.h"
#include "report/table/data_src.h"

#define CACHELINE 64 /* bytes */

static int set_text(const struct key_source *src, const char *text, struct hist_cell *ret)
{
	const char *own = strpool_intern(src->names->pool, text);

	*ret = (struct hist_cell){.a = (uintptr_t)own};
	return own ? 0 : -ENOMEM;
}

static int part_cell(const struct key_source *src, enum data_src_part part, struct hist_cell *ret)
{
	char text[DATA_SRC_TEXT_MAX];

	data_src_part(src->ws->s.data_src, part, text);
	return set_text(src, text + (text[0] == ' '), ret);
}

static int mem_cell(const struct key_source *src, struct hist_cell *ret)
{
	return part_cell(src, DATA_SRC_LVL, ret);
}

static int snoop_cell(const struct key_source *src, struct hist_cell *ret)
{
	return part_cell(src, DATA_SRC_SNOOP, ret);
}

static int tlb_cell(const struct key_source *src, struct hist_cell *ret)
{
	return part_cell(src, DATA_SRC_TLB, ret);
}

static int locked_cell(const struct key_source *src, struct hist_cell *ret)
{
	return part_cell(src, DATA_SRC_LOCK, ret);
}

static int blocked_cell(const struct key_source *src, struct hist_cell *ret)
{
	return part_cell(src, DATA_SRC_BLOCKED, ret);
}

/* As perf, s for memory that processes share, and X where nothing is mapped. */
static int dcacheline_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct walk_sample *ws = src->ws;
	uint64_t line = ws->s.addr / CACHELINE * CACHELINE;
	char text[4096];
	struct frame f;

	frames_resolve_data(src->frames, ws->s.pid, ws->s.cpumode, line, ws->rec->at, &f);
	if (f.sym)
		snprintf(text, sizeof(text), "[%c] %s+0x%" PRIx64, frame_level(f.cpumode),
			 f.sym->name, f.addr - f.sym->start);
	else
		snprintf(text, sizeof(text), "[%c] 0x%016" PRIx64,
			 f.dso ? frame_level(f.cpumode) : 'X', f.addr);
	return set_text(src, text, ret);
}

static int phys_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.phys_addr, .b = src->ws->s.cpumode};
	return 0;
}

static int phys_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "[%c] 0x%016" PRIx64, frame_level((uint8_t)cell.b), cell.a);
}

static const struct {
	uint64_t bit;
	const char *name;
} transaction_bits[] = {
	{PERF_TXN_ELISION, "EL "},
	{PERF_TXN_TRANSACTION, "TX "},
	{PERF_TXN_SYNC, "SYNC "},
	{PERF_TXN_ASYNC, "ASYNC "},
	{PERF_TXN_RETRY, "RETRY "},
	{PERF_TXN_CONFLICT, "CON "},
	{PERF_TXN_CAPACITY_WRITE, "CAP-WRITE "},
	{PERF_TXN_CAPACITY_READ, "CAP-READ "},
};

static int transaction_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.transaction};
	return 0;
}

/* In perf's words. */
static int transaction_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	uint64_t v = cell.a;
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(transaction_bits) / sizeof(transaction_bits[0]); i++)
		if (v & transaction_bits[i].bit)
			rc = buf_printf(out, "%s", transaction_bits[i].name);
	if (!rc && v && !(v & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		rc = buf_printf(out, "NEITHER ");
	if (!rc && v & PERF_TXN_ABORT_MASK)
		rc = buf_printf(out, ":%" PRIx64,
				(uint64_t)((v & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT));
	return rc;
}

static int simd_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->made ? src->ws->made->simd : 0};
	return 0;
}

/* In perf's words. */
static int simd_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	static const char *const archs[] = {
		[AUX_SIMD_SVE] = "SVE", [AUX_SIMD_SME] = "SME", [AUX_SIMD_ASE] = "ASE"};
	static const char lanes[] = {
		[AUX_LANES_UNKNOWN] = '.', [AUX_LANES_PARTIAL] = 'p',	   [AUX_LANES_EMPTY] = 'e',
		[AUX_LANES_FULL] = 'f',	   [AUX_LANES_NO_PREDICATE] = 'd',
	};
	const uint8_t simd = (uint8_t)cell.a;

	return !simd ? 0
		     : buf_printf(out, "[%c] %s", lanes[aux_simd_lanes(simd)],
				  archs[aux_simd_arch(simd)]);
}

#define SOURCE PERF_SAMPLE_DATA_SRC

// clang-format off
const struct sort_key mem_keys[] = {
	{"mem", NULL, "Memory access", false, false, SOURCE, true, mem_cell, key_string_text, key_compare_strings, .whole = true},
	{"snoop", NULL, "Snoop", false, false, SOURCE, true, snoop_cell, key_string_text, key_compare_strings, .whole = true},
	{"tlb", NULL, "TLB access", false, false, SOURCE, true, tlb_cell, key_string_text, key_compare_strings, .whole = true},
	{"locked", NULL, "Locked", false, false, SOURCE, true, locked_cell, key_string_text, key_compare_strings, .whole = true},
	{"blocked", NULL, "Blocked", false, false, SOURCE, true, blocked_cell, key_string_text, key_compare_strings, .whole = true},
	{"dcacheline", NULL, "Data Cacheline", false, false, PERF_SAMPLE_ADDR, true, dcacheline_cell, key_string_text, key_compare_strings, .whole = true},
	{"phys_daddr", NULL, "Data Physical Address", false, false, PERF_SAMPLE_PHYS_ADDR, false, phys_cell, phys_text, key_compare_numbers, .whole = true},
	{"transaction", NULL, "Transaction", false, false, PERF_SAMPLE_TRANSACTION, false, transaction_cell, transaction_text, key_compare_numbers, .whole = true},
	{"simd", NULL, "Simd", false, false, 0, false, simd_cell, simd_text, key_compare_numbers, .whole = true},
};
// clang-format on

const size_t nr_mem_keys = sizeof(mem_keys) / sizeof(mem_keys[0]);
