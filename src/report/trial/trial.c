// SPDX-License-Identifier: Apache-2.0
#include "report/trial/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/frame.h"
#include "symbol/elf/elf_image.h"

#define OUTERMOST 4u /* frames in which a chain reaches its beginning */

struct counter {
	struct trial_facts *facts;
	struct frames frames;
	struct trial_file *file; /* by index of dso */
	size_t nr_files;
};

bool trial_is_begin(const char *name)
{
	/* Of glibc, musl, the dynamic linker, Go and Rust. */
	static const char *const names[] = {
		"_start",
		"main",
		"__libc_start_main",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"__clone_internal",
		"_dl_start_user",
		"_dl_start",
		"runtime.goexit",
		"runtime.goexit.abi0",
		"runtime.mstart",
		"runtime.mstart.abi0",
		"runtime.mcall",
		"runtime.rt0_go",
		"runtime.rt0_go.abi0",
	};
	size_t len = strcspn(name, "@"); /* of a version */

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && !strncmp(name, names[i], len))
			return true;
	return false;
}

enum trial_runtime trial_runtime_of(const char *name, unsigned int *ret_version)
{
	static const struct {
		const char *start;
		enum trial_runtime runtime;
		bool whole; /* the name is no longer */
	} known[] = {
		{"libpython", TRIAL_PYTHON, false},    {"python", TRIAL_PYTHON, false},
		{"libnode.so", TRIAL_NODE, false},     {"node", TRIAL_NODE, true},
		{"nodejs", TRIAL_NODE, true},	       {"libjvm.so", TRIAL_JAVA, true},
		{"libcoreclr.so", TRIAL_DOTNET, true}, {"libruby-", TRIAL_RUBY, false},
		{"ruby", TRIAL_RUBY, false},
	};
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name, *rest;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t len = strlen(known[i].start);

		if (strncmp(base, known[i].start, len) || (known[i].whole && base[len]))
			continue;
		/* "python3.11", "libpython3.11.so.1.0", but not "python3-config". */
		rest = base + len + strspn(base + len, "0123456789.");
		if (!known[i].whole && *rest && strncmp(rest, "so", 2) != 0)
			continue;
		if (known[i].runtime == TRIAL_PYTHON && base[len] == '3' && base[len + 1] == '.')
			*ret_version = 300 + (unsigned int)strtoul(base + len + 2, NULL, 10) % 100;
		return known[i].runtime;
	}
	return TRIAL_NO_RUNTIME;
}

/* Function names that runtimes give to code of their language, in perf-PID.map. */
static bool is_of_runtime(enum trial_runtime runtime, const struct frame *f)
{
	if (runtime == TRIAL_PYTHON)
		return !strncmp(f->sym->name, "py::", 4);
	return f->dso && (f->dso->kind == DSO_ANON || f->dso->kind == DSO_JIT);
}

static void count_chain(struct counter *c, const struct walk_sample *ws, struct trial_chains *to)
{
	const struct frames *f = &c->frames;
	uint64_t user = 0;
	bool whole = false;

	for (size_t i = 0; i < f->nr; i++) {
		const struct frame *at = &f->frame[i];

		if (at->cpumode != PERF_RECORD_MISC_USER)
			continue;
		user++;
		whole |= i + OUTERMOST >= f->nr && at->sym && trial_is_begin(at->sym->name);
		if (at->sym)
			c->facts->runtime_named |= is_of_runtime(c->facts->runtime, at);
	}
	if (!user)
		return;
	to->samples++;
	to->frames += user;
	to->whole += whole;
	to->cut += !whole && f->copy_ended &&
		   ws->s.user_stack_size >= ws->evsel->attr.sample_stack_user;
}

