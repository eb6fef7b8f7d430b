/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording: a struct trace, prepared when the first walk needs it.
 *
 * Any thread may call these functions.
 */
#ifndef RINGTAIL_API_RECORDING_H
#define RINGTAIL_API_RECORDING_H

#include <pthread.h>

#include "api/error.h"
#include "report/trace/trace.h"

struct ringtail_recording {
	char *path, *symfs, *kallsyms, *vmlinux; /* trace refers to them */
	struct trace *trace;
	struct ringtail_finding finding; /* handed out last */
	pthread_mutex_t lock;		 /* guards what follows */
	bool prepared;			 /* trace_prepare() was called, */
	int prepare_rc;			 /* and returned this, */
	struct error prepare_err;	 /* with this text */
};

/* Reads the whole recording once, so that samples can be resolved. As trace_prepare(). */
int recording_prepare(struct ringtail_recording *r, struct error *err);

#endif
