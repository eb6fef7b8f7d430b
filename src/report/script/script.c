// SPDX-License-Identifier: Apache-2.0
#include "report/script/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/itrace/callstack.h"
#include "base/buf.h"
#include "report/script/code_reader.h"
#include "report/script/formatters.h"
#include "report/trace/walk_group.h"
#include "report/trace/itrace.h"
#include "report/script/slices.h"
#include "report/script/source_reader.h"

#define COMMS 64u

/* The name of a thread, in a span of time. All zero: empty. */
struct comm_span {
	const char *comm; /* NULL: unknown */
	uint32_t tid;
	struct moment from, until;
};

/* A thread's own. */
struct runner {
	struct trace *trace;
	const struct script_opts *opts;
	const uint64_t *fields; /* of each event, by index */
	struct frames frames;
	struct tracing *tracing; /* NULL: the recording has no formats */
	script_fn fn;
	void *arg;
	struct moment at;     /* of the current sample */
	struct frame *branch; /* of the current sample */
	size_t cap_branch;
	struct slice_walker *walker; /* NULL: the recording is not divided into slices */
	struct outbuf *out;	     /* of the current slice */
	struct callstacks stacks;
	struct id_table graphed; /* threads in a function of @opts->graph_functions, to: */
	size_t *graph_depth;	 /* where they entered it, plus one; 0: they are not in one */
	size_t cap_graphed;
	size_t *newest_run; /* of each ring, plus one; 0: none yet */
	struct line_texts *texts;
	struct kept_branches *kept;    /* NULL: lines of branches depend on more than that knows */
	struct script_sample again;    /* a branch whose line is kept; all but what differs */
	struct comm_span comms[COMMS]; /* by thread id */
	const struct code_files *code_files; /* NULL: no field shows code */
	struct script_code code;
	uint8_t insn[CODE_INSN_MAX];
	struct disasm_insn decoded; /* the current sample's */
};

/* Names a kernel function for a tracepoint's format. */
static const char *function_at(void *runner, uint64_t addr, uint64_t *ret_start)
{
	struct runner *r = runner;
	struct frame frame;

	frames_resolve(&r->frames, 0, PERF_RECORD_MISC_KERNEL, addr, r->at, &frame);
	if (!frame.sym)
		return NULL;
	*ret_start = addr - (frame.addr - frame.sym->start);
	return frame.sym->name;
}

/* As perf does, shows where a branch went, unless the user chose the fields. */
static uint64_t fields_of_branch(const struct script_fields *fields, const struct walk_sample *ws)
{
	return script_fields_touched(fields, ws->evsel) ? 0 : SCRIPT_ADDR;
}

