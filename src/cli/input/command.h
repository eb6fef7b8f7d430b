/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of commands that read one recording: its argument, opening, showing, ending. */
#ifndef RINGTAIL_CLI_INPUT_COMMAND_H
#define RINGTAIL_CLI_INPUT_COMMAND_H

#include "cli/input/input.h"

/* Takes the argument that names the recording. Exits if it is the second. */
void command_take_path(const struct argp_state *state, struct input *in, const char *path);

/* Checks the filter against the recording, then as input_prepare(). */
int command_prepare(struct input *in, struct trace *t);

/* Shows an open recording. Returns 0, or -errno when it has printed the reason. */
typedef int (*command_fn)(void *args, struct trace *t);

/*
 * Opens the recording, calls @show with @args, prints findings and losses, and closes it. Releases
 * @in. Returns the exit status.
 */
int command_run(struct input *in, command_fn show, void *args);

#endif
