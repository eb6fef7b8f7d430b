/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning and end of long output, which a pager may show. Main thread only. */
#ifndef RINGTAIL_CLI_INPUT_OUTPUT_H
#define RINGTAIL_CLI_INPUT_OUTPUT_H

#include <stdbool.h>

/* Starts the pager where the command has one; prints why it cannot. Call it before output. */
void output_begin(void);

/*
 * Waits for the pager, if there is one, after stdout was flushed with error *@failed. If the user
 * quit it early, the rest that was not written is no error: *@failed and *@rc become 0. Returns
 * whether the pager could not show the output, after printing that.
 */
bool output_end(int *failed, int *rc);

#endif
