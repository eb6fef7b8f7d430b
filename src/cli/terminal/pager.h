/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows standard output by a pager: another process, which reads a pipe.
 *
 * One pager a process. A signal that ends the process waits for the pager, which else would share
 * the terminal with the shell. Main thread only.
 */
#ifndef RINGTAIL_CLI_TERMINAL_PAGER_H
#define RINGTAIL_CLI_TERMINAL_PAGER_H

#include <stdbool.h>

/* Returns the user's pager: RINGTAIL_PAGER, PAGER or less; NULL: none ("", "cat"). */
const char *pager_command(void);

/* Returns whether colors pass through @command: less shows their codes if LESS lacks R. */
bool pager_takes_colors(const char *command);

/*
 * Starts @command, with LESS=FRX if the user has not set LESS. What was written before must have
 * been flushed. Returns 0, or a negative errno: standard output is as before.
 */
int pager_start(const char *command);

/* Returns whether a pager runs. */
bool pager_runs(void);

/*
 * Makes the terminal standard output again, and waits for the pager. Returns its exit status, 128
 * and more for a signal; 0 without a pager.
 */
int pager_end(void);

#endif
