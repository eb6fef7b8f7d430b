// SPDX-License-Identifier: Apache-2.0
#include "report/verdict/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "symbol/debuginfod/debuginfod.h"

#define STACK_SIZE_MAX 65528 /* the kernel's limit for a copy of a stack, bytes */
#define MAX_STACK_MAX  1024  /* of report --max-stack */

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

__attribute__((format(printf, 5, 6))) static struct verdict_line *
add_line(struct verdict_list *v, enum verdict_about about, double percent, double grave,
	 const char *fmt, ...)
{
	struct verdict_line *line = &v->line[v->nr++];
	va_list ap;

	*line = (struct verdict_line){
		.about = about, .percent = percent, .grave = percent >= grave};
	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
	return line;
}

__attribute__((format(printf, 2, 3))) static void set_remedy(struct verdict_line *line,
							     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line->remedy, sizeof(line->remedy), fmt, ap);
	va_end(ap);
}

static void judge_losses(struct verdict_list *v, const struct verdict_facts *f)
{
	if (f->lost >= VERDICT_LOST)
		set_remedy(add_line(v, VERDICT_ABOUT_LOST, f->lost, VERDICT_LOST_GRAVE,
				    "%.1f%% of the samples were lost", f->lost),
			   f->unwritten	     ? "free disk space, or ringtail record with -o on "
					       "another disk or with --max-size"
			   : f->by_frequency ? "ringtail record with a lower -F, or a larger -m"
					     : "ringtail record with a larger -c or -m");
	if (f->throttled_time >= VERDICT_THROTTLED)
		set_remedy(add_line(v, VERDICT_ABOUT_THROTTLED, f->throttled_time,
				    VERDICT_MANY_GRAVE,
				    "the kernel throttled the event for %.1f%% of the time, "
				    "in %" PRIu64 " parts",
				    f->throttled_time, f->throttled),
			   f->by_frequency ? "ringtail record with a lower -F"
					   : "ringtail record with a larger -c");
}

static void set_symbol_remedy(struct verdict_line *line, const struct verdict_facts *f)
{
	switch (f->dso_kind) {
	case DSO_KERNEL:
	case DSO_MODULE:
		if (!f->named)
			set_remedy(line, "sysctl kernel.kptr_restrict=0, or ringtail report as "
					 "root or with --vmlinux FILE");
		break;
	case DSO_ELF:
		set_remedy(line,
			   f->fetches ? "DEBUGINFOD_URLS=https://debuginfod.elfutils.org/ ringtail "
					"report, or --symfs DIR"
				      : "ringtail report --symfs DIR, or install the debug files");
		break;
	case DSO_JIT:
	case DSO_ANON:
		set_remedy(line, "let the runtime write /tmp/perf-PID.map (perf map) or a jitdump");
		break;
	case DSO_KSYMBOL:
	case DSO_VDSO:
	case DSO_GUEST: break;
	}
}

static void judge_functions(struct verdict_list *v, const struct verdict_facts *f,
			    const struct quality *q)
{
	double unresolved = percent(q->unresolved, q->samples);
	bool foreign = !f->dso && q->foreign >= f->dso_samples / 2 && q->foreign;
	const char *where = f->dso    ? "in "
			    : foreign ? "of tasks outside of the recorder's PID namespace"
				      : "where nothing was mapped";
	struct verdict_line *line;

	if (unresolved < VERDICT_MANY)
		return;
	line = add_line(v, VERDICT_ABOUT_UNRESOLVED, unresolved, VERDICT_MANY_GRAVE,
			"%.1f%% of the samples are in no known function, %.1f%% %s%s%s%s%s",
			unresolved, percent(f->dso_samples, q->samples), where,
			f->dso ? f->dso : "", f->why ? " (" : "", f->why ? f->why : "",
			f->why ? ")" : "");
	if (f->dso)
		set_symbol_remedy(line, f);
	else if (foreign)
		set_remedy(line, "ringtail record outside of the container, or in one with the "
				 "host's PIDs");
}

/* A line about callers where nothing was mapped says it all: such frames have no function. */
static void judge_callers(struct verdict_list *v, const struct quality *q,
			  const struct verdict_scope *scope)
{
	double astray = percent(q->astray, q->walked);
	double frames = percent(q->unresolved_frames, q->frames);
	struct verdict_line *line;

	if (astray >= VERDICT_MANY)
		set_remedy(add_line(v, VERDICT_ABOUT_CALLERS, astray, VERDICT_MANY_GRAVE,
				    "callers in %.1f%% of the call chains point to where nothing "
				    "was mapped: the code seems to have no frame pointers",
				    astray),
			   "ringtail record --call-graph dwarf");
	if (astray >= VERDICT_MANY || frames < VERDICT_MANY)
		return;
	line = add_line(v, VERDICT_ABOUT_FRAMES, frames, VERDICT_MANY_GRAVE,
			"%.1f%% of the frames in call chains are in no known function", frames);
	if (!scope->lists)
		set_remedy(line, "ringtail report -v, which lists the files without symbols");
}

