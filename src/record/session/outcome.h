/* SPDX-License-Identifier: Apache-2.0 */
/* How a snapshot or a rotation ended, and whether the recording goes on. */
#ifndef RINGTAIL_RECORD_SESSION_OUTCOME_H
#define RINGTAIL_RECORD_SESSION_OUTCOME_H

#include <errno.h>

#include "base/error.h"

/* With all but OUTCOME_DONE comes a struct error. */
enum outcome {
	OUTCOME_DONE,
	OUTCOME_FLAWED, /* the next output is in place, the one before is as of its last flush */
	OUTCOME_UNDONE, /* the output is as before, and the recording can go on */
	OUTCOME_BROKEN, /* the output is in between, and the recording must end */
};

/*
 * What @outcome is as an error: 0 for OUTCOME_DONE, else the code of @err, which is never NULL. An
 * error without a code is -EIO: a recording that must end does not go on for want of a reason.
 */
static inline int outcome_error(enum outcome outcome, const struct error *err)
{
	if (outcome == OUTCOME_DONE)
		return 0;
	return err->code ? err->code : -EIO;
}

#endif
