// SPDX-License-Identifier: Apache-2.0
#include "render/lines.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "auxtrace/itrace/samples.h"
#include "base/clock_ns.h"
#include "base/outbuf.h"
#include "perfdata/feature.h"
#include "perfdata/regs.h"
#include "report/table/data_src.h"
#include "render/lines_code.h"
#include "render/lines_head.h"
#include "render/lines_number.h"
#include "render/record_line.h"
#include "render/text.h"

/* perf's fields of a clock that is related to the wall clock. */
static void find_wall_clock(struct lines *l, const struct trace *t)
{
	struct pd_clock_data data;
	const uint8_t *p;
	size_t len;

	if (data_feature(t->df, HEADER_CLOCK_DATA, &p, &len) ||
	    pd_feature_clock_data_decode(p, len, data_swapped(t->df), &data))
		return;
	l->wall_known = true;
	l->wall = data.wall_clock_ns - data.clockid_time_ns;
}

void lines_init(struct lines *l, const struct trace *t, const struct lines_opts *opts)
{
	*l = (struct lines){.opts = *opts, .arch = t->arch};
	find_wall_clock(l, t);
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++) {
		const char *name = pd_evlist_at(t->evlist, i)->name;
		int n = (int)text_columns(name, strlen(name));

		if (n > l->name_width)
			l->name_width = n;
	}
}

bool lines_in_sequence(const struct lines_opts *opts, const struct script_fields *fields,
		       const struct pd_evlist *evlist)
{
	uint64_t all = 0;

	for (size_t i = 0; i < pd_evlist_count(evlist); i++)
		all |= script_fields_of(fields, pd_evlist_at(evlist, i));
	return opts->since != LINES_BOOT ||
	       all & (SCRIPT_DATA_SRC | SCRIPT_CALLINDENT | SCRIPT_SRCCODE);
}

static void put_period(struct outbuf *out, uint64_t period)
{
	if (period > INT64_MAX) {
		outbuf_format(out, "%10" PRIu64 " ", period);
		return;
	}
	put_int(out, (int64_t)period, 10, ' ');
	outbuf_char(out, ' ');
}

static void put_symbol(struct outbuf *out, const struct frame *f, uint64_t fields)
{
	if (!f->sym) {
		outbuf_text(out, "[unknown]");
		return;
	}
	text_append(out, f->sym->name, 0);
	if (fields & SCRIPT_SYMOFF)
		put_hex(out, "+0x", f->addr - (f->in ? f->in : f->sym)->start, 0);
}

/* As perf, on a line of its own; in unknown lines the place in the file. */
static void put_srcline(struct outbuf *out, const struct frame *f)
{
	const char *name = f->lines ? f->lines->frame[f->line].srcline : NULL;

	if (!f->dso)
		return;
	outbuf_text(out, "\n  ");
	text_append(out, name ? name : f->dso->short_name, 0);
	if (!name) {
		put_hex(out, "[", f->addr, 0);
		outbuf_char(out, ']');
	}
}

static void put_dso(struct outbuf *out, const struct frame *f, uint64_t fields)
{
	const struct dso *dso = f->dso;
	const char *name = dso ? dso->line_name : "[unknown]";
	/* An offset in the kernel would repeat the address. */
	bool offset =
		(fields & SCRIPT_DSOFF) && dso && dso->kind != DSO_KERNEL && dso->kind != DSO_GUEST;

	if (!(fields & (SCRIPT_DSO | SCRIPT_DSOFF)) || f->in)
		return;
	if (offset && dso->kind == DSO_MODULE)
		name = dso->name; /* the user of an offset needs the file's real path */
	outbuf_text(out, " (");
	text_append(out, name, 0);
	if (offset)
		put_hex(out, "+0x", f->addr, 0);
	outbuf_char(out, ')');
}

static void put_symbol_and_dso(struct outbuf *out, const struct frame *f, uint64_t fields)
{
	if (fields & SCRIPT_SYM) {
		outbuf_char(out, ' ');
		put_symbol(out, f, fields);
	}
	put_dso(out, f, fields);
}

/* Fields that decide about the text of a symbol and a dso. */
#define PLACE_FIELDS (SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_DSOFF)