static void count_place(struct counter *c, const struct frame *own)
{
	struct trial_facts *facts = c->facts;
	struct trial_file *file = own->dso ? &c->file[own->dso->index] : NULL;
	bool named = own->sym;

	facts->samples++;
	facts->named += named;
	if (own->cpumode == PERF_RECORD_MISC_KERNEL) {
		facts->kernel++;
		facts->kernel_named += named;
		return;
	}
	if (!file)
		return;
	if (own->dso->kind == DSO_ANON || own->dso->kind == DSO_JIT) {
		facts->jit++;
		facts->jit_named += named;
		return;
	}
	if (own->dso->kind != DSO_ELF)
		return;
	facts->user++;
	facts->lines += own->lines != NULL;
	file->dso = own->dso;
	file->samples++;
	file->named += named;
	file->lines += own->lines != NULL;
}

static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct counter *c = arg;
	bool copies = ws->evsel->attr.sample_type & PERF_SAMPLE_STACK_USER;
	int rc = frames_of_sample(&c->frames, ws, FRAMES_MAX);

	if (rc)
		return rc;
	if (!copies && c->frames.nr)
		count_place(c, &c->frames.frame[0]);
	count_chain(c, ws, copies ? &c->facts->dwarf : &c->facts->fp);
	return 0;
}

static int more_samples(const void *a, const void *b)
{
	const struct trial_file *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static bool has_debug_info(const struct elf_image *img)
{
	GElf_Shdr shdr;

	return elf_section(img, ".debug_info", &shdr) != NULL;
}

static void describe(struct trace *t, struct trial_file *file)
{
	static const char *const places[] = {"/usr/", "/lib", "/bin/", "/sbin/"};
	struct elf_image program = ELF_IMAGE_INIT;
	const char *name = file->dso->name;

	file->why = resolver_why_not(t->resolver, file->dso)
			    ?: resolver_why_few(t->resolver, file->dso);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		file->by_distribution |= !strncmp(name, places[i], strlen(places[i]));
	file->by_distribution &= strncmp(name, "/usr/local/", 11) != 0;
	if (!resolver_open_image(t->resolver, file->dso, &program))
		file->separate = file->lines && !has_debug_info(&program);
	elf_image_close(&program);
}

static void find_runtime(const struct trace *t, struct trial_facts *facts)
{
	size_t nr = state_dso_count(t->state);

	for (size_t i = 0; i < nr && !facts->runtime; i++) {
		const struct dso *dso = state_dso_at(t->state, i);

		if (dso->kind == DSO_ELF)
			facts->runtime = trial_runtime_of(dso->name, &facts->version);
	}
}

static int count(struct counter *c, struct trace *t)
{
	struct walker *w = NULL;
	int rc = walker_new(t, &w);

	for (size_t i = 0; !rc && i < t->nr_chunks; i++)
		rc = walk_chunk(w, &t->chunks[i], take_sample, c);
	walker_free(w);
	walk_hand_in_findings(t);
	if (rc)
		return rc;
	qsort(c->file, c->nr_files, sizeof(*c->file), more_samples);
	for (size_t i = 0; i < c->nr_files && i < TRIAL_FILES && c->file[i].samples; i++) {
		describe(t, &c->file[i]);
		c->facts->file[c->facts->nr_files++] = c->file[i];
	}
	return 0;
}

int trial_count(struct trace *t, struct trial_facts *ret, struct error *err)
{
	struct trial_facts facts = {0};
	struct counter c = {.facts = &facts, .nr_files = state_dso_count(t->state)};
	int rc = frames_init(&c.frames, t);

	c.frames.inlines = FRAMES_LINES;
	c.file = calloc(c.nr_files + 1, sizeof(*c.file));
	if (!c.file)
		rc = -ENOMEM;
	find_runtime(t, &facts);
	facts.lost = trace_loss_total(&t->counts.loss, &t->counts.loss);
	if (!rc)
		rc = count(&c, t);
	frames_release(&c.frames);
	free(c.file);
	if (rc)
		return error_sys(err, rc, "%s", t->opts.path);
	*ret = facts;
	return 0;
}
