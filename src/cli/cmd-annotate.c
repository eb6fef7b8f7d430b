// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/plural.h"
#include "cli/commands.h"
#include "cli/input/command.h"
#include "cli/terminal/terminal.h"
#include "render/json.h"
#include "render/json_annotate.h"

#define MAX_STRIP     100
#define PERCENT_LIMIT 1.0 /* default, of functions that are not named */

struct annotate_args {
	struct input input;
	struct annotate_opts view;
	enum disasm_syntax syntax;
	struct source_opts source;
	double percent_limit; /* negative: not given */
	bool group, json, no_source, skip_missing;
};

/* What is shown so far. */
struct progress_of_show {
	size_t shown, missing, small;
	struct source_files *source; /* NULL: not wanted */
	size_t unnamed;		     /* of @missing: not in a message */
	bool *explained;	     /* by index of dso: a message says why it has no code */
};

enum {
	OPT_STDIO = 0x2000,
	OPT_STDIO2,
	OPT_PERCENT_LIMIT,
	OPT_PERCENT_TYPE,
	OPT_SHOW_PERIOD,
	OPT_ASM_RAW,
	OPT_NO_ASM_RAW,
	OPT_GROUP,
	OPT_JSON,
	OPT_SOURCE,
	OPT_NO_SOURCE,
	OPT_SOURCE_DIR,
	OPT_PREFIX,
	OPT_PREFIX_STRIP,
	OPT_SKIP_MISSING,
	OPT_TUI,
	OPT_GTK,
	OPT_OBJDUMP,
	OPT_IGNORE_VMLINUX,
	OPT_DEMANGLE_KERNEL,
};

static const struct argp_option options[] = {
	{"symbol", 's', "SYMBOL", 0, "Show this function, as the argument does", HELP_MOST_USED},
	{"percent-limit", OPT_PERCENT_LIMIT, "PERCENT", 0,
	 "Leave out functions below PERCENT of the samples (default 1; of named functions 0)",
	 HELP_MOST_USED},
	{"disassembler-style", 'M', "att|intel", 0, "Syntax of x86 code (default att)",
	 HELP_MOST_USED},
	{"show-nr-samples", 'n', NULL, 0, "Add a column with the number of samples",
	 HELP_MOST_USED},
	{"print-line", 'l', NULL, 0,
	 "Name file and line of each source line, and begin with the lines that have most samples",
	 HELP_MOST_USED},
	{"no-source", OPT_NO_SOURCE, NULL, 0, "Show no source lines", HELP_OUTPUT},
	{"source", OPT_SOURCE, NULL, 0, "Show source lines (the default)", HELP_OUTPUT},
	{"full-paths", 'P', NULL, 0, "Show whole paths of source files", HELP_OUTPUT},
	{"source-dir", OPT_SOURCE_DIR, "DIR", 0, "Look for source files below DIR, too",
	 HELP_SYMBOLS},
	{"prefix", OPT_PREFIX, "DIR", 0, "Put DIR before absolute paths of source files",
	 HELP_SYMBOLS},
	{"prefix-strip", OPT_PREFIX_STRIP, "N", 0, "Drop N folders from these paths before",
	 HELP_SYMBOLS},
	{"show-total-period", OPT_SHOW_PERIOD, NULL, 0,
	 "Add a column with the sum of their periods", HELP_OUTPUT},
	{"percent-type", OPT_PERCENT_TYPE, "TYPE", 0,
	 "Percentages of the function or of the event, of periods or of samples: local-period (the "
	 "default), local-hits, global-period, global-hits",
	 HELP_OUTPUT},
	{"group", OPT_GROUP, NULL, 0, "Show all events in one listing, in columns", HELP_OUTPUT},
	{"asm-raw", OPT_ASM_RAW, NULL, 0, "Show the bytes of each instruction", HELP_OUTPUT},
	{"no-asm-raw", OPT_NO_ASM_RAW, NULL, 0, "Do not show the bytes (the default)", HELP_OUTPUT},
	{"skip-missing", OPT_SKIP_MISSING, NULL, 0,
	 "Say nothing about functions whose code is not there", HELP_OUTPUT},
	{"json", OPT_JSON, NULL, 0, "Write JSON", HELP_OUTPUT},
	{"stdio", OPT_STDIO, NULL, 0, "Text on standard output (the default)", HELP_OUTPUT},
	{"stdio2", OPT_STDIO2, NULL, OPTION_HIDDEN, "As --stdio", HELP_OUTPUT},
	{"modules", 'm', NULL, 0, "Symbols of the kernel's modules, too (always)", HELP_SYMBOLS},
	REFUSED("dump-raw-trace", 'D', "'ringtail dump' shows the records"),
	REFUSED("tui", OPT_TUI, "'ringtail view' shows code on the terminal: key a"),
	REFUSED("gtk", OPT_GTK, "the listing is text: 'ringtail annotate | less'"),
	REFUSED("objdump", OPT_OBJDUMP, "ringtail disassembles by itself and starts no program"),
	REFUSED("ignore-vmlinux", OPT_IGNORE_VMLINUX, "'-k /dev/null' leaves out the kernel"),
	REFUSED("demangle-kernel", OPT_DEMANGLE_KERNEL,
		"ringtail shows C++ and Rust names of all files as in the source"),
	{0},
};

