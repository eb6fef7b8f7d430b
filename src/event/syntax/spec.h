/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as it was asked for: its attribute, its name, and what the recorder has to know beside
 * them. What the parser makes and the recorder plans with; nothing is opened here.
 *
 * An event_list owns its specs. One thread.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_SPEC_H
#define RINGTAIL_EVENT_SYNTAX_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "event/syntax/symbols.h"
#include "perfdata/abi.h"

/* Where the names come from; tests point it at trees of their own. */
struct event_env {
	const char *sysfs;		     /* NULL: /sys */
	const char *tracefs;		     /* NULL: where it is mounted (libtracefs) */
	const struct event_symbols *symbols; /* NULL: names of functions are unknown */
};

/* What an event is asked of in a file, or a kprobe of the kernel. */
struct event_place {
	char *file;  /* its path, absolute; NULL: the event has no such place */
	bool probe;  /* a uprobe, by its offset in attr.config2; else a breakpoint */
	bool kernel; /* a kprobe, by its address in attr.config2: without a file */
	/*
	 * Of a breakpoint: whether the file is always mapped where it was linked, so that
	 * attr.config1 is the address; or the address as linked, which with where its first loaded
	 * segment is linked to and lies in the file tells the address in a process.
	 */
	bool fixed;
	uint64_t address, first_address, first_offset;
};

struct event_spec {
	/*
	 * type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, branch_sample_type, aux_*;
	 * period or freq if a term said so, and period 1 for tracepoints, breakpoints and probes,
	 * which without explicit_period is a default that -c and -F replace. Sizes and sample_type:
	 * 0. Of a uprobe config1, which the kernel takes the path by, is 0.
	 */
	struct pd_attr attr;
	char *name;   /* as the user wrote it, modifiers included; of a tracepoint "sys:name" */
	char *filter; /* of a tracepoint or a probe, or NULL */
	struct event_place place;
	bool each;  /* each one is a sample, unless -c, -F or a term say else */
	char *cpus; /* of its PMU: open on these CPUs only; NULL: any */
	bool core;  /* the PMU is one of cores, so it counts tasks too, while they are on @cpus */
	bool explicit_period; /* attr.sample_period (or freq) was set by a term */
	bool precise_max;     /* :P or "highest": record/ tries 3, 2, 1, 0 */
	bool modifier_given;  /* :u, :k, …: do not change privilege on fallback */
	bool weak_group, pinned_group;
	bool sample_read; /* :S: the group's counts in each sample of the leader */
	int leader;	  /* index of the group's leader in the list, own index without group */
	/* Terms that belong to record/. */
	int callgraph;		      /* -1 not given, 0 no, 1 fp, 2 dwarf */
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
 * from before that argument. The syntax is the kernel's to judge; -EINVAL for events that are no
 * tracepoints and no probes.
 */
int event_set_filter(struct event_list *list, size_t first, const char *filter, struct error *err);

/* Frees the events and their strings; an empty list remains. */
void event_list_release(struct event_list *list);

/* Frees the strings of @spec, not @spec itself. */
void event_spec_release(struct event_spec *spec);

#endif
