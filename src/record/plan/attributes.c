// SPDX-License-Identifier: Apache-2.0
#include "record/plan/attributes.h"

#include <errno.h>
#include <string.h>

#include "perfdata/regs.h"

/* Branches that are calls without return yet; perf asks for the same. */
#define LBR_CALLS                                                                                 \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_CYCLES | \
	 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_HW_INDEX)

static bool is_tracepoint(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT;
}

/*
 * Whether each occurrence is a sample by default: tracepoints and breakpoints, also those given by
 * number.
 */
static bool each_counts(const struct event_spec *spec)
{
	return spec->each || is_tracepoint(&spec->attr) || spec->attr.type == PERF_TYPE_BREAKPOINT;
}

/*
 * Sets the rate. A term of the event overrides -c, which overrides -F, which overrides the default.
 */
static void set_rate(struct pd_attr *attr, const struct event_spec *spec,
		     const struct attributes_common *c)
{
	bool asked = c->opts->sample.frequency || c->opts->sample.frequency_max;

	if (spec->explicit_period)
		return;
	attr->flags &= ~PD_ATTR_FREQ;
	if (c->opts->sample.period) {
		attr->sample_period = c->opts->sample.period;
	} else if (!asked && each_counts(spec)) {
		attr->sample_period = 1; /* sample each one */
	} else {
		attr->sample_period = c->frequency;
		attr->flags |= PD_ATTR_FREQ;
	}
}

static int set_callgraph(struct plan_event *event, const struct event_spec *spec,
			 const struct attributes_common *c, struct error *err)
{
	struct pd_attr *attr = &event->attr;
	int kind = spec->callgraph >= 0 ? spec->callgraph : (int)c->opts->sample.callgraph;
	uint32_t size = spec->stack_size ? spec->stack_size : c->opts->sample.stack_size;

	if (kind == CALLGRAPH_NONE)
		return 0;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (c->opts->sample.user_callchains)
		attr->flags |= PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL;
	if (c->opts->sample.kernel_callchains)
		attr->flags |= PD_ATTR_EXCLUDE_CALLCHAIN_USER;
	if (spec->max_stack)
		attr->sample_max_stack = (uint16_t)spec->max_stack;
	if (kind == CALLGRAPH_FP)
		return 0;
	if (kind == CALLGRAPH_LBR) {
		if (attr->branch_sample_type)
			return error_set(err, -EINVAL,
					 "%s: --call-graph lbr needs the processor's branch stack, "
					 "which -b, -j or branch_type uses: choose one",
					 event->name);
		attr->branch_sample_type = LBR_CALLS;
		return 0;
	}
	if (!pd_regs_general(NULL))
		return error_set(err, -ENOTSUP,
				 "ringtail has no call graphs by DWARF on this architecture: use "
				 "--call-graph fp");
	/*
	 * The callers in user space come from the stack; the kernel could only follow frame
	 * pointers.
	 */
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->flags |= PD_ATTR_EXCLUDE_CALLCHAIN_USER;
	attr->sample_regs_user |= pd_regs_general(NULL);
	attr->sample_stack_user = size ? size : RECORD_STACK_SIZE;
	return 0;
}

/*
 * Sets the fields that all events of a recording share, so that all sample_id trailers are alike.
 */
static void set_common(struct pd_attr *attr, const struct attributes_common *c)
{
	/*
	 * With the dummy there are two events or more: an id at a fixed place assigns records to
	 * them.
	 */
	attr->sample_type |=
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (c->cpu_wanted)
		attr->sample_type |= PERF_SAMPLE_CPU;
	attr->read_format |= PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->flags |= PD_ATTR_SAMPLE_ID_ALL;
	if (c->inherit)
		attr->flags |= PD_ATTR_INHERIT;
	if (c->opts->sample.use_clockid) {
		attr->flags |= PD_ATTR_USE_CLOCKID;
		attr->clockid = c->opts->sample.clockid;
	}
}

/* Only a leader is disabled at first: the members of its group start with it. */
static void set_start(struct plan_event *event, const struct attributes_common *c)
{
	if (!event->members)
		return;
	event->attr.flags |= PD_ATTR_DISABLED;
	if (c->target == TARGET_COMMAND && !c->delayed)
		event->attr.flags |= PD_ATTR_ENABLE_ON_EXEC;
}

