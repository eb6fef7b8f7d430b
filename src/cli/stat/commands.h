/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommand of this floor, as those of cli/commands.h. */
#ifndef RINGTAIL_CLI_STAT_COMMANDS_H
#define RINGTAIL_CLI_STAT_COMMANDS_H

/* Parses its arguments, counts, and prints. Returns the command's status or an enum exit_status. */
int cmd_stat(int argc, char **argv);

#endif
