// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/record-options.h"
#include "record/session.h"

/* Lines about losses at most; the rest is summed up. */
#define LOSS_LINES 16

/* "12345678" as "12,345,678"; @out has room for 27 bytes. */
static const char *grouped(uint64_t n, char *out)
{
	char plain[21];
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);
	char *p = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = plain[i];
	}
	*p = '\0';
	return out;
}

static const char *human_size(uint64_t bytes, char out[16])
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(out, 16, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return out;
}

static void say(enum note_level level, const char *text, void *arg)
{
	const struct record_command *cmd = arg;

	if (level == NOTE_DETAIL ? cmd->verbose : level == NOTE_WARNING || !cmd->quiet)
		complain("%s", text);
}

static int more_lost(const void *a, const void *b)
{
	const struct loss_entry *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Which CPU and event lost how much and why, the most first. */
static void print_losses(const struct session *s, const struct loss *loss)
{
	struct loss_entry *sorted = calloc(loss->nr ? loss->nr : 1, sizeof(*sorted));
	uint64_t ring = session_ring_size(s);
	char text[32];

	if (!sorted)
		return;
	memcpy(sorted, loss->entries, loss->nr * sizeof(*sorted));
	qsort(sorted, loss->nr, sizeof(*sorted), more_lost);
	for (size_t i = 0; i < loss->nr && i < LOSS_LINES; i++) {
		const struct loss_entry *e = &sorted[i];

		bool known = e->event != LOSS_NO_EVENT;
		char cpu[32] = "";

		if (e->cpu >= 0)
			snprintf(cpu, sizeof(cpu), " on CPU %d", e->cpu);
		complain("lost %s%s%s%s: %s", grouped(e->count, text), known ? " of " : "",
			 known ? session_event_name(s, e->event) : "", cpu,
			 loss_cause_text(e->cause));
	}
	if (loss->nr > LOSS_LINES)
		complain("and %zu more such line%s", loss->nr - LOSS_LINES,
			 plural_s(loss->nr - LOSS_LINES));
	/* Below the default, the default is the first thing to try. */
	if (ring < RECORD_RING_SIZE)
		ring = RECORD_RING_SIZE / 2;
	complain("larger rings lose less: -m %lluM; or fewer samples: -F, -c, --filter",
		 (unsigned long long)ring * 2 >> 20);
	free(sorted);
}

static const char *output_name(const struct session_result *r)
{
	return strcmp(r->path, "-") ? r->path : "standard output";
}

static void print_result(struct session *s, const struct record_command *cmd,
			 const struct session_result *r)
{
	char samples[32], lost[32], size[16];

	if (r->loss->total)
		print_losses(s, r->loss);
	if (!cmd->quiet || r->loss->total)
		complain("%s: %s sample%s, %s lost, %s, %.2f s", output_name(r),
			 grouped(r->samples, samples), plural_s(r->samples),
			 grouped(r->loss->total, lost), human_size(r->bytes, size), r->seconds);
}

/* Of a recording that ended with an error: what there is of it. */
static void print_saved(const struct session_result *r)
{
	char samples[32], unsaved[32];

	if (!r->samples && !r->unsaved)
		return;
	complain("%s: %s sample%s readable, %s taken and not written; all later ones "
		 "are lost",
		 output_name(r), grouped(r->samples, samples), plural_s(r->samples),
		 grouped(r->unsaved, unsaved));
}

/* What was chosen for the user, or differs from what was asked. */
static void say_choices(struct record_command *cmd)
{
	char size[16];

	if (cmd->quiet)
		return;
	if (cmd->ring_asked)
		complain("-m %s is rounded up to %s, a power of two of pages", cmd->ring_asked,
			 human_size(cmd->opts.ring_size, size));
	if (cmd->whole_by_default)
		complain("recording the whole system; Ctrl-C ends it");
}

/* Of perf's old options, -g took what --call-graph takes now. */
static void say_call_graph(const struct record_opts *opts)
{
	static const char *const kinds[] = {"fp", "dwarf", "lbr"};
	const char *word = opts->command ? opts->command[0] : "";
	size_t len = strcspn(word, ",");

	for (size_t i = 0; opts->callgraph && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == len && !strncmp(word, kinds[i], len))
			complain("-g takes no argument: did you mean --call-graph %s?",
				 strcmp(kinds[i], "lbr") ? word : "dwarf");
}

static int run(struct record_command *cmd)
{
	const struct notes notes = {.say = say, .arg = cmd};
	struct session_result result;
	struct error err = ERROR_INIT;
	struct session *s;
	int status = EXIT_FINE;

	say_choices(cmd);
	if (session_new(&cmd->opts, &notes, &s, &err)) {
		complain("%s", err.text);
		return EXIT_ERROR;
	}
	if (session_record(s, &err)) {
		complain("%s", err.text);
		if (err.code == -ENOENT)
			say_call_graph(&cmd->opts);
		status = EXIT_ERROR;
	}
	session_result(s, &result);
	if (result.misused)
		status = EXIT_USAGE;
	if (status != EXIT_FINE)
		print_saved(&result);
	if (status == EXIT_FINE) {
		print_result(s, cmd, &result);
		if (cmd->propagate_status)
			status = result.command_status;
		if (cmd->fail_on_loss && result.loss->total)
			status = EXIT_LOSS;
	}
	session_free(s);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record_command cmd;
	int status;

	record_options_parse(argc, argv, &cmd);
	status = run(&cmd);
	record_options_release(&cmd);
	return status;
}
