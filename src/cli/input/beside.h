/* SPDX-License-Identifier: Apache-2.0 */
/* Other outputs of a recording, which --switch-output made beside the first. */
#ifndef RINGTAIL_CLI_INPUT_BESIDE_H
#define RINGTAIL_CLI_INPUT_BESIDE_H

#include <stddef.h>

/*
 * Returns how many files or directories beside @path have its name with a dot and digits behind it.
 * The last one by name, which is the newest, is in *@ret, to be freed; NULL if there is none, or no
 * memory.
 */
size_t outputs_beside(const char *path, char **ret);

#endif
