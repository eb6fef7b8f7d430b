/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error object: a negative errno and a text that a user can act on.
 *
 * Library code never prints. A function that can fail for a reason worth a sentence takes a
 * `struct error *` last, fills it on failure, and returns the negative errno that it holds.
 * Only cli/ prints it. A caller that needs no text passes NULL: every function here accepts that
 * and then only returns the code.
 *
 * Codes: negative errno. Bad data is -EBADMSG, data cut short -ENODATA.
 * An error object belongs to one thread at a time; it holds no pointers and needs no release.
 */
#ifndef RINGTAIL_BASE_ERROR_H
#define RINGTAIL_BASE_ERROR_H

#include <stdarg.h>
#include <stdint.h>

struct error {
	int code;	/* negative errno; 0: no error */
	char text[508]; /* one or more sentences, no trailing newline or period */
};

#define ERROR_INIT    \
	{             \
		0, "" \
	}

/* Fills @err with @rc (a negative errno) and the text. Returns @rc. */
int error_set(struct error *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set(), with ": " and strerror() of the code behind the text. Returns @rc. */
int error_sys(struct error *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set(), for bad data: the text begins with "FILE: offset 0xOFFSET: ". Returns @rc. */
int error_at(struct error *err, int rc, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Puts text (for example "FILE: ") before the text of @err. Returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
