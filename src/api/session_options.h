/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the library's options of a recording to struct record_opts. Any thread. */
#ifndef RINGTAIL_API_SESSION_OPTIONS_H
#define RINGTAIL_API_SESSION_OPTIONS_H

#include <ringtail/ringtail.h>

#include "base/error.h"
#include "record/plan/options.h"

/*
 * Fills @ret, which is zero; the strings of @opts must outlive it. Returns 0 or a negative errno
 * with @err filled; call session_options_release() in both cases.
 */
int session_options_make(const struct ringtail_session_opts *opts, struct record_opts *ret,
			 struct error *err);
void session_options_release(struct record_opts *opts);

#endif
