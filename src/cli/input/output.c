// SPDX-License-Identifier: Apache-2.0
#include "cli/input/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/input/input.h"
#include "cli/terminal/terminal.h"

/* What a shell ends with that cannot execute, or find, a program. */
#define NOT_EXECUTED 126
#define NOT_FOUND    127

void output_begin(void)
{
	const char *command;
	int rc;

	fflush(stdout);
	rc = terminal_page(&command);
	if (rc < 0)
		complain("the pager '%s' does not start: %s; the output follows without it",
			 command, strerror(-rc));
}

bool output_end(int *failed, int *rc)
{
	int status;

	if (!terminal_page_end(&status))
		return false;
	if (*failed == EPIPE || ferror(stdout)) {
		clearerr(stdout);
		*failed = 0;
		*rc = *rc == -EPIPE ? 0 : *rc;
	}
	if (status != NOT_EXECUTED && status != NOT_FOUND)
		return false;
	complain("the pager '%s' ended with status %d; --no-pager prints without it",
		 terminal_pager(), status);
	return true;
}