/* Returns whether to resolve the data address: only of page faults, as in perf. */
static bool addr_is_location(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* A branch may enter or leave the kernel. Its addresses are in the upper half. */
static uint8_t branch_mode(uint64_t addr)
{
	return addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static int resolve_branches(struct runner *r, const struct walk_sample *ws,
			    const struct frame **ret)
{
	const struct pd_sample *p = &ws->s;

	if (array_grow(&r->branch, &r->cap_branch, 2 * p->branch_nr + 1, sizeof(*r->branch)))
		return -ENOMEM;
	for (uint64_t i = 0; i < p->branch_nr; i++) {
		struct pd_branch b;

		memcpy(&b, &p->branches[i], sizeof(b));
		frames_resolve(&r->frames, p->pid, branch_mode(b.from), b.from, ws->rec->at,
			       &r->branch[2 * i]);
		frames_resolve(&r->frames, p->pid, branch_mode(b.to), b.to, ws->rec->at,
			       &r->branch[2 * i + 1]);
	}
	*ret = r->branch;
	return 0;
}

/* Fields that need no symbol, which takes most of the time of a line. */
#define PLAIN_FIELDS                                                                             \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_TIME | SCRIPT_CPU | SCRIPT_EVENT |       \
	 SCRIPT_IP | SCRIPT_ADDR | SCRIPT_PERIOD | SCRIPT_FLAGS | SCRIPT_INSN | SCRIPT_INSNLEN | \
	 SCRIPT_IPC | SCRIPT_IREGS | SCRIPT_UREGS | SCRIPT_TOD | SCRIPT_BPF_OUTPUT)

static void resolve(struct runner *r, const struct script_sample *s, uint8_t cpumode, uint64_t ip,
		    struct frame *ret)
{
	/* A recording of tracepoints alone needs no symbols, which take long to load. */
	if ((s->fields & (SCRIPT_IP | SCRIPT_CALLINDENT | SCRIPT_SRCCODE | SCRIPT_DISASM) &&
	     s->fields & ~PLAIN_FIELDS) ||
	    filter_needs_frame(&r->opts->filter))
		frames_resolve(&r->frames, s->ws->s.pid, cpumode, ip, s->ws->rec->at, ret);
	else
		*ret = (struct frame){.ip = ip, .addr = ip, .cpumode = cpumode};
}

/* An address without chain has the line of its code, though an inlined function has it. */
static void find_innermost_line(struct frames *f, struct frame *frame)
{
	frames_find_line(f, frame);
	frame->line = 0;
}

/* Between two runs of a ring trace is missing. */
static int note_run(struct runner *r, const struct walk_sample *ws)
{
	const struct itrace *i = r->trace->itrace;

	if (!r->newest_run)
		r->newest_run = calloc(i->index.nr_rings + 1, sizeof(*r->newest_run));
	if (!r->newest_run)
		return -ENOMEM;
	return itrace_starts_run(i, r->newest_run, ws->run)
		       ? callstacks_gap(&r->stacks, ws->s.tid, ws->s.cpu)
		       : 0;
}

/* Takes a branch to the stack of its thread, whether or not it is shown. */
static int take_branch(struct runner *r, const struct itrace_sample *made, struct script_sample *s)
{
	struct callstack_branch b = callstack_branch_of(made);
	const struct callstack *stack;
	int rc = callstacks_take(&r->stacks, &b, &stack);

	if (rc)
		return rc;
	s->depth = stack->nr + (made->flags & AUX_RETURN ? 1 : 0);
	if (stack->nr && stack->frames[stack->nr - 1].flags & CALLSTACK_OUT)
		s->depth--; /* outside the trace nothing is shown */
	return 0;
}

static size_t count_streams(const struct trace *t, const struct script_opts *opts)
{
	return opts->by_event ? pd_evlist_count(t->evlist) : 1;
}

/* Shows what belongs to no event. */
static int show_everywhere(struct runner *r, const struct script_sample *s, struct outbuf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < count_streams(r->trace, r->opts); i++)
		rc = r->fn(r->trace, s, &out[i], r->arg);
	return rc;
}

static int take_error(struct runner *r, const struct script_sample *s, struct outbuf *out)
{
	int rc = callstacks_gap(&r->stacks, s->ws->s.tid, s->ws->s.cpu);

	if (rc || !filter_sample(&r->opts->filter, &s->ws->s))
		return rc;
	return show_everywhere(r, s, out);
}

/* A record that was made for what existed before has a trailer of zeroes: its task is in it. */
static const char *comm_of_record(struct runner *r, const struct pd_record *record,
				  struct moment at)
{
	uint32_t pid = record->id.pid, tid = record->id.tid;

	switch (record->hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		pid = record->mmap.pid;
		tid = record->mmap.tid;
		break;
	case PERF_RECORD_COMM:
		pid = record->comm.pid;
		tid = record->comm.tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		pid = record->task.pid;
		tid = record->task.tid;
		break;
	case PERF_RECORD_NAMESPACES:
		pid = record->namespaces.pid;
		tid = record->namespaces.tid;
		break;
	}
	return state_comm(r->trace->state, pid, tid, at);
}

