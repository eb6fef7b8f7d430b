// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <capstone/capstone.h>
#include <elfutils/version.h>
#include <fcntl.h>
#include <hwloc.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/complete/complete.h"
#include "cli/files/commands.h"
#include "cli/help/instead.h"
#include "cli/help/manual.h"
#include "cli/input/input.h"
#include "cli/machine/commands.h"
#include "cli/stat/commands.h"
#include "cli/terminal/terminal.h"
#include "version.h"

static int run_doctor(int argc, char **argv)
{
	return cmd_doctor(argc, argv, cmd_record);
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"record", cmd_record, "record events of a command, of processes or of the system"},
	{"list", cmd_list, "show the events of this machine"},
	{"doctor", run_doctor, "show what can be recorded here, or how well a command can"},
	{"ctl", cmd_ctl, "send a command to a running recording"},
	{"report", cmd_report, "show where the time went"},
	{"view", cmd_view, "walk through a recording on the terminal"},
	{"top", cmd_top, "show where the machine spends its time now"},
	{"annotate", cmd_annotate, "show the code of the hottest functions, by instruction"},
	{"diff", cmd_diff, "compare recordings: what changed, and what of it is certain"},
	{"stat", cmd_stat, "count events, without samples"},
	{"script", cmd_script, "show each sample, in time order"},
	{"export", cmd_export, "write the samples in the format of another tool"},
	{"dump", cmd_dump, "show each record of a recording"},
	{"evlist", cmd_evlist, "show the events of a recording"},
	{"snapshots", cmd_snapshots, "show the snapshots of a recording"},
	{"buildid-list", cmd_buildid_list, "show the build-ids of the files in a recording"},
	{"recover", cmd_recover, "complete a recording whose recorder was killed"},
	{"pack", cmd_pack, "make a recording carry the names of its functions"},
	{"aux", cmd_aux, "extract or show the hardware trace of a recording"},
	{"version", cmd_version, "show versions"},
};

enum {
	KEY_NO_PAGER = 0x7000,
	KEY_BUILDID_DIR,
	KEY_LIST_CMDS,
	KEY_BUILD_OPTIONS,
	KEY_REFUSED,
};

#define OUTPUT_BUFFER (64 << 10)
#define NR_COMMANDS   (sizeof(commands) / sizeof(commands[0]))

/* What perf can be built with, by the names that its scripts search for. */
// clang-format off
static const struct {
	const char *name, *macro;
	bool has;
} features[] = {
	{"aio", "HAVE_AIO_SUPPORT", true},
	{"bpf", "HAVE_LIBBPF_SUPPORT", false},
	{"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", !RINGTAIL_IS_STATIC},
	{"dwarf", "HAVE_LIBDW_SUPPORT", true},
	{"dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", true},
	{"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", true},
	{"libelf", "HAVE_LIBELF_SUPPORT", true},
	{"libpfm4", "HAVE_LIBPFM", true},
	{"libperl", "HAVE_LIBPERL_SUPPORT", false},
	{"libpython", "HAVE_LIBPYTHON_SUPPORT", false},
	{"libtraceevent", "HAVE_LIBTRACEEVENT", true},
	{"lzma", "HAVE_LZMA_SUPPORT", true},
	{"zlib", "HAVE_ZLIB_SUPPORT", true},
	{"zstd", "HAVE_ZSTD_SUPPORT", true},
};

static const struct argp_option version_options[] = {
	{"build-options", KEY_BUILD_OPTIONS, NULL, 0, "Also print what perf calls by name and ringtail has or lacks", 0},
	{0},
};
// clang-format on

static error_t parse_version(int key, char *arg, struct argp_state *state)
{
	if (key == KEY_BUILD_OPTIONS) {
		*(bool *)state->input = true;
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		usage_error(state, "'%s': 'ringtail version' takes no arguments", arg);
	return ARGP_ERR_UNKNOWN;
}

static void print_features(void)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		printf("%22s: [ %-3s ]  # %s\n", features[i].name, features[i].has ? "on" : "OFF",
		       features[i].macro);
}

