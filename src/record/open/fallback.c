// SPDX-License-Identifier: Apache-2.0
#include "record/open/fallback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/plan/probe_targets.h"
#include "sys/kernel/perf_event.h"

/* --- parts of the interface that older kernels lack --------------------------------------------
 */

/*
 * Bits of perf_event_attr, newest first: the first kernel with them, and what a recording lacks
 * without them.
 */
struct optional_part {
	enum { IN_FLAGS, IN_READ_FORMAT } field;
	uint64_t bits;
	const char *since, *without;
};

static const struct optional_part optional_parts[] = {
	{IN_READ_FORMAT, PERF_FORMAT_LOST, "6.0", "losses are counted by ring, not by event"},
	{IN_FLAGS, PD_ATTR_REMOVE_ON_EXEC, "5.13",
	 "a breakpoint keeps its address after its process executes another program"},
	{IN_FLAGS, PD_ATTR_BUILD_ID, "5.12", "files that change later are not noticed"},
	{IN_FLAGS, PD_ATTR_TEXT_POKE, "5.9",
	 "code that the kernel changes is decoded as it was at first"},
	{IN_FLAGS, PD_ATTR_CGROUP, "5.7", "cgroups made while recording are not named"},
	{IN_FLAGS, PD_ATTR_BPF_EVENT, "5.1", "BPF programs loaded while recording are not named"},
	{IN_FLAGS, PD_ATTR_KSYMBOL, "5.1", "kernel text made while recording is not named"},
	{IN_FLAGS, PD_ATTR_NAMESPACES, "4.12", "namespaces are not recorded"},
};

static uint64_t *part_field(const struct optional_part *part, struct pd_attr *attr)
{
	return part->field == IN_FLAGS ? &attr->flags : &attr->read_format;
}

