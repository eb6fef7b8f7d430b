/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the options of `ringtail report`. A wrong value ends the process with a message. */
#ifndef RINGTAIL_CLI_CMD_REPORT_VALUES_H
#define RINGTAIL_CLI_CMD_REPORT_VALUES_H

#include <argp.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/table.h"

struct name_regex {
	regex_t regex;
	bool given; /* @regex must be freed */
};

/* Frees the expression; accepts zeroes. */
void name_regex_release(struct name_regex *r);

/* Compiles @arg of @option in place of what @ret had. */
void report_regex(struct argp_state *state, const char *option, const char *arg,
		  struct name_regex *ret);

/* Returns the value of --max-stack, --group-sort-idx or --slowest. */
size_t report_max_stack(struct argp_state *state, const char *arg);
size_t report_member(struct argp_state *state, const char *arg);
size_t report_slowest(struct argp_state *state, const char *arg);

/* Returns the value of --time-quantum, ns. */
uint64_t report_quantum(struct argp_state *state, const char *arg);

/* Puts the values of --column-widths and --field-separator into @ret. */
void report_widths(struct argp_state *state, const char *arg, struct table_opts *ret);
void report_separator(struct argp_state *state, const char *arg, struct table_opts *ret);

#endif
