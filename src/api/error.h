/* SPDX-License-Identifier: Apache-2.0 */
/* Converts errors of the floors below to struct ringtail_error. Any thread. */
#ifndef RINGTAIL_API_ERROR_H
#define RINGTAIL_API_ERROR_H

#include <ringtail/ringtail.h>

#include "base/error.h"

/* Copies @from to @to (may be NULL). Returns @rc, which stands for a code that @from lacks. */
int api_error(struct ringtail_error *to, int rc, const struct error *from);

#endif
