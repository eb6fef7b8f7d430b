/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads sized option structs of callers that were built with another version of the header. Any
 * thread.
 */
#ifndef RINGTAIL_API_OPTIONS_H
#define RINGTAIL_API_OPTIONS_H

#include <stddef.h>

#include "base/error.h"

/*
 * Copies the options @from (NULL: none), which begin with their size_t size, to the @size zeroed
 * bytes @to. Fields that only the library knows stay zero. Returns 0; -EINVAL when the size is
 * less than that of the field itself; -E2BIG when a field that only the caller knows is not zero.
 */
int api_options_read(const void *from, void *to, size_t size, struct error *err);

#endif
