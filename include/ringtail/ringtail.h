/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libringtail: reads recordings of Linux perf events (perf.data), and makes them.
 *
 *   ringtail_recording   an opened recording; ringtail_walk walks its records
 *   ringtail_session     a recording in the making
 *
 * Compatibility. Objects are opaque. The library allocates the structs that it hands out, and new
 * fields are appended to them. The caller allocates structs whose first field is `size`: it sets
 * that to sizeof(struct) and all fields that it does not use to zero, which selects the default. A
 * smaller struct of an older header and a larger one of a newer header are both accepted; -E2BIG
 * means that a field unknown to this library is not zero.
 *
 * Errors. Functions that can fail return 0 (or 1, where they say so) or a negative errno: -EBADMSG
 * for bad data, -ENODATA for data that was cut short. They describe the failure in a struct
 * ringtail_error, which may be NULL. Out-parameters (ret) stay untouched on failure. Damage inside
 * a recording is no error: it becomes a finding, and the walk goes on with the next readable
 * record.
 *
 * Ownership. Each object is released by its _close() or _free(), which accepts NULL. Strings and
 * structs that the library returns belong to it. The library copies what paths and options point
 * to.
 *
 * Threads. Any number of threads may use one recording at a time; one thread at a time may use a
 * walk or a session.
 *
 * Units. Times are nanoseconds of the clock of the recording; sizes and offsets are bytes.
 *
 * Effects. The library prints nothing, does not exit, and changes neither signal dispositions, the
 * caller's signal mask, the environment, the locale nor the priority of the process.
 */
#ifndef RINGTAIL_RINGTAIL_H
#define RINGTAIL_RINGTAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RINGTAIL_API __attribute__((visibility("default")))

struct perf_event_header; /* <linux/perf_event.h> */

/* --- errors --- */

/* The caller's; needs no release. Its layout is fixed. */
struct ringtail_error {
	int code;	/* negative errno; 0: no error */
	char text[508]; /* sentences without a newline; of bad data with file and offset */
};

/* "0.1.0"; of the library that runs, not of this header. */
RINGTAIL_API const char *ringtail_version(void);

/* --- recordings --- */

struct ringtail_recording;

struct ringtail_open_opts {
	size_t size;	      /* sizeof(struct ringtail_open_opts) */
	const char *symfs;    /* look for files with symbols below this directory; NULL: / */
	const char *kallsyms; /* kallsyms of the recorded kernel; NULL: it is searched for */
	const char *vmlinux;  /* vmlinux of the recorded kernel; NULL: it is searched for */
	uint64_t snapshot;    /* only samples of this snapshot, from 1; 0: all samples */
	bool foreign;	      /* also read a file that belongs to neither this user nor root */
	bool mangled;	      /* C++ and Rust names as the linker has them */
};

/*
 * Opens the recording @path: a file, a directory, or the stream of a pipe ("-": standard input).
 * @opts may be NULL. Returns 0 with *@ret for ringtail_recording_close(); -EBADMSG or -ENODATA when
 * @path is no perf.data or its header is damaged; -EPERM for a file of another user; or another
 * negative errno of the system.
 */
RINGTAIL_API int ringtail_recording_open(const char *path, const struct ringtail_open_opts *opts,
					 struct ringtail_recording **ret,
					 struct ringtail_error *err);

/* All walks of @r must have been freed. */
RINGTAIL_API void ringtail_recording_close(struct ringtail_recording *r);

/* What recorded, and where; NULL where the recording does not say. They live as long as @r. */
RINGTAIL_API const char *ringtail_recording_hostname(const struct ringtail_recording *r);
RINGTAIL_API const char *ringtail_recording_osrelease(const struct ringtail_recording *r);
RINGTAIL_API const char *ringtail_recording_arch(const struct ringtail_recording *r);

/* The number of recorded events, and the name of event @index (0 to the number less 1), or NULL. */
RINGTAIL_API size_t ringtail_recording_events(const struct ringtail_recording *r);
RINGTAIL_API const char *ringtail_recording_event(const struct ringtail_recording *r, size_t index);

