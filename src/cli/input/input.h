/* SPDX-License-Identifier: Apache-2.0 */
/* Input options, progress, warnings and exit status of report, script, dump and aux. */
#ifndef RINGTAIL_CLI_INPUT_INPUT_H
#define RINGTAIL_CLI_INPUT_INPUT_H

#include <argp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>

#include "auxtrace/itrace/options.h"
#include "report/trace/filter.h"
#include "report/switches/switches.h"
#include "report/trace/trace.h"

enum exit_status {
	EXIT_FINE = 0,
	EXIT_ERROR = 1, /* a failure, or unreadable data */
	EXIT_USAGE = 2,
	EXIT_LOSS = 3, /* --fail-on-loss */
};

struct progress {
	pthread_mutex_t lock; /* guards the rest in pass 2, when all threads report progress */
	bool enabled, shown;
	uint64_t start_ns, last_ns;
};

struct input {
	struct trace_opts trace;
	struct itrace_opts itrace; /* @trace.itrace leads here, if hardware trace is decoded */
	struct itrace_opts itrace_default;
	struct filter filter;
	struct progress progress;
	bool verbose, quiet;
	struct switch_opts switches; /* --switch-on, --switch-off */
	const char *wall_time;	     /* --time in times of day; NULL: not given */
	bool time_guessed;	     /* @wall_time is by the age of the file */
	const char *socket;	     /* --socket-filter; NULL: any */
	bool no_inline;		     /* of report and script */
	bool several;		     /* the command reads more than one recording */
	bool is_chosen;		     /* @filter has what these options mean in one recording */
	const char *command;	     /* as messages about its usage name it */
	bool misused;		     /* input_end() returns EXIT_USAGE */
};

/* The groups of options in --help, in their order. samples_argp has their headings. */
enum help_group {
	HELP_MOST_USED = 1,
	HELP_OUTPUT,
	HELP_SAMPLES,
	HELP_SYMBOLS,
	HELP_INPUT,
};

/* Argp children; their input is a struct input. */
extern const struct argp input_argp;   /* the input, and -q */
extern const struct argp samples_argp; /* selection of samples, symbols, and -v */
/* As samples_argp, for a command with letters of its own for --comms and --cpu. */
extern const struct argp samples_lettered_argp;

/*
 * An argp child of every command, without input: adds -h, which argp lacks. It also turns off
 * argp's own messages, so argp_parse() of a command returns EINVAL for an option that getopt
 * refused.
 */
extern const struct argp help_argp;

/*
 * The option that completes the words behind it (cli/complete) and ends the program; every command
 * has it, hidden, with a name that shortens no other one.
 */
#define COMPLETE_OPTION "__complete"

/*
 * A row of options for an option of perf that ringtail lacks; @why names the replacement. The help
 * does not show it. It accepts a joined argument.
 */
#define REFUSED(name, key, why)                                            \
	{                                                                  \
		name, key, "", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, why, 0 \
	}

/*
 * The last call of a parser: if @key is a REFUSED() row of @options, which ends with zeros, exits
 * with a usage error; otherwise returns ARGP_ERR_UNKNOWN.
 */
error_t refuse_option(const struct argp_option *options, int key, struct argp_state *state);

/*
 * Decodes hardware trace to @opts if the user does not say otherwise, and where --itrace has no
 * letters.
 */
void input_itrace_default(struct input *in, const struct itrace_opts *opts);
/* Returns @arg of @option, a percentage. Exits if it is none. */
double input_percent(const struct argp_state *state, const char *option, const char *arg);
/* Asks for the samples of hardware trace that the letters of --itrace name. Exits if they are
 * wrong. */
void input_itrace(struct argp_state *state, struct input *in, const char *letters);

/* Takes the argument of --cpu. Exits if it is wrong. */
void input_cpus(struct argp_state *state, struct input *in, const char *list);

/* Sets the defaults. */
void input_init(struct input *in);
/* Frees what the parsers of options have allocated. */
void input_release(struct input *in);

/* Whether the program was started by the name perf: pipes are then read and written as perf does.
 */
bool input_as_perf(void);

/* Opens the recording, or prints the error. Returns 0 or -errno. */
int input_open(struct input *in, struct trace **ret);

/* Runs pass 1 with a progress bar, or prints the error. Returns 0 or -errno. */
int input_prepare(struct input *in, struct trace *t);

/*
 * Completes the filters by what pass 1 has found: times of day and parts, sockets, events that
 * switch. Prints nothing; any thread. Returns 0, or a negative errno with @err filled.
 */
int input_choose(struct input *in, struct trace *t, struct error *err);

/* Says if times of day were guessed. */
void input_explain_time(const struct input *in, const struct trace *t);

/* Clears the progress bar; call it before other output. */
void input_progress_end(struct input *in);

/* As input_progress_end(); the pager starts where the command has one. Call it before output. */
void input_output(struct input *in);

/* Returns the time at which the recording was completed; of a directory, that of its first file. */
time_t input_captured(const char *path);

/* With -v: prints why a shared object has no symbols, or few. */
void input_explain_symbols(const struct input *in, const struct trace *t);

/* Prints why copies of user stacks cannot be unwound, if so. */
void input_explain_stacks(const struct input *in, const struct trace *t);

/*
 * If the recording was made with -M: prints that it took no snapshot into this file, and where
 * others are. Returns whether it was.
 */
bool input_explain_no_snapshot(const struct trace *t);

/* If no sample was shown: prints that the filters passed none, or that no snapshot exists (-M). */
void input_explain_nothing(const struct input *in, const struct trace *t);

/*
 * Ends a command on @t (NULL: there is none, and @in may be NULL): flushes, prints findings and
 * losses, and why it could not write the output. Ends the program by SIGPIPE if nobody reads the
 * output any more. Returns the exit status for @rc (0 or -errno, already reported) and for damage.
 */
int input_end(const struct input *in, const struct trace *t, int rc);

/*
 * Prints one line, "ringtail COMMAND: TEXT", and exits with 2. TEXT contains the right usage; there
 * is no second line as from argp_error().
 */
void usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/*
 * Prints @err, which settling options by the recording has returned with @code. With -EINVAL, they
 * were wrong for every recording: prints it as usage_error() does, and input_end() returns
 * EXIT_USAGE.
 */
void input_refuse(struct input *in, int code, const struct error *err);

/* Prints "ringtail: TEXT" on standard error. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As complain(), with a priority (LOG_ERR, …; complain() has LOG_INFO) if it goes to a journal. */
void complain_at(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vcomplain_at(int priority, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