static void judge_copies(struct verdict_list *v, const struct verdict_facts *f,
			 const struct quality *q)
{
	double cut = percent(q->cut, q->copies);
	uint32_t more = f->stack_size <= STACK_SIZE_MAX / 2 ? 2 * f->stack_size : STACK_SIZE_MAX;
	struct verdict_line *line;

	if (cut < VERDICT_MANY)
		return;
	line = add_line(v, VERDICT_ABOUT_COPIES, cut, VERDICT_MANY_GRAVE,
			"%.1f%% of the call chains lack their outer callers: %" PRIu32
			" bytes of the stack were recorded",
			cut, f->stack_size);
	if (f->stack_size < STACK_SIZE_MAX)
		set_remedy(line, "ringtail record --call-graph dwarf,%" PRIu32, more);
	else
		set_remedy(line, "compile with frame pointers, and ringtail record -g");
}

static void judge_chains(struct verdict_list *v, const struct verdict_facts *f,
			 const struct quality *q, const struct verdict_scope *scope)
{
	double full = percent(q->full, q->chains), longer = percent(q->longer, q->chains);
	unsigned int limit = f->max_stack ? f->max_stack : QUALITY_MAX_STACK;

	if (scope->max_stack >= QUALITY_MAX_STACK && longer >= VERDICT_MANY)
		set_remedy(add_line(v, VERDICT_ABOUT_CHAINS, longer, VERDICT_MANY_GRAVE,
				    "%.1f%% of the call chains have more frames than the %zu that "
				    "the report reads",
				    longer, scope->max_stack),
			   "ringtail report --max-stack %d", MAX_STACK_MAX);
	else if (full >= VERDICT_MANY)
		set_remedy(add_line(v, VERDICT_ABOUT_CHAINS, full, VERDICT_MANY_GRAVE,
				    "%.1f%% of the call chains are as long as the kernel records "
				    "them (%u frames), and may lack outer callers",
				    full, limit),
			   "sysctl kernel.perf_event_max_stack=%d before the recording",
			   MAX_STACK_MAX);
}

/* Writes "4,6-7", as far as there is room. */
static void list_unseen(const struct quality *q, uint32_t cpus, char *ret, size_t size)
{
	size_t n = 0;

	*ret = '\0';
	for (uint32_t first = 0, last; first < cpus && n < size; first = last + 1) {
		last = first;
		if (quality_has_cpu(q, first))
			continue;
		while (last + 1 < cpus && !quality_has_cpu(q, last + 1))
			last++;
		n += (size_t)snprintf(ret + n, size - n, "%s%" PRIu32, n ? "," : "", first);
		if (last > first && n < size)
			n += (size_t)snprintf(ret + n, size - n, "-%" PRIu32, last);
	}
	if (n >= size)
		memcpy(ret + size - 4, "...", 4);
}

static void judge_cpus(struct verdict_list *v, const struct verdict_facts *f,
		       const struct quality *q)
{
	uint32_t unseen = 0;
	char list[64];

	if (!f->cpus || q->samples / f->cpus < VERDICT_CPU_SAMPLES)
		return;
	for (uint32_t cpu = 0; cpu < f->cpus; cpu++)
		unseen += !quality_has_cpu(q, cpu);
	if (!unseen)
		return;
	list_unseen(q, f->cpus, list, sizeof(list));
	add_line(v, VERDICT_ABOUT_CPUS, percent(unseen, f->cpus), 101,
		 "%" PRIu32 " of %" PRIu32
		 " CPUs have no samples (%s): they were idle, offline or not recorded",
		 unseen, f->cpus, list);
}

void verdict_of_facts(const struct verdict_facts *f, const struct quality *q,
		      const struct verdict_scope *scope, struct verdict_list *ret)
{
	*ret = (struct verdict_list){0};
	judge_losses(ret, f);
	if (scope->functions)
		judge_functions(ret, f, q);
	if (scope->graph) {
		judge_callers(ret, q, scope);
		judge_copies(ret, f, q);
		judge_chains(ret, f, q, scope);
	}
	judge_cpus(ret, f, q);
}

/* Of one event where its losses are counted, else of all. */
static double lost_share(const struct trace *t, const struct trace_event_counts *e)
{
	const struct trace_counts *c = &t->counts;
	uint64_t lost = trace_loss_total(&c->loss, &c->loss);
	double share;

	if (!lost)
		return 0;
	if (!t->snapshots.nr_records && (c->loss.counted || c->loss.all_counted)) {
		lost = trace_loss_total(&e->loss, &c->loss);
		return lost ? 100.0 * (double)lost / ((double)lost + (double)e->samples) : 0;
	}
	return trace_loss_share(t, lost, &share) ? share : 0;
}

/* Returns whether an error of the output cost more samples than full rings and buffers. */
static bool most_unwritten(const struct trace_loss *l)
{
	return 2 * l->output > trace_loss_total(l, l);
}

