/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of a command's words: options, and values of options. Whatever a command's table of
 * options has is offered; there is no other list of them.
 *
 * A line of the answer is a word and, behind a tab, a few words on it. Other lines stand for what
 * shells complete themselves:
 *
 *   :files HEAD        paths, of files; HEAD are the characters of the word before the path
 *   :directories HEAD  likewise
 *   :command INDEX     a command of the user's, which begins with the word of this index
 *
 * with a tab in front of HEAD and INDEX.
 */
#ifndef RINGTAIL_CLI_COMPLETE_COMPLETE_H
#define RINGTAIL_CLI_COMPLETE_COMPLETE_H

#include <argp.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes the completions of the last of @nr words, which may be empty; the ones before are those
 * behind the command's name. @root: the command's options, with its children.
 */
void complete_word(const struct argp *root, char *const *words, size_t nr, FILE *out);

/* Writes @word and @what as one line, if @word begins with @prefix. */
void complete_offer(const char *prefix, const char *word, const char *what, FILE *out);

#endif
