/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all records, for `ringtail dump` and `report -D`. */
#ifndef RINGTAIL_CLI_FILES_CMD_DUMP_H
#define RINGTAIL_CLI_FILES_CMD_DUMP_H

#include "cli/input/input.h"

/* Dumps every record of an opened recording in file order, then warns. Returns 0 or -errno. */
int dump_all(struct input *in, struct trace *t);

#endif