/* At run time, only a topology tells the version of the library; it has another one for its API. */
static void print_hwloc(void)
{
	unsigned int api = hwloc_get_api_version();
	const char *version = NULL;
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology))
		return;
	if (!hwloc_topology_set_synthetic(topology, "pu:1") && !hwloc_topology_load(topology))
		version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "hwlocVersion");
	if (version)
		printf("  hwloc %s\n", version);
	else
		printf("  hwloc API %u.%u.%u\n", api >> 16, api >> 8 & 0xff, api & 0xff);
	hwloc_topology_destroy(topology);
}

int cmd_version(int argc, char **argv)
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = version_options,
		.doc = "Show the version of ringtail and of the libraries it uses.",
		.children = children,
		.parser = parse_version};
	static const char *const lacks[] = {RINGTAIL_LACKS};
	bool build_options = false;

	if (argp_parse(&argp, argc, argv, 0, NULL, &build_options))
		exit(EXIT_USAGE);
	printf("ringtail %s\n", RINGTAIL_VERSION);
	printf("  libzstd %s\n", ZSTD_versionString());
	printf("  libtraceevent %s\n", LIBTRACEEVENT_VERSION);
	printf("  elfutils %d.%d\n", _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000);
	printf("  capstone %d.%d\n", CS_API_MAJOR, CS_API_MINOR);
	printf("  jansson %s\n", jansson_version_str());
	print_hwloc();
	for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++)
		if (*lacks[i])
			printf("  %s\n", lacks[i]);
	if (build_options)
		print_features();
	return input_end(NULL, NULL, 0);
}

static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size = 0;
	FILE *out;

	if (key != ARGP_KEY_HELP_PRE_DOC)
		return (char *)text;
	out = open_memstream(&list, &size);
	if (!out)
		return (char *)text;
	fprintf(out, "%s\n\nCommands:\n", text);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "  %-12s %s", "help", "show the manual of ringtail, or of a command");
	fclose(out);
	return list;
}

/* As perf, for completion: the names of the commands, or of the options before one. */
static void __attribute__((noreturn)) list_commands(void)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("%s ", commands[i].name);
	puts("help");
	exit(input_end(NULL, NULL, 0));
}

struct chosen {
	const struct command *command;
	int at; /* index of its name in argv */
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void __attribute__((noreturn))
unknown_command(const struct argp_state *state, const char *name)
{
	const char *instead = instead_of(name);
	struct nearest nearest;
	char list[256] = "";
	size_t len = 0;

	if (instead)
		usage_error(state, "there is no command '%s': %s", name, instead);
	if (nearest_init(&nearest, name)) {
		for (size_t i = 0; i < NR_COMMANDS; i++)
			nearest_offer(&nearest, commands[i].name);
		nearest_offer(&nearest, "help");
		nearest_write(&nearest, list, sizeof(list));
	}
	if (*list)
		usage_error(state, "there is no command '%s'%s", name, list);
	for (size_t i = 0; i < NR_COMMANDS && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					commands[i].name);
	usage_error(state, "there is no command '%s'; there are %s, help", name, list);
}

/* "help", "help COMMAND" and "help help": the manual on a terminal, else --help. */
static void take_help(struct argp_state *state, struct chosen *c)
{
	const char *name = state->next < state->argc ? state->argv[state->next] : "help";
	char page[64];

	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		manual_open("ringtail");
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	}
	c->command = find_command(name);
	if (!c->command)
		unknown_command(state, name);
	if (c->command->run == cmd_version)
		manual_open("ringtail");
	snprintf(page, sizeof(page), "ringtail-%s", c->command->name);
	manual_open(page);
	c->at = -1;
	state->next = state->argc;
}

