// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-sample.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/parse.h"
#include "cli/cmd-record-values.h"
#include "cli/input/input.h"
#include "event/syntax/terms.h"
#include "perfdata/regs.h"
#include "record/open/registers.h"

#define usage(state, ...) usage_error(state, __VA_ARGS__)

/* Clocks that the kernel accepts for events, by perf's names. */
// clang-format off
static const struct { const char *name; int id; } clocks[] = {
	{"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
	{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
	{"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
	{"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME},
	{"tai", CLOCK_TAI},
};
// clang-format on

/* Copies @arg without @word at its end, cut to @size. Returns whether it was there. */
static bool take_word(const char *arg, const char *word, char *ret, size_t size)
{
	size_t len = strlen(arg), end = strlen(word);
	bool found = len >= end && !strcmp(arg + len - end, word);

	if (found)
		len -= end;
	snprintf(ret, size, "%.*s", (int)len, arg);
	return found;
}

void record_set_call_graph(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	uint64_t size = RECORD_STACK_SIZE;
	char rest[32];

	opts->plan.sample.online = false;
	if (!strcmp(arg, "fp")) {
		opts->plan.sample.callgraph = CALLGRAPH_FP;
		return;
	}
	if (!strcmp(arg, "lbr")) {
		opts->plan.sample.callgraph = CALLGRAPH_LBR;
		return;
	}
	if (strncmp(arg, "dwarf", 5) || (arg[5] != '\0' && arg[5] != ','))
		usage(state, "--call-graph: '%s' is neither fp, lbr nor dwarf[,SIZE][,online]",
		      arg);
	opts->plan.sample.online = take_word(arg + 5, ",online", rest, sizeof(rest));
	if (*rest && (parse_size(rest + 1, &size) || !size || size > RECORD_STACK_SIZE_MAX))
		usage(state,
		      "--call-graph dwarf: '%s' is no size from 8 to %u bytes, such as 16K, and "
		      "not 'online'",
		      rest + 1, RECORD_STACK_SIZE_MAX);
	opts->plan.sample.callgraph = CALLGRAPH_DWARF;
	opts->plan.sample.stack_size = ((uint32_t)size + 7) & ~7u;
}

void record_set_off_cpu(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->off_cpu = true;
	cmd->off_cpu_wakers |= arg != NULL;
	if (arg && strcmp(arg, "wakers") != 0)
		usage(state, "--off-cpu: '%s' is not wakers", arg);
}

void record_set_clock(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	const char *name = strncasecmp(arg, "CLOCK_", 6) ? arg : arg + 6;
	uint64_t id = UINT64_MAX;

	opts->plan.sample.use_clockid = true;
	if (isdigit((unsigned char)*arg))
		id = record_number(state, "-k", arg, 0, UINT64_MAX);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!strcasecmp(name, clocks[i].name) || id == (uint64_t)clocks[i].id) {
			opts->plan.sample.clockid = clocks[i].id;
			return;
		}
	}
	usage(state,
	      "-k: '%s' is no clock for events: use monotonic, monotonic_raw, realtime, boottime "
	      "or tai",
	      arg);
}

/* "[SIZE][e]", as perf. */
void record_set_snapshot(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct aux_opts *aux = &cmd->opts.plan.aux;
	size_t len = arg ? strlen(arg) : 0;

	aux->snapshot = true;
	aux->at_exit = len && arg[len - 1] == 'e';
	len -= aux->at_exit;
	aux->snapshot_size = 0;
	if (len && (parse_size(strndupa(arg, len), &aux->snapshot_size) || !aux->snapshot_size ||
		    aux->snapshot_size > 1ull << 30))
		usage(state, "-S: '%s' is no size of a snapshot, such as 64K, nor 'e'", arg);
}

void record_set_snapshot_scope(struct argp_state *state, struct record_command *cmd,
			       const char *arg)
{
	struct aux_opts *aux = &cmd->opts.plan.aux;

	if (!strcmp(arg, "area"))
		aux->scope = AUX_SCOPE_AREA;
	else if (!strcmp(arg, "active"))
		aux->scope = AUX_SCOPE_ACTIVE;
	else if (!strcmp(arg, "all"))
		aux->scope = AUX_SCOPE_ALL;
	else if (!strncmp(arg, "window:", 7) && !parse_time(arg + 7, &aux->window) && aux->window)
		aux->scope = AUX_SCOPE_WINDOW;
	else
		usage(state,
		      "--snapshot-scope: '%s' is neither area, active, all nor window:TIME, such "
		      "as window:100ms",
		      arg);
}

void record_set_aux_sample(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	uint64_t *size = &cmd->opts.plan.aux.sample_size;

	*size = RECORD_AUX_SAMPLE;
	if (arg && (parse_size(arg, size) || !*size || *size > RECORD_AUX_SAMPLE_MAX))
		usage(state, "--aux-sample: '%s' is no size from 1 to %u bytes", arg,
		      RECORD_AUX_SAMPLE_MAX);
}

void record_set_branches(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct error err = ERROR_INIT;

	if (term_branches_parse(arg ? arg : "any", &cmd->opts.plan.sample.branches, &err))
		usage(state, "-j: %s", err.text);
}

static uint64_t named_registers(void)
{
	uint64_t mask = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		if (pd_reg_name(NULL, bit))
			mask |= 1ull << bit;
	return mask;
}

static void __attribute__((noreturn)) list_registers(bool user)
{
	uint64_t mask = registers_sampled(named_registers(), user);

	fputs("available registers:", stdout);
	for (unsigned int bit = 0; bit < 64; bit++)
		if (mask & 1ull << bit)
			printf(" %s", pd_reg_name(NULL, bit));
	putchar('\n');
	exit(input_end(NULL, NULL, 0));
}

static uint64_t registers(struct argp_state *state, const char *option, const char *arg, bool user)
{
	struct error err = ERROR_INIT;
	uint64_t mask = pd_regs_general(NULL), refused;

	if (arg && !strcmp(arg, "?"))
		list_registers(user);
	if (arg && pd_regs_parse(NULL, arg, &mask, &err))
		usage(state, "%s: %s", option, err.text);
	refused = mask & ~registers_sampled(mask & named_registers(), user) & named_registers();
	if (refused)
		usage(state, "%s: the kernel does not sample %s here; %s=? lists what it takes",
		      option, pd_reg_name(NULL, (unsigned int)__builtin_ctzll(refused)), option);
	return mask;
}

void record_set_user_regs(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->opts.plan.sample.user_regs = registers(state, "--user-regs", arg, true);
}

void record_set_intr_regs(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->opts.plan.sample.intr_regs = registers(state, "--intr-regs", arg, false);
}
