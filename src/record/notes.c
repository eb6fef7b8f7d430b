// SPDX-License-Identifier: Apache-2.0
#include "record/notes.h"

#include <stdarg.h>
#include <stdio.h>

void notes_say(const struct notes *n, enum note_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!n || !n->say)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n->say(level, text, n->arg);
}