static void put_place(struct outbuf *out, struct line_texts *texts, const struct frame *f,
		      uint64_t fields)
{
	uint32_t key = (uint32_t)(fields & PLACE_FIELDS);
	struct kept_place *kept = line_texts_place(texts, f);

	put_hex(out, "", f->ip, 16);
	if (!f->in && kept_place_is(kept, f, key)) {
		outbuf_bytes(out, kept->text, kept->len);
	} else if (key) {
		size_t begin = out->b.len, len;

		put_symbol_and_dso(out, f, fields);
		len = out->b.len - begin;
		if (!f->in && !out->failed && len && len <= sizeof(kept->text)) {
			*kept = (struct kept_place){f->addr, f->dso, f->sym, key, (uint32_t)len};
			memcpy(kept->text, out->b.data + begin, len);
		}
	}
	if ((fields & SCRIPT_SRCLINE) && (fields & SCRIPT_IP))
		put_srcline(out, f);
	if (f->in)
		outbuf_text(out, INLINED_MARK);
}

static void put_addr(struct outbuf *out, const struct script_sample *s)
{
	put_hex(out, "", s->ws->s.addr, 16);
	if (!s->has_addr_frame)
		return;
	if (s->fields & SCRIPT_SYM) {
		outbuf_char(out, ' ');
		put_symbol(out, &s->addr, s->fields);
	}
	put_dso(out, &s->addr, s->fields);
}

static void put_page_size(struct outbuf *out, uint64_t size)
{
	if (!size)
		outbuf_text(out, " N/A");
	else if (size % (1 << 30) == 0)
		outbuf_format(out, " %" PRIu64 "G", size >> 30);
	else if (size % (1 << 20) == 0)
		outbuf_format(out, " %" PRIu64 "M", size >> 20);
	else
		outbuf_format(out, " %" PRIu64 "K", size >> 10);
}

/* More of the flags of struct perf_branch_entry. */
#define BRANCH_NOT_TAKEN (1ull << 33)
#define BRANCH_EXTENDED	 15 /* the type is among the new ones */

static const char *branch_type(uint64_t flags)
{
	static const char *const types[] = {
		"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const extended[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
	};
	unsigned int type = flags >> 20 & 0xf;

	if (type != BRANCH_EXTENDED)
		return types[type];
	return extended[flags >> 26 & 0xf] ?: "unknown";
}

/* 'P': predicted; 'M': mispredicted; 'N': not taken. */
static const char *branch_prediction(uint64_t flags)
{
	if (!(flags & (PD_BRANCH_MISPREDICTED | PD_BRANCH_PREDICTED | BRANCH_NOT_TAKEN)))
		return "-";
	if (flags & BRANCH_NOT_TAKEN)
		return flags & PD_BRANCH_PREDICTED ? "PN" : "MN";
	return flags & PD_BRANCH_PREDICTED ? "P" : "M";
}

/* /prediction/in transaction/abort/cycles/type/speculation */
static void put_branch_flags(struct outbuf *out, uint64_t flags)
{
	static const char *const speculations[] = {
		"-",
		"SPEC_WRONG_PATH",
		"NON_SPEC_CORRECT_PATH",
		"SPEC_CORRECT_PATH",
	};

	outbuf_format(out, "/%s/%c/%c/%u/%s/%s ", branch_prediction(flags),
		      flags & PD_BRANCH_IN_TX ? 'X' : '-', flags & PD_BRANCH_ABORT ? 'A' : '-',
		      pd_branch_cycles(&(struct pd_branch){.flags = flags}), branch_type(flags),
		      speculations[flags >> 24 & 3]);
}

/* from/to/…, the newest first. */
static void put_branches(struct outbuf *out, const struct pd_sample *p)
{
	for (uint64_t i = 0; i < p->branch_nr; i++) {
		struct pd_branch b;

		memcpy(&b, &p->branches[i], sizeof(b));
		outbuf_format(out, " 0x%" PRIx64 "/0x%" PRIx64, b.from, b.to);
		put_branch_flags(out, b.flags);
	}
}

/* As put_branches(), with the places in the files. */
static void put_branch_offsets(struct outbuf *out, const struct script_sample *s)
{
	const struct pd_sample *p = &s->ws->s;

	for (uint64_t i = 0; i < p->branch_nr; i++) {
		struct pd_branch b;

		memcpy(&b, &p->branches[i], sizeof(b));
		for (size_t end = 0; end < 2; end++) {
			const struct frame *f = &s->branch[2 * i + end];

			outbuf_format(out, "%s0x%" PRIx64, end ? "/" : " ",
				      f->dso ? f->addr : f->ip);
			if (!(s->fields & SCRIPT_DSO))
				continue;
			outbuf_char(out, '(');
			text_append(out, f->dso ? f->dso->line_name : "[unknown]", 0);
			outbuf_char(out, ')');
		}
		put_branch_flags(out, b.flags);
	}
}