/* Something odd or damaged in a recording. */
struct ringtail_finding {
	bool damaged;	  /* something could not be read; false: unusual, but nothing is missing */
	uint64_t count;	  /* how often the same was met, in all passes over the recording */
	const char *path; /* of the file, */
	uint64_t offset;  /* and the first place in it */
	const char *text;
};

/*
 * The number of findings of all walks so far, and finding @index, or NULL. Both are valid until the
 * next call with @r, of any thread. No walk of @r may be open. Each walk reads the recording, and
 * the first one with symbols reads it once more: counts are sums over all of these.
 */
RINGTAIL_API size_t ringtail_recording_findings(struct ringtail_recording *r);
RINGTAIL_API const struct ringtail_finding *ringtail_recording_finding(struct ringtail_recording *r,
								       size_t index);

/* --- walks --- */

struct ringtail_walk;

enum ringtail_order {
	RINGTAIL_TIME_ORDER, /* records without a time come where file order has them */
	RINGTAIL_FILE_ORDER, /* as they are stored; of a directory one file after the other */
};

struct ringtail_walk_opts {
	size_t size; /* sizeof(struct ringtail_walk_opts) */
	enum ringtail_order order;
	bool samples;	  /* only samples; else all records */
	bool compressed;  /* in file order: compressed records, too, before their contents */
	bool no_symbols;  /* ringtail_walk_comm() and _frames() are not used: saves a pass */
	size_t memory;	  /* for sorting; 0: 32 MB. More is sorted on disk */
	size_t max_stack; /* callers of a sample at most; 0: 127 */
};

/* A sample. Values that its event does not record are 0, and ids (uint32_t)-1. */
struct ringtail_sample {
	size_t event; /* index, for ringtail_recording_event() */
	uint64_t time;
	uint64_t ip;
	uint64_t addr;
	uint64_t period; /* of an event with a fixed period that period */
	uint32_t pid, tid, cpu;
	uint8_t cpumode; /* PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_USER, ... */
	const void *raw; /* PERF_SAMPLE_RAW; of a tracepoint its fields */
	size_t raw_size;
};

/* A record, of native byte order and decompressed. */
struct ringtail_record {
	const struct perf_event_header *header; /* header->size bytes, aligned to 8 */
	const char *type;			/* "MMAP2"; NULL: not known */
	uint64_t time;				/* 0: it has none */
	const char *path;			/* of the file that it is in, */
	uint64_t offset;		      /* and where: of a compressed record that around it */
	const struct ringtail_sample *sample; /* NULL: no sample, or a damaged one (a finding) */
};

/* Where an address of a sample lies. */
struct ringtail_frame {
	uint64_t ip;	    /* as sampled */
	uint64_t addr;	    /* in the dso, as its symbols are numbered; ip without a dso */
	const char *dso;    /* path of the mapped file, "[kernel.kallsyms]", ...; NULL: not known */
	const char *symbol; /* NULL: not known */
	uint64_t symbol_addr; /* where the symbol begins, as addr counts */
	uint8_t cpumode;      /* as in struct ringtail_sample */
};

/*
 * Begins a walk over the records of @r; @opts may be NULL. Unless opts->no_symbols is set, the
 * first walk reads the recording once before it returns. Returns 0 with *@ret for
 * ringtail_walk_free(); -ENOENT if there is no such snapshot as asked for; -ENOMEM; or a negative
 * errno of the system.
 */
RINGTAIL_API int ringtail_walk_new(struct ringtail_recording *r,
				   const struct ringtail_walk_opts *opts,
				   struct ringtail_walk **ret, struct ringtail_error *err);
RINGTAIL_API void ringtail_walk_free(struct ringtail_walk *w);

/*
 * Steps to the next record. Returns 1 with *@ret, which is valid until the next call with @w; 0 at
 * the end; or a negative errno (of memory, of reading, or of the temporary file).
 */
RINGTAIL_API int ringtail_walk_next(struct ringtail_walk *w, const struct ringtail_record **ret,
				    struct ringtail_error *err);

/*
 * The name of the thread that the current sample is of; NULL: not known, or there is no current
 * sample, or the walk has no symbols. It lives as long as the recording.
 */
RINGTAIL_API const char *ringtail_walk_comm(struct ringtail_walk *w);