/* The record's trailer passes for a sample, to be filtered and shown. */
static int format_record(struct runner *r, const struct walk_sample *ws, struct outbuf *out)
{
	const struct pd_evsel *evsel = ws->rec->evsel;
	struct walk_sample of = *ws;
	struct script_sample s = {.ws = &of};
	struct pd_record record;

	if (pd_record_decode(ws->rec->hdr, evsel, &record) < 0)
		return 0;
	of.s.pid = record.id.pid;
	of.s.tid = record.id.tid;
	of.s.cpu = record.id.cpu;
	of.s.time = ws->rec->at.time;
	if (!filter_sample(&r->opts->filter, &of.s))
		return 0;
	s.record = &record;
	s.fields = evsel ? r->fields[evsel->index] : r->fields[0];
	s.comm = comm_of_record(r, &record, ws->rec->at);
	return show_everywhere(r, &s, out);
}

static bool is_in_list(const char *list, const char *name)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");

		if (strlen(name) == len && !memcmp(p, name, len))
			return true;
		p += len;
		if (!*p)
			return false;
	}
}

/* Returns the number of frames up to the first function of --stop-bt, which is shown. */
static size_t frames_shown(const struct frames *f, const char *stop_at)
{
	for (size_t i = 0; stop_at && i < f->nr; i++)
		if (f->frame[i].sym && is_in_list(stop_at, f->frame[i].sym->name))
			return i + 1;
	return f->nr;
}

#define INSN_FIELDS (SCRIPT_INSN | SCRIPT_INSNLEN | SCRIPT_DISASM)

/* The sampled instruction, as the decoder of a trace read it; of other samples, from the code. */
static void find_insn(struct runner *r, struct script_sample *s)
{
	const struct walk_sample *ws = s->ws;
	const struct itrace_sample *made = ws->made;
	struct frame at = s->at;
	size_t len;

	if (made) {
		s->insn = made->insn;
		s->insn_len =
			made->insn_len < sizeof(made->insn) ? made->insn_len : sizeof(made->insn);
		len = s->insn_len;
	} else {
		s->insn = r->insn;
		at.dso = at.dso ?: code_reader_dso(r->code.reader, ws);
		len = ws->s.type & PERF_SAMPLE_IP ? code_reader_read(r->code.reader, ws, ws->s.ip,
								     r->insn, sizeof(r->insn))
						  : 0;
	}
	if (!len || (made && !(s->fields & SCRIPT_DISASM)) ||
	    !code_reader_decode(r->code.reader, &at, s->insn, len, &r->decoded))
		return;
	s->insn_len = r->decoded.size;
	if (s->fields & SCRIPT_DISASM)
		s->insn_text = r->decoded.text;
}

const struct frame *script_call_frame(const struct script_sample *s)
{
	uint32_t flags = s->ws->made->flags;

	if (flags & (AUX_CALL | AUX_TRACE_BEGIN))
		return &s->addr;
	return flags & (AUX_RETURN | AUX_TRACE_END) ? &s->at : NULL;
}

/*
 * Returns in *@ret whether a branch is in a function of --graph-function or below one. As in perf,
 * a thread is in it from its first branch there until its stack is no deeper than before.
 */
static int is_graphed(struct runner *r, const struct script_sample *s, bool *ret)
{
	const struct frame *f = script_call_frame(s);
	uint32_t at = id_table_add(&r->graphed, s->ws->s.tid);
	size_t nr = r->graphed.table.nr, known = r->cap_graphed;

	if (at == ID_TABLE_NONE ||
	    array_grow(&r->graph_depth, &r->cap_graphed, nr, sizeof(*r->graph_depth)))
		return -ENOMEM;
	if (r->cap_graphed > known)
		memset(r->graph_depth + known, 0,
		       (r->cap_graphed - known) * sizeof(*r->graph_depth));
	if (s->depth + 1 <= r->graph_depth[at])
		r->graph_depth[at] = 0;
	if (!r->graph_depth[at] && f && f->sym &&
	    is_in_list(r->opts->graph_functions, f->sym->name))
		r->graph_depth[at] = s->depth + 1;
	*ret = r->graph_depth[at];
	return 0;
}

/* Asks the user's own filter. */
static int ask_filter(const struct runner *r, bool early, const struct walk_sample *ws, bool *ret)
{
	int rc = r->opts->dlfilter ? dlfilter_ask(r->opts->dlfilter, early, ws) : 0;

	*ret = !rc;
	return rc < 0 ? rc : 0;
}

