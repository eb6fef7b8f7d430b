// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/commands.h"
#include "cli/input/input.h"
#include "record/initial/buildid.h"
#include "render/text.h"
#include "report/trace/dso_hits.h"

#define ID_COLUMNS 40 /* of a SHA-1, the usual length */

struct buildid_list_args {
	struct input input;
	bool with_hits, kernel;
};

static const struct argp_option options[] = {
	{"with-hits", 'H', NULL, 0, "Show only files in which samples fell", 0},
	{"kernel", 'k', NULL, 0, "Show the build-id of the running kernel", 0},
	REFUSED("kernel-maps", 'm',
		"'-k' shows the kernel's; eu-unstrip -k lists those of its modules"),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct buildid_list_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 'H': a->with_hits = true; break;
	case 'k': a->kernel = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "name only one recording");
		a->input.trace.path = arg;
		break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

/* --- one build-id --------------------------------------------------------------------------------
 */

static void write_hex(const uint8_t *id, size_t size, char ret[2 * PD_BUILD_ID_MAX + 1])
{
	ret[0] = '\0';
	for (size_t i = 0; i < size; i++)
		sprintf(ret + 2 * i, "%02x", id[i]);
}

static int show_one(const char *whose, const struct build_id *id)
{
	char hex[2 * PD_BUILD_ID_MAX + 1];

	if (!id->size) {
		complain("%s has no build-id", whose);
		return -ENOENT;
	}
	write_hex(id->id, id->size, hex);
	puts(hex);
	return 0;
}

static int show_kernel(void)
{
	struct build_id id;

	build_id_of_kernel(&id);
	return show_one("the running kernel, in /sys/kernel/notes,", &id);
}

/* Returns whether @path is an ELF file, which stands open in *@ret then. */
static bool open_elf(const char *path, int *ret)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char magic[SELFMAG];

	if (fd >= 0 && pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG)) {
		*ret = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

static int show_elf(const char *path, int fd)
{
	struct build_id id;

	build_id_of_fd(fd, &id);
	return show_one(path, &id);
}

/* --- those of a recording ------------------------------------------------------------------------
 */

static void show_line(const uint8_t *id, size_t size, const char *name)
{
	char hex[2 * PD_BUILD_ID_MAX + 1];

	write_hex(id, size, hex);
	printf("%-*s ", ID_COLUMNS, hex);
	text_put(stdout, name, 0);
	putchar('\n');
}

static int show_entry(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	(void)misc;
	(void)arg;
	show_line(id->build_id, id->size, id->filename);
	return 0;
}

/* A table that perf wrote when it ended the recording: of the files with samples, or of all. */
static int show_table(const struct trace *t, const uint8_t *p, size_t len)
{
	int rc = pd_feature_build_ids_decode(p, len, data_swapped(t->df), show_entry, NULL);

	if (rc)
		complain("%s: the table of build-ids in its header is damaged", t->opts.path);
	return rc;
}

struct shown {
	const struct trace *trace;
	bool *wanted; /* by index of dso; cleared when it is shown */
};

static void show_dso(const struct shown *s, size_t i)
{
	const struct dso *dso = state_dso_at(s->trace->state, i);

	show_line(dso->build_id, dso->build_id_size,
		  dso->kind == DSO_ANON ? dso->line_name : dso->name);
	s->wanted[i] = false;
}

static int show_named(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	const struct shown *s = arg;

	(void)misc;
	for (size_t i = 0; i < state_dso_count(s->trace->state); i++)
		if (s->wanted[i] && !strcmp(state_dso_at(s->trace->state, i)->name, id->filename))
			show_dso(s, i);
	return 0;
}

/* Shows those of the header's table first, in its order, as perf does. */
static void show_dsos(const struct trace *t, bool *wanted)
{
	struct shown s = {t, wanted};
	const uint8_t *table;
	size_t len;

	if (!data_feature(t->df, HEADER_BUILD_ID, &table, &len))
		pd_feature_build_ids_decode(table, len, data_swapped(t->df), show_named, &s);
	for (size_t i = 0; i < state_dso_count(t->state); i++)
		if (wanted[i])
			show_dso(&s, i);
}

static int show_recording(struct buildid_list_args *a, struct trace *t)
{
	struct error err = ERROR_INIT;
	const uint8_t *section;
	bool *wanted = NULL;
	size_t len;
	int rc = 0;

	if (!a->with_hits && !data_feature(t->df, HEADER_BUILD_ID, &section, &len))
		return show_table(t, section, len);
	rc = input_prepare(&a->input, t);
	if (!rc)
		rc = dso_hits(t, false, &wanted, &err);
	input_progress_end(&a->input);
	if (wanted)
		show_dsos(t, wanted);
	else if (*err.text)
		complain("%s", err.text);
	free(wanted);
	return rc;
}

int cmd_buildid_list(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Show the build-ids of the files in a recording, of a program or of the "
		       "kernel.",
		.children = children,
	};
	struct buildid_list_args a = {0};
	struct trace *t = NULL;
	int rc, status, fd;

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	if (a.kernel) {
		rc = show_kernel();
	} else if (open_elf(a.input.trace.path, &fd)) {
		rc = show_elf(a.input.trace.path, fd);
		close(fd);
	} else {
		rc = input_open(&a.input, &t);
		if (!rc)
			rc = show_recording(&a, t);
	}
	status = input_end(&a.input, t, rc);
	trace_close(t);
	input_release(&a.input);
	return status;
}
