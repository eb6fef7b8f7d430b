// SPDX-License-Identifier: Apache-2.0
#include "report/script/dlfilter.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/itrace/samples.h"
#include "report/script/dlfilter_abi.h"
#include "report/script/dlfilter_find.h"
#include "symbol/resolve/resolver_binding.h"

typedef int (*filter_fn)(void *data, const struct dlfilter_sample *sample, void *ctx);

/* A struct dlfilter is the filter's @ctx. */
struct dlfilter {
	const char *name;
	void *library;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	filter_fn filter[2]; /* after the other choices; before them */
	void *data;	     /* the filter's own */
	char **args;
	size_t nr_args;
	struct dlfilter_answers answers;
	bool started;
	int failed; /* what a function of the filter returned; 0: none failed */
	const char *failed_in;
	/* Of the sample that the filter is asked about; @ws NULL: none. */
	const struct walk_sample *ws;
	struct dlfilter_sample sample;
	struct dlfilter_place ip, addr;
	struct frame at; /* of @ip; @ip.size 0: not resolved yet */
	struct pd_attr attr;
	uint8_t insn[CODE_INSN_MAX];
};

/* --- what a filter may ask -----------------------------------------------------------------------
 */

static bool is_kernel_mode(uint8_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

static void describe(const struct dlfilter *f, const struct frame *at, struct dlfilter_place *ret)
{
	*ret = (struct dlfilter_place){.size = sizeof(*ret),
				       .addr = at->addr,
				       .is_kernel_ip = is_kernel_mode(at->cpumode)};
	if (at->dso) {
		ret->dso = at->dso->line_name;
		ret->is_64_bit = code_reader_is_64(f->answers.code, at->dso);
		ret->buildid_size = at->dso->build_id_size;
		ret->buildid = at->dso->build_id;
	}
	if (at->sym) {
		ret->sym = at->sym->name;
		ret->sym_start = at->sym->start;
		ret->sym_end = at->sym->end;
		ret->symoff = (uint32_t)(at->addr - at->sym->start);
		ret->sym_binding = resolver_binding(f->answers.trace->resolver, at->dso, at->addr);
	}
}

static const struct dlfilter_place *resolve_ip(void *ctx)
{
	struct dlfilter *f = ctx;
	const struct walk_sample *ws = f->ws;
	const struct dlfilter_answers *a = &f->answers;

	if (!ws)
		return NULL;
	if (f->ip.size)
		return &f->ip;
	frames_resolve(a->frames, ws->s.pid, ws->s.cpumode, ws->s.ip, ws->rec->at, &f->at);
	describe(f, &f->at, &f->ip);
	f->ip.comm = state_comm(a->trace->state, ws->s.pid, ws->s.tid, ws->rec->at);
	f->ip.filtered =
		!filter_sample(a->filter, &ws->s) || !filter_row(a->filter, f->ip.comm, &f->at);
	return &f->ip;
}

static const struct dlfilter_place *resolve_addr(void *ctx)
{
	struct dlfilter *f = ctx;
	const struct walk_sample *ws = f->ws;
	struct frame at;

	if (!ws || !f->sample.addr_correlates_sym)
		return NULL;
	if (f->addr.size)
		return &f->addr;
	frames_resolve_data(f->answers.frames, ws->s.pid, ws->s.cpumode, ws->s.addr, ws->rec->at,
			    &at);
	describe(f, &at, &f->addr);
	return &f->addr;
}

static char **args(void *ctx, int *ret_nr)
{
	struct dlfilter *f = ctx;

	if (ret_nr)
		*ret_nr = (int)f->nr_args;
	return f->args;
}

/* The caller's structure may be of an older interface, and shorter. */
static int32_t resolve_address(void *ctx, uint64_t address, struct dlfilter_place *ret)
{
	struct dlfilter *f = ctx;
	const struct walk_sample *ws = f->ws;
	struct dlfilter_place place;
	struct frame at;
	uint32_t size;

	if (!ws || !ret)
		return -1;
	size = ret->size < sizeof(place) ? ret->size : sizeof(place);
	frames_resolve(f->answers.frames, ws->s.pid, ws->s.cpumode, address, ws->rec->at, &at);
	describe(f, &at, &place);
	memcpy(ret, &place, size);
	ret->size = size;
	return 0;
}

/* Places own nothing. */
static void al_cleanup(void *ctx, struct dlfilter_place *place)
{
	(void)ctx;
	(void)place;
}

static const uint8_t *insn(void *ctx, uint32_t *ret_len)
{
	struct dlfilter *f = ctx;
	const struct walk_sample *ws = f->ws;
	struct disasm_insn decoded;
	size_t len;

	*ret_len = 0;
	if (!ws || !resolve_ip(ctx))
		return NULL;
	if (ws->made) {
		*ret_len = ws->made->insn_len;
		return *ret_len ? ws->made->insn : NULL;
	}
	len = code_reader_read(f->answers.code, ws, ws->s.ip, f->insn, sizeof(f->insn));
	if (!code_reader_decode(f->answers.code, &f->at, f->insn, len, &decoded))
		return NULL;
	*ret_len = decoded.size;
	return f->insn;
}

static const char *srcline(void *ctx, uint32_t *ret_line)
{
	struct dlfilter *f = ctx;
	const struct inline_frame *line;
	const char *colon;

	if (!f->ws || !resolve_ip(ctx))
		return NULL;
	frames_find_line(f->answers.frames, &f->at);
	line = f->at.lines ? &f->at.lines->frame[0] : NULL;
	colon = line && line->srcline ? strrchr(line->srcline, ':') : NULL;
	if (!colon)
		return NULL;
	*ret_line = (uint32_t)strtoul(colon + 1, NULL, 10);
	return line->srcpath ?: line->srcfile;
}

static struct pd_attr *attr(void *ctx)
{
	struct dlfilter *f = ctx;

	if (!f->ws)
		return NULL;
	f->attr = f->ws->evsel->attr;
	return &f->attr;
}

static int32_t object_code(void *ctx, uint64_t ip, void *buf, uint32_t len)
{
	struct dlfilter *f = ctx;

	if (!f->ws || len > INT32_MAX)
		return -1;
	return (int32_t)code_reader_read(f->answers.code, f->ws, ip, buf, len);
}

static const struct dlfilter_calls calls = {
	.resolve_ip = resolve_ip,
	.resolve_addr = resolve_addr,
	.args = args,
	.resolve_address = resolve_address,
	.insn = insn,
	.srcline = srcline,
	.attr = attr,
	.object_code = object_code,
	.al_cleanup = al_cleanup,
};

/* --- life ----------------------------------------------------------------------------------------
 */

/* Gives the filter what it may call, as far as its own structure has room. */
static void hand_calls(void *library)
{
	void *to = dlsym(library, "perf_dlfilter_fns");
	const ElfW(Sym) *sym = NULL;
	Dl_info info;

	if (!to)
		return; /* it calls nothing */
	if (dladdr1(to, &info, (void **)&sym, RTLD_DL_SYMENT) && sym)
		memcpy(to, &calls, sym->st_size < sizeof(calls) ? sym->st_size : sizeof(calls));
}

/* As a function: C has no conversion from the object pointer that dlsym() returns. */
static void find(void *library, const char *name, void *ret)
{
	void *at = dlsym(library, name);

	memcpy(ret, &at, sizeof(at));
}

int dlfilter_load(const char *path, char **words, size_t nr, struct dlfilter **ret,
		  struct error *err)
{
	struct dlfilter *f = calloc(1, sizeof(*f));
	char found[PATH_MAX];

	if (!f)
		return error_sys(err, -ENOMEM, "%s", path);
	*f = (struct dlfilter){.name = path, .args = words, .nr_args = nr};
	f->library = dlfilter_open(dlfilter_find(path, found));
	if (!f->library) {
		error_set(err, -ELIBACC, "--dlfilter: %s",
			  dlerror() ?: "this ringtail is static and loads no files");
		free(f);
		return -ELIBACC;
	}
	find(f->library, "start", &f->start);
	find(f->library, "stop", &f->stop);
	find(f->library, "filter_event", &f->filter[false]);
	find(f->library, "filter_event_early", &f->filter[true]);
	if (!f->filter[false] && !f->filter[true] && !f->start && !f->stop) {
		dlfilter_free(f);
		return error_set(err, -ENOEXEC,
				 "--dlfilter: %s is no filter: it has none of the functions "
				 "filter_event, filter_event_early, start and stop",
				 path);
	}
	hand_calls(f->library);
	*ret = f;
	return 0;
}

void dlfilter_free(struct dlfilter *f)
{
	if (!f)
		return;
	dlclose(f->library);
	free(f);
}

static int note_failure(struct dlfilter *f, const char *function, int rc)
{
	f->failed = rc;
	f->failed_in = function;
	return -ECANCELED;
}

int dlfilter_failure(const struct dlfilter *f, struct error *err)
{
	return f->failed ? error_set(err, -ECANCELED, "--dlfilter: %s: %s() failed: it returned %d",
				     f->name, f->failed_in, f->failed)
			 : 0;
}

int dlfilter_start(struct dlfilter *f, const struct dlfilter_answers *answers, struct error *err)
{
	int rc;

	f->answers = *answers;
	rc = f->start ? f->start(&f->data, f) : 0;
	f->started = true;
	if (rc)
		note_failure(f, "start", rc);
	return dlfilter_failure(f, err);
}

int dlfilter_stop(struct dlfilter *f, struct error *err)
{
	int rc = f->started && f->stop ? f->stop(f->data, f) : 0;

	f->started = false;
	if (rc && !f->failed)
		note_failure(f, "stop", rc);
	return rc ? dlfilter_failure(f, err) : 0;
}

/* --- samples -------------------------------------------------------------------------------------
 */

/* Fields that a sample lacks have all bits, as in perf. */
static uint64_t or_none(const struct pd_sample *s, uint64_t bit, uint64_t value)
{
	return s->type & bit ? value : UINT64_MAX;
}

static bool addr_has_symbol(const struct walk_sample *ws)
{
	const struct pd_attr *a = &ws->evsel->attr;

	if (ws->made)
		return ws->made->kind == ITRACE_BRANCHES;
	if (a->type == PERF_TYPE_HARDWARE) /* Intel BTS */
		return a->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && a->sample_period == 1;
	return a->type == PERF_TYPE_SOFTWARE && (a->config == PERF_COUNT_SW_PAGE_FAULTS ||
						 a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						 a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void take(struct dlfilter *f, const struct walk_sample *ws)
{
	const struct pd_sample *s = &ws->s;

	f->ws = ws;
	f->ip.size = f->addr.size = 0;
	f->sample = (struct dlfilter_sample){
		.size = sizeof(f->sample),
		.ins_lat = s->weight_var2,
		.p_stage_cyc = s->weight_var3,
		.ip = s->ip,
		.pid = (int32_t)s->pid,
		.tid = (int32_t)s->tid,
		.time = or_none(s, PERF_SAMPLE_TIME, s->time),
		.addr = s->addr,
		.id = or_none(s, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, s->id),
		.stream_id = or_none(s, PERF_SAMPLE_STREAM_ID, s->stream_id),
		.period = s->period,
		.weight = s->weight,
		.transaction = s->transaction,
		.insn_cnt = ws->made ? ws->made->insns : 0,
		.cyc_cnt = ws->made ? ws->made->cycles : 0,
		.cpu = (int32_t)s->cpu,
		.flags = ws->made ? ws->made->flags : 0,
		.data_src = s->data_src,
		.phys_addr = s->phys_addr,
		.data_page_size = s->data_page_size,
		.code_page_size = s->code_page_size,
		.cgroup = s->cgroup,
		.cpumode = s->cpumode,
		.addr_correlates_sym = addr_has_symbol(ws),
		.misc = s->misc,
		.raw_size = s->raw_size,
		.raw_data = s->raw,
		.brstack_nr = s->branch_nr,
		.brstack = s->branches,
		.raw_callchain_nr = s->callchain_nr,
		.raw_callchain = s->callchain,
		.event = ws->evsel->name,
	};
}

int dlfilter_ask(struct dlfilter *f, bool early, const struct walk_sample *ws)
{
	int rc = 0;

	if (!f->filter[early])
		return 0;
	take(f, ws);
	rc = f->filter[early](f->data, &f->sample, f);
	f->ws = NULL;
	if (rc < 0)
		return note_failure(f, early ? "filter_event_early" : "filter_event", rc);
	return rc > 0;
}
