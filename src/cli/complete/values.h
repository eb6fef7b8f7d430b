/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that an option may have, as far as they are known: found by the placeholder of its
 * argument in --help, as EVENT or PID. Reads sysfs, tracefs and procfs; keeps no state.
 */
#ifndef RINGTAIL_CLI_COMPLETE_VALUES_H
#define RINGTAIL_CLI_COMPLETE_VALUES_H

#include <stdbool.h>

/* Takes a value, and a few words on it or NULL; both are valid during the call. */
typedef void (*value_fn)(void *arg, const char *value, const char *what);

enum value_kind {
	VALUE_UNKNOWN,	/* nothing can be offered */
	VALUE_LISTED,	/* values_each() knows all */
	VALUE_FILE,	/* a path, which shells complete themselves */
	VALUE_DIRECTORY /* likewise */
};

/*
 * Returns what @placeholder stands for: a word as EVENT[,EVENT...], or the choices themselves, as
 * always|never. @ret_list: whether it is a list with commas.
 */
enum value_kind values_kind(const char *placeholder, bool *ret_list);

/* Calls @fn for each value of a placeholder that is VALUE_LISTED. */
void values_each(const char *placeholder, value_fn fn, void *arg);

#endif
