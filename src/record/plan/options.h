/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a recording, a struct for each subsystem. The caller of the session fills them;
 * the recorder reads them and changes none. All-zero structs with an output path are a valid
 * request for a command.
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
	CALLGRAPH_LBR, /* user space from the processor's branch stack */
};

/* The target: CPUs, tasks, or a command. */
struct target_opts {
	bool all_cpus;		    /* -a */
	struct cpus cpus;	    /* -C; empty: not given */
	struct tasks tasks;	    /* -p and -t, threads already listed; empty: not given */
	struct tasks processes;	    /* the processes of -p, -u; their threads are in @tasks */
	const char *const *command; /* NULL-terminated; NULL: none */
	bool no_inherit;	    /* -i, --per-thread */
};

/* How often samples are taken, and what they contain. */
struct sample_opts {
	uint64_t frequency;    /* -F, Hz; 0: not given */
	bool frequency_max;    /* -F max */
	bool strict_frequency; /* --strict-freq: a frequency above the kernel's bound is an error */
	uint64_t period;       /* -c; 0: not given */
	bool all_user, all_kernel; /* for all events, whatever their modifiers */

	bool user_callchains, kernel_callchains; /* only this part of the chain */
	enum callgraph_kind callgraph;
	uint32_t stack_size; /* dwarf: bytes of user stack, a multiple of 8 */
	bool online;	     /* dwarf: unwind stacks while recording */

	bool add_period, add_address, add_raw, add_cpu;
	bool add_mem_info, add_data_maps, add_weight, add_transaction, add_physical, add_data_page,
		add_code_page, add_cgroup;
	uint64_t branches;	       /* -b, -j: PERF_SAMPLE_BRANCH_*; 0: no branch stacks */
	uint64_t user_regs, intr_regs; /* masks of registers (perfdata/regs.h) */
	bool thread_counts;	       /* -s: a READ record when a thread ends */
	bool count_times;	       /* --running-time: counts that are read have their times */
	bool no_samples;	       /* -n */
	bool add_switches; /* --latency: records of switches of threads, beside the samples */
	bool use_clockid;
	int clockid;
};

/* Rings whose AUX data a snapshot writes, and how much of them. */
enum aux_scope {
	AUX_SCOPE_AREA,	  /* the newest bytes of all rings together, up to the size of one area */
	AUX_SCOPE_ACTIVE, /* only rings whose event was active at the request */
	AUX_SCOPE_WINDOW, /* the last @window of each ring */
	AUX_SCOPE_ALL,	  /* all new bytes */
};

/* The AUX areas, where hardware writes its trace. Sizes are in bytes. */
struct aux_opts {
	uint64_t size;		/* -m DATA,AUX: of an AUX area, a power of two; 0: the default */
	bool snapshot;		/* -S, or -M */
	uint64_t snapshot_size; /* -S SIZE: of each ring; 0: all of it */
	bool at_exit;		/* -S with 'e': take a snapshot at the end, too */
	uint64_t sample_size;	/* --aux-sample: of trace in each sample; 0: not given */
	enum aux_scope scope;	/* --snapshot-scope */
	uint64_t window;	/* of AUX_SCOPE_WINDOW, ns */
};

/* The records for what existed before. */
enum initial_part {
	INITIAL_TASKS = 1, /* tasks with their comms and namespaces */
	INITIAL_MAPS = 2,  /* of tasks, and of the kernel */
	INITIAL_CGROUPS = 4,
	INITIAL_ALL = 7,
};

/* -D FROM-TO: a span in which events are enabled, ms after the start. */
struct enabled_span {
	unsigned int from_ms, to_ms;
};

/* All inputs of the plan. */
struct plan_opts {
	struct event_list events; /* empty: the best clock of the machine */
	/* --off-cpu: what schedulers do, beside @events; off_cpu_events() fills it. */
	struct event_list scheduling;
	struct target_opts target;
	struct sample_opts sample;
	struct aux_opts aux;
	unsigned int delay_ms;		  /* -D */
	bool start_disabled;		  /* -D -1: until a command enables the events */
	const struct enabled_span *spans; /* -D FROM-TO,…: ascending and apart; NULL: not given */
	size_t nr_spans;
	uint64_t duration_ms;  /* --duration; 0: no limit */
	unsigned int left_out; /* --synth: initial_part bits that the recording lacks */

	uint64_t ring_size; /* -m, bytes of data a ring, a power of two; 0: the default */
	/* --overwrite: each ring keeps the newest records, unless its event has another mode. */
	bool overwrite;
	bool unbuffered; /* --no-buffering: each record wakes the reader */

	bool no_build_ids; /* no build-ids of mapped files, neither in records nor in a section */
	/* Build-ids in MMAP2 records: the kernel adds them for all other recorders, too. */
	bool build_id_mmap;
	bool no_bpf; /* --no-bpf-event */

