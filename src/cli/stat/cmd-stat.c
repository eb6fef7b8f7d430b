// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/input/input.h"
#include "cli/stat/commands.h"
#include "cli/stat/stat-run.h"
#include "record/session/workload.h"
#include "render/counts/counts.h"

#define CLEAR_SCREEN "\033[H\033[2J"

/* Statuses of a command that cannot run, as env(1) and time(1) have them. */
enum { STATUS_NO_COMMAND = 127, STATUS_NOT_EXECUTABLE = 126 };

struct printer {
	FILE *out;
	const char *name; /* of the output, for messages */
	struct buf title; /* with a NUL */
	bool begun;
};

static int title_of_command(const char *const *command, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && command[i]; i++)
		rc = buf_printf(out, "%s%s", i ? " " : "'", command[i]);
	return rc ? rc : buf_printf(out, "'");
}

static int make_title(const struct stat_command *cmd, struct buf *out)
{
	int rc = 0;

	if (cmd->processes || cmd->threads)
		rc = buf_printf(out, "%s id '%s'", cmd->processes ? "process" : "thread",
				cmd->processes ? cmd->processes : cmd->threads);
	else if (cmd->cpus_given)
		for (size_t i = 0; !rc && i < cmd->targets.cpus.nr; i++)
			rc = buf_printf(out, "%s%d", i ? "," : "'CPU(s) ",
					cmd->targets.cpus.ids[i]);
	else if (cmd->all_cpus)
		rc = buf_printf(out, "'system wide'");
	else
		rc = title_of_command(cmd->command, out);
	if (!rc && cmd->cpus_given && !cmd->processes && !cmd->threads)
		rc = buf_append(out, "'", 1);
	return rc ? rc : buf_append(out, "", 1);
}

/* A file says when it began, as perf's do. */
static void print_start(FILE *out)
{
	char text[64];
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) && strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		fprintf(out, "# started on %s\n\n", text);
}

static int printer_init(struct printer *p, const struct stat_command *cmd, struct error *err)
{
	const struct stat_output *o = &cmd->output;
	int fd;

	*p = (struct printer){.out = stderr, .name = "standard error"};
	if (make_title(cmd, &p->title))
		return error_set(err, -ENOMEM, "out of memory");
	if (o->path) {
		p->name = o->path;
		p->out = fopen(o->path, o->append ? "ae" : "we");
	} else if (o->fd >= 0) {
		p->name = "the descriptor of --log-fd";
		fd = dup(o->fd);
		p->out = fd < 0 ? NULL : fdopen(fd, "we");
	}
	if (!p->out) {
		int rc = -errno;

		p->out = stderr;
		return error_sys(err, rc, "cannot write %s", p->name);
	}
	if (o->path && !o->json)
		print_start(p->out);
	return 0;
}

/* Returns 0, or -EIO with @err filled if a write has failed. */
static int printer_release(struct printer *p, struct error *err)
{
	bool failed = fflush(p->out) || ferror(p->out);
	int rc = failed ? error_sys(err, errno ? -errno : -EIO, "cannot write %s", p->name) : 0;

	if (p->out != stderr && fclose(p->out) && !rc)
		rc = error_sys(err, -errno, "cannot write %s", p->name);
	buf_release(&p->title);
	return rc;
}

static struct counts_view view_of(const struct stat_run *run, double time)
{
	return (struct counts_view){
		.table = &run->table,
		.repeated = run->cmd->repeat != 1,
		.interval = run->cmd->interval_ms,
		.time = time,
		.plain_numbers = run->cmd->output.plain_numbers,
	};
}

static void print_table(struct stat_run *run, double time)
{
	const struct stat_output *o = &run->cmd->output;
	struct counts_view view = view_of(run, time);
	struct printer *p = run->arg;
	const struct counts_frame frame = {
		.title = (const char *)p->title.data,
		.runs = run->runs,
		.command = stat_counts_command(run->cmd),
		.user = run->user,
		.system = run->system,
	};

	if (o->quiet)
		return;
	if (o->json) {
		if (counts_json(p->out, &view))
			complain("out of memory");
	} else if (o->separator) {
		counts_separated(p->out, &view, o->separator);
	} else {
		if (!view.interval || !p->begun || run->cmd->interval_clear)
			counts_text_begin(p->out, &view, &frame);
		counts_text(p->out, &view);
		counts_text_end(p->out, &view, &frame);
	}
	p->begun = true;
	fflush(p->out);
}

static void print_interval(struct stat_run *run, double time)
{
	struct printer *p = run->arg;

	if (run->cmd->interval_clear && !run->cmd->output.quiet && isatty(fileno(p->out)))
		fputs(CLEAR_SCREEN, p->out);
	print_table(run, time);
}

/* Runs the command so often as asked, and prints; with -r 0 after each run. */
static int run_all(struct stat_run *run, struct error *err)
{
	const struct stat_command *cmd = run->cmd;
	int rc = 0;

	while (!rc && !run->stopped && (!cmd->repeat || run->runs < cmd->repeat)) {
		rc = stat_run_once(run, err);
		if (rc || cmd->interval_ms || cmd->repeat)
			continue;
		print_table(run, 0);
	}
	if (!rc && !cmd->interval_ms && cmd->repeat)
		print_table(run, 0);
	return rc;
}

static int status_of_error(const struct stat_command *cmd, int rc)
{
	if (cmd->command && rc == -ENOENT)
		return STATUS_NO_COMMAND;
	return cmd->command && rc == -EACCES ? STATUS_NOT_EXECUTABLE : EXIT_ERROR;
}

static int count(struct stat_command *cmd)
{
	struct error err = ERROR_INIT;
	struct printer printer;
	struct stat_run run;
	int rc, status = EXIT_ERROR;

	if (cmd->command && workload_find(cmd->command[0], &err)) {
		complain("%s", err.text);
		return status_of_error(cmd, err.code);
	}
	if (printer_init(&printer, cmd, &err)) {
		complain("%s", err.text);
		buf_release(&printer.title);
		return EXIT_ERROR;
	}
	rc = stat_run_init(&run, cmd, &err);
	run.print_interval = print_interval;
	run.arg = &printer;
	if (!rc)
		rc = run_all(&run, &err);
	if (!rc)
		status = cmd->command ? run.status : EXIT_FINE;
	stat_run_release(&run);
	if (rc)
		complain("%s", err.text);
	if (printer_release(&printer, &err)) {
		complain("%s", err.text);
		status = EXIT_ERROR;
	}
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_command cmd;
	int status;

	stat_options_parse(argc, argv, &cmd);
	status = count(&cmd);
	stat_options_release(&cmd);
	return status;
}
