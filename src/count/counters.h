/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: events that count and take no samples.
 *
 * There is a counter for each event at each place. A place is a CPU, a task, or a task on a CPU.
 * An event that this machine lacks has no counters, and the others count all the same. Where the
 * user may not measure the kernel, an event counts user space only, and its name ends with ":u".
 *
 * Ownership: the events, CPUs and tasks belong to the caller and must outlive the counters.
 * Threads: one. Times are in ns. Source: perf_event_open(2).
 */
#ifndef RINGTAIL_COUNT_COUNTERS_H
#define RINGTAIL_COUNT_COUNTERS_H

#include "event/syntax/spec.h"
#include "sys/kernel/cpus.h"
#include "sys/kernel/limits.h"
#include "sys/kernel/tasks.h"

struct count_targets {
	struct cpus cpus;   /* empty: any CPU */
	struct tasks tasks; /* empty: every task of @cpus */
	bool inherit;	    /* count the children of tasks, too */
	bool on_exec;	    /* start when the task execs, not by counters_enable() */
};

struct count_event {
	const struct event_spec *spec;
	char *name;	     /* for people */
	double scale;	     /* multiplies the count; 1 for most */
	const char *unit;    /* of the scaled count: "msec", "Joules"; "" for most */
	bool supported;	     /* at least one counter was opened */
	char unit_text[32];  /* room of @unit, from sysfs */
	struct pd_attr attr; /* as opened */
	struct tracefs_probe *probe;
};

/* A reading of one counter. Multiplexed if it ran for less than it was enabled. */
struct count_value {
	uint64_t count;
	uint64_t enabled, running;
};

struct counters {
	const struct count_targets *targets;
	struct count_event *events;
	size_t nr_events;
	size_t nr_cpus, nr_tasks; /* at least 1 each */
	int *fds;		  /* by event, task, CPU; negative: no counter */
};

/*
 * Opens the counters of @events, disabled. @env is where the events were parsed. Returns 0 with
 * *@ret for counters_close(), or a negative errno with the reason and a remedy in @err.
 */
int counters_open(const struct event_list *events, const struct count_targets *targets,
		  const struct event_env *env, const struct limits *limits, struct counters **ret,
		  struct error *err);
/* Accepts NULL. */
void counters_close(struct counters *c);

/* Starts or stops all counters. Returns 0, or a negative errno with @err filled. */
int counters_enable(const struct counters *c, struct error *err);
void counters_disable(const struct counters *c);

/* Returns the number of places. Place number p is task p / nr_cpus on CPU p % nr_cpus. */
size_t counters_places(const struct counters *c);

/* Whether @event has a counter at @place. */
bool counters_has(const struct counters *c, size_t event, size_t place);

/*
 * Reads the counter of @event at @place; zeroes where there is none. Returns 0, or a negative errno
 * with @err filled.
 */
int counters_read(const struct counters *c, size_t event, size_t place, struct count_value *ret,
		  struct error *err);

#endif
