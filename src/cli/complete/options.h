/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a command, from the tables that --help prints: each of them, and the nearest to a
 * misspelt one. Nothing is allocated; any thread.
 */
#ifndef RINGTAIL_CLI_COMPLETE_OPTIONS_H
#define RINGTAIL_CLI_COMPLETE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether to stop. @named: has the argument and the description of an alias; else @o. */
typedef bool option_fn(const struct argp_option *o, const struct argp_option *named, void *arg);

/* Calls @fn for each option of @root and its children, hidden ones, too. */
bool options_each(const struct argp *root, option_fn *fn, void *arg);

/* Whether --help shows the option. */
bool option_is_shown(const struct argp_option *o, const struct argp_option *named);

/*
 * Writes "; did you mean '--sort'?" for @word, "--srot" or "--srot=x", or an empty string if no
 * option is near. Returns false if @word begins a long option of @root: getopt knows it then.
 */
bool option_suggest(const struct argp *root, const char *word, char *out, size_t size);

#endif
