/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts into lines what a trial recording says about profiling its command, and what improves it.
 *
 * Names of files come from the recording: escape the lines. A pure function; any thread.
 */
#ifndef RINGTAIL_REPORT_TRIAL_ADVICE_H
#define RINGTAIL_REPORT_TRIAL_ADVICE_H

#include "report/trial/trial.h"
#include "sys/doctor/doctor.h"

#define ADVICE_FEW	  30u /* samples below which shares say little */
#define ADVICE_GOOD	  90u /* percent: enough of them */
#define ADVICE_STACK	  8192u
#define ADVICE_STACK_MOST 65528u

/*
 * Judges @f, the trial of a command that is typed as @command. The last line has the command of
 * `ringtail record` to use; it is "call-graph", and there only if there are samples.
 */
void advice_give(const struct trial_facts *f, const char *command, struct doctor_report *ret);

#endif
