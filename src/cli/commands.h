/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands. argv[0] is the command's full name ("ringtail report"). The return value is the
 * program's exit status.
 */
#ifndef RINGTAIL_CLI_COMMANDS_H
#define RINGTAIL_CLI_COMMANDS_H

/* Each parses its arguments, does its work and prints its errors. Returns an enum exit_status. */
int cmd_ctl(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_aux(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