/* As state_comm(). Most samples are of threads that had samples just before. */
static const char *comm_of(struct runner *r, const struct walk_sample *ws)
{
	struct moment at = ws->rec->at;
	struct comm_span *span = &r->comms[ws->s.tid % COMMS];

	if (span->tid == ws->s.tid && !moment_before(at, span->from) &&
	    moment_before(at, span->until))
		return span->comm;
	span->tid = ws->s.tid;
	span->comm = state_comm_span(r->trace->state, ws->s.tid, at, &span->from, &span->until);
	return span->comm;
}

/* Fields whose texts a kept line has, or that stand before them. */
#define KEPT_FIELDS                                                                        \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_TIME | SCRIPT_CPU | SCRIPT_EVENT | \
	 SCRIPT_PERIOD | SCRIPT_FLAGS | SCRIPT_IP | SCRIPT_ADDR | PLACE_FIELDS)
#define PLACE_FIELDS (SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_DSOFF)

/* Finds whether lines of branches can be kept, and what they have in common. */
static int prepare_kept(struct runner *r)
{
	const struct itrace *i = r->trace->itrace;
	const struct pd_evsel *e = i ? i->evsel[ITRACE_BRANCHES] : NULL;
	struct script_sample *s = &r->again;

	if (!e || r->opts->in_sequence || r->opts->dlfilter || r->opts->graph_functions ||
	    r->opts->filter.comms || filter_needs_frame(&r->opts->filter) ||
	    pd_evsel_fields(e) & PERF_SAMPLE_CALLCHAIN)
		return 0;
	s->fields = r->fields[e->index] |
		    fields_of_branch(&r->opts->fields, &(struct walk_sample){.evsel = e});
	if (!s->fields || s->fields & ~(uint64_t)KEPT_FIELDS)
		return 0;
	s->is_branch = true;
	s->texts = r->texts;
	r->kept = kept_branches_new(r->trace->state);
	return r->kept ? 0 : -ENOMEM;
}

static bool is_kept(const struct runner *r, const struct walk_sample *ws)
{
	return r->kept && ws->made && ws->made->kind == ITRACE_BRANCHES && !ws->text;
}

/* Formats a branch whose line is there but for task and time. */
static int format_again(struct runner *r, const struct walk_sample *ws, struct kept_branch *kept,
			struct outbuf *out)
{
	struct script_sample *s = &r->again;

	s->ws = ws;
	s->kept = kept;
	if (s->fields & SCRIPT_COMM)
		s->comm = comm_of(r, ws);
	return r->fn(r->trace, s, r->opts->by_event ? &out[ws->evsel->index] : out, r->arg);
}

