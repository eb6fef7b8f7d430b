/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by report, script and dump: input options, progress, warnings, exit status. */
#ifndef RINGTAIL_CLI_INPUT_H
#define RINGTAIL_CLI_INPUT_H

#include <argp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>

#include "report/trace/filter.h"
#include "report/trace/trace.h"

struct progress {
	pthread_mutex_t lock; /* guards the rest in pass 2, when any worker may tell */
	bool enabled, shown;
	uint64_t start_ns, last_ns;
};

struct input {
	struct trace_opts trace;
	struct filter filter;
	struct progress progress;
	bool verbose, quiet;
};

/* Argp children; their input is a struct input. */
extern const struct argp input_argp;   /* where to read, and -q */
extern const struct argp samples_argp; /* which samples, their symbols, and -v */

/*
 * An argp child of every command, without input: -h, which argp does not have. It also turns off
 * argp's own messages, so argp_parse() of a command returns EINVAL for what getopt refused.
 */
extern const struct argp help_argp;

/*
 * A row of options for one that perf has and we have not: @why says what does instead. It is not
 * in the help. Its argument is taken if it is joined.
 */
#define REFUSED(name, key, why)                                            \
	{                                                                  \
		name, key, "", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, why, 0 \
	}

/*
 * For a parser to end with: ends the program with a usage error if @key is a REFUSED() one of
 * @options (ends with zeros); returns ARGP_ERR_UNKNOWN if not.
 */
error_t refuse_option(const struct argp_option *options, int key, struct argp_state *state);

/* Sets the defaults. input_release() frees what parsing the options has added. */
void input_init(struct input *in);
void input_release(struct input *in);

/* Opens the recording, or prints the error. Returns 0 or -errno. */
int input_open(struct input *in, struct trace **ret);

/* Runs pass 1 with a progress bar, or prints the error. Returns 0 or -errno. */
int input_prepare(struct input *in, struct trace *t);

/* Takes the progress bar away before other output. */
void input_progress_end(struct input *in);

/* The time the recording was completed; of a directory, its first file. */
time_t input_captured(const char *path);

/* With -v: prints why a shared object has no symbols, or few. */
void input_explain_symbols(const struct input *in, const struct trace *t);

/* If copies of user stacks cannot be unwound: prints why. */
void input_explain_stacks(const struct input *in, const struct trace *t);

/* When no sample was shown: prints that the filters passed none, or that no snapshot exists (-M).
 */
void input_explain_nothing(const struct input *in, const struct trace *t);

/*
 * Ends a command on @t (NULL: there is none, and @in may be NULL): says what was odd or damaged and
 * what was lost, flushes, and says why output could not be written (silently for a closed pipe).
 * Returns the exit status for @rc (0 or -errno, already reported) and the damage.
 */
int input_end(const struct input *in, const struct trace *t, int rc);

/*
 * Ends the program with status 2 and one line, "ringtail COMMAND: TEXT". TEXT says what is right;
 * unlike argp_error() this prints no second line.
 */
void usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* "ringtail: TEXT" on standard error. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* With the priority (LOG_ERR, …; that of complain() is LOG_INFO) if it goes to a journal. */
void complain_at(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vcomplain_at(int priority, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
