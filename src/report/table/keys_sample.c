// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NS_PER_S   UINT64_C(1000000000)
#define QUANTUM_NS (NS_PER_S / 10) /* perf's default */

static int number_cell(uint64_t value, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = value};
	return 0;
}

static int number_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "%" PRIu64, cell.a);
}

static int socket_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell((uint64_t)(int64_t)trace_socket(src->trace, src->ws->s.cpu), ret);
}

static int socket_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return (int64_t)cell.a < 0 ? buf_printf(out, "-1") : buf_printf(out, "%03" PRIu64, cell.a);
}

static int cgroup_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.cgroup, ret);
}

/* As perf: N/A without a cgroup, "unknown" if the recording lacks its path. */
static const char *cgroup_path(const struct trace *t, struct hist_cell cell)
{
	return !cell.a ? "N/A" : state_cgroup(t->state, cell.a) ?: "unknown";
}

static int cgroup_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const char *path = cgroup_path(t, cell);

	return buf_append(out, path, strlen(path));
}

static int cgroup_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return strcmp(cgroup_path(t, a), cgroup_path(t, b)) ?: key_compare_numbers(t, a, b);
}

/* a and b: inode and device, as perf orders the threads' cgroup namespaces. */
static int cgroup_id_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct walk_sample *ws = src->ws;
	struct namespace_id id = state_cgroup_namespace(src->trace->state, ws->s.tid, ws->rec->at);

	*ret = (struct hist_cell){.a = id.ino, .b = id.dev};
	return 0;
}

static int cgroup_id_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "%" PRIu64 "/0x%" PRIx64, cell.b, cell.a);
}

static int cgroup_id_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return a.b == b.b ? key_compare_numbers(t, a, b) : a.b < b.b ? -1 : 1;
}

static int weight_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.weight, ret);
}

static int ins_lat_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.weight_var2, ret);
}

static int stage_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.weight_var3, ret);
}

static int data_page_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.data_page_size, ret);
}

static int code_page_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->ws->s.code_page_size, ret);
}

static int page_size_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	static const char units[] = "BKMGTPE";
	uint64_t size = cell.a;
	size_t unit = 0;

	if (!size)
		return buf_printf(out, "N/A");
	for (; size % 1024 == 0 && unit + 2 < sizeof(units); unit++)
		size /= 1024;
	return buf_printf(out, "%" PRIu64 "%c", size, units[unit]);
}

static int time_cell(const struct key_source *src, struct hist_cell *ret)
{
	uint64_t quantum = src->trace->opts.time_quantum ?: QUANTUM_NS;

	return number_cell(src->ws->s.time / quantum * quantum, ret);
}

static int time_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	if (t->opts.nanoseconds)
		return buf_printf(out, "%" PRIu64 ".%09" PRIu64, cell.a / NS_PER_S,
				  cell.a % NS_PER_S);
	return buf_printf(out, "%" PRIu64 ".%06" PRIu64, cell.a / NS_PER_S,
			  cell.a % NS_PER_S / 1000);
}

static int trace_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct pd_sample *s = &src->ws->s;
	struct tracing *t = src->trace->tracing;
	struct buf text = {0};
	int rc = 0;

	if (t && s->raw)
		rc = (src->trace->opts.raw_tracing ? tracing_print_raw : tracing_print)(
			t, src->ws->evsel, s->raw, s->raw_size, &text);
	*ret = (struct hist_cell){
		.a = (uintptr_t)strpool_intern_len(
			src->names->pool, text.len ? (const char *)text.data : "", text.len),
	};
	buf_release(&text);
	return rc ?: ret->a ? 0 : -ENOMEM;
}

static void data_frame(const struct key_source *src, struct frame *ret)
{
	const struct walk_sample *ws = src->ws;

	frames_resolve_data(src->frames, ws->s.pid, ws->s.cpumode, ws->s.addr, ws->rec->at, ret);
}

static int dso_daddr_cell(const struct key_source *src, struct hist_cell *ret)
{
	struct frame f;

	data_frame(src, &f);
	return key_dso_cell(src->trace, &f, ret);
}

static int sym_daddr_cell(const struct key_source *src, struct hist_cell *ret)
{
	struct frame f;

	data_frame(src, &f);
	return key_sym_cell(&f, ret);
}

static int parent_cell(const struct key_source *src, struct hist_cell *ret)
{
	const char *name = src->parent ? src->parent->name : "[other]";

	*ret = (struct hist_cell){.a = (uintptr_t)strpool_intern(src->names->pool, name)};
	return ret->a ? 0 : -ENOMEM;
}

static int dso_from_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_dso_cell(src->trace, src->from, ret);
}

static int sym_from_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_sym_cell(src->from, ret);
}

static int dso_to_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_dso_cell(src->trace, src->frame, ret);
}

static int sym_to_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_sym_cell(src->frame, ret);
}

static int line_from_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_line_cell(src, src->from, ret);
}

static int line_to_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_line_cell(src, src->frame, ret);
}

/* struct perf_branch_entry of perf_event.h, a word of bits */
enum {
	BRANCH_MISPRED = 1,
	BRANCH_PREDICTED = 2,
	BRANCH_IN_TX = 4,
	BRANCH_ABORT = 8,
};

static int mispredict_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->branch->flags & (BRANCH_MISPRED | BRANCH_PREDICTED), ret);
}