static int format_sample(const struct walk_sample *ws, struct outbuf *out, void *arg)
{
	struct runner *r = arg;
	struct kept_branch *kept = NULL;
	struct script_sample s;
	bool shown = true;
	int rc = 0;

	if (is_kept(r, ws)) {
		if (!filter_sample(&r->opts->filter, &ws->s) ||
		    (r->opts->branches && !(ws->made->flags & r->opts->branches)))
			return 0;
		kept = kept_branches_find(r->kept, ws, r->again.fields & PLACE_FIELDS);
		if (kept && kept->len)
			return format_again(r, ws, kept, out);
	}
	mem_zero(&s, sizeof(s));
	s.ws = ws;
	s.kept = kept;
	s.tracing = r->tracing;
	s.texts = r->texts;
	s.code = &r->code;
	if (ws->other)
		return format_record(r, ws, out);
	if (ws->exec)
		return callstacks_gap(&r->stacks, ws->s.tid, UINT32_MAX);
	if (!ws->evsel)
		return take_error(r, &s, out);
	s.fields = r->fields[ws->evsel->index];
	s.is_branch = ws->made && ws->made->kind == ITRACE_BRANCHES;
	if (s.is_branch)
		s.fields |= fields_of_branch(&r->opts->fields, ws);
	if (s.is_branch && s.fields & SCRIPT_CALLINDENT)
		rc = note_run(r, ws) ?: take_branch(r, ws->made, &s);
	if (!rc)
		rc = ask_filter(r, true, ws, &shown);
	if (rc || !shown || !filter_sample(&r->opts->filter, &ws->s) || !s.fields ||
	    (s.is_branch && r->opts->branches && !(ws->made->flags & r->opts->branches)))
		return rc;
	r->at = ws->rec->at;
	if ((s.fields & SCRIPT_COMM) || r->opts->filter.comms)
		s.comm = comm_of(r, ws);
	resolve(r, &s, ws->s.cpumode, ws->s.ip, &s.at);
	if (!filter_row(&r->opts->filter, s.comm, &s.at))
		return 0;
	if (s.fields & (SCRIPT_SRCLINE | SCRIPT_SRCCODE))
		find_innermost_line(&r->frames, &s.at);
	if (s.fields & INSN_FIELDS)
		find_insn(r, &s);
	s.has_chain =
		!r->opts->no_callchain && (pd_evsel_fields(ws->evsel) & PERF_SAMPLE_CALLCHAIN);
	if (s.has_chain && (s.fields & SCRIPT_IP)) {
		s.chain = true;
		rc = frames_of_chain(&r->frames, ws, r->opts->max_stack);
		if (rc < 0)
			return rc;
		s.frame = r->frames.frame;
		s.nr_frames = frames_shown(&r->frames, r->opts->stop_at);
	}
	if (s.fields & (SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF) &&
	    resolve_branches(r, ws, &s.branch))
		return -ENOMEM;
	if (s.is_branch)
		resolve(r, &s, branch_mode(ws->s.addr), ws->s.addr, &s.addr);
	if (s.is_branch && r->opts->graph_functions)
		rc = is_graphed(r, &s, &shown);
	if (!rc && shown)
		rc = ask_filter(r, false, ws, &shown);
	if (rc || !shown)
		return rc;
	if ((s.fields & SCRIPT_ADDR) && addr_is_location(&ws->evsel->attr)) {
		s.has_addr_frame = true;
		frames_resolve_data(&r->frames, ws->s.pid, ws->s.cpumode, ws->s.addr, ws->rec->at,
				    &s.addr);
	}
	return r->fn(r->trace, &s, r->opts->by_event ? &out[ws->evsel->index] : out, r->arg);
}

/* Decides whether frames need debug information. */
static int want_lines(struct runner *r)
{
	const struct pd_evlist *list = r->trace->evlist;
	uint64_t fields = 0;
	bool chains = false;

	for (size_t i = 0; i < pd_evlist_count(list); i++) {
		const struct pd_evsel *e = pd_evlist_at(list, i);
		uint64_t shown = script_fields_of(&r->opts->fields, e);

		fields |= shown;
		chains |= (shown & SCRIPT_IP) && (pd_evsel_fields(e) & PERF_SAMPLE_CALLCHAIN);
	}
	if (r->opts->inlined && !r->opts->no_callchain && chains)
		r->frames.inlines = FRAMES_INLINED;
	else if (fields & (SCRIPT_SRCLINE | SCRIPT_SRCCODE))
		r->frames.inlines = FRAMES_LINES;
	return r->frames.inlines == FRAMES_PLAIN && !r->opts->dlfilter ? 0
								       : trace_want_lines(r->trace);
}

/* The fields that some event shows. */
static uint64_t all_fields(const struct trace *t, const uint64_t *fields)
{
	uint64_t all = 0;

	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		all |= fields[i];
	return all;
}

static int prepare_code(struct runner *r)
{
	int rc = 0;

	r->code = (struct script_code){.frames = &r->frames, .max_blocks = r->opts->max_blocks};
	if (r->code_files)
		rc = code_reader_new(r->trace, r->code_files, &r->code.reader);
	if (!rc && all_fields(r->trace, r->fields) & SCRIPT_SRCCODE)
		rc = source_reader_new(&r->code.sources);
	return rc;
}

