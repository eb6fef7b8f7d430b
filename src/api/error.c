// SPDX-License-Identifier: Apache-2.0
#include "api/error.h"

#include <string.h>

_Static_assert(sizeof(struct ringtail_error) == 512, "the layout of the public struct is fixed");

const char *ringtail_version(void)
{
	return RINGTAIL_VERSION;
}

int api_error(struct ringtail_error *to, int rc, const struct error *from)
{
	struct error plain = ERROR_INIT;

	_Static_assert(sizeof(to->text) == sizeof(from->text), "a text fits as it is");
	if (!to)
		return rc;
	if (!from->text[0]) {
		error_sys(&plain, rc, "libringtail");
		from = &plain;
	}
	to->code = rc;
	memcpy(to->text, from->text, sizeof(to->text));
	return rc;
}