static void put_branch_counters(struct outbuf *out, const struct pd_sample *p)
{
	for (uint64_t i = 0; p->branch_counters && i < p->branch_nr; i++) {
		uint64_t counters;

		memcpy(&counters, &p->branch_counters[i], sizeof(counters));
		outbuf_format(out, "%s0x%" PRIx64, i ? " " : " br_cntr: ", counters);
	}
}

static void put_regs(const struct lines *l, struct outbuf *out, uint64_t abi, uint64_t mask,
		     const uint64_t *regs)
{
	unsigned int n = 0;

	if (!regs)
		return;
	outbuf_format(out, " ABI:%" PRIu64 " ", abi);
	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = pd_reg_name(l->arch, bit);
		uint64_t v;

		if (!(mask & 1ull << bit))
			continue;
		memcpy(&v, &regs[n++], sizeof(v));
		outbuf_format(out, "%5s:0x%" PRIx64 " ", name ? name : "unknown", v);
	}
}

static bool is_bpf_output(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

static void put_bpf_output(struct outbuf *out, const struct pd_sample *p)
{
	outbuf_text(out, " BPF output:");
	lines_put_bytes(out, p->raw, p->raw_size);
}

static void put_branch_end(struct outbuf *out, const struct frame *f, uint64_t fields)
{
	put_symbol(out, f, fields | SCRIPT_SYMOFF);
	if (fields & SCRIPT_DSO) {
		outbuf_char(out, '(');
		text_append(out, f->dso ? f->dso->line_name : "[unknown]", 0);
		outbuf_char(out, ')');
	}
}

/* As put_branches(), with symbols. */
static void put_branch_symbols(struct outbuf *out, const struct script_sample *s)
{
	const struct pd_sample *p = &s->ws->s;

	for (uint64_t i = 0; i < p->branch_nr; i++) {
		struct pd_branch b;

		memcpy(&b, &p->branches[i], sizeof(b));
		outbuf_char(out, ' ');
		put_branch_end(out, &s->branch[2 * i], s->fields);
		outbuf_char(out, '/');
		put_branch_end(out, &s->branch[2 * i + 1], s->fields);
		put_branch_flags(out, b.flags);
	}
}

/* As perf, writes "unknown" for an id without a name in the recording, and not the id. */
static void put_cgroup(struct outbuf *out, const struct trace *t, uint64_t id)
{
	const char *path = state_cgroup(t->state, id);

	outbuf_char(out, ' ');
	if (path)
		text_append(out, path, 0);
	else
		outbuf_format(out, "unknown:%" PRIu64, id);
}

/* Writes a tracepoint's fields by its format. */
static void put_trace(struct outbuf *out, const struct script_sample *s)
{
	const struct pd_sample *p = &s->ws->s;
	size_t begin = out->b.len;
	struct buf raw = {0};

	if (!s->tracing || !p->raw)
		return;
	if (tracing_print(s->tracing, s->ws->evsel, p->raw, p->raw_size, &out->b)) {
		out->failed = true;
		return;
	}
	if (out->b.len == begin ||
	    text_is_plain((const char *)out->b.data + begin, out->b.len - begin))
		return;
	if (buf_append(&raw, out->b.data + begin, out->b.len - begin)) {
		out->failed = true;
		return;
	}
	out->b.len = begin;
	if (text_escape_but_tabs(&out->b, (const char *)raw.data, raw.len))
		out->failed = true;
	buf_release(&raw);
}

/* As perf, pads to the longest text so far, so that the next columns mostly stay aligned. */
static void put_data_src(struct lines *l, struct outbuf *out, uint64_t data_src)
{
	char text[DATA_SRC_TEXT_MAX];

	data_src_text(data_src, text);
	if (l->data_src_width < (int)strlen(text))
		l->data_src_width = (int)strlen(text);
	outbuf_format(out, "%16" PRIx64 " %-*s", data_src, l->data_src_width, text);
}

static void put_data(struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	const struct pd_sample *p = &s->ws->s;
	uint64_t f = s->fields;

	if (f & SCRIPT_TRACE)
		put_trace(out, s);
	if ((f & SCRIPT_ADDR) && !s->is_branch)
		put_addr(out, s);
	if (f & SCRIPT_DATA_SRC)
		put_data_src(l, out, p->data_src);
	if (f & SCRIPT_WEIGHT)
		outbuf_format(out, "%16" PRIu64, p->weight);
	if (f & SCRIPT_INS_LAT)
		outbuf_format(out, "%16u", p->weight_var2);
	if (f & SCRIPT_RETIRE_LAT)
		outbuf_format(out, "%16u", p->weight_var3);
}

/* Instructions per cycle, as far as the trace counts cycles. */
static void put_ipc(struct outbuf *out, const struct itrace_sample *made)
{
	uint64_t hundredths;

	if (!made || (made->kind != ITRACE_BRANCHES && made->kind != ITRACE_INSTRUCTIONS) ||
	    !made->cycles)
		return;
	hundredths = 100 * (uint64_t)made->insns / made->cycles;
	outbuf_format(out, " \t IPC: %" PRIu64 ".%02" PRIu64 " (%u/%u)", hundredths / 100,
		      hundredths % 100, made->insns, made->cycles);
}

static void put_flags(struct outbuf *out, const struct script_sample *s)
{
	uint32_t flags = s->ws->made ? s->ws->made->flags : 0;
	struct kept_flags *kept = line_texts_flags(s->texts, flags);
	size_t begin = out->b.len;
	char name[32];

	if (kept->len && kept->flags == flags) {
		outbuf_bytes(out, kept->text, kept->len);
		return;
	}
	aux_flags_name(flags, name, sizeof(name));
	outbuf_text(out, "  ");
	text_append(out, name, -21);
	outbuf_char(out, ' ');
	if (out->failed || out->b.len - begin > sizeof(kept->text))
		return;
	kept->flags = flags;
	kept->len = (uint32_t)(out->b.len - begin);
	memcpy(kept->text, out->b.data + begin, kept->len);
}

/* As perf, lets columns behind stay where they are as long as they can. */
static void pad_call(struct lines *l, struct outbuf *out, int width)
{
	if (width > l->call_width || (width && width < l->call_width - 52))
		l->call_width = (width + 4 + 31) / 32 * 32;
	if (width < l->call_width)
		outbuf_format(out, "%*s", l->call_width - width, "");
}

/* A call's target, or the function that a return leaves, indented by the depth of calls. */
static void put_call(struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	const struct frame *f = script_call_frame(s);
	int indent = s->depth < 1024 ? (int)s->depth * 4 : 4096, width = 0;
	const char *dso = s->at.dso ? s->at.dso->line_name : "[unknown]";

	if (s->fields & SCRIPT_DSO && !(s->fields & (SCRIPT_IP | SCRIPT_ADDR))) {
		outbuf_char(out, '(');
		text_append(out, dso, l->opts.dso_width);
		outbuf_text(out, ")\t");
	}
	if (f && (f->sym || f->ip)) {
		outbuf_format(out, "%*s", indent, "");
		if (f->sym)
			text_append(out, f->sym->name, 0);
		else
			put_hex(out, "", f->ip, 16);
		width = indent +
			(f->sym ? (int)text_columns(f->sym->name, strlen(f->sym->name)) : 16);
	}
	pad_call(l, out, width);
}

/* Writes what could not be decoded, in perf's words. */
static void put_error(struct lines *l, struct outbuf *out, const struct walk_sample *ws)
{
	const struct pd_sample *p = &ws->s;
	uint64_t time = p->time ? lines_since(l, p->time) : 0;

	outbuf_format(out,
		      " instruction trace error type 1 time %" PRIu64 ".%09" PRIu64
		      " cpu %d pid %d tid %d ip 0x%" PRIx64 ": ",
		      (uint64_t)(time / NS_PER_SEC), (uint64_t)(time % NS_PER_SEC), (int)p->cpu,
		      (int)p->pid, (int)p->tid, p->ip);
	text_append(out, ws->text ? ws->text : "", 0);
	outbuf_char(out, '\n');
}

static void put_code(const struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	if (s->is_branch) {
		outbuf_char(out, ' ');
		put_place(out, s->texts, &s->at, s->fields);
		if (s->fields & SCRIPT_ADDR) {
			outbuf_text(out, " => ");
			put_place(out, s->texts, &s->addr, s->fields);
		}
		return;
	}
	if (!s->chain) {
		outbuf_char(out, ' ');
		put_place(out, s->texts, &s->at, s->fields);
		return;
	}
	outbuf_char(out, '\n');
	for (size_t i = 0; i < s->nr_frames; i++) {
		outbuf_char(out, '\t');
		put_place(out, s->texts, &s->frame[i], s->fields);
		if (s->frame[i].guessed && l->opts.mark_guesses)
			outbuf_text(out, " [guessed]");
		outbuf_char(out, '\n');
	}
}

static void put_regs_and_branches(const struct lines *l, struct outbuf *out,
				  const struct script_sample *s)
{
	const struct pd_attr *attr = &s->ws->evsel->attr;
	const struct pd_sample *p = &s->ws->s;
	uint64_t f = s->fields;

	if (f & (SCRIPT_INSN | SCRIPT_INSNLEN | SCRIPT_DISASM))
		lines_put_insn(out, s);
	if (f & SCRIPT_IREGS)
		put_regs(l, out, p->intr_regs_abi, attr->sample_regs_intr, p->intr_regs);
	if (f & SCRIPT_UREGS)
		put_regs(l, out, p->user_regs_abi, attr->sample_regs_user, p->user_regs);
	if (f & SCRIPT_BRSTACK)
		put_branches(out, p);
	if (f & SCRIPT_BRSTACKSYM)
		put_branch_symbols(out, s);
	if (f & SCRIPT_BRSTACKOFF)
		put_branch_offsets(out, s);
	if (f & SCRIPT_BRCNTR)
		put_branch_counters(out, p);
	if (f & SCRIPT_BPF_OUTPUT && is_bpf_output(attr))
		put_bpf_output(out, p);
	if (f & SCRIPT_BRANCH_CODE)
		lines_put_branch_code(out, s);
}

static void put_event(const struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	const struct pd_evsel *evsel = s->ws->evsel;
	struct kept_name *kept = line_texts_name(s->texts, evsel);
	size_t begin = out->b.len, len;

	if (kept->len && kept->evsel == evsel) {
		outbuf_bytes(out, kept->text, kept->len);
		return;
	}
	text_append(out, evsel->name, l->name_width);
	outbuf_text(out, ": ");
	len = out->b.len - begin;
	kept->len = 0;
	if (out->failed || len > sizeof(kept->text))
		return;
	kept->evsel = evsel;
	kept->len = (uint32_t)len;
	memcpy(kept->text, out->b.data + begin, len);
}

static void keep(struct kept_branch *kept, const struct outbuf *out, size_t begin)
{
	size_t len = out->b.len - begin;

	if (out->failed || !len || len > sizeof(kept->text))
		return;
	memcpy(kept->text, out->b.data + begin, len);
	kept->len = (uint32_t)len;
}

void lines_put(struct lines *l, struct outbuf *out, const struct trace *t,
	       const struct script_sample *s)
{
	size_t begin;
	const struct pd_sample *p = &s->ws->s;
	uint64_t f = s->fields;

	if (s->record) {
		bool of_no_task = s->record->hdr->type == PERF_RECORD_FINISHED_ROUND;

		if (!of_no_task)
			lines_put_task(l, out, s);
		if (!of_no_task && f & SCRIPT_TIME)
			lines_put_time(l, out, p->time);
		record_line(out, s->record);
		return;
	}
	if (!s->ws->evsel) {
		put_error(l, out, s->ws);
		return;
	}
	lines_put_head(l, out, s);
	if (s->kept && s->kept->len) {
		outbuf_bytes(out, s->kept->text, s->kept->len);
		return;
	}
	begin = out->b.len;
	if (f & SCRIPT_PERIOD)
		put_period(out, p->period);
	if (f & SCRIPT_EVENT)
		put_event(l, out, s);
	if (f & SCRIPT_FLAGS)
		put_flags(out, s);
	if (f & SCRIPT_CALLINDENT && s->is_branch)
		put_call(l, out, s);
	put_data(l, out, s);
	if (f & SCRIPT_CGROUP)
		put_cgroup(out, t, p->cgroup);
	if (f & SCRIPT_IP)
		put_code(l, out, s);
	if (s->ws->text) {
		outbuf_text(out, "  ");
		text_append(out, s->ws->text, 0);
	}
	put_regs_and_branches(l, out, s);
	if (f & SCRIPT_PHYS_ADDR)
		outbuf_format(out, "%16" PRIx64, p->phys_addr);
	if (f & SCRIPT_DATA_PAGE_SIZE)
		put_page_size(out, p->data_page_size);
	if (f & SCRIPT_CODE_PAGE_SIZE)
		put_page_size(out, p->code_page_size);
	if (f & SCRIPT_IPC)
		put_ipc(out, s->ws->made);
	outbuf_char(out, '\n');
	if (f & SCRIPT_SRCCODE)
		lines_put_source(out, s, &s->at);
	if (s->kept)
		keep(s->kept, out, begin);
}
