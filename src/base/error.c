// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Prints at @at and leaves @spare bytes free behind it. Returns the end of the text. Cuts a long
 * text (mostly a path) with dots, so that there is room for the reason that follows.
 */
static size_t put_text(struct error *err, size_t at, size_t spare, const char *fmt, va_list ap)
{
	size_t room = sizeof(err->text) - at - spare;
	int n = vsnprintf(err->text + at, room, fmt, ap);

	if (n < 0)
		n = 0;
	if ((size_t)n < room)
		return at + (size_t)n;
	if (room > 3)
		memcpy(err->text + at + room - 4, "...", 4);
	return at + room - 1;
}

int error_set(struct error *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	err->code = rc;
	va_start(ap, fmt);
	put_text(err, 0, 0, fmt, ap);
	va_end(ap);
	return rc;
}

int error_sys(struct error *err, int rc, const char *fmt, ...)
{
	char why[128];
	const char *reason;
	va_list ap;
	size_t at;

	if (!err)
		return rc;
	err->code = rc;
	reason = strerror_r(-rc, why, sizeof(why));
	va_start(ap, fmt);
	at = put_text(err, 0, strlen(reason) + 2, fmt, ap);
	va_end(ap);
	snprintf(err->text + at, sizeof(err->text) - at, ": %s", reason);
	return rc;
}

int error_at(struct error *err, int rc, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!err)
		return rc;
	err->code = rc;
	n = snprintf(err->text, sizeof(err->text) / 2, "%s: offset 0x%" PRIx64 ": ", file, offset);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof(err->text) / 2)
		n = sizeof(err->text) / 2 - 1;
	va_start(ap, fmt);
	put_text(err, (size_t)n, 0, fmt, ap);
	va_end(ap);
	return rc;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char was[sizeof(err->text)];
	va_list ap;
	size_t at;

	if (!err)
		return 0;
	memcpy(was, err->text, sizeof(was));
	va_start(ap, fmt);
	at = put_text(err, 0, 0, fmt, ap);
	va_end(ap);
	memccpy(err->text + at, was, '\0', sizeof(err->text) - at);
	err->text[sizeof(err->text) - 1] = '\0';
	return err->code;
}