/*
 * With :S the leader's samples carry the counts of the group, or those of the second event, if the
 * leader is an AUX event, which takes none. The others do not sample; reporters make their samples
 * from these, with the same fields.
 */
static void set_read(struct plan_event *event, const struct event_spec *spec)
{
	struct pd_attr *attr = &event->attr;

	if (!spec->sample_read)
		return;
	attr->sample_type |= PERF_SAMPLE_READ;
	/* The kernel up to 6.11 refuses to inherit groups that are read together. */
	if (event->members != 1) {
		attr->read_format |= PERF_FORMAT_GROUP;
		attr->flags &= ~PD_ATTR_INHERIT;
	}
	if (!event->aux && !event->leads_samples && !spec->explicit_period) {
		attr->flags &= ~PD_ATTR_FREQ;
		attr->sample_period = 0;
	}
}

/*
 * Sets what the options add to each sample. Weights have three parts where processors measure more
 * than one latency, as in perf.
 */
static void set_content(struct pd_attr *attr, const struct event_spec *spec,
			const struct sample_opts *opts)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__powerpc__)
	const uint64_t weight = PERF_SAMPLE_WEIGHT_STRUCT;
#else
	const uint64_t weight = PERF_SAMPLE_WEIGHT;
#endif
	const struct {
		bool wanted;
		uint64_t type;
	} parts[] = {
		{opts->add_raw, PERF_SAMPLE_RAW},
		{opts->add_address, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
		{opts->add_mem_info, PERF_SAMPLE_DATA_SRC},
		{opts->add_weight, weight},
		{opts->add_transaction, PERF_SAMPLE_TRANSACTION},
		{opts->add_physical, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR},
		{opts->add_data_page, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE},
		{opts->add_code_page, PERF_SAMPLE_CODE_PAGE_SIZE},
		{opts->add_cgroup, PERF_SAMPLE_CGROUP},
		{opts->user_regs, PERF_SAMPLE_REGS_USER},
		{opts->intr_regs, PERF_SAMPLE_REGS_INTR},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].wanted)
			attr->sample_type |= parts[i].type;
	attr->sample_regs_user = opts->user_regs;
	attr->sample_regs_intr = opts->intr_regs;
	/* A term of the event overrides -b and -j. */
	if (!attr->branch_sample_type && !spec->no_branches)
		attr->branch_sample_type = opts->branches;
	if (opts->thread_counts)
		attr->flags |= PD_ATTR_INHERIT_STAT;
	if (opts->thread_counts || opts->count_times)
		attr->read_format |=
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (opts->no_samples) {
		attr->flags &= ~PD_ATTR_FREQ;
		attr->sample_period = 0;
	}
}

/* Applies --all-user and --all-kernel. */
static void set_level(struct pd_attr *attr, const struct plan_opts *opts)
{
	const uint64_t kernel = PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;

	if (opts->sample.all_user)
		attr->flags = (attr->flags & ~PD_ATTR_EXCLUDE_USER) | kernel;
	if (opts->sample.all_kernel)
		attr->flags = (attr->flags & ~PD_ATTR_EXCLUDE_KERNEL) | PD_ATTR_EXCLUDE_USER;
}

/*
 * An AUX event takes no samples: its records say where its trace is. Only arm_spe has a period,
 * which its term, -c or its default sets. Trace is decoded with the switches of tasks. As perf,
 * intel_pt_recording_options() and its like.
 */
static void complete_aux(struct plan_event *event, const struct event_spec *spec,
			 const struct attributes_common *c)
{
	struct pd_attr *attr = &event->attr;

	attr->flags &= ~(PD_ATTR_FREQ | PD_ATTR_WRITE_BACKWARD);
	if (!attr->sample_period)
		attr->sample_period = 1;
	else if (!spec->explicit_period && c->opts->sample.period)
		attr->sample_period = c->opts->sample.period;
	if (c->by_cpu)
		attr->config |= spec->aux_by_cpu;
	if (c->aux_samples)
		attr->config &= ~spec->aux_unsampled;
	attr->flags |= PD_ATTR_CONTEXT_SWITCH;
	if (!spec->modifier_given || spec->exclude_guest > 0)
		attr->flags |= PD_ATTR_EXCLUDE_GUEST;
	if (spec->exclude_guest == 0)
		attr->flags &= ~PD_ATTR_EXCLUDE_GUEST;
	if (spec->inherit == 0)
		attr->flags &= ~PD_ATTR_INHERIT;
	if (event->members > 1)
		set_read(event, spec);
	set_level(attr, c->opts);
}

