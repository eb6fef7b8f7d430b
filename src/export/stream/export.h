/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports: walks a recording once, in time order, and gives each sample to the writer of a format.
 *
 * A format is a struct export_format, made by the folder of its name. One thread. What a writer
 * receives is valid during the call.
 */
#ifndef RINGTAIL_EXPORT_STREAM_EXPORT_H
#define RINGTAIL_EXPORT_STREAM_EXPORT_H

#include "export/stream/timeline.h"
#include "export/wire/out.h"
#include "report/trace/filter.h"
#include "report/trace/frame.h"
#include "report/waits/waits.h"

struct export_opts {
	struct filter filter;
	const char *event; /* only samples of the event with this name; NULL: all */
	size_t max_stack;
	bool inlined; /* call chains have inlined functions, too */
	/* Waits instead of samples, or beside them, each with a frame of its kind; NULL: samples */
	const struct waits_opts *waits;
	bool periods; /* formats with one number a stack: the period; else the number of samples */
};

/* A sample with its frames. */
struct export_sample {
	const struct walk_sample *ws;
	const char *comm;	   /* NULL: unknown */
	const struct frame *frame; /* innermost first; may be none */
	size_t nr_frames;
};

/* What a writer works with; it outlives the writer. */
struct export_job {
	struct trace *trace;
	const struct export_opts *opts;
	struct out *out;   /* its failures are noticed by export_run(), too; the first of many */
	struct error *err; /* for the text of another failure */
};

#define EXPORT_FILES 3

struct export_format {
	const char *name;
	const char *about; /* for the help: what reads it */
	bool binary;	   /* not for a terminal */
	bool one_event;	   /* its output holds samples of one event */
	bool waits;	   /* it can show waits (export_opts) */
	/* Names of files, if the output is a directory: up to EXPORT_FILES, ended by NULL. */
	const char *const *files;
	/* Begins an output. Returns 0 with *@ret for @free, or a negative errno. */
	int (*open)(const struct export_job *job, void **ret);
	/* Takes one sample. Returns 0 or a negative errno, which ends the export. */
	int (*sample)(void *writer, const struct export_sample *s);
	/*
	 * Takes what happened beside the samples, in time order with them. NULL: the format has
	 * samples alone. Returns as @sample.
	 */
	int (*event)(void *writer, const struct timeline_event *e);
	/* Writes the rest. Returns 0 or a negative errno. */
	int (*close)(void *writer);
	/* Frees the writer; accepts NULL. */
	void (*free)(void *writer);
};

/*
 * Exports @t, which is prepared, to @out, or to as many as format->files has, in an array. Returns
 * 0 with the number of samples in *@ret_samples; the rc of an output that failed; or a negative
 * errno with @err filled.
 */
int export_run(struct trace *t, const struct export_format *format, const struct export_opts *opts,
	       struct out *out, uint64_t *ret_samples, struct error *err);

#endif
