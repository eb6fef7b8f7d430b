// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/human.h"
#include "base/parse.h"
#include "base/plural.h"
#include "cli/cmd-export-file.h"
#include "cli/commands.h"
#include "cli/input/input.h"
#include "data/edit/edit.h"
#include "render/text.h"
#include "report/archive/archive.h"
#include "report/pack/collect.h"

#define BUDGET (64u << 20) /* bytes, default */

struct pack_args {
	struct input input;
	const char *output; /* NULL: replace the recording */
	uint64_t budget;    /* bytes */
	bool remove;	    /* the table that the recording has */
	bool symbols;	    /* --symbols or --symbols-budget is given */
	bool lines;	    /* also source lines */
	bool names;	    /* --symbols=names is given: leave lines out */
	bool perf;	    /* write an archive for perf, and leave the recording as it is */
};

enum {
	OPT_SYMBOLS = 0x7000,
	OPT_BUDGET,
	OPT_SYMFS,
	OPT_KALLSYMS,
	OPT_PERF,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Most used:", HELP_MOST_USED},
	{"output", 'o', "FILE", 0, "Write a packed copy, and leave the recording as it is",
	 HELP_MOST_USED},
	{"symbols", OPT_SYMBOLS, "names|lines|none", 0,
	 "Add the names of functions (the default); lines: and their source lines and inlined "
	 "functions; none: remove what the recording carries",
	 HELP_MOST_USED},
	{"symbols-budget", OPT_BUDGET, "SIZE", 0,
	 "Leave out the names of the least sampled functions beyond SIZE (default 64M)",
	 HELP_MOST_USED},
	{"perf", OPT_PERF, NULL, 0,
	 "Write FILE.tar.bz2, the archive of perf archive: the programs in which samples fell",
	 HELP_MOST_USED},
	{NULL, 0, NULL, 0, "Symbols:", HELP_SYMBOLS},
	{"symfs", OPT_SYMFS, "DIR", 0, "Look for files with symbols below DIR", HELP_SYMBOLS},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "The recorded kernel's kallsyms", HELP_SYMBOLS},
	{"vmlinux", 'k', "FILE", 0, "The recorded kernel's vmlinux", HELP_SYMBOLS},
	{NULL, 0, NULL, 0, "Input and messages:", HELP_INPUT},
	{"verbose", 'v', NULL, 0, "Print why a shared object has no symbols", HELP_INPUT},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pack_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 'o': a->output = arg; break;
	case OPT_SYMBOLS:
		a->symbols = true;
		a->remove = !strcmp(arg, "none");
		a->lines = !strcmp(arg, "lines");
		a->names = !strcmp(arg, "names");
		if (!a->remove && !a->lines && !a->names)
			usage_error(state, "--symbols: '%s' is none of names, lines and none", arg);
		break;
	case OPT_PERF: a->perf = true; break;
	case OPT_BUDGET:
		a->symbols = true;
		if (parse_size(arg, &a->budget))
			usage_error(state, "--symbols-budget: '%s' is no size such as 64M", arg);
		break;
	case OPT_SYMFS: a->input.trace.symfs = arg; break;
	case OPT_KALLSYMS: a->input.trace.kallsyms = arg; break;
	case 'k': a->input.trace.vmlinux = arg; break;
	case 'v': a->input.verbose = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail packs one recording");
		a->input.trace.path = arg;
		break;
	case ARGP_KEY_END:
		if (a->perf && a->symbols)
			usage_error(state, "--perf: the archive has whole files, and no table of "
					   "names: leave out --symbols and --symbols-budget");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Prints which names the table does not have, and why. */
