// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-values.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cli/input/input.h"

#define MAX_WIDTH     4096 /* columns of text */
#define MAX_MAX_STACK 1024 /* the nesting that graphs and JSON allow */
#define MAX_SLOWEST   1000

void name_regex_release(struct name_regex *r)
{
	if (r->given)
		regfree(&r->regex);
	r->given = false;
}

size_t report_max_stack(struct argp_state *state, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n < 1 || n > MAX_MAX_STACK)
		usage_error(state, "--max-stack: '%s' is no number from 1 to %d", arg,
			    MAX_MAX_STACK);
	return n;
}

size_t report_member(struct argp_state *state, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n > INT32_MAX)
		usage_error(state, "--group-sort-idx: '%s' is no number of an event", arg);
	return n;
}

size_t report_slowest(struct argp_state *state, const char *arg)
{
	uint64_t n;

	if (parse_u64(arg, &n) < 0 || n > MAX_SLOWEST)
		usage_error(state, "--slowest: '%s' is no number from 0 to %d", arg, MAX_SLOWEST);
	return n;
}

uint64_t report_quantum(struct argp_state *state, const char *arg)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	size_t digits = strspn(arg, "0123456789");
	char number[24];
	uint64_t n, ns;

	snprintf(number, sizeof(number), "%.*s", (int)digits, arg);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(arg + digits, units[i].unit) && digits < sizeof(number) &&
		    !parse_u64(number, &n) && n && !__builtin_mul_overflow(n, units[i].ns, &ns))
			return ns;
	usage_error(state, "--time-quantum: '%s' is no time such as 100ms", arg);
}

void report_regex(struct argp_state *state, const char *option, const char *arg,
		  struct name_regex *ret)
{
	char why[128];
	int rc;

	name_regex_release(ret);
	rc = regcomp(&ret->regex, arg, REG_EXTENDED);
	ret->given = !rc;
	if (!rc)
		return;
	regerror(rc, &ret->regex, why, sizeof(why));
	usage_error(state, "%s: '%s' is no regular expression: %s", option, arg, why);
}

void report_widths(struct argp_state *state, const char *arg, struct table_opts *ret)
{
	uint64_t n;
	char part[16];

	ret->nr_widths = 0;
	for (const char *s = arg;; s++) {
		size_t len = strcspn(s, ",");

		snprintf(part, sizeof(part), "%.*s", (int)len, s);
		if (parse_u64(part, &n) < 0 || n > MAX_WIDTH || ret->nr_widths == COLUMNS_MAX)
			usage_error(state, "-w: '%s' is no list of up to %d widths", arg,
				    COLUMNS_MAX);
		ret->widths[ret->nr_widths++] = (unsigned int)n;
		s += len;
		if (!*s)
			return;
	}
}

/* Accepts a tab as perf spells it (\t), and as shells pass it. */
void report_separator(struct argp_state *state, const char *arg, struct table_opts *ret)
{
	ret->separator = strcmp(arg, "\\t") ? *arg : '\t';
	if (!*arg || *arg == '.' || (arg[1] && ret->separator != '\t'))
		usage_error(state, "-t: '%s' is not a single character other than '.'", arg);
}