static bool part_known(const struct optional_part *part)
{
	struct pd_attr probe = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = PERF_ATTR_SIZE_VER5,
		.flags = PD_ATTR_DISABLED | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV,
	};
	int fd;

	*part_field(part, &probe) |= part->bits;
	fd = perf_event_open(&probe, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

static bool drop_unknown_parts(struct fallback *f, struct plan *plan)
{
	bool dropped = false;

	f->probed = true;
	for (size_t p = 0; p < sizeof(optional_parts) / sizeof(optional_parts[0]); p++) {
		const struct optional_part *part = &optional_parts[p];
		bool used = false;

		for (size_t e = 0; e < plan->nr; e++)
			used |= *part_field(part, &plan->events[e].attr) & part->bits;
		if (!used || part_known(part))
			continue;
		for (size_t e = 0; e < plan->nr; e++)
			*part_field(part, &plan->events[e].attr) &= ~part->bits;
		messages_say(f->messages, MESSAGE_INFO, "this kernel is older than %s: %s",
			     part->since, part->without);
		dropped = true;
	}
	return dropped;
}

/* --- steps of one event --------------------------------------------------------------------------
 */

static bool is_refusal(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

static bool is_absent(int rc)
{
	return rc == -ENOENT || rc == -ENXIO || rc == -ENODEV || rc == -EOPNOTSUPP;
}

static bool try_unknown_parts(struct fallback *f, struct plan *plan, struct plan_event *event,
			      int rc)
{
	return rc == -EINVAL && !f->probed && drop_unknown_parts(f, plan);
}

static bool try_less_precise(struct fallback *f, struct plan *plan, struct plan_event *event,
			     int rc)
{
	uint64_t precise = event->attr.flags & PD_ATTR_PRECISE_IP;

	if (!event->precise_max || !precise || (rc != -EINVAL && rc != -EOPNOTSUPP))
		return false;
	event->attr.flags -= 1ull << PD_ATTR_PRECISE_IP_SHIFT;
	return true;
}

static bool is_cycles(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE &&
	       (attr->config & 0xffffffff) == PERF_COUNT_HW_CPU_CYCLES;
}

/* Of events in several cgroups, the names end with "@CGROUP". */
static bool names_its_cgroup(const struct plan_event *event)
{
	size_t len = strlen(event->name), suffix = event->cgroup ? strlen(event->cgroup) : 0;

	return suffix && len > suffix && event->name[len - suffix - 1] == '@' &&
	       !strcmp(event->name + len - suffix, event->cgroup);
}

static void rename_event(struct plan_event *event, const char *name)
{
	bool suffix = names_its_cgroup(event);
	char *copy;

	if (asprintf(&copy, "%s%s%s", name, suffix ? "@" : "", suffix ? event->cgroup : "") < 0)
		return;
	free(event->name);
	event->name = copy;
}

static bool try_cpu_clock(struct fallback *f, struct plan *plan, struct plan_event *event, int rc)
{
	char name[64];

	if (!is_absent(rc) || !is_cycles(&event->attr))
		return false;
	if (rc == -EOPNOTSUPP && event->attr.flags & PD_ATTR_PRECISE_IP)
		return false; /* the PMU counts cycles, but not with the requested precision */
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event->attr.flags &= ~(PD_ATTR_PRECISE_IP | PD_ATTR_EXCLUDE_GUEST);
	/* A period of N cycles becomes N nanoseconds, as in perf. */
	snprintf(name, sizeof(name), "cpu-clock%s",
		 event->attr.flags & PD_ATTR_EXCLUDE_KERNEL ? ":u" : "");
	event->clock_instead = true;
	rename_event(event, name);
	return true;
}

/* Recording the namespaces of other users' tasks needs CAP_PERFMON. */
static bool try_no_namespaces(struct fallback *f, struct plan *plan, struct plan_event *event,
			      int rc)
{
	if (!is_refusal(rc) || !(event->attr.flags & PD_ATTR_NAMESPACES))
		return false;
	event->attr.flags &= ~PD_ATTR_NAMESPACES;
	return true;
}

static bool try_user_only(struct fallback *f, struct plan *plan, struct plan_event *event, int rc)
{
	char name[256];
	bool modified;

	if (!is_refusal(rc) || event->modifier_given || plan->target == TARGET_CPUS ||
	    event->attr.flags & (PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_USER) ||
	    event->attr.type == PERF_TYPE_TRACEPOINT || probe_targets_is_uprobe(event) ||
	    probe_targets_is_kprobe(event))
		return false;
	event->attr.flags |= PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
	if (event->dummy)
		return true;
	event->user_only = true;
	modified = event->attr.type != PERF_TYPE_BREAKPOINT && strchr(event->name, ':');
	snprintf(name, sizeof(name), "%s%s", event->name, modified ? "u" : ":u");
	rename_event(event, name);
	return true;
}

static bool try_with_guest(struct fallback *f, struct plan *plan, struct plan_event *event, int rc)
{
	if ((rc != -EINVAL && rc != -EOPNOTSUPP) || event->modifier_given ||
	    !(event->attr.flags & PD_ATTR_EXCLUDE_GUEST))
		return false;
	event->attr.flags &= ~PD_ATTR_EXCLUDE_GUEST;
	return true;
}

/* Splits a weak group (:W) that does not fit the PMU. */
static bool try_ungrouped(struct fallback *f, struct plan *plan, struct plan_event *event, int rc)
{
	unsigned int leader = event->leader;

	if (rc != -EINVAL || !event->weak_group || plan->events[leader].members < 2)
		return false;
	for (unsigned int i = 0; i < plan->nr; i++) {
		struct plan_event *e = &plan->events[i];

		if (e->leader != leader)
			continue;
		e->leader = i;
		e->members = 1;
		/* Each event starts as its leader does. */
		e->attr.flags |= plan->events[leader].attr.flags &
				 (PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC);
	}
	messages_say(
		f->messages, MESSAGE_WARNING,
		"the group of '%s' needs more counters than the PMU has: its events count alone",
		plan->events[leader].name);
	return true;
}

/* Tried in this order. Each changes an event at most a few times. */
static bool (*const steps[])(struct fallback *, struct plan *, struct plan_event *, int) = {
	try_unknown_parts, try_no_namespaces, try_user_only, try_less_precise,
	try_with_guest,	   try_ungrouped,     try_cpu_clock,
};

bool fallback_try(struct fallback *f, struct plan *plan, struct plan_event *event, int rc)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i](f, plan, event, rc))
			return true;
	return false;
}

static const char no_pmu[] = "no PMU here counts cycles";

static void say_default(const struct fallback *f, const struct plan_event *event)
{
	char user_only[96] = "";

	if (event->user_only)
		snprintf(user_only, sizeof(user_only),
			 "user space only because kernel.perf_event_paranoid is %d",
			 f->limits->paranoid);
	messages_say(f->messages, MESSAGE_INFO, "no event given: recording %s%s%s%s%s%s",
		     event->name, event->clock_instead || event->user_only ? " (" : "",
		     event->clock_instead ? no_pmu : "",
		     event->clock_instead && event->user_only ? "; " : "", user_only,
		     event->clock_instead || event->user_only ? ")" : "");
}