/* @first is the runner that the others are like; it has the trace's own formats. */
static int runner_init(struct runner *r, const struct runner *first)
{
	struct trace *t = first->trace;
	int rc;

	*r = *first;
	r->tracing = t->tracing;
	r->texts = calloc(1, sizeof(*r->texts));
	if (!r->texts)
		return -ENOMEM;
	if (t->tracing && r != first) {
		r->tracing = NULL;
		rc = tracing_load_again(t->df, &r->tracing);
		if (rc)
			return rc;
	}
	rc = frames_init(&r->frames, t) ?: prepare_code(r) ?: prepare_kept(r);
	if (!rc)
		rc = want_lines(r);
	if (!rc && r->tracing)
		rc = tracing_name_functions(r->tracing, function_at, r);
	return rc;
}

static void runner_release(struct runner *r)
{
	frames_release(&r->frames);
	slice_walker_free(r->walker);
	callstacks_release(&r->stacks);
	id_table_release(&r->graphed);
	free(r->graph_depth);
	free(r->newest_run);
	free(r->texts);
	kept_branches_free(r->kept);
	code_reader_free(r->code.reader);
	source_reader_free(r->code.sources);
	free(r->branch);
	if (r->tracing && r->tracing == r->trace->tracing)
		tracing_name_functions(r->tracing, NULL, NULL);
	else
		tracing_free(r->tracing);
}

static int format_next(const struct walk_sample *ws, void *arg)
{
	struct runner *r = arg;

	return format_sample(ws, r->out, r);
}

static int format_slice(size_t number, struct outbuf *out, void *arg)
{
	struct runner *r = arg;

	r->out = out;
	return slice_walk(r->walker, number, format_next, r);
}

static int format_slices(struct slices *s, void *const *runners, size_t nr, struct format_out *outs,
			 size_t nr_outs)
{
	struct formatters *f = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++)
		rc = slice_walker_new(s, &((struct runner *)runners[i])->walker);
	if (!rc)
		rc = formatters_new_pieces(format_slice, runners, nr, outs, nr_outs, &f);
	for (size_t i = 0; !rc && i < slices_count(s); i++)
		rc = formatters_put_piece(f, i);
	if (!rc)
		rc = formatters_end(f);
	formatters_free(f);
	if (!rc)
		slices_hand_in_findings(s);
	return rc;
}

/* The records that @kind shows. */
static unsigned int record_kind(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: return SCRIPT_SHOW_MAPS;
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: return SCRIPT_SHOW_TASKS;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: return SCRIPT_SHOW_SWITCHES;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: return SCRIPT_SHOW_LOST;
	case PERF_RECORD_NAMESPACES: return SCRIPT_SHOW_NAMESPACES;
	case PERF_RECORD_CGROUP: return SCRIPT_SHOW_CGROUPS;
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT: return SCRIPT_SHOW_BPF;
	case PERF_RECORD_TEXT_POKE: return SCRIPT_SHOW_POKES;
	case PERF_RECORD_FINISHED_ROUND: return SCRIPT_SHOW_ROUNDS;
	default: return 0;
	}
}

/* What takes samples and other records. */
struct script_taker {
	const struct trace *trace;
	struct formatters *formatters;
	struct group_counts groups;
	unsigned int records;
};

static int put_walked(const struct walk_sample *ws, void *taker)
{
	struct script_taker *to = taker;

	if (ws->evsel && !ws->made && !ws->other && !ws->exec && group_is_read(ws->evsel))
		return group_split(&to->groups, to->trace, ws, formatters_put, to->formatters);
	return formatters_put(ws, to->formatters);
}

static int put_span(const struct walk_span *span, void *taker)
{
	return formatters_put_span(span, ((struct script_taker *)taker)->formatters);
}

static int put_record(const struct data_record *rec, const struct pd_record *r, void *taker)
{
	const struct script_taker *to = taker;

	if (!(record_kind(rec->hdr->type) & to->records))
		return 0;
	return formatters_put(&(struct walk_sample){.rec = rec, .other = true}, to->formatters);
}

