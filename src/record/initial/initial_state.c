// SPDX-License-Identifier: Apache-2.0
#include "record/initial/initial_state.h"

#include <errno.h>

#include "base/buf.h"
#include "base/plural.h"
#include "record/initial/synthesize.h"

/* The processes whose tasks are recorded, each once. */
static int processes_of(const struct plan *plan, struct tasks *ret, struct error *err)
{
	for (size_t i = 0; i < plan->tasks.nr; i++) {
		pid_t pid = task_process(plan->tasks.ids[i]);
		bool known = pid < 0;

		for (size_t k = 0; !known && k < ret->nr; k++)
			known = ret->ids[k] == pid;
		if (known)
			continue;
		if (array_grow(&ret->ids, &ret->capacity, ret->nr + 1, sizeof(*ret->ids)))
			return error_set(err, -ENOMEM, "out of memory");
		ret->ids[ret->nr++] = pid;
	}
	return 0;
}

/* Whether the plan samples the kernel. */
static bool of_kernel(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (!plan->events[i].dummy &&
		    !(plan->events[i].attr.flags & PD_ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

static void say(const struct initial_state *b, const struct synth_stats *stats)
{
	const struct messages *messages = b->messages;

	messages_say(messages, MESSAGE_DETAIL,
		     "%llu task%s and %llu map%s existed before the recording",
		     (unsigned long long)stats->tasks, plural_s(stats->tasks),
		     (unsigned long long)stats->maps, plural_s(stats->maps));
	if (stats->denied)
		messages_say(
			messages, MESSAGE_INFO,
			"ringtail may not read the maps of %llu process%s (PID %d%s): addresses "
			"in files mapped before the recording will have no names",
			(unsigned long long)stats->denied, plural_es(stats->denied),
			stats->first_denied, stats->denied > 1 ? ", …" : "");
	if (stats->hidden && of_kernel(b->plan))
		messages_say(messages, MESSAGE_INFO,
			     "ringtail may not read the addresses of the kernel's symbols "
			     "(/proc/kallsyms, kernel.kptr_restrict): kernel functions will have "
			     "no names");
}

int initial_state_emit(const struct initial_state *b, record_emit_fn *emit, void *arg,
		       struct error *err)
{
	struct tasks processes = {0};
	const unsigned int left_out = b->plan->opts->left_out;
	struct synth_stats stats = {0};
	int rc = processes_of(b->plan, &processes, err);
	struct synth_opts opts = {
		.id_size = pd_attr_id_trailer_size(&b->plan->events[0].attr),
		.all = b->plan->target == TARGET_CPUS,
		.pids = processes.ids,
		.nr_pids = processes.nr,
		/* perf keeps maps across exec, and would look for .eh_frame in the wrong one */
		.about_to_exec = b->plan->target == TARGET_COMMAND,
		.no_tasks = left_out & INITIAL_TASKS,
		.no_maps = left_out & INITIAL_MAPS,
		.kernel = !(left_out & INITIAL_MAPS),
		.data_maps = plan_data_maps(b->plan),
		.build_ids = plan_build_ids(b->plan),
		.namespaces = b->limits->perfmon,
		.cgroups = b->limits->perfmon && !(left_out & INITIAL_CGROUPS),
	};

	if (!rc)
		rc = synthesize(&opts, emit, arg, &stats, err);
	tasks_release(&processes);
	say(b, &stats);
	return rc;
}