static int mispredict_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "%s",
			  cell.a & BRANCH_PREDICTED ? "N"
			  : cell.a & BRANCH_MISPRED ? "Y"
						    : "N/A");
}

static int in_tx_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(!!(src->branch->flags & BRANCH_IN_TX), ret);
}

static int in_tx_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "%c", cell.a ? 'T' : '.');
}

static int abort_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(!!(src->branch->flags & BRANCH_ABORT), ret);
}

static int abort_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "%c", cell.a ? 'A' : '.');
}

static int cycles_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(src->branch->flags >> 4 & 0xffff, ret);
}

static int cycles_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return cell.a ? number_text(t, cell, out) : buf_printf(out, "-");
}

static int parallelism_cell(const struct key_source *src, struct hist_cell *ret)
{
	return number_cell(trace_parallelism(src->trace, &src->ws->s), ret);
}

#define WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define LATENCY PERF_SAMPLE_WEIGHT_STRUCT
#define STACK	PERF_SAMPLE_BRANCH_STACK

// clang-format off
const struct sort_key sample_keys[] = {
	{"socket", NULL, "Socket", true, false, PERF_SAMPLE_CPU, false, socket_cell, socket_text, key_compare_numbers},
	{"cgroup", NULL, "Cgroup", false, false, PERF_SAMPLE_CGROUP, false, cgroup_cell, cgroup_text, cgroup_compare, .whole = true},
	{"cgroup_id", NULL, "cgroup id (dev/inode)", false, false, PERF_SAMPLE_TID, false, cgroup_id_cell, cgroup_id_text, cgroup_id_compare, .whole = true, .of_namespace = true},
	{"time", NULL, "Time", true, false, PERF_SAMPLE_TIME, false, time_cell, time_text, key_compare_numbers, .whole = true},
	{"parallelism", NULL, "Parallelism", true, false, PERF_SAMPLE_TIME, false, parallelism_cell, number_text, key_compare_numbers, .whole = true, .of_switches = true},
	{"trace", NULL, "Trace output", false, false, PERF_SAMPLE_RAW, true, trace_cell, key_string_text, key_compare_strings, .whole = true, .alone = true},
	{"parent", NULL, "Parent symbol", false, false, 0, true, parent_cell, key_string_text, key_compare_strings, .whole = true, .of_parent = true},
	{"local_weight", "weight", "Local Weight", true, false, WEIGHTS, false, weight_cell, number_text, key_compare_numbers, .whole = true},
	{"local_ins_lat", "ins_lat", "Local INSTR Latency", true, false, LATENCY, false, ins_lat_cell, number_text, key_compare_numbers, .whole = true},
	{"local_p_stage_cyc", "p_stage_cyc", "Local Pipeline Stage Cycle", true, false, LATENCY, false, stage_cell, number_text, key_compare_numbers, .whole = true},
	{"local_retire_lat", NULL, "Local Retire Latency", true, false, LATENCY, false, stage_cell, number_text, key_compare_numbers, .whole = true},
	{"data_page_size", NULL, "Data Page Size", true, false, PERF_SAMPLE_DATA_PAGE_SIZE, false, data_page_cell, page_size_text, key_compare_numbers, .whole = true},
	{"code_page_size", NULL, "Code Page Size", true, false, PERF_SAMPLE_CODE_PAGE_SIZE, false, code_page_cell, page_size_text, key_compare_numbers, .whole = true},
	{"symbol_daddr", NULL, "Data Symbol", false, false, PERF_SAMPLE_ADDR, false, sym_daddr_cell, key_sym_text, key_sym_compare, .whole = true},
	{"dso_daddr", NULL, "Data Object", false, false, PERF_SAMPLE_ADDR, false, dso_daddr_cell, key_dso_text, key_dso_compare, .whole = true},
	{"dso_from", NULL, "Source Shared Object", false, false, STACK, false, dso_from_cell, key_dso_text, key_dso_compare, .of_branch = true},
	{"dso_to", NULL, "Target Shared Object", false, false, STACK, false, dso_to_cell, key_dso_text, key_dso_compare, .of_branch = true},
	{"symbol_from", NULL, "Source Symbol", false, false, STACK, false, sym_from_cell, key_sym_text, key_sym_compare, .of_branch = true},
	{"symbol_to", NULL, "Target Symbol", false, false, STACK, false, sym_to_cell, key_sym_text, key_sym_compare, .of_branch = true},
	{"srcline_from", NULL, "From Source:Line", false, false, STACK, true, line_from_cell, key_string_text, key_compare_strings, .of_line = true, .of_branch = true},
	{"srcline_to", NULL, "To Source:Line", false, false, STACK, true, line_to_cell, key_string_text, key_compare_strings, .of_line = true, .of_branch = true},
	{"mispredict", NULL, "Branch Mispredicted", false, false, STACK, false, mispredict_cell, mispredict_text, key_compare_numbers, .of_branch = true},
	{"in_tx", NULL, "Branch in transaction", false, false, STACK, false, in_tx_cell, in_tx_text, key_compare_numbers, .of_branch = true},
	{"abort", NULL, "Transaction abort", false, false, STACK, false, abort_cell, abort_text, key_compare_numbers, .of_branch = true},
	{"cycles", NULL, "Basic Block Cycles", true, false, STACK, false, cycles_cell, cycles_text, key_compare_numbers, .of_branch = true},
};
// clang-format on

const size_t nr_sample_keys = sizeof(sample_keys) / sizeof(sample_keys[0]);
