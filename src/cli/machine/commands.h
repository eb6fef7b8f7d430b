/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of this floor, as those of cli/commands.h. */
#ifndef RINGTAIL_CLI_MACHINE_COMMANDS_H
#define RINGTAIL_CLI_MACHINE_COMMANDS_H

/* Each parses its arguments, does its work and prints its errors. Returns an enum exit_status. */
/* @record is the command `ringtail record`, which stands above this floor. */
int cmd_doctor(int argc, char **argv, int (*record)(int argc, char **argv));
int cmd_list(int argc, char **argv);

#endif