/*
 * The frames of the current sample, the sampled address or innermost frame first, its callers
 * behind it. Strings live as long as the recording, the array until the next call with @w. Returns
 * the number of frames with the first in *@ret; -EINVAL without a current sample or when the walk
 * has no symbols; -ENOMEM.
 */
RINGTAIL_API int ringtail_walk_frames(struct ringtail_walk *w, const struct ringtail_frame **ret,
				      struct ringtail_error *err);

/* --- sessions --- */

struct ringtail_session;

enum ringtail_callgraph {
	RINGTAIL_CALLGRAPH_NONE,
	RINGTAIL_CALLGRAPH_FP,	  /* call chains by frame pointers */
	RINGTAIL_CALLGRAPH_DWARF, /* copies of user stacks */
};

enum ringtail_message {
	RINGTAIL_WARNING, /* something differs from what was asked for */
	RINGTAIL_INFO,	  /* something that was left open was chosen */
	RINGTAIL_DETAIL,
};

struct ringtail_session_opts {
	size_t size;	    /* sizeof(struct ringtail_session_opts) */
	const char *output; /* path; NULL: perf.data. A path that ends in / is a directory */
	const char *events; /* as in ringtail-events(5); NULL: cycles, or cpu-clock without a PMU */
	bool all_cpus;	    /* all tasks of the machine; else */
	const int *pids;    /* these processes, with all threads that they have and start; */
	size_t nr_pids;	    /* 0: this process */
	uint64_t frequency; /* samples a second; 0: 4000, unless there is */
	uint64_t period;    /* a sample every so many events; 0: frequency */
	enum ringtail_callgraph callgraph;
	uint64_t memory;       /* keep so many bytes of samples for snapshots; 0: write all */
	int compression_level; /* of zstd, 1 to 22; 0: records are not compressed */
	/* Called on a thread of the library with a sentence about the recording; NULL: nobody is.
	 */
	void (*message)(enum ringtail_message level, const char *text, void *arg);
	void *message_arg;
};

/*
 * Opens events and output, starts the threads that record, and returns when events are enabled.
 * @opts may be NULL. Threads of the library block all signals but those of their own faults, and
 * are not recorded with this process; of its own threads those that exist now are, and the threads
 * that these start. Returns 0 with *@ret for ringtail_session_free(); -EINVAL for options that
 * contradict each other; -ENOENT for an event that does not exist; -EACCES or -EPERM where the
 * kernel refuses; -EMFILE when RLIMIT_NOFILE allows too few descriptors; -ESRCH for a process that
 * does not exist; or another negative errno of the system.
 */
RINGTAIL_API int ringtail_session_start(const struct ringtail_session_opts *opts,
					struct ringtail_session **ret, struct ringtail_error *err);

/*
 * Writes what memory holds (opts->memory) to the output and returns when it is readable there.
 * @reason (NULL: none) is stored with it: up to 159 bytes without "--". Returns 0; -EINVAL for a
 * bad reason, or a session without memory; -ESHUTDOWN when the recording has ended; -EIO when the
 * snapshot was not written.
 */
RINGTAIL_API int ringtail_session_snapshot(struct ringtail_session *s, const char *reason,
					   struct ringtail_error *err);

/*
 * Ends the recording and completes the output. Returns 0, also when it has ended before by itself
 * (no recorded process is left); or the negative errno that it has failed by: the output then is
 * readable up to its last flush, if recording had begun. A second call returns the same.
 */
RINGTAIL_API int ringtail_session_stop(struct ringtail_session *s, struct ringtail_error *err);

struct ringtail_session_result {
	uint64_t samples;   /* in the output, each counted once */
	uint64_t lost;	    /* samples that were lost */
	uint64_t bytes;	    /* of the output */
	uint64_t snapshots; /* that were written */
	double seconds;	    /* from the start to the end */
};

/* What was recorded; NULL before ringtail_session_stop(). It lives as long as @s. */
RINGTAIL_API const struct ringtail_session_result *
ringtail_session_result(const struct ringtail_session *s);

/* Ends a session that was not stopped, too. */
RINGTAIL_API void ringtail_session_free(struct ringtail_session *s);

#ifdef __cplusplus
}
#endif

#endif