/* These events' registers are the kernel's, so exclude_kernel removes all their samples. */
static bool happens_in_kernel(const struct plan_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		event->attr.config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void say_counts_nothing(const struct fallback *f, const struct plan_event *event)
{
	if (event->user_only)
		messages_say(f->messages, MESSAGE_WARNING,
			     "event '%s' counts nothing: it happens in the kernel, which "
			     "kernel.perf_event_paranoid %d hides from this user; run as root, or "
			     "'sysctl kernel.perf_event_paranoid=1'",
			     event->name, f->limits->paranoid);
	else
		messages_say(f->messages, MESSAGE_WARNING,
			     "event '%s' counts nothing: it happens in the kernel, which the "
			     "options leave out",
			     event->name);
}

void fallback_say(const struct fallback *f, const struct plan *plan)
{
	size_t clocks = 0, users = 0;

	for (size_t i = 0; i < plan->nr; i++)
		if ((plan->events[i].attr.flags & PD_ATTR_EXCLUDE_KERNEL) &&
		    happens_in_kernel(&plan->events[i]))
			say_counts_nothing(f, &plan->events[i]);
	if (plan->events[0].is_default) {
		say_default(f, &plan->events[0]);
		return;
	}
	for (size_t i = 0; i < plan->nr; i++) {
		clocks += plan->events[i].clock_instead;
		users += plan->events[i].user_only;
	}
	if (clocks)
		messages_say(f->messages, MESSAGE_WARNING,
			     "recording cpu-clock in place of cycles: %s", no_pmu);
	if (users)
		messages_say(f->messages, MESSAGE_WARNING,
			     "recording user space only (:u): kernel.perf_event_paranoid is %d and "
			     "there "
			     "is no CAP_PERFMON",
			     f->limits->paranoid);
}

/* --- explanations --------------------------------------------------------------------------------
 */

/* The kernel does not report which task it refused, so this finds a task of another user. */
static int explain_refused_task(const struct fallback *f, const struct plan *plan,
				const struct plan_event *event, int rc, struct error *err)
{
	const struct tasks *tasks = &plan->tasks;
	uid_t uid;

	for (size_t i = 0; i < tasks->nr; i++)
		if (task_is_of_another(tasks->ids[i], &uid))
			return error_set(err, rc,
					 "process %d belongs to another user (uid %u): run as "
					 "root, or as root "
					 "give the program the right to: 'setcap "
					 "cap_perfmon,cap_sys_ptrace=ep FILE'",
					 task_process(tasks->ids[i]), uid);
	return error_set(
		err, rc,
		"event '%s' may not watch process %d: kernel.perf_event_paranoid is %d, or the "
		"process runs a program with more rights than its user: run as root",
		event->name, tasks->nr ? task_process(tasks->ids[0]) : 0, f->limits->paranoid);
}

static int explain_refusal(const struct fallback *f, const struct plan *plan,
			   const struct plan_event *event, int rc, struct error *err)
{
	const struct limits *l = f->limits;

	if (event->attr.type == PERF_TYPE_TRACEPOINT && !l->perfmon)
		return error_set(
			err, rc,
			"tracepoint '%s' needs CAP_PERFMON or kernel.perf_event_paranoid at "
			"-1 (it is %d): run as root",
			event->name, l->paranoid);
	if (plan->target == TARGET_TASKS && !l->ptrace && !l->perfmon)
		return explain_refused_task(f, plan, event, rc, err);
	if (!l->perfmon)
		return error_set(
			err, rc,
			"event '%s' is not allowed at kernel.perf_event_paranoid %d without "
			"CAP_PERFMON: run as root, add :u to it or --all-user for user space only, "
			"or "
			"lower the setting with 'sysctl kernel.perf_event_paranoid=1'",
			event->name, l->paranoid);
	if (!l->admin && l->paranoid > 2)
		return error_set(err, rc,
				 "the kernel refuses event '%s' although ringtail has CAP_PERFMON: "
				 "at kernel.perf_event_paranoid %d this kernel wants "
				 "CAP_SYS_ADMIN; or run 'sysctl kernel.perf_event_paranoid=2'",
				 event->name, l->paranoid);
	return error_set(err, rc,
			 "the kernel refuses event '%s' although ringtail has CAP_PERFMON: a "
			 "security module or seccomp forbids perf_event_open",
			 event->name);
}

static bool lacks_branches(const struct plan_event *event, int rc)
{
	return rc == -EOPNOTSUPP && event->attr.branch_sample_type;
}

static int explain_absent(const struct plan_event *event, int rc, struct error *err)
{
	if (lacks_branches(event, rc))
		return error_set(err, rc,
				 "no branch stacks come with event '%s' on this machine: leave out "
				 "-b, -j, branch_type or --call-graph lbr",
				 event->name);
	if (event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE ||
	    event->attr.type == PERF_TYPE_RAW)
		return error_set(err, rc,
				 "this machine does not count event '%s' (it has no PMU, or one "
				 "without this event; usual in virtual machines): try -e cpu-clock",
				 event->name);
	if (rc == -EOPNOTSUPP)
		return error_set(
			err, rc,
			"event '%s' counts but cannot sample, or not with these modifiers or "
			"that precision",
			event->name);
	return error_set(err, rc, "the kernel does not know event '%s'", event->name);
}

/* Whether the kernel refuses @event only because of @flag. */
static bool flag_refused(const struct plan_event *event, uint64_t flag)
{
	struct pd_attr probe;
	int fd;

	if (!(event->attr.flags & flag) || probe_targets_attr(event, 0, &probe))
		return false;
	probe.flags &= ~flag;
	if (flag == PD_ATTR_USE_CLOCKID)
		probe.clockid = 0;
	fd = perf_event_open(&probe, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

/* Whether the kernel accepts @event for counting: some PMUs (msr, power, uncore) cannot sample. */
static bool only_counts(const struct plan_event *event, int cpu, bool cpu_wide)
{
	struct pd_attr probe;
	int fd;

	if (probe_targets_attr(event, 0, &probe))
		return false;
	probe.sample_period = 0;
	probe.flags &= ~(PD_ATTR_FREQ | PD_ATTR_PRECISE_IP);
	fd = perf_event_open(&probe, cpu_wide ? -1 : 0, cpu, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Whether the kernel has @event, but not for its cgroup. */
static bool is_absent_in_cgroup(const struct plan_event *event, int cpu, int rc)
{
	struct pd_attr probe;
	int fd;

	if (rc != -ENOENT || !event->cgroup || probe_targets_attr(event, 0, &probe))
		return false;
	fd = perf_event_open(&probe, -1, cpu, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int explain_invalid(const struct plan *plan, const struct plan_event *event, int cpu, int rc,
			   struct error *err)
{
	if (flag_refused(event, PD_ATTR_WRITE_BACKWARD))
		return error_set(err, rc,
				 "event '%s' cannot be overwritten: this kernel is older than 4.7",
				 event->name);
	if (event->attr.sample_period && only_counts(event, cpu, plan->target == TARGET_CPUS))
		return error_set(err, rc,
				 "event '%s' counts but cannot sample: read it with an event that "
				 "samples, as in '{cpu-clock,%s}:S'",
				 event->name, event->name);
	return error_set(err, rc,
			 "the kernel refuses the configuration of event '%s' (modifiers, precision "
			 "or a term that this PMU does not have)",
			 event->name);
}

int fallback_explain(const struct fallback *f, const struct plan *plan,
		     const struct plan_event *event, int cpu, int rc, struct error *err)
{
	if (rc == -EINVAL && flag_refused(event, PD_ATTR_USE_CLOCKID))
		return error_set(err, rc,
				 "event '%s' cannot use clock %d (-k): the kernel takes monotonic "
				 "and monotonic_raw for all events, but realtime, boottime and tai "
				 "for software events only",
				 event->name, event->attr.clockid);
	if (lacks_branches(event, rc))
		return explain_absent(event, rc, err);
	if (probe_targets_is_uprobe(event) || probe_targets_is_kprobe(event) ||
	    (event->attr.type == PERF_TYPE_BREAKPOINT && rc == -EINVAL))
		return probe_targets_explain(event, rc, err);
	if (is_refusal(rc))
		return explain_refusal(f, plan, event, rc, err);
	if (is_absent_in_cgroup(event, cpu, rc))
		return error_set(err, rc,
				 "the kernel has no perf events in cgroup '%s': it was removed, or "
				 "its hierarchy is not that of perf_event",
				 event->cgroup);
	if (is_absent(rc))
		return explain_absent(event, rc, err);
	switch (rc) {
	case -ENOSYS:
		return error_set(err, rc,
				 "this kernel was built without perf events (CONFIG_PERF_EVENTS)");
	case -E2BIG:
		return error_set(
			err, rc,
			"event '%s' needs a newer kernel: this one knows %u bytes of attributes",
			event->name, event->attr.size);
	case -EINVAL: return explain_invalid(plan, event, cpu, rc, err);
	case -EBUSY:
		return error_set(err, rc, "event '%s': another user of the PMU occupies it",
				 event->name);
	case -ENOSPC:
		return error_set(err, rc,
				 "event '%s': no breakpoint register or counter is left on CPU %d",
				 event->name, cpu);
	default: return error_sys(err, rc, "event '%s' on CPU %d", event->name, cpu);
	}
}
