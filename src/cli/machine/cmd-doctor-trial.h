/* SPDX-License-Identifier: Apache-2.0 */
/* `ringtail doctor COMMAND`: records the command for a second, and judges the recording. */
#ifndef RINGTAIL_CLI_MACHINE_CMD_DOCTOR_TRIAL_H
#define RINGTAIL_CLI_MACHINE_CMD_DOCTOR_TRIAL_H

#include "sys/doctor/doctor.h"

/*
 * Runs @record, the command `ringtail record`, in a child process on @command, which ends with
 * NULL; its standard output becomes standard error. Prints errors. Returns 0 with *@ret filled, or
 * a negative errno.
 */
int doctor_try(int (*record)(int argc, char **argv), char **command, struct doctor_report *ret);

#endif
