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
		return error_set(
			err, -EINVAL,
			"an options struct needs its size: set .size to sizeof of the struct");
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return error_set(err, -E2BIG,
					 "the option at byte %zu is newer than libringtail %s: set "
					 "it to 0, or use a newer library",
					 i, RINGTAIL_VERSION);
	memcpy(to, from, given < size ? given : size);
	return 0;
}
