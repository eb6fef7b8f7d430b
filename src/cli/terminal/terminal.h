/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output as a terminal: width, colors, pager, and the options about them. It has the state
 * of the process. Main thread only.
 */
#ifndef RINGTAIL_CLI_TERMINAL_TERMINAL_H
#define RINGTAIL_CLI_TERMINAL_TERMINAL_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Argp children, without input, of the commands with long output: --no-pager; and that with
 * --color. Only such a command has a pager.
 */
extern const struct argp pager_argp;
extern const struct argp color_argp;

/* --no-pager before the name of a command. */
void terminal_forbid_pager(void);

/* Returns the columns of the terminal, at least 40; 0: standard output is none. */
unsigned int terminal_width(void);

/* Returns whether to print colors: as --color says, else on a terminal without NO_COLOR. */
bool terminal_colors(void);

/*
 * Starts the pager, if the command has one, standard output is a terminal and the user does not
 * forbid it. Call it before the first output, or often. Returns 0, or a negative errno with the
 * pager's name in *@ret_command: the output goes on without it.
 */
int terminal_page(const char **ret_command);

/* Returns the name of the pager that terminal_page() chose last. */
const char *terminal_pager(void);

/* Returns the stream for messages: standard error, or memory while the pager has the terminal. */
FILE *terminal_messages(void);

/*
 * Waits for the pager after the last output, which was flushed, and writes the messages. Returns
 * whether there was one, with its exit status in *@ret_status.
 */
bool terminal_page_end(int *ret_status);

#endif