// clang-format off
static const struct argp_option options[] = {
	{"version", 'V', NULL, 0, "Show versions", 0},
	{"no-pager", KEY_NO_PAGER, NULL, 0, "Print long output without a pager", 0},
	{"buildid-dir", KEY_BUILDID_DIR, "FOLDER", 0, "Where perf's cache of files by build-id is, for symbols. Default: ~/.debug", 0},
	{"list-cmds", KEY_LIST_CMDS, NULL, 0, "Print the names of the commands", 0},
	{NULL, 'v', NULL, 0, "As --version", 0},
	{"paginate", 'p', NULL, 0, "Accepted: long output goes through a pager where it is on a terminal", 0},
	REFUSED("debug", KEY_REFUSED, "ringtail has no log for developers: 'ringtail COMMAND -v' tells more"),
	REFUSED("debug-file", KEY_REFUSED + 1, "ringtail has no log for developers: 'ringtail COMMAND -v 2>FILE' keeps what a command tells"),
	REFUSED("debugfs-dir", KEY_REFUSED + 2, "ringtail finds tracefs by /proc/mounts; 'ringtail doctor' says whether it can be read"),
	REFUSED("exec-path", KEY_REFUSED + 3, "ringtail is one program and runs none of its own"),
	REFUSED("html-path", KEY_REFUSED + 4, "'ringtail help [COMMAND]' shows the manual"),
	REFUSED("list-opts", KEY_REFUSED + 5, "'ringtail --help' and 'ringtail COMMAND --help' list the options; shells complete them with ringtail's own scripts"),
	{0},
};
// clang-format on

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct chosen *c = state->input;

	switch (key) {
	case 'v':
	case 'V': exit(cmd_version(1, state->argv));
	case 'p': return 0;
	case KEY_BUILDID_DIR:
		if (setenv("PERF_BUILDID_DIR", arg, 1))
			usage_error(state, "out of memory");
		return 0;
	case KEY_LIST_CMDS: list_commands();
	case KEY_NO_PAGER: terminal_forbid_pager(); return 0;
	case ARGP_KEY_ARG:
		if (!strcmp(arg, "help")) {
			take_help(state, c);
			return 0;
		}
		c->command = find_command(arg);
		if (!c->command)
			unknown_command(state, arg);
		c->at = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_state_help(state, stderr, ARGP_HELP_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG);
		exit(EXIT_USAGE);
	default: return refuse_option(options, key, state);
	}
}

/*
 * "ringtail --__complete WORD...": completes the last word. The first one names a command, which
 * gets those behind it.
 */
static int complete(int argc, char **argv)
{
	static char name[64], option[] = "--" COMPLETE_OPTION;
	char **words = argv + 2;
	const struct command *c;

	if (argc > 3) {
		c = find_command(words[0]);
		if (!c)
			return 0;
		snprintf(name, sizeof(name), "ringtail %s", c->name);
		words[-1] = name;
		words[0] = option;
		return c->run(argc - 1, words - 1);
	}
	for (size_t i = 0; argc == 3 && i < NR_COMMANDS; i++)
		complete_offer(words[0], commands[i].name, commands[i].what, stdout);
	if (argc == 3)
		complete_offer(words[0], "help", "show the manual of a command", stdout);
	return input_end(NULL, NULL, 0);
}

/*
 * A file that is opened while one of the first three descriptors is closed would get its number,
 * and text for a terminal would go into the file. So each closed one is opened in a way that makes
 * every use fail with an error. For a recorded command it is closed again.
 */
static void occupy_descriptors(void)
{
	static const int unusable[] = {O_WRONLY, O_RDONLY, O_RDONLY};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", unusable[fd] | O_CLOEXEC) != fd)
			exit(EXIT_ERROR); /* no descriptor is left to print an error to */
}

static void on_closed_pipe(int number)
{
	(void)number;
}

/*
 * A closed pipe is a write error, after which input_end() ends the program by the signal: temporary
 * files are gone by then. SIGPIPE is not ignored, since a recorded command would inherit that
 * through exec; it must end by the signal as usual.
 */
static void expect_closed_pipes(void)
{
	if (signal(SIGPIPE, on_closed_pipe) == SIG_IGN)
		signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "COMMAND [OPTION...]",
		.doc = "Records performance events of Linux, and reports them.\v"
		       "'ringtail COMMAND --help' lists the options of a command.",
		.children = children,
		.help_filter = help_filter,
	};
	static char name[64];
	char *help[] = {name, (char *)(uintptr_t) "--help", NULL};
	struct chosen c = {0};

	occupy_descriptors();
	argp_err_exit_status = EXIT_USAGE;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	expect_closed_pipes();
	if (argc > 1 && !strcmp(argv[1], "--" COMPLETE_OPTION))
		return complete(argc, argv);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c) || !c.command)
		return EXIT_USAGE;
	snprintf(name, sizeof(name), "ringtail %s", c.command->name);
	if (c.at < 0)
		return c.command->run(2, help);
	argv[c.at] = name;
	return c.command->run(argc - c.at, argv + c.at);
}
