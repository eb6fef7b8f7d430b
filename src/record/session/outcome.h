/* SPDX-License-Identifier: Apache-2.0 */
/* How a snapshot or a rotation ended, and whether the recording goes on. */
#ifndef RINGTAIL_RECORD_SESSION_OUTCOME_H
#define RINGTAIL_RECORD_SESSION_OUTCOME_H

/* With all but OUTCOME_DONE comes a struct error. */
enum outcome {
	OUTCOME_DONE,
	OUTCOME_FLAWED, /* the next output is in place, the one before is as of its last flush */
	OUTCOME_UNDONE, /* the output is as before, and the recording can go on */
	OUTCOME_BROKEN, /* the output is in between, and the recording must end */
};

#endif
