// SPDX-License-Identifier: Apache-2.0
#include "cli/input/command.h"

void command_take_path(const struct argp_state *state, struct input *in, const char *path)
{
	if (state->arg_num)
		usage_error(state, "too many arguments: ringtail reads one recording");
	in->trace.path = path;
}

int command_prepare(struct input *in, struct trace *t)
{
	struct error err = ERROR_INIT;
	int rc = filter_check(&in->filter, t->evlist, &err);

	if (rc < 0) {
		complain("%s", err.text);
		return rc;
	}
	return input_prepare(in, t);
}

int command_run(struct input *in, command_fn show, void *args)
{
	struct trace *t = NULL;
	int rc = input_open(in, &t), status;

	if (!rc)
		rc = show(args, t);
	status = input_end(in, t, rc);
	trace_close(t);
	input_release(in);
	return status;
}