static double throttled_share(const struct trace *t, const struct trace_loss *l)
{
	const struct trace_counts *c = &t->counts;
	uint64_t ns = trace_loss_throttled(l, c->first_time, c->last_time);
	double span = (double)(c->last_time - c->first_time);
	size_t cpus = 0;
	double share;

	for (size_t i = 0; i < c->nr_cpus; i++)
		cpus += c->by_cpu[i].loss.throttled > 0;
	if (!l->throttled || !cpus || span <= 0)
		return 0;
	share = 100.0 * (double)ns / (span * (double)cpus);
	return share > 100 ? 100 : share;
}

/* Returns whether @word is -a, perhaps with other letters without a value, as in -ag. */
static bool asks_for_all(const char *word)
{
	return !strcmp(word, "--all-cpus") ||
	       (word[0] == '-' && strchr(word, 'a') &&
		strspn(word + 1, "adgsvqRTNWzb") == strlen(word + 1));
}

/* As far as the header says what was typed. */
static bool is_system_wide(const struct trace *t)
{
	struct pd_strings words = {0};
	const uint8_t *p;
	size_t len;
	bool is = false;

	if (!data_feature(t->df, HEADER_CMDLINE, &p, &len))
		pd_feature_strings_decode(p, len, data_swapped(t->df), &words);
	for (size_t i = 0; i < words.nr && strcmp(words.s[i], "--") != 0; i++) {
		if (!strncmp(words.s[i], "-C", 2) || !strncmp(words.s[i], "--cpu", 5)) {
			is = false;
			break;
		}
		is |= asks_for_all(words.s[i]);
	}
	pd_strings_release(&words);
	return is;
}

/* A CPU that runs anything has samples of such an event. */
static bool counts_time(const struct pd_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return (attr->config & 0xffffffff) == PERF_COUNT_HW_CPU_CYCLES ||
		       (attr->config & 0xffffffff) == PERF_COUNT_HW_REF_CPU_CYCLES;
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Returns the number of CPUs that should have samples; 0 if that is not known. */
static uint32_t expected_cpus(const struct trace *t, const struct pd_evsel *evsel)
{
	struct pd_nrcpus nr;
	const uint8_t *p;
	size_t len;

	if (!(evsel->attr.sample_type & PERF_SAMPLE_CPU) || !counts_time(&evsel->attr) ||
	    data_feature(t->df, HEADER_NRCPUS, &p, &len) < 0 ||
	    pd_feature_nrcpus_decode(p, len, data_swapped(t->df), &nr) < 0 ||
	    (evsel->attr.flags & PD_ATTR_ENABLE_ON_EXEC) || nr.online != nr.configured ||
	    nr.online > QUALITY_CPUS || !is_system_wide(t))
		return 0;
	return nr.online;
}

void verdict_judge(const struct trace *t, size_t event, const struct quality *q,
		   const struct verdict_scope *scope, struct verdict_list *ret)
{
	const struct pd_evsel *evsel = pd_evlist_at(t->evlist, event);
	/* An event that hardware trace was decoded to has none. */
	const struct trace_event_counts *c =
		event < t->counts.nr_events ? &t->counts.by_event[event] : NULL;
	struct verdict_facts f = {
		.lost = c ? lost_share(t, c) : 0,
		.unwritten = most_unwritten(&t->counts.loss),
		.throttled = c ? c->loss.throttled : 0,
		.throttled_time = c ? throttled_share(t, &c->loss) : 0,
		.by_frequency = evsel->attr.flags & PD_ATTR_FREQ,
		.max_stack = evsel->attr.sample_max_stack,
		.stack_size = evsel->attr.sample_stack_user,
		.cpus = c && c->samples == q->samples ? expected_cpus(t, evsel) : 0,
		.fetches = debuginfod_is_built(),
		.named = t->opts.kallsyms || t->opts.vmlinux,
	};
	const struct dso *dso = quality_most(q, t->state, &f.dso_samples);

	if (dso) {
		f.dso = dso->short_name;
		f.dso_kind = dso->kind;
		f.why = resolver_why_not(t->resolver, dso);
		if (!f.why)
			f.why = resolver_why_few(t->resolver, dso);
	}
	verdict_of_facts(&f, q, scope, ret);
}

const char *verdict_about_name(enum verdict_about about)
{
	static const char *const names[] = {
		[VERDICT_ABOUT_LOST] = "lost",
		[VERDICT_ABOUT_THROTTLED] = "throttled",
		[VERDICT_ABOUT_UNRESOLVED] = "unresolved",
		[VERDICT_ABOUT_FRAMES] = "unresolved_frames",
		[VERDICT_ABOUT_CALLERS] = "unmapped_callers",
		[VERDICT_ABOUT_COPIES] = "short_stacks",
		[VERDICT_ABOUT_CHAINS] = "long_chains",
		[VERDICT_ABOUT_CPUS] = "missing_cpus",
	};

	return about < VERDICT_KINDS ? names[about] : "?";
}
