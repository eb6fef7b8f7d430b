/* SPDX-License-Identifier: Apache-2.0 */
/* script --dlfilter, --dlarg, --list-dlfilters: filters that the user loads. */
#ifndef RINGTAIL_CLI_CMD_SCRIPT_FILTER_H
#define RINGTAIL_CLI_CMD_SCRIPT_FILTER_H

#include "report/script/dlfilter.h"

/* What the user chose; all zero: no filter. Words are borrowed. */
struct script_filter {
	const char *path;
	char **args;
	size_t nr_args, cap_args;
	bool list;
};

/* Adds a word. Returns 0 or -ENOMEM. */
int script_filter_arg(struct script_filter *f, char *word);

/* Loads the filter, if there is one. Returns 0 with *@ret, or a negative errno, after a message. */
int script_filter_load(const struct script_filter *f, struct dlfilter **ret);

/* Frees what script_filter_arg() and script_filter_load() made. */
void script_filter_release(struct script_filter *f, struct dlfilter *loaded);

/* Prints the filters that there are, with @verbose at length. Returns the exit status. */
int script_filter_list(bool verbose);

#endif