	bool raise_files; /* the process is ours: RLIMIT_NOFILE may be raised */
};

/* The threads that read rings, and their buffers. */
struct reader_opts {
	const char *threads;	/* --threads: masks (record/plan/masks.h); NULL: one thread */
	const char *affinity;	/* --affinity, a layout of record/plan/masks.h; NULL: none */
	int realtime;		/* -r, SCHED_FIFO's priority of readers; 0: not given */
	uint64_t mmap_flush;	/* --mmap-flush, bytes: least fill of a ring to drain it; 0: any */
	uint64_t buffer_memory; /* --buffer-memory, bytes; 0: the default */
};

/* --switch-output: rotates on SIGUSR2, on a command, and at each limit that is not 0. */
struct rotation_opts {
	bool enabled;
	uint64_t size;	  /* bytes */
	uint64_t seconds; /* time */
	size_t max_files; /* --switch-max-files; 0: no limit */
	bool max_all;	  /* count outputs of earlier recordings, too */
};

/* -M: samples stay in memory; snapshots write them. */
struct memory_opts {
	uint64_t bytes; /* 0: no memory, records go straight to the output */
	bool on_exit, on_crash;
	struct pd_snapshot_bounds bounds; /* for requests that have none */
};

/* --symbols: the names of functions that an output carries. */
struct symbols_opts {
	bool names, lines;   /* @lines: with @names also source lines and inlined functions */
	uint64_t budget;     /* --symbols-budget, bytes; 0: RECORD_SYMBOLS_SHARE of the output */
	const char *vmlinux; /* of the kernel, never freed; NULL: its own list of names */
};

/* The output and its form. */
struct output_opts {
	const char *path;      /* or "-" */
	bool directory;	       /* -o DIR/, --threads, and --kcore */
	bool kcore;	       /* the directory has a copy of the kernel's code */
	unsigned int flush_ms; /* 0: RECORD_FLUSH_MS */
	unsigned int aio;      /* --aio: writes in flight of each thread; 0: synchronous */
	int compression_level; /* -z, 1 to COMPRESS_LEVEL_MAX; 0: records are not compressed */
	/* --max-size: the recording ends at so many bytes of data; 0: never. */
	uint64_t max_size;
	bool timestamp_filename;
	struct symbols_opts symbols;
	struct rotation_opts rotation;
	struct memory_opts memory;
	int argc; /* the command line, for the file's header */
	const char *const *argv;
};

struct trigger_opts {
	struct trigger_specs snapshots; /* --trigger: each asks for a snapshot */
	struct event_list rotations;	/* --switch-output-event: each rotates the output */
};

struct control_opts {
	const char *spec; /* --control, in the syntax of control_spec_parse(); NULL: not given */
	bool no_socket;	  /* --no-control-socket */
	/* Prints the fields of an attribute for the command `evlist -v`; NULL: print names only. */
	void (*attr_text)(FILE *out, const struct pd_attr *attr);
};

struct record_opts {
	struct plan_opts plan;
	struct reader_opts readers;
	struct output_opts output;
	struct trigger_opts triggers;
	struct control_opts control;
	double max_cpu; /* --max-cpu: share of one CPU that recording may use; 0: any */
};

#define RECORD_STACK_SIZE     8192u  /* perf's default for dwarf */
#define RECORD_STACK_SIZE_MAX 65528u /* the largest multiple of 8 below the kernel's limit */
#define RECORD_FREQUENCY      4000u  /* Hz, as perf */
#define RECORD_RING_SIZE      (8ull << 20)
#define RECORD_FLUSH_MS	      1000u
/* An AUX area, if as much as the user likes may be locked; and otherwise. Both as perf's. */
#define RECORD_AUX_SIZE	     (4ull << 20)
#define RECORD_AUX_SIZE_USER (128ull << 10)
/* Trace in a sample, bytes; a sample has at most 64 KB. Both as perf's. */
#define RECORD_AUX_SAMPLE     4096u
#define RECORD_AUX_SAMPLE_MAX (60u << 10)
/* For reader threads: SCHED_FIFO, or this nice value if that is not allowed. */
#define RECORD_REALTIME	   1
#define RECORD_NICE_READER (-20)
#define RECORD_NICE	   (-15) /* for all other threads, while recording */
/* Names may take a share of the output, at least and at most so many bytes. */
#define RECORD_SYMBOLS_SHARE 33u
#define RECORD_SYMBOLS_LEAST (256u << 10)
#define RECORD_SYMBOLS_MOST  (64u << 20)
#define RECORD_LINES_LEAST   (16u << 20)
/* How long the end of an output may wait for names; and for names and lines. */
#define RECORD_NAMES_MS 5000u
#define RECORD_LINES_MS 30000u
#define RECORD_AIO	4u /* 2 to 8 lose alike; with 1 the disk waits for the recorder */

#endif
