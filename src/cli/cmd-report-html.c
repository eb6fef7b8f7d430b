// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-html.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd-export-file.h"
#include "export/html/html.h"
#include "render/header.h"
#include "render/json.h"

/* Returns the verdicts by event; NULL: no memory. */
static json_t *verdicts_json(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < r->tables.nr; i++) {
		if (json_array_append_new(list, json_verdict(r, i))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

/* Returns what the page says of the recording, for free(); NULL: no memory. */
static char *facts_of(const struct trace *t, const struct report *r,
		      const struct html_before *before)
{
	char path[PATH_MAX], old[PATH_MAX] = "";
	char *ret = NULL;
	json_t *o;

	snprintf(path, sizeof(path), "%s", t->opts.path);
	if (before)
		snprintf(old, sizeof(old), "%s", before->trace->opts.path);
	o = json_pack("{so so so so so}", "name", json_name(basename(path)), "before",
		      before ? json_name(basename(old)) : json_null(), "header",
		      header_json(t, input_captured(t->opts.path)), "stats", json_stats(t),
		      "verdicts", verdicts_json(r));
	if (o)
		ret = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(o);
	return ret;
}

/* Judges the samples that the page will have. Returns as facts_of(), after a message. */
static char *find_facts(struct trace *t, const struct report_opts *opts,
			const struct html_before *before)
{
	struct error err = ERROR_INIT;
	struct report *r = NULL;
	char *facts = NULL;
	int rc = report_run(t, opts, &r, &err);

	if (!rc) {
		facts = facts_of(t, r, before);
		if (!facts)
			error_sys(&err, -ENOMEM, "%s", t->opts.path);
	}
	if (!facts)
		complain("%s", err.text);
	report_free(r);
	return facts;
}

static int write_page(struct input *in, struct trace *t, const struct html_opts *opts, FILE *f,
		      const char *path)
{
	struct out out = {.f = f};
	struct error err = ERROR_INIT;
	uint64_t samples;
	int rc;

	if (isatty(fileno(f)))
		in->progress.enabled = false; /* lines would run into the bar */
	rc = export_run(t, &export_html, &opts->export, &out, &samples, &err);
	input_progress_end(in);
	if (out.rc && (out.rc != -EPIPE || f != stdout))
		complain("cannot write to %s: %s", path, strerror(-out.rc));
	else if (rc < 0 && !out.rc)
		complain("%s", err.text);
	if (!rc && !samples)
		input_explain_nothing(in, t);
	out_release(&out);
	return rc;
}

/* Closes @f, and removes a file that is not whole. Returns @rc, or a failure to close. */
static int close_page(FILE *f, const char *path, int rc)
{
	if (f == stdout)
		return rc;
	if (fclose(f) && !rc) {
		rc = -errno;
		complain("%s: %s", path, strerror(errno));
	}
	if (rc < 0)
		export_file_remove(AT_FDCWD, path);
	return rc;
}

int report_html(struct input *in, struct trace *t, const struct report_opts *opts, const char *path,
		const struct html_before *before)
{
	bool is_stdout = !strcmp(path, "-");
	char *facts = find_facts(t, opts, before);
	const struct html_opts html = {
		.export = {.filter = opts->filter,
			   .max_stack = opts->max_stack,
			   .inlined = opts->inlined,
			   .waits = opts->waits},
		.facts = facts,
		.before = before,
	};
	FILE *f = NULL;
	int rc = -EIO;

	if (facts)
		f = is_stdout ? stdout : export_file_open(in->trace.path, path, AT_FDCWD, path);
	if (f)
		rc = close_page(f, path,
				write_page(in, t, &html, f, is_stdout ? "standard output" : path));
	free(facts);
	return rc;
}
