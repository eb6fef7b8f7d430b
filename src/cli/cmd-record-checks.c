// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-checks.h"

#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/input/input.h"
#include "record/control/control_command.h"
#include "record/plan/aux_probe.h"
#include "record/plan/aux_rules.h"
#include "record/plan/probe_targets.h"
#include "symbol/resolve/locate.h"
#include "sys/kernel/memory.h"

const struct event_env record_events_here = {.symbols = &locate_symbols, .has_aux = aux_probe_pmu};

#define usage(state, ...) usage_error(state, __VA_ARGS__)

/* The data of a pipe and answers would be mixed. */
static void check_control(struct argp_state *state, const struct record_opts *opts)
{
	struct control_spec spec;

	if (!opts->control.spec || strcmp(opts->output.path, "-") ||
	    control_spec_parse(opts->control.spec, &spec, NULL))
		return;
	if (spec.fd == STDOUT_FILENO || spec.ack_fd == STDOUT_FILENO)
		usage(state, "--control: descriptor 1 is the output (-o -): choose another one");
}

static void check_output(struct argp_state *state, const struct record_opts *opts)
{
	bool pipe = !strcmp(opts->output.path, "-");

	if (opts->output.rotation.enabled && pipe)
		usage(state, "--switch-output writes several files, and -o - is one pipe: leave "
			     "out one of them");
	if (opts->output.timestamp_filename && pipe)
		usage(state, "--timestamp-filename renames a file, and -o - is a pipe: leave out "
			     "one of them");
	if (opts->output.kcore && pipe)
		usage(state, "--kcore copies the kernel's code to a directory, and -o - is a pipe: "
			     "leave out one of them");
	if (opts->output.kcore && (opts->output.rotation.enabled || opts->output.memory.bytes))
		usage(state, "--kcore would copy the kernel's code anew for each output of "
			     "--switch-output or -M: leave out one of them");
	if (opts->output.rotation.max_files && !opts->output.rotation.enabled)
		usage(state,
		      "--switch-max-files limits the files of --switch-output: add that option");
}

static void check_memory(struct argp_state *state, const struct record_opts *opts)
{
	const struct pd_snapshot_bounds *bounds = &opts->output.memory.bounds;
	const struct {
		const char *option;
		bool given;
	} parts[] = {
		{"--snapshot-on-exit", opts->output.memory.on_exit},
		{"--snapshot-on-crash", opts->output.memory.on_crash},
		{"--last", bounds->last_ns || bounds->last_bytes},
		/* -S takes snapshots of the trace alone. */
		{"--trigger", opts->triggers.snapshots.nr && !opts->plan.aux.snapshot},
		{"--since-last", bounds->since_last},
	};
	char size[HUMAN_SIZE_SIZE];
	uint64_t memory = memory_total();

	for (size_t i = 0; !opts->output.memory.bytes && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].given)
			usage(state, "%s needs samples in memory: add -M SIZE", parts[i].option);
	if (opts->output.memory.bytes > memory)
		usage(state, "-M: only %s of memory are available: give less",
		      human_size(memory, size));
	if (opts->output.memory.on_crash && !opts->plan.target.command)
		usage(state, "--snapshot-on-crash needs a command to record: add '-- COMMAND'");
	if (opts->output.memory.bytes && opts->plan.overwrite)
		usage(state, "-M keeps the newest samples in memory, --overwrite keeps them in the "
			     "rings: choose one");
}

static void check_what_and_where(struct argp_state *state, const struct record_opts *opts)
{
	if (opts->plan.sample.period &&
	    (opts->plan.sample.frequency || opts->plan.sample.frequency_max))
		usage(state,
		      "-F sets the samples per second, -c the events per sample: choose one");
	if (opts->plan.sample.all_user && opts->plan.sample.all_kernel)
		usage(state, "--all-user leaves out the kernel, --all-kernel leaves out user "
			     "space: choose one");
	if (opts->plan.sample.kernel_callchains &&
	    (opts->plan.sample.user_callchains || opts->plan.sample.callgraph == CALLGRAPH_DWARF))
		usage(state,
		      "--kernel-callchains leaves out the callers in user space, which %s records: "
		      "choose one",
		      opts->plan.sample.user_callchains ? "--user-callchains"
							: "--call-graph dwarf");
	if (opts->plan.target.tasks.nr && (opts->plan.target.all_cpus || opts->plan.target.cpus.nr))
		usage(state, "-a and -C record all tasks of CPUs, -p, -t and -u record single "
			     "tasks: choose one");
}

/* The value of these options needs a "="; after a space it would begin the command. */
static void check_command(struct argp_state *state, const struct record_opts *opts)
{
	static const char *const joined[] = {"--aio",	    "--compression-level", "-z",
					     "--threads",   "--switch-output",	   "-S",
					     "--aux-sample"};
	const char *word = opts->plan.target.command ? opts->plan.target.command[0] : "", *before;

	/* The command's words end the vector. */
	if (!*word || word[strspn(word, "0123456789")] || !access(word, X_OK))
		return;
	before = opts->plan.target.command[-1];
	for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]); i++)
		if (!strcmp(before, joined[i]))
			usage(state, "%s %s: join the value to the option: %s%s%s", before, word,
			      before, before[1] == '-' ? "=" : "", word);
}

static void check_places(struct argp_state *state, const struct record_opts *opts,
			 const char *option, const struct event_list *events)
{
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < events->count; i++)
		if (probe_targets_check(&events->specs[i], &opts->plan.target, &err))
			usage(state, "%s %s", option, err.text);
}

static void check_start(struct argp_state *state, const struct record_opts *opts)
{
	if (opts->plan.start_disabled && opts->control.no_socket && !opts->control.spec)
		usage(state, "-D -1 waits for the command 'enable', which nobody could send: leave "
			     "out --no-control-socket, or add --control");
}

static void check_aux(struct argp_state *state, const struct record_opts *opts)
{
	const struct event_list *events = &opts->plan.events;
	const struct event_spec *e;
	struct error err = ERROR_INIT;

	if (aux_rules_check(&opts->plan, opts->output.memory.bytes, &err))
		usage(state, "%s", err.text);
	for (size_t i = 0; i < events->count; i++) {
		if (!events->specs[i].attr.aux_action)
			continue;
		e = &events->specs[events->specs[i].leader];
		switch (aux_probe_action(&e->attr)) {
		case -ENOSYS: usage(state, "-e: aux-action needs Linux 6.13 or later");
		case -EOPNOTSUPP:
			usage(state, "-e: the trace of %s cannot be paused: leave out aux-action",
			      e->pmu);
		}
	}
}

void record_options_check(struct argp_state *state, const struct record_opts *opts)
{
	check_command(state, opts);
	check_start(state, opts);
	check_places(state, opts, "-e", &opts->plan.events);
	check_places(state, opts, "--switch-output-event", &opts->triggers.rotations);
	for (size_t i = 0; i < opts->triggers.snapshots.nr; i++)
		check_places(state, opts, "--trigger", &opts->triggers.snapshots.specs[i].events);
	check_control(state, opts);
	check_output(state, opts);
	check_memory(state, opts);
	check_aux(state, opts);
	check_what_and_where(state, opts);
}
