/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event spec: a requested event with its attribute, its name, and options for the recorder.
 *
 * The parser makes specs, and the recorder plans with them; nothing is opened here. An event_list
 * owns its specs. One thread.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_SPEC_H
#define RINGTAIL_EVENT_SYNTAX_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "event/syntax/symbols.h"
#include "perfdata/abi.h"

/* Where names are looked up; tests pass their own. Borrowed. */
struct event_env {
	const char *sysfs;		     /* NULL: /sys */
	const char *tracefs;		     /* NULL: where it is mounted (libtracefs) */
	const struct event_symbols *symbols; /* NULL: no function is found by name */
	/*
	 * Asks the kernel whether the PMU of number @type has an AUX area, for a PMU that is not
	 * known by its name. NULL: it has none.
	 */
	bool (*has_aux)(uint32_t type);
};

/* The place of an event in a file, or of a kprobe in the kernel. */
struct event_place {
	char *file;  /* its path, absolute; NULL: the event has no such place */
	bool probe;  /* a uprobe, by its offset in attr.config2; else a breakpoint */
	bool kernel; /* a kprobe, by its address in attr.config2: without a file */
	/*
	 * For a breakpoint. If @fixed, the file is always mapped at its link address, and
	 * attr.config1 is the address. If not, @address is the link address of the place. With
	 * the mapping of the first loaded segment, which has link address @first_address and file
	 * offset @first_offset, the recorder computes the address in each process.
	 */
	bool fixed;
	uint64_t address, first_address, first_offset;
};

struct event_spec {
	/*
	 * Set: type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, branch_sample_type,
	 * aux_*; period or freq if a term sets it. Tracepoints, breakpoints and probes have period
	 * 1, and arm_spe the shortest; without explicit_period this is a default, which -c and -F
	 * replace. Sizes are 0, and sample_type, too, but for what readers of an AUX event need.
	 * config1 of a uprobe, the path for the kernel, is 0.
	 */
	struct pd_attr attr;
	char *name;   /* as the user wrote it, modifiers included; of a tracepoint "sys:name" */
	char *filter; /* of a tracepoint or a probe, or NULL */
	char *cgroup; /* its tasks only; NULL: any. The parser sets none */
	struct event_place place;
	bool each;		/* each event is a sample, unless -c, -F or a term sets a period */
	char *cpus;		/* of its PMU: open on these CPUs only; NULL: any */
	bool core;		/* its PMU also counts tasks, while they run on @cpus */
	bool aux;		/* its PMU writes a trace into an AUX area */
	char *pmu;		/* with @aux: the name of its PMU; else NULL */
	uint64_t aux_by_cpu;	/* with @aux: bits of config that are set if rings are by CPU */
	uint64_t aux_unsampled; /* with @aux: bits of config that are cleared for --aux-sample */
	int exclude_guest;	/* with @aux: 0 no, 1 yes, whatever modifiers say; -1 as they say */
	bool aux_size_given;	/* attr.aux_sample_size was set by a term */
	bool explicit_period;	/* attr.sample_period (or freq) was set by a term */
	bool precise_max;	/* :P or "highest": the recorder tries 3, 2, 1, 0 */
	bool modifier_given;	/* :u, :k, …: do not change privilege on fallback */
	bool weak_group, pinned_group;
	bool no_branches; /* branch_type=no: also where all other events have branch stacks */
	bool sample_read; /* :S: the group's counts in each sample of the leader */
	int leader;	  /* index of the group's leader in the list, own index without group */
	/* Terms for the recorder. */
	int callgraph;		      /* -1 not given, 0 no, 1 fp, 2 dwarf, 3 lbr */
	uint32_t stack_size;	      /* dwarf: bytes, a multiple of 8; 0 not given */
	int time, inherit, overwrite; /* -1 not given, 0 no, 1 yes */
	uint32_t max_stack;	      /* frames; 0 not given */
};

struct event_list {
	struct event_spec *specs;
	size_t count, capacity;
};

/*
 * Sets the filter of the events of the last -e argument (perf's --filter). @first is list->count
 * before that argument. An event that already has a filter must then pass both. The kernel checks
 * the syntax later. Returns 0, or with @err filled -ENOMEM or -EINVAL: no event precedes the
 * filter, the filter is empty, or an event is neither a tracepoint nor a probe. On failure all
 * events keep the filters that they had.
 */
int event_set_filter(struct event_list *list, size_t first, const char *filter, struct error *err);

/* As event_set_filter(), for one event. */
int event_spec_narrow(struct event_spec *spec, const char *filter, struct error *err);

/*
 * Gives cgroups to events in their order; a single one of @names, a comma list, is for all of them.
 * An empty name leaves its event alone. Returns 0, or with @err filled -EINVAL (there are more
 * names than events) or -ENOMEM.
 */
int event_list_cgroups(struct event_list *list, const char *names, struct error *err);

/*
 * Replaces the events by copies of them for each cgroup of @names, a comma list; the name of a
 * copy ends with "@CGROUP". Returns as event_list_cgroups(); on failure the list is unchanged.
 */
int event_list_each_cgroup(struct event_list *list, const char *names, struct error *err);

/* Frees the events and their strings, and empties the list. */
void event_list_release(struct event_list *list);

/* Frees the strings of @spec, not @spec itself. */
void event_spec_release(struct event_spec *spec);

#endif
