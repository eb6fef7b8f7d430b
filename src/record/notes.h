/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a recording has to say while it goes on. Printing them is cli/'s part. */
#ifndef RINGTAIL_RECORD_NOTES_H
#define RINGTAIL_RECORD_NOTES_H

enum note_level {
	NOTE_WARNING, /* the user gets something else than asked for */
	NOTE_INFO,    /* a choice made for the user */
	NOTE_DETAIL,  /* with -v */
};

struct notes {
	void (*say)(enum note_level level, const char *text, void *arg); /* NULL: nobody listens */
	void *arg;
};

void notes_say(const struct notes *n, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