static int format_ordered(struct trace *t, unsigned int records, void *const *runners, size_t nr,
			  struct format_out *outs, size_t nr_outs, struct error *err)
{
	struct script_taker taker = {.trace = t, .records = records};
	const struct walk_takers takers = {put_walked, nr ? put_span : NULL,
					   records ? put_record : NULL, &taker};
	int rc = formatters_new(format_sample, runners, nr, outs, nr_outs, &taker.formatters);

	if (rc)
		return error_sys(err, rc, "%s", t->opts.path);
	rc = walk_ordered(t, &takers, err);
	if (rc >= 0) {
		rc = formatters_end(taker.formatters);
		if (rc < 0)
			error_sys(err, rc, "%s", t->opts.path);
	}
	formatters_free(taker.formatters);
	group_counts_release(&taker.groups);
	return rc;
}

static int format_all(struct trace *t, const struct script_opts *opts, void *const *runners,
		      size_t nr, struct format_out *outs, struct error *err)
{
	struct slices *s = NULL;
	size_t nr_outs = count_streams(t, opts);
	int rc = opts->records || opts->dlfilter || group_any_read(t->evlist) ? -ENOTSUP
									      : slices_new(t, &s);

	/* The user's own filter is asked by this thread, between the lines, as it may write some.
	 */
	if (rc == -ENOTSUP)
		return format_ordered(t, opts->records, runners, opts->dlfilter ? 0 : nr, outs,
				      nr_outs, err);
	if (!rc)
		rc = format_slices(s, runners, nr, outs, nr_outs);
	slices_free(s);
	return rc < 0 ? error_sys(err, rc, "%s", t->opts.path) : rc;
}

/* Returns the fields of each event, for free(), or NULL. */
static uint64_t *fields_by_event(const struct trace *t, const struct script_fields *fields)
{
	size_t nr = pd_evlist_count(t->evlist);
	uint64_t *ret = calloc(nr + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < nr; i++)
		ret[i] = script_fields_of(fields, pd_evlist_at(t->evlist, i));
	return ret;
}

/* Lets the user's own filter begin, formats all, and lets it end. */
static int format_filtered(struct trace *t, const struct script_opts *opts, void *const *runners,
			   size_t nr, struct format_out *outs, struct error *err)
{
	struct runner *r = runners[0];
	const struct dlfilter_answers answers = {t, &r->frames, r->code.reader, &opts->filter};
	int rc, ended;

	if (!opts->dlfilter)
		return format_all(t, opts, runners, nr, outs, err);
	rc = dlfilter_start(opts->dlfilter, &answers, err);
	if (!rc)
		rc = format_all(t, opts, runners, nr, outs, err);
	if (rc == -ECANCELED)
		dlfilter_failure(opts->dlfilter, err);
	ended = dlfilter_stop(opts->dlfilter, rc ? NULL : err);
	return rc ?: ended;
}

int script_run(struct trace *t, const struct script_opts *opts, script_fn fn, void *arg,
	       struct format_out *outs, struct error *err)
{
	size_t nr = opts->in_sequence || opts->dlfilter ? 1 : trace_workers(t), made = 0;
	uint64_t *fields = fields_by_event(t, &opts->fields);
	struct runner first = {.trace = t, .opts = opts, .fields = fields, .fn = fn, .arg = arg};
	struct runner *runners = calloc(nr, sizeof(*runners));
	void **args = calloc(nr, sizeof(*args));
	struct code_files *code = NULL;
	int rc = runners && args && fields ? 0 : -ENOMEM;

	if (!rc && (opts->dlfilter || all_fields(t, fields) & (SCRIPT_BRANCH_CODE | INSN_FIELDS)))
		rc = itrace_code_new(t, &code);
	first.code_files = code;
	if (!rc && t->itrace)
		t->itrace->opts.ipc = all_fields(t, fields) & SCRIPT_IPC;
	for (; !rc && made < nr; made++) {
		runners[made] = first;
		args[made] = &runners[made];
		rc = runner_init(&runners[made], made ? &first : &runners[0]);
	}
	if (rc)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = format_filtered(t, opts, args, nr, outs, err);
	for (size_t i = 0; i < made; i++)
		runner_release(&runners[i]);
	code_files_free(code);
	free(fields);
	free(args);
	free(runners);
	return rc;
}