static void print_missing(const struct pack_args *a, const struct collect_counts *c)
{
	char n[HUMAN_COUNT_SIZE], frames[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	if (a->input.quiet)
		return;
	if (c->unnamed)
		complain("%s of %s addresses in the samples have no name on this machine; -v "
			 "prints why",
			 human_count(c->unnamed, n), human_count(c->frames, frames));
	if (c->table.doubtful)
		complain("%s function%s left out: programs of one name, or code at one address, "
			 "changed during the recording",
			 human_count(c->table.doubtful, n), plural_s(c->table.doubtful));
	if (c->table.left_out)
		complain("%s function%s left out: the budget is %s (--symbols-budget)",
			 human_count(c->table.left_out, n), plural_s(c->table.left_out),
			 human_size(a->budget, size));
	if (c->table.unlined)
		complain("%s place%s in code left without source lines: the budget is %s "
			 "(--symbols-budget)",
			 human_count(c->table.unlined, n), plural_s(c->table.unlined),
			 human_size(a->budget, size));
}

static void print_counts(const struct pack_args *a, const struct trace *t,
			 const struct collect_counts *c, size_t bytes)
{
	char n[HUMAN_COUNT_SIZE], objects[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	if (a->input.quiet)
		return;
	complain("%s: carries the names%s of %s function%s in %s file%s (%s)",
		 a->output ? a->output : a->input.trace.path,
		 c->table.lined ? " and source lines" : "", human_count(c->table.functions, n),
		 plural_s(c->table.functions), human_count(c->table.objects, objects),
		 plural_s(c->table.objects), human_size(bytes, size));
	if (t->cfi)
		complain(
			"other machines cannot unwind the copies of user stacks: the callers there "
			"come from the programs' files");
}

static int pack(struct pack_args *a, struct trace *t)
{
	struct collect_counts counts = {0};
	struct error err = ERROR_INIT;
	struct buf table = {0};
	bool lines;
	int rc = edit_check(t->df, a->output, &err);

	if (!rc && !a->remove) {
		rc = input_prepare(&a->input, t);
		if (rc < 0)
			return rc;
		lines = a->lines || (!a->names && t->symbols && recorded_symbols_lined(t->symbols));
		rc = collect_symbols(t, a->budget, lines, &table, &counts, &err);
		input_progress_end(&a->input);
	}
	if (!rc && !a->remove && !counts.table.functions)
		rc = error_set(&err, -ENOENT, "%s: no function to carry: nothing was written",
			       t->opts.path);
	if (!rc)
		rc = edit_set_symbols(t->df, &table, a->output, &err);
	if (rc < 0)
		complain("%s", err.text);
	else if (!a->remove)
		print_counts(a, t, &counts, table.len);
	print_missing(a, &counts);
	if (!rc && !a->remove)
		input_explain_symbols(&a->input, t);
	buf_release(&table);
	return rc;
}

/* --- the archive of perf -------------------------------------------------------------------------
 */

static void print_left_out(const struct dso *dso, const char *why, void *arg)
{
	const struct pack_args *a = arg;
	struct buf name = {0};

	if (a->input.verbose && !text_escape(&name, dso->name))
		complain("%.*s is not in the archive: %s", (int)name.len, (char *)name.data, why);
	buf_release(&name);
}

static void print_archive(const struct pack_args *a, const char *path,
			  const struct archive_counts *c)
{
	char n[HUMAN_COUNT_SIZE], missing[HUMAN_COUNT_SIZE];

	if (a->input.quiet)
		return;
	if (c->missing)
		complain("%s file%s with samples %s not in the archive; -v prints which and why",
			 human_count(c->missing, missing), plural_s(c->missing),
			 c->missing == 1 ? "is" : "are");
	complain("%s: has %s file%s; where the recording is read, run: "
		 "mkdir -p ~/.debug && tar xf %s -C ~/.debug",
		 path, human_count(c->dsos, n), plural_s(c->dsos), path);
}

/*
 * Opens the archive. Where a regular file is or will be, it grows beside its place under the name
 * @part, so that an earlier archive stays until this one is whole.
 */
static FILE *open_archive(const struct pack_args *a, const char *path, char part[PATH_MAX])
{
	struct stat st;

	*part = 0;
	if (lstat(path, &st) ? errno != ENOENT : !S_ISREG(st.st_mode))
		return export_file_open(a->input.trace.path, path, AT_FDCWD, path);
	if (export_file_is_recording(a->input.trace.path, path))
		return NULL;
	if ((size_t)snprintf(part, PATH_MAX, "%s.part", path) >= PATH_MAX) {
		complain("%s: %s", path, strerror(ENAMETOOLONG));
		return NULL;
	}
	return export_file_open(a->input.trace.path, part, AT_FDCWD, part);
}

/* Closes the archive, and gives it its name or removes it. */
static int end_archive(FILE *f, const char *path, const char *part, int rc, struct error *err)
{
	if (fclose(f) && !rc)
		rc = error_sys(err, -errno, "%s", path);
	if (!rc && *part && rename(part, path))
		rc = error_sys(err, -errno, "%s", path);
	if (rc)
		export_file_remove(AT_FDCWD, *part ? part : path);
	return rc;
}

static int pack_for_perf(struct pack_args *a, struct trace *t)
{
	struct archive_counts counts = {0};
	struct error err = ERROR_INIT;
	char beside[PATH_MAX], part[PATH_MAX];
	const char *path = a->output ?: beside;
	FILE *f;
	int rc;

	if ((size_t)snprintf(beside, sizeof(beside), "%s.tar.bz2", a->input.trace.path) >=
	    sizeof(beside)) {
		complain("the name of the recording is too long: name the archive with -o");
		return -ENAMETOOLONG;
	}
	rc = input_prepare(&a->input, t);
	if (rc < 0)
		return rc;
	f = open_archive(a, path, part);
	if (!f)
		return -EIO;
	rc = archive_write(t, f, path, print_left_out, a, &counts, &err);
	input_progress_end(&a->input);
	rc = end_archive(f, path, part, rc, &err);
	if (rc)
		complain("%s", err.text);
	else
		print_archive(a, path, &counts);
	return rc;
}

int cmd_pack(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Make a recording carry the names of its functions, for machines without "
		       "the recorded programs.",
		.children = children,
	};
	struct pack_args a = {.budget = BUDGET};
	struct trace *t = NULL;
	int rc, status;

	input_init(&a.input);
	a.input.trace.no_demangle = true;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	a.input.trace.itrace = NULL;
	rc = input_open(&a.input, &t);
	if (!rc)
		rc = a.perf ? pack_for_perf(&a, t) : pack(&a, t);
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
