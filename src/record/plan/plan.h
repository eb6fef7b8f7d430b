/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what is asked to what is to be opened: the attributes of each event, on which CPUs, for
 * which tasks. Nothing is opened here; what the kernel refuses is record/open's to find out, which
 * then changes the plan.
 *
 * Events whose samples are overwritten have rings of their own, since a ring is written forward or
 * backward. Sideband (maps, comms, forks, …) comes from a dummy event with rings of its own:
 * samples that overrun theirs then cost no map, and it runs before /proc is read, so that what
 * changes between reading a task's maps and enabling the samples is not missed. With -C it is on
 * all CPUs, since a task seen on CPU 3 may have been mapped on 0.
 */
#ifndef RINGTAIL_RECORD_PLAN_PLAN_H
#define RINGTAIL_RECORD_PLAN_PLAN_H

#include "perfdata/attr.h"
#include "record/plan/messages.h"
#include "record/plan/options.h"
#include "sys/kernel/limits.h"

/* What a place (a CPU or a task) has a ring of each for, where there are events of that kind. */
enum ring_kind {
	RING_SAMPLES,
	RING_OVERWRITTEN, /* samples, of which the newest stay (--overwrite) */
	RING_SIDEBAND,
	RING_KINDS,
};

/* Bytes of a sideband ring: room for some hundred execs. */
#define PLAN_SIDEBAND_SIZE  (512u << 10)
#define PLAN_SIDEBAND_LEAST (64u << 10) /* beside larger rings of samples */

/* Bytes of sideband that wake the reader: less than the records of the smallest exec. */
#define PLAN_SIDEBAND_WAKE 256u

enum plan_target {
	TARGET_COMMAND, /* a command that we start, and its children */
	TARGET_TASKS,
	TARGET_CPUS,
};

struct plan_event {
	struct pd_attr attr;
	char *name;
	const char *filter;		 /* of a tracepoint, or NULL; the options' */
	const struct event_place *place; /* the options'; NULL: it is at no place of a file */
	struct tracefs_probe *probe;	 /* in tracefs; NULL: by the PMU (record/places.h) */
	char *alone;	      /* why there could be none, so that it is not inherited; or NULL */
	uint64_t *addresses;  /* of a breakpoint, by task; 0: the task has ended; NULL: attr's */
	unsigned int leader;  /* index in the plan; own index without a group */
	unsigned int members; /* of the group that it leads, itself included; 0: it does not lead */
	struct cpus only;     /* on these CPUs only; empty: on those of the plan */
	bool dummy;	      /* for sideband alone */
	bool overwrite;	      /* its samples may be overwritten by later ones */
	bool precise_max;     /* lower attr's precise_ip until it is accepted */
	bool modifier_given;  /* the user said :u, :k, …: do not change it */
	bool weak_group;      /* rather without the group than not at all */
	bool is_default;      /* the user named no event */
	bool clock_instead;   /* no PMU: this is cpu-clock where cycles were meant */
	bool user_only; /* the kernel allows no more, though it was not asked to leave it out */
};

struct plan {
	const struct plan_opts *opts;
	enum plan_target target;
	struct plan_event *events; /* the dummy is the last */
	size_t nr, capacity;
	struct cpus cpus;	/* one ring each; empty: one ring a task, which runs anywhere */
	struct cpus sampled;	/* subset of cpus where events are wanted; the dummy is on all */
	struct tasks tasks;	/* of TARGET_COMMAND: the command, added when it has its pid */
	struct tasks processes; /* all threads of these are among the tasks (-p) */
	bool task_rings;	/* rings are by task, not by CPU */
	bool delayed;		/* enabled by a timer or a command */
	bool unbuffered;	/* each record wakes the reader */
	uint64_t ring_size;	/* bytes of data a ring of samples, overwritten or not */
	uint64_t sideband_size; /* and of sideband */
	size_t online;
	size_t descriptors_beside; /* for other plans and workers, open already or not */
};

/*
 * Makes a plan; @opts and its strings must outlive it. Returns 0 with *@ret to be freed with
 * plan_free(), or a negative errno with @err saying what is impossible and what would help.
 */
int plan_new(const struct plan_opts *opts, const struct limits *limits,
	     const struct messages *messages, struct plan **ret, struct error *err);
void plan_free(struct plan *plan); /* accepts NULL */

/* Whether the kernel is asked to put build-ids into the records of maps (--buildid-mmap). */
bool plan_build_ids(const struct plan *plan);

/* Whether sideband tells of maps without PROT_EXEC too. */
bool plan_data_maps(const struct plan *plan);

/* The command's pid is known. Returns 0 or -ENOMEM. */
int plan_set_command(struct plan *plan, pid_t pid);

/*
 * Lists the threads of the processes again and adds those that are new to the tasks. Returns 1 if
 * there were any, 0, or -ENOMEM.
 */
int plan_list_threads(struct plan *plan);

/* Sets the sizes of the rings and the watermarks that follow from it. */
void plan_set_ring_size(struct plan *plan, uint64_t bytes, uint64_t sideband);

/* CPUs or tasks that have rings each. */
size_t plan_places(const struct plan *plan);

/* The kind of ring that the event writes to. */
enum ring_kind plan_ring_kind(const struct plan_event *event);

/* Rings of samples, overwritten or not. */
size_t plan_sample_rings(const struct plan *plan);

bool plan_overwrites(const struct plan *plan); /* any event's samples */

/* Whether @event is to be opened on @cpu (-1: wherever its task runs). */
bool plan_wants(const struct plan *plan, const struct plan_event *event, int cpu);

/* Descriptors that opening takes. */
size_t plan_descriptors(const struct plan *plan);

/* Offset of TIME in every sample of this plan, bytes. */
unsigned int plan_sample_time_at(const struct plan *plan);

#endif
