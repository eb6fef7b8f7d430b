/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns options into a plan: the events to open, their attributes, CPUs and tasks.
 *
 * A plan opens no events. When the kernel refuses one, record/open changes the plan.
 *
 * Overwrite events have rings of their own, because a ring is written either forward or backward.
 * Sideband (maps, comms, forks, …) comes from a dummy event with rings of its own, so that a full
 * ring of samples loses no map. The dummy runs before the recorder reads /proc, so that it records
 * changes between reading a task's maps and enabling the samples. With -C the dummy is on all CPUs,
 * because a task sampled on CPU 3 may have mapped its code on CPU 0.
 *
 * Ownership: a plan refers to the options, which must outlive it. Threads: the main thread's.
 * Sizes are in bytes.
 */
#ifndef RINGTAIL_RECORD_PLAN_PLAN_H
#define RINGTAIL_RECORD_PLAN_PLAN_H

#include "perfdata/attr.h"
#include "record/plan/messages.h"
#include "record/plan/options.h"
#include "sys/kernel/limits.h"

/* Kinds of rings. A place (a CPU or a task) has one of each kind for which it has events. */
enum ring_kind {
	RING_SAMPLES,
	RING_OVERWRITTEN, /* an overwrite ring of samples (--overwrite) */
	RING_SIDEBAND,
	RING_AUX, /* of events with an AUX area, which is mapped beside it */
	RING_KINDS,
};

/* Bytes of a sideband ring: room for some hundred execs. */
#define PLAN_SIDEBAND_SIZE  (512u << 10)
#define PLAN_SIDEBAND_LEAST (64u << 10) /* beside larger rings of samples */

/*
 * Bytes that wake the reader: of sideband less than any MMAP2 record with its name and sample_id;
 * of the records of AUX areas that are read as snapshots some of them.
 */
#define PLAN_SIDEBAND_WAKE 64u
#define PLAN_AUX_WAKE	   256u

/* How the AUX areas of a recording are read. */
enum aux_mode {
	AUX_NONE,     /* no event has one */
	AUX_FULL,     /* all trace is recorded */
	AUX_SNAPSHOT, /* the hardware overwrites the oldest; snapshots read the newest */
	AUX_SAMPLE,   /* the same; the kernel copies the newest into samples */
};

enum plan_target {
	TARGET_COMMAND, /* the workload and its children */
	TARGET_TASKS,
	TARGET_CPUS,
};

struct plan_event {
	struct pd_attr attr;
	char *name;
	const char *filter;		 /* of a tracepoint, or NULL; the options' */
	const char *cgroup;		 /* its tasks only; NULL: any; the options' */
	const struct event_place *place; /* the options'; NULL: not at a place in a file */
	struct tracefs_probe *probe;	 /* NULL: by the PMU (record/plan/probe_targets.h) */
	char *alone;			 /* why a uprobe is not inherited; or NULL */
	uint64_t *addresses;  /* of a breakpoint, by task; 0: the task has ended; NULL: attr's */
	unsigned int leader;  /* index in the plan; own index without a group */
	unsigned int members; /* of the group that it leads, itself included; 0: a member */
	struct cpus only;     /* on these CPUs only; empty: on those of the plan */
	bool dummy;	      /* for sideband alone */
	bool all_tasks;	      /* of whole CPUs, also where the plan records tasks */
	bool overwrite;	      /* its samples go to overwrite rings */
	bool aux;	      /* its PMU writes a trace into an AUX area */
	bool leads_samples;   /* :S of its group: its samples have the counts of all */
	const char *pmu;      /* with @aux: the name of its PMU; the options' */
	bool precise_max;     /* lower attr's precise_ip until the kernel accepts it */
	bool modifier_given;  /* the user gave :u, :k, …: do not change them */
	bool weak_group;      /* split the group if the kernel refuses it */
	bool is_default;      /* the user named no event */
	bool clock_instead;   /* fallback: cpu-clock in place of cycles */
	bool user_only;	      /* fallback: without the kernel, which the user did not ask for */
};