static void parse_percent_type(struct argp_state *state, struct annotate_args *a, const char *arg)
{
	static const struct {
		const char *name, *alias;
		bool global, hits;
	} types[] = {
		{"local-period", "period-local", false, false},
		{"local-hits", "hits-local", false, true},
		{"global-period", "period-global", true, false},
		{"global-hits", "hits-global", true, true},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(arg, types[i].name) != 0 && strcmp(arg, types[i].alias) != 0)
			continue;
		a->view.global = types[i].global;
		a->view.hits = types[i].hits;
		return;
	}
	usage_error(state,
		    "--percent-type: '%s' is not local-period, local-hits, global-period or "
		    "global-hits",
		    arg);
}

static void parse_syntax(struct argp_state *state, struct annotate_args *a, const char *arg)
{
	if (!strcmp(arg, "intel"))
		a->syntax = DISASM_INTEL;
	else if (!strcmp(arg, "att"))
		a->syntax = DISASM_ATT;
	else
		usage_error(state, "-M: '%s' is neither att nor intel", arg);
}

static unsigned int parse_strip(struct argp_state *state, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n > MAX_STRIP)
		usage_error(state, "--prefix-strip: '%s' is no number from 0 to %d", arg,
			    MAX_STRIP);
	return (unsigned int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct annotate_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &a->input; break;
	case OPT_STDIO:
	case OPT_STDIO2:
	case 'm': break;
	case 's': a->input.filter.symbols = arg; break;
	case OPT_PERCENT_LIMIT:
		a->percent_limit = input_percent(state, "--percent-limit", arg);
		break;
	case OPT_PERCENT_TYPE: parse_percent_type(state, a, arg); break;
	case 'M': parse_syntax(state, a, arg); break;
	case 'n': a->view.show_samples = true; break;
	case OPT_SHOW_PERIOD: a->view.show_period = true; break;
	case 'l': a->view.print_line = true; break;
	case 'P': a->view.full_paths = true; break;
	case OPT_SOURCE: a->no_source = false; break;
	case OPT_NO_SOURCE: a->no_source = true; break;
	case OPT_SOURCE_DIR: a->source.texts.dir = arg; break;
	case OPT_PREFIX: a->source.texts.prefix = arg; break;
	case OPT_PREFIX_STRIP: a->source.texts.strip = parse_strip(state, arg); break;
	case OPT_ASM_RAW: a->view.show_bytes = true; break;
	case OPT_NO_ASM_RAW: a->view.show_bytes = false; break;
	case OPT_GROUP: a->group = true; break;
	case OPT_SKIP_MISSING: a->skip_missing = true; break;
	case OPT_JSON: a->json = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail shows one function; -i "
					   "names the recording");
		a->input.filter.symbols = arg;
		break;
	case ARGP_KEY_END:
		if (a->input.trace.itrace && a->input.itrace.skip)
			usage_error(state,
				    "--itrace: s, which skips samples, is for 'ringtail script'");
		if (a->source.texts.strip && !a->source.texts.prefix)
			usage_error(state, "--prefix-strip needs --prefix");
		break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

