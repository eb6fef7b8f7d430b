// SPDX-License-Identifier: Apache-2.0
#include "render/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/cmd-dump.h"
#include "cli/files/commands.h"
#include "cli/terminal/terminal.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = in; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "name only one recording");
		in->trace.path = arg;
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Returns "data.3" for a part of a directory; NULL if the recording is one file. */
static const char *segment_name(const struct trace *t, unsigned int segment)
{
	const char *path = data_segment_path(t->df, segment), *slash = strrchr(path, '/');

	if (data_kind(t->df) != DATA_DIRECTORY)
		return NULL;
	return slash ? slash + 1 : path;
}

static int dump_segment(struct trace *t, unsigned int segment)
{
	const char *name = segment_name(t, segment);
	struct data_scan *scan = NULL;
	struct data_record rec;
	int rc = data_scan_new(t->df, segment, 0, DATA_WHOLE,
			       DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS, &scan);

	while (!rc && (rc = data_scan_next(scan, &rec)) > 0) {
		if (!dump_record(stdout, name, &rec))
			data_finding_add(t->df, DATA_DAMAGED, rec.segment, rec.offset,
					 "the contents of a record do not fit its type");
		rc = ferror(stdout) ? -EPIPE : 0;
	}
	data_scan_free(scan);
	return rc;
}

int dump_all(struct input *in, struct trace *t)
{
	int rc = 0;

	input_output(in);
	for (unsigned int i = 0; !rc && i < data_segments(t->df); i++)
		rc = dump_segment(t, i);
	if (rc < 0 && rc != -EPIPE)
		complain("%s: cannot read it to the end", t->opts.path);
	return rc;
}

int cmd_dump(int argc, char **argv)
{
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0},
						     {&pager_argp, 0, NULL, 0},
						     {&help_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show every record of a recording in file order: its offset, type, size and "
		       "fields. In a directory, the name of the file stands before the offset. In "
		       "compressed data, the offset of the compressed record comes first, then + "
		       "and the offset in the decompressed bytes.",
		.children = children,
	};
	struct trace *t = NULL;
	struct input in;
	int rc, status;

	input_init(&in);
	if (argp_parse(&argp, argc, argv, 0, NULL, &in))
		exit(EXIT_USAGE);
	rc = input_open(&in, &t);
	if (!rc)
		rc = dump_all(&in, t);
	status = input_end(&in, t, rc);
	trace_close(t);
	input_release(&in);
	return status;
}
