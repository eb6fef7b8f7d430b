// SPDX-License-Identifier: Apache-2.0
#include "report/trial/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define COMMAND_SHOWN	120 /* bytes */
#define NAME_SHOWN	80

static struct doctor_line *add(struct doctor_report *r, const char *about, bool limited)
{
	struct doctor_line *l = &r->line[r->nr++];

	*l = (struct doctor_line){.about = about, .state = limited ? DOCTOR_LIMITED : DOCTOR_FINE};
	return l;
}

static unsigned int percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned int)(100 * part / all) : 0;
}

static bool is_good(uint64_t part, uint64_t all)
{
	return percent(part, all) >= ADVICE_GOOD;
}

static void check_samples(const struct trial_facts *f, const char *command, struct doctor_report *r)
{
	bool few = f->samples < ADVICE_FEW;
	struct doctor_line *l = add(r, "samples", few || f->lost);

	PUT(l->found, "%" PRIu64 " sample%s, %u%% in the kernel, %" PRIu64 " lost", f->samples,
	    plural_s(f->samples), percent(f->kernel, f->samples), f->lost);
	if (few) {
		PUT(l->cost, "the command hardly used a CPU: shares of so few samples say little");
		PUT(l->mend,
		    "give it more work; to see what it waits for: ringtail record "
		    "--off-cpu -g -- %.*s",
		    COMMAND_SHOWN, command);
	} else if (f->lost) {
		PUT(l->cost, "the lost samples may be of other functions");
		PUT(l->mend, "ringtail record -m 32M -- %.*s", COMMAND_SHOWN, command);
	}
}

static void check_names(const struct trial_facts *f, struct doctor_report *r)
{
	bool good = is_good(f->named, f->samples);
	struct doctor_line *l = add(r, "names", !good);

	PUT(l->found, "%u%% of the samples are in a known function", percent(f->named, f->samples));
	if (good)
		return;
	PUT(l->cost, "the other samples show as addresses");
	if (f->kernel > f->kernel_named && !is_good(f->kernel_named, f->kernel))
		PUT(l->mend, "for the kernel: sysctl kernel.kptr_restrict=0 "
			     "kernel.perf_event_paranoid=1; for files see below");
	else
		PUT(l->mend, "see the files and the JIT below");
}

static void mend_file(const struct trial_facts *f, const struct trial_file *file,
		      struct doctor_line *l)
{
	if (file->by_distribution && f->fetches)
		PUT(l->mend, "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/, or install "
			     "its package with -dbgsym or -debuginfo");
	else if (file->by_distribution)
		PUT(l->mend, "install its package with -dbgsym or -debuginfo");
	else
		PUT(l->mend, "build it with -g and do not strip it (gcc, clang: -g; Rust: "
			     "CARGO_PROFILE_RELEASE_DEBUG=true; Go: without -ldflags=-s)");
}

static void check_files(const struct trial_facts *f, struct doctor_report *r)
{
	for (size_t i = 0; i < f->nr_files; i++) {
		const struct trial_file *file = &f->file[i];
		bool named = is_good(file->named, file->samples);
		bool lined = is_good(file->lines, file->samples);
		struct doctor_line *l;

		/* The first file may be the program; a small share of the others matters little. */
		if (i && percent(file->samples, f->samples) < 5)
			continue;
		l = add(r, "debug info", !named || !lined);
		PUT(l->found, "%.*s (%u%% of the samples): %s", NAME_SHOWN, file->dso->name,
		    percent(file->samples, f->samples),
		    !named	     ? "most functions have no names"
		    : !lined	     ? "names, but no source lines"
		    : file->separate ? "names and source lines, from a separate debug file"
				     : "names and source lines");
		if (named && lined)
			continue;
		if (!named && file->why)
			PUT(l->cost, "no names: %.200s", file->why);
		else
			PUT(l->cost, "%s",
			    named ? "no lines in report --sort srcline, no inlined "
				    "functions, no source in annotate"
				  : "samples show as addresses");
		mend_file(f, file, l);
	}
}

static void check_frame_pointers(const struct trial_facts *f, struct doctor_report *r)
{
	bool good = is_good(f->fp.whole, f->fp.samples);
	struct doctor_line *l = add(r, "frame pointers", !good);

	PUT(l->found,
	    "%u%% of the call chains reach the start of their thread; %.1f frames on "
	    "average",
	    percent(f->fp.whole, f->fp.samples), (double)f->fp.frames / (double)f->fp.samples);
	if (good)
		return;
	PUT(l->cost, "-g shows callers only as far as code keeps frame pointers");
	PUT(l->mend, "compile with -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer (Rust: "
		     "RUSTFLAGS=-Cforce-frame-pointers=yes), or see call-graph");
}