/* --- showing -------------------------------------------------------------------------------------
 */

static double percent_limit(const struct annotate_args *a)
{
	if (a->percent_limit >= 0)
		return a->percent_limit;
	return a->input.filter.symbols ? 0 : PERCENT_LIMIT;
}

static bool is_wanted(const struct annotate_args *a, const struct annotate_view *v)
{
	for (size_t i = 0; i < v->nr_events; i++) {
		size_t e = v->events[i];
		const struct annotate_weight *w = &v->function->total[e];

		if (w->samples &&
		    annotate_percent(w, &v->annotate->whole[e], v->opts) >= percent_limit(a))
			return true;
	}
	return false;
}

/* One message for each file. */
static void explain_missing(const struct annotate_args *a, const struct annotate_view *v,
			    struct progress_of_show *p)
{
	const struct dso *dso = v->function->dso;

	if (a->skip_missing || a->input.quiet)
		return;
	if (p->explained[dso->index])
		p->unnamed++;
	else
		complain("%s in %s: no code: %s", v->function->sym->name, dso->name, v->why);
	p->explained[dso->index] = true;
}

static int show_loaded(const struct annotate_args *a, const struct annotate_view *v,
		       struct progress_of_show *p)
{
	int rc;

	if (a->json) {
		fputs(p->shown + p->missing ? ",\n  " : "\n  ", stdout);
		rc = annotate_json(stdout, v);
	} else if (v->why) {
		explain_missing(a, v, p);
		rc = 0;
	} else {
		if (p->shown)
			fputs("\n\n", stdout);
		rc = annotate_render(stdout, v);
	}
	if (v->why)
		p->missing++;
	else
		p->shown++;
	return rc;
}

static int show_function(const struct annotate_args *a, struct annotate_view *v,
			 struct progress_of_show *p)
{
	const struct annotate_function *f = v->function;
	struct function_code code = {0};
	struct listing listing = {0};
	struct error why = ERROR_INIT;
	const struct trace *t = v->annotate->trace;
	const struct map *image = state_image(t->state);
	const struct code_source source = {t->resolver, image ? image->dso : NULL};
	int rc = function_code_load(&source, f->dso, f->sym, f->base, &code, &why);

	if (!rc)
		rc = listing_init(&listing, &code, a->syntax, &why);
	v->listing = rc ? NULL : &listing;
	if (!rc && v->source)
		rc = source_begin(v->source, f->dso);
	v->why = rc ? why.text : NULL;
	if (rc != -ENOMEM)
		rc = show_loaded(a, v, p);
	else
		complain("out of memory");
	listing_release(&listing);
	function_code_release(&code);
	return rc;
}

/* Shows the functions of some events, hottest first. */
static int show_events(const struct annotate_args *a, struct annotate *annotate,
		       const size_t *events, size_t nr, struct progress_of_show *p)
{
	struct annotate_view v = {
		.annotate = annotate,
		.source = p->source,
		.events = events,
		.nr_events = nr,
		.opts = &a->view,
	};
	int rc = 0;

	annotate_sort(annotate, events[0]);
	for (size_t i = 0; !rc && i < annotate->nr; i++) {
		v.function = &annotate->function[i];
		if (is_wanted(a, &v))
			rc = show_function(a, &v, p);
		else
			p->small++;
		if (!rc && ferror(stdout))
			rc = -EPIPE;
	}
	return rc;
}

static int show_all(const struct annotate_args *a, struct annotate *annotate,
		    struct progress_of_show *p)
{
	size_t *events = calloc(annotate->nr_events + 1, sizeof(*events)), nr = 0;
	int rc = 0;