int attributes_complete(struct plan_event *event, const struct event_spec *spec,
			const struct attributes_common *c, struct error *err)
{
	struct pd_attr *attr = &event->attr;
	bool hardware = attr->type != PERF_TYPE_SOFTWARE && !each_counts(spec);
	int rc;

	set_common(attr, c);
	set_start(event, c);
	if (spec->aux) {
		complete_aux(event, spec, c);
		return 0;
	}
	set_rate(attr, spec, c);
	if (attr->aux_sample_size)
		attr->sample_type |= PERF_SAMPLE_AUX;
	if (attr->flags & PD_ATTR_FREQ || c->opts->sample.add_period)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (is_tracepoint(attr))
		attr->sample_type |= PERF_SAMPLE_RAW;
	/*
	 * A sample of some tracepoints, such as sched_stat_runtime, stands for more than one event.
	 * With PERF_SAMPLE_PERIOD the kernel would sample each event, whatever the period. So it is
	 * set only for a period of 1.
	 */
	if (is_tracepoint(attr) && attr->sample_period <= 1)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	set_content(attr, spec, &c->opts->sample);
	/* Count the host only, as perf does, unless :G or :H is given. */
	if (hardware && !spec->modifier_given)
		attr->flags |= PD_ATTR_EXCLUDE_GUEST;
	if (event->precise_max)
		attr->flags |= PD_ATTR_PRECISE_IP;
	event->overwrite = spec->overwrite >= 0 ? spec->overwrite : c->opts->overwrite;
	if (event->overwrite)
		attr->flags |= PD_ATTR_WRITE_BACKWARD;
	if (spec->inherit == 0)
		attr->flags &= ~PD_ATTR_INHERIT;
	set_read(event, spec);
	set_level(attr, c->opts);
	rc = set_callgraph(event, spec, c, err);
	if (!rc && attr->branch_sample_type)
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	/* The kernel samples functions only without user callers (perf_trace_event_perm()). */
	if (is_tracepoint(attr) && !strcmp(spec->name, "ftrace:function"))
		attr->flags |= PD_ATTR_EXCLUDE_CALLCHAIN_USER;
	return rc;
}

void attributes_without_branches(struct plan_event *event)
{
	event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = 0;
}

void attributes_of_all_tasks(struct plan_event *event, const struct attributes_common *c)
{
	event->all_tasks = true;
	event->attr.flags &= ~(PD_ATTR_INHERIT | PD_ATTR_ENABLE_ON_EXEC);
	if (!c->delayed)
		event->attr.flags &= ~PD_ATTR_DISABLED; /* no exec of a task would enable it */
}

int attributes_dummy(struct plan_event *event, const struct attributes_common *c)
{
	struct pd_attr *attr = &event->attr;

	event->name = strdup("dummy:HG");
	event->dummy = true;
	*attr = (struct pd_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.flags = PD_ATTR_MMAP | PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_COMM_EXEC |
			 PD_ATTR_TASK | PD_ATTR_KSYMBOL | PD_ATTR_BPF_EVENT,
	};
	set_common(attr, c);
	if (c->opts->no_bpf)
		attr->flags &= ~PD_ATTR_BPF_EVENT;
	/*
	 * This also changes the MMAP2 records of all other recorders: see
	 * record/initial/buildid_reader.h.
	 */
	if (c->opts->build_id_mmap && !c->opts->no_build_ids)
		attr->flags |= PD_ATTR_BUILD_ID;
	if (c->data_maps)
		attr->flags |= PD_ATTR_MMAP_DATA;
	if (c->limits->perfmon) /* the kernel refuses namespaces to users without CAP_PERFMON */
		attr->flags |= PD_ATTR_NAMESPACES | PD_ATTR_CGROUP;
	if (!limits_may_kernel(c->limits))
		attr->flags |= PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
	return event->name ? 0 : -ENOMEM;
}
