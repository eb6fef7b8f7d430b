/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user asks of a recording. Filled by cli/ (or a test), read by plan and session, changed
 * by neither; all-zero with delay_ms, clockid at their defaults is a valid request for a command.
 */
#ifndef RINGTAIL_RECORD_PLAN_OPTIONS_H
#define RINGTAIL_RECORD_PLAN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "event/parse/event.h"
#include "perfdata/snapshot_log.h"
#include "record/plan/trigger_spec.h"
#include "sys/kernel/cpus.h"
#include "sys/kernel/tasks.h"

enum callgraph_kind {
	CALLGRAPH_NONE,
	CALLGRAPH_FP,
	CALLGRAPH_DWARF,
};

struct record_opts {
	struct event_list events; /* empty: the best clock there is */

	bool all_cpus;		    /* -a */
	struct cpus cpus;	    /* -C; empty: not given */
	struct tasks tasks;	    /* -p and -t, threads already listed; empty: not given */
	struct tasks processes;	    /* of -p: those whose threads are among the tasks */
	const char *const *command; /* NULL-terminated; NULL: none */

	uint64_t frequency; /* -F, Hz; 0: not given */
	bool frequency_max; /* -F max */
	uint64_t period;    /* -c; 0: not given */
	bool no_inherit;
	bool all_user, all_kernel; /* of all events, whatever their modifiers say */

	bool user_callchains, kernel_callchains; /* the one part alone */
	enum callgraph_kind callgraph;
	uint32_t stack_size; /* dwarf: bytes of user stack, a multiple of 8 */

	bool sample_period, sample_address, sample_raw, sample_cpu;
	bool use_clockid;
	int clockid;
	unsigned int delay_ms; /* -D */
	bool start_disabled;   /* -D -1: until a command enables them */

	bool no_build_ids;  /* of mapped files, neither in their records nor in a section */
	bool build_id_mmap; /* in the records: the kernel marks those of all other recorders, too */

	const char *control; /* --control, as control_spec_parse() takes it; NULL: not given */
	bool no_control_socket;
	/* Fields of an attribute in words, for the command `evlist -v`; NULL: names will do. */
	void (*attr_text)(FILE *out, const struct pd_attr *attr);

	uint64_t ring_size;    /* -m, bytes of data a ring, a power of two; 0: the default */
	bool overwrite;	       /* --overwrite: of each ring the newest, unless an event says else */
	const char *output;    /* path, or "-" */
	bool directory;	       /* the output is one: -o DIR/, and --threads */
	bool unbuffered;       /* --no-buffering: each record wakes the reader */
	const char *affinity;  /* --affinity, a layout of record/masks.h; NULL: none */
	uint64_t mmap_flush;   /* --mmap-flush, bytes taken of a ring at least; 0: any */
	int realtime;	       /* -r, SCHED_FIFO's priority of those who read; 0: not given */
	unsigned int flush_ms; /* 0: 1000 */
	const char *threads;   /* --threads: masks (record/masks.h); NULL: one thread */
	unsigned int aio;      /* --aio: writes in flight of each thread; 0: one after the other */
	uint64_t buffer_memory; /* --buffer-memory, bytes; 0: the default */
	int compression_level;	/* -z, 1 to COMPRESS_LEVEL_MAX; 0: records are not compressed */
	uint64_t memory; /* -M, bytes of samples that are kept, until a snapshot; 0: none are */
	bool snapshot_on_exit, snapshot_on_crash;
	struct pd_snapshot_bounds snapshot_bounds; /* where a request names none */
	struct trigger_specs triggers;		   /* --trigger: each asks for a snapshot */
	bool switch_output;		 /* --switch-output: at SIGUSR2, at a command, and */
	uint64_t switch_size;		 /* after that many bytes (0: any number), and */
	uint64_t switch_seconds;	 /* after that time (0: any), and */
	struct event_list switch_events; /* each time one of these happens */
	size_t switch_max_files;	 /* 0: any number */
	bool switch_max_all;		 /* those of earlier recordings count among them */
	bool timestamp_filename;
	double max_cpu;	   /* --max-cpu: part of one CPU that recording may take; 0: any */
	uint64_t max_size; /* --max-size: bytes of data that end the recording; 0: never */
	int argc;	   /* the command line, for the file's header */
	const char *const *argv;
};

#define RECORD_STACK_SIZE     8192u  /* perf's default for dwarf */
#define RECORD_STACK_SIZE_MAX 65528u /* the largest multiple of 8 below the kernel's limit */
#define RECORD_FREQUENCY      4000u  /* Hz, as perf */
#define RECORD_RING_SIZE      (8ull << 20)
#define RECORD_FLUSH_MS	      1000u
/* Of the threads that read rings: SCHED_FIFO, or nice where that is not allowed. */
#define RECORD_REALTIME	   1
#define RECORD_NICE_READER (-20)
#define RECORD_NICE	   (-15) /* of all other threads, while recording */
#define RECORD_AIO	   4u	 /* 2 to 8 lose alike; with 1 the disk waits for us */

#endif