	if (!events)
		return -ENOMEM;
	for (size_t e = 0; e < annotate->nr_events; e++)
		if (annotate->whole[e].samples)
			events[nr++] = e;
	if (a->group && !a->json && nr)
		rc = show_events(a, annotate, events, nr, p);
	else
		for (size_t i = 0; !rc && i < nr; i++)
			rc = show_events(a, annotate, &events[i], 1, p);
	free(events);
	return rc;
}

static int show_as_json(const struct annotate_args *a, struct annotate *annotate,
			struct progress_of_show *p)
{
	int rc;

	fputs("{\n \"stats\": ", stdout);
	rc = json_write(stdout, json_stats(annotate->trace));
	fputs(" ,\"functions\": [", stdout);
	if (!rc)
		rc = show_all(a, annotate, p);
	fputs("]\n}\n", stdout);
	return rc;
}

/*
 * Says why no function is shown: the filters passed no sample, or all are in no known function.
 * Returns -ENOENT if functions were named, or 0.
 */
static int explain_none(const struct annotate_args *a, const struct annotate *annotate)
{
	uint64_t samples = 0;

	for (size_t e = 0; e < annotate->nr_events; e++)
		samples += annotate->nowhere[e].samples;
	if (a->input.quiet && a->input.filter.symbols)
		complain("%s: no sample is in the named functions", annotate->trace->opts.path);
	else if (!samples || a->input.filter.symbols)
		input_explain_nothing(&a->input, annotate->trace);
	else if (!a->input.quiet)
		complain("%" PRIu64 " sample%s, but none in a known function: 'ringtail report -v' "
			 "says which files have no symbols",
			 samples, plural_s(samples));
	return a->input.filter.symbols ? -ENOENT : 0;
}

static int show_annotations(struct annotate_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	struct annotate *annotate = NULL;
	struct progress_of_show p = {0};
	int rc = annotate_run(t, &a->input.filter, &annotate, &err);

	input_output(&a->input);
	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	p.explained = calloc(state_dso_count(t->state) + 1, sizeof(*p.explained));
	if (!p.explained || (!a->no_source && source_new(t->resolver, &a->source, &p.source)))
		rc = -ENOMEM;
	else
		rc = a->json ? show_as_json(a, annotate, &p) : show_all(a, annotate, &p);
	if (!rc && !a->json && !a->input.quiet && p.small)
		printf("%s# %zu function%s below %g%% left out\n", p.shown ? "\n\n" : "", p.small,
		       plural_s(p.small), percent_limit(a));
	if (p.unnamed)
		complain("%zu more function%s of the same files: no code", p.unnamed,
			 plural_s(p.unnamed));
	input_explain_symbols(&a->input, t);
	if (!rc && !annotate->nr)
		rc = explain_none(a, annotate);
	if (!rc && p.missing && !p.shown)
		rc = -ENOENT;
	source_free(p.source);
	free(p.explained);
	annotate_free(annotate);
	return rc;
}

static int show(void *args, struct trace *t)
{
	struct annotate_args *a = args;
	struct error err = ERROR_INIT;
	int rc = filter_check(&a->input.filter, t->evlist, &err);

	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	t->digest = annotate_takes_digests(t, &a->input.filter);
	rc = input_prepare(&a->input, t);
	return rc < 0 ? rc : show_annotations(a, t);
}

int cmd_annotate(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&samples_argp, 0, NULL, 0},
						     {&color_argp, 0, "Terminal:", HELP_INPUT},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[SYMBOL]",
		.doc = "Show the code of the hottest functions, with the samples of each "
		       "instruction.",
		.children = children,
	};
	struct annotate_args a = {.percent_limit = -1};

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.view.quiet = a.input.quiet;
	a.view.colors = terminal_colors();
	a.source.demangle = !a.input.trace.no_demangle;
	return command_run(&a.input, show, &a);
}
