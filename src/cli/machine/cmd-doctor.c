// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input/input.h"
#include "cli/machine/cmd-doctor-trial.h"
#include "cli/machine/commands.h"
#include "perfdata/abi.h"
#include "record/session/workload.h"
#include "render/json.h"
#include "render/text.h"
#include "sys/doctor/doctor.h"
#include "sys/kernel/perf_event.h"

struct doctor_args {
	bool json, quiet;
	char **command; /* ends with NULL; NULL: the machine is examined */
};

enum { OPT_JSON = 0x7000 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Write all of it as JSON", 0},
	{"quiet", 'q', NULL, 0, "Print only what limits recording", 0},
	{0},
};

/*
 * Returns the command of 'record -e cycles -- COMMAND', which perf's users type: doctor makes a
 * recording of its own. A program of theirs with the name record is run as it is.
 */
static char **take_command(const struct argp_state *state, char **words)
{
	struct error err = ERROR_INIT;
	char **command = words + 1;

	if (strcmp(words[0], "record") != 0 || !workload_find(words[0], &err))
		return words;
	for (char **w = command; *w; w++)
		if (!strcmp(*w, "--")) {
			command = w + 1;
			break;
		}
	if (!*command || **command == '-')
		usage_error(state,
			    "doctor makes a recording of its own, without options of record: "
			    "'ringtail doctor -- COMMAND'");
	if (command > words + 1)
		complain("doctor makes a recording of its own, and leaves out the options of "
			 "record");
	return command;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_args *a = state->input;

	switch (key) {
	case OPT_JSON: a->json = true; break;
	case 'q': a->quiet = true; break;
	case ARGP_KEY_ARGS: a->command = take_command(state, state->argv + state->next); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Opens the least event that there is. Returns 0 or a negative errno. */
static int try_event(void)
{
	struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE,
			       .size = PD_ATTR_SIZE_VER0,
			       .config = PERF_COUNT_SW_CPU_CLOCK,
			       .flags = PD_ATTR_DISABLED | PD_ATTR_EXCLUDE_KERNEL |
					PD_ATTR_EXCLUDE_HV};
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void put_line(const struct doctor_line *l)
{
	/* Names of files are in it, of which the recorded command has chosen some. */
	printf("%-20s %-10s ", l->about, doctor_state_word(l->state));
	text_put(stdout, l->found, 0);
	if (*l->cost) {
		printf("\n%-31s costs: ", "");
		text_put(stdout, l->cost, 0);
	}
	if (*l->mend) {
		printf("\n%-31s mend:  ", "");
		text_put(stdout, l->mend, 0);
	}
	fputc('\n', stdout);
}

static json_t *line_json(const struct doctor_line *l)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "about", l->about, "state",
			 doctor_state_word(l->state), "found", json_name(l->found), "cost",
			 json_name(l->cost), "mend", json_name(l->mend));
}

static int write_json(const struct doctor_report *r)
{
	json_t *doc = json_object(), *lines = json_array();
	int rc = json_object_set_new(doc, "recording_possible",
				     json_boolean(!doctor_impossible(r))) ||
		 json_object_set_new(doc, "checks", lines);

	for (size_t i = 0; !rc && i < r->nr; i++)
		rc = json_array_append_new(lines, line_json(&r->line[i]));
	if (rc) {
		json_decref(doc);
		doc = NULL;
	}
	return json_write(stdout, doc);
}

static void examine(struct doctor_report *ret)
{
	struct doctor_facts facts = {.root = "", .debuginfod_urls = getenv("DEBUGINFOD_URLS")};
	char program[PATH_MAX] = "ringtail";
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len > 0)
		program[len] = '\0';
	facts.program = program;
	facts.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	facts.opened = try_event();
	doctor_examine(&facts, ret);
}

int cmd_doctor(int argc, char **argv, int (*record)(int argc, char **argv))
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[COMMAND...]",
		.doc = "Show what this machine allows to record, what limits it, and how to mend "
		       "it. With COMMAND: run it for a second, and show how well it can be "
		       "profiled.",
		.children = children,
	};
	struct doctor_args a = {0};
	struct doctor_report report;
	int rc = 0;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a))
		exit(EXIT_USAGE);
	examine(&report);
	if (doctor_impossible(&report))
		rc = -EPERM;
	if (!rc && a.command) {
		rc = doctor_try(record, a.command, &report);
		if (rc)
			return input_end(NULL, NULL, rc);
	}
	if (a.json)
		rc = write_json(&report) ?: rc;
	for (size_t i = 0; !a.json && i < report.nr; i++)
		if (!a.quiet || report.line[i].state != DOCTOR_FINE)
			put_line(&report.line[i]);
	return input_end(NULL, NULL, rc);
}