static void check_copies(const struct trial_facts *f, struct doctor_report *r)
{
	bool good = is_good(f->dwarf.whole, f->dwarf.samples);
	struct doctor_line *l = add(r, "stack copies", !good);

	PUT(l->found,
	    "%u%% of the call chains reach the start of their thread, %u%% are cut by "
	    "the size of the copy; %.1f frames on average",
	    percent(f->dwarf.whole, f->dwarf.samples), percent(f->dwarf.cut, f->dwarf.samples),
	    (double)f->dwarf.frames / (double)f->dwarf.samples);
	if (good)
		return;
	if (percent(f->dwarf.cut, f->dwarf.samples) > 100 - ADVICE_GOOD) {
		PUT(l->cost, "callers beyond %u bytes of stack are missing", ADVICE_STACK);
		PUT(l->mend, "--call-graph dwarf,%u", ADVICE_STACK_MOST);
	} else {
		PUT(l->cost, "callers are missing where code has no unwind tables, or no names");
		PUT(l->mend, "build with -fasynchronous-unwind-tables; of code of a JIT use frame "
			     "pointers");
	}
}

static void check_runtime(const struct trial_facts *f, const char *command, struct doctor_report *r)
{
	/* The command stands between @before and @after. */
	static const struct {
		const char *about, *cost, *before, *after;
	} runtimes[] = {
		[TRIAL_PYTHON] = {"Python",
				  "Python functions are hidden in those of the interpreter",
				  "PYTHONPERFSUPPORT=1", " (or python3 -X perf)"},
		[TRIAL_NODE] = {"Node.js", "JavaScript functions have no names",
				"NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-"
				"stack'",
				""},
		[TRIAL_JAVA] = {"Java", "Java methods have no names",
				"JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer "
				"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'",
				" (Java 17 or newer)"},
		[TRIAL_DOTNET] = {".NET", "managed functions have no names",
				  "DOTNET_PerfMapEnabled=1", ""},
		[TRIAL_RUBY] = {"Ruby", "Ruby functions are hidden in those of the interpreter",
				"RUBYOPT='--yjit --yjit-perf'", " (Ruby 3.3 or newer)"},
	};
	struct doctor_line *l;

	if (!f->runtime)
		return;
	l = add(r, runtimes[f->runtime].about, !f->runtime_named);
	PUT(l->found, "functions of the language have %s", f->runtime_named ? "names" : "no names");
	if (f->runtime_named)
		return;
	PUT(l->cost, "%s", runtimes[f->runtime].cost);
	if (f->runtime == TRIAL_PYTHON && f->version && f->version < 312)
		PUT(l->mend, "run it with Python 3.12 or newer, which names its functions for "
			     "profilers: PYTHONPERFSUPPORT=1, or python3 -X perf");
	else
		PUT(l->mend, "%s ringtail record -g -- %.*s%s", runtimes[f->runtime].before,
		    COMMAND_SHOWN / 2, command, runtimes[f->runtime].after);
}

static void check_jit(const struct trial_facts *f, struct doctor_report *r)
{
	bool good = is_good(f->jit_named, f->jit);
	struct doctor_line *l;

	if (!f->jit || (f->runtime && !f->runtime_named))
		return;
	l = add(r, "jit", !good);
	PUT(l->found, "%u%% of the samples are in code made at run time; %u%% of these have names",
	    percent(f->jit, f->samples), percent(f->jit_named, f->jit));
	if (good)
		return;
	PUT(l->cost, "functions of the JIT show as addresses");
	PUT(l->mend, "make the runtime write /tmp/perf-PID.map or a jitdump; its manual names the "
		     "option");
}

/* Which --call-graph to take: the cheapest one that gives nearly all callers. */
static void choose(const struct trial_facts *f, const char *command, struct doctor_report *r)
{
	unsigned int fp = percent(f->fp.whole, f->fp.samples);
	unsigned int dwarf = percent(f->dwarf.whole, f->dwarf.samples);
	bool cut = percent(f->dwarf.cut, f->dwarf.samples) > 100 - ADVICE_GOOD;
	bool neither = fp < ADVICE_GOOD && dwarf < ADVICE_GOOD && !cut;
	struct doctor_line *l = add(r, "call-graph", neither);
	char choice[32] = "-g";

	if (fp < ADVICE_GOOD && (cut || dwarf > fp))
		PUT(choice, "--call-graph dwarf%s", cut ? ",65528" : "");
	PUT(l->found, "take: ringtail record %s -- %.*s", choice, COMMAND_SHOWN / 2, command);
	if (!neither)
		return;
	PUT(l->cost, "part of the callers is missing with any --call-graph");
	PUT(l->mend, "mend names and frame pointers, above, and ask again");
}

void advice_give(const struct trial_facts *f, const char *command, struct doctor_report *ret)
{
	ret->nr = 0;
	check_samples(f, command, ret);
	if (!f->samples)
		return;
	check_names(f, ret);
	check_files(f, ret);
	check_runtime(f, command, ret);
	check_jit(f, ret);
	if (f->fp.samples)
		check_frame_pointers(f, ret);
	if (f->dwarf.samples)
		check_copies(f, ret);
	if (f->fp.samples || f->dwarf.samples)
		choose(f, command, ret);
}