struct plan {
	const struct plan_opts *opts;
	enum plan_target target;
	struct plan_event *events; /* the dummy is the last */
	size_t nr, capacity;
	struct cpus cpus;	/* one ring each; empty: one ring a task, on any CPU */
	struct cpus sampled;	/* the CPUs that the user wants; the dummy is on all of cpus */
	struct tasks tasks;	/* TARGET_COMMAND: the command, see plan_set_command() */
	struct tasks processes; /* -p: all their threads are among the tasks */
	bool task_rings;	/* rings are by task, not by CPU */
	bool delayed;		/* enabled by a timer or a command */
	bool unbuffered;	/* each record wakes the reader */
	bool raise_files;	/* RLIMIT_NOFILE may be raised for the descriptors */
	uint64_t ring_size;	/* bytes of data in a ring of samples */
	uint64_t sideband_size; /* bytes of data in a ring of sideband */
	uint64_t beside_size;	/* bytes of data in the ring beside an AUX area */
	enum aux_mode aux_mode;
	uint64_t aux_size;	   /* bytes of an AUX area */
	size_t online;		   /* CPUs online */
	size_t descriptors_beside; /* descriptors of other plans and workers, open or not yet */
	size_t descriptors_spare;  /* descriptors that are used if the limit allows them */
};

/*
 * Makes a plan; @opts and its strings must outlive it. Returns 0 with *@ret for plan_free(), or a
 * negative errno with the reason and a remedy in @err.
 */
int plan_new(const struct plan_opts *opts, const struct limits *limits,
	     const struct messages *messages, struct plan **ret, struct error *err);
void plan_free(struct plan *plan); /* accepts NULL */

/* Whether the kernel puts build-ids into MMAP2 records (--buildid-mmap). */
bool plan_build_ids(const struct plan *plan);

/* Whether sideband has maps without PROT_EXEC, too. */
bool plan_data_maps(const struct plan *plan);

/* Makes @pid the task of a TARGET_COMMAND plan. Returns 0 or -ENOMEM. */
int plan_set_command(struct plan *plan, pid_t pid);

/*
 * Lists the threads of the processes again and adds new ones to the tasks. Returns 1 if there were
 * any, 0 if not, or -ENOMEM.
 */
int plan_list_threads(struct plan *plan);

/*
 * Sets the data sizes of sample and sideband rings, in bytes, and the watermarks. Rings beside AUX
 * areas are as large as those of sideband, or as -m asks if that is more.
 */
void plan_set_ring_size(struct plan *plan, uint64_t bytes, uint64_t sideband);

/* Sets the size of AUX areas, in bytes, and their watermark. */
void plan_set_aux_size(struct plan *plan, uint64_t bytes);

/* Returns the number of places: CPUs, or tasks with task_rings. */
size_t plan_places(const struct plan *plan);

/* Returns the kind of ring that @event writes to. */
enum ring_kind plan_ring_kind(const struct plan_event *event);

/* Returns the number of rings of samples, overwrite rings included. */
size_t plan_sample_rings(const struct plan *plan);

/* Returns the number of AUX areas. */
size_t plan_aux_areas(const struct plan *plan);

/* Whether any event writes to an overwrite ring. */
bool plan_overwrites(const struct plan *plan);

/* Whether any event is of whole CPUs: the dummies are, too, where the plan records CPUs. */
bool plan_has_cpu_events(const struct plan *plan);

/* Whether to open @event on @cpu (-1: the event follows its task). */
bool plan_wants(const struct plan *plan, const struct plan_event *event, int cpu);

/* Returns the number of descriptors that opening the plan takes. */
size_t plan_descriptors(const struct plan *plan);

/* Returns the offset of TIME in every sample of this plan, in bytes, or 0 if they have none. */
unsigned int plan_sample_time_at(const struct plan *plan);

#endif
