// SPDX-License-Identifier: Apache-2.0
#include "api/options.h"

#include <errno.h>
#include <string.h>

int api_options_read(const void *from, void *to, size_t size, struct error *err)
{
	const unsigned char *bytes = from;
	size_t given;

	if (!from)
		return 0;
	memcpy(&given, from, sizeof(given));
	if (given < sizeof(given))
		return error_set(err, -EINVAL, "the size of an options struct is not set");
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return error_set(err, -E2BIG,
					 "an option at byte %zu is not known to libringtail %s", i,
					 RINGTAIL_VERSION);
	memcpy(to, from, given < size ? given : size);
	return 0;
}
