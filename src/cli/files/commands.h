/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of this floor, as those of cli/commands.h. */
#ifndef RINGTAIL_CLI_FILES_COMMANDS_H
#define RINGTAIL_CLI_FILES_COMMANDS_H

/* Each parses its arguments, does its work and prints its errors. Returns an enum exit_status. */
int cmd_buildid_list(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_evlist(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_snapshots(int argc, char **argv);

#endif
