// SPDX-License-Identifier: Apache-2.0
#include "api/session_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "event/parse/event.h"
#include "record/pipeline/compress.h"
#include "record/plan/probe_targets.h"
#include "symbol/resolve/locate.h"
#include "sys/kernel/memory.h"

/*
 * Of this process the threads that exist now. As a process it would be listed again when the events
 * are open, with the threads of the session, which would then record themselves.
 */
static int add_process(struct target_opts *target, pid_t pid, struct error *err)
{
	int rc = tasks_add_threads(&target->tasks, pid, err);

	if (rc || pid == getpid())
		return rc;
	return tasks_add_thread(&target->processes, pid, err);
}

static int set_target(const struct ringtail_session_opts *opts, struct target_opts *target,
		      struct error *err)
{
	int rc = 0;

	target->all_cpus = opts->all_cpus;
	if (opts->all_cpus && opts->nr_pids)
		return error_set(
			err, -EINVAL,
			"'all_cpus' records all processes, 'pids' records some: choose one");
	for (size_t i = 0; !rc && i < opts->nr_pids; i++)
		rc = add_process(target, opts->pids[i], err);
	if (!opts->all_cpus && !opts->nr_pids)
		rc = add_process(target, getpid(), err);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

static int set_sample(const struct ringtail_session_opts *opts, struct sample_opts *sample,
		      struct error *err)
{
	static const enum callgraph_kind kinds[] = {
		[RINGTAIL_CALLGRAPH_NONE] = CALLGRAPH_NONE,
		[RINGTAIL_CALLGRAPH_FP] = CALLGRAPH_FP,
		[RINGTAIL_CALLGRAPH_DWARF] = CALLGRAPH_DWARF,
	};

	if (opts->frequency && opts->period)
		return error_set(err, -EINVAL,
				 "'frequency' sets the samples per second, 'period' the events per "
				 "sample: choose one");
	if (opts->callgraph >= sizeof(kinds) / sizeof(kinds[0]))
		return error_set(err, -EINVAL,
				 "%u is no kind of call graphs: choose one of RINGTAIL_CALLGRAPH_*",
				 (unsigned int)opts->callgraph);
	sample->frequency = opts->frequency;
	sample->period = opts->period;
	sample->callgraph = kinds[opts->callgraph];
	if (sample->callgraph == CALLGRAPH_DWARF)
		sample->stack_size = RECORD_STACK_SIZE;
	return 0;
}

static int set_output(const struct ringtail_session_opts *opts, struct output_opts *output,
		      struct error *err)
{
	char size[HUMAN_SIZE_SIZE];
	uint64_t memory = memory_total();

	output->path = opts->output ? opts->output : "perf.data";
	if (!*output->path || !strcmp(output->path, "-"))
		return error_set(err, -EINVAL,
				 "'%s' is no path for an output: name a file or directory",
				 output->path);
	output->directory = output->path[strlen(output->path) - 1] == '/';
	output->memory.bytes = opts->memory;
	if (opts->memory > memory)
		return error_set(err, -EINVAL, "this machine has only %s of memory: give less",
				 human_size(memory, size));
	output->compression_level = opts->compression_level;
	if (opts->compression_level < 0 || opts->compression_level > COMPRESS_LEVEL_MAX)
		return error_set(err, -EINVAL, "a compression level is 1 to %d, or 0 for none",
				 COMPRESS_LEVEL_MAX);
	return 0;
}

int session_options_make(const struct ringtail_session_opts *opts, struct record_opts *ret,
			 struct error *err)
{
	static const struct event_env env = {.symbols = &locate_symbols};
	struct plan_opts *plan = &ret->plan;
	int rc = set_target(opts, &plan->target, err);

	if (!rc)
		rc = set_sample(opts, &plan->sample, err);
	if (!rc)
		rc = set_output(opts, &ret->output, err);
	if (!rc && opts->events)
		rc = event_parse(&plan->events, opts->events, &env, err);
	for (size_t i = 0; !rc && i < plan->events.count; i++)
		rc = probe_targets_check(&plan->events.specs[i], &plan->target, err);
	return rc;
}

void session_options_release(struct record_opts *opts)
{
	event_list_release(&opts->plan.events);
	tasks_release(&opts->plan.target.tasks);
	tasks_release(&opts->plan.target.processes);
}
