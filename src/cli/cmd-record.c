// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "base/buf.h"
#include "base/human.h"
#include "base/plural.h"
#include "cli/commands.h"
#include "cli/input/input.h"
#include "cli/cmd-record-dry.h"
#include "cli/cmd-record-options.h"
#include "cli/cmd-record-process.h"
#include "record/session/session.h"
#include "record/session/workload.h"

/* The most lines about losses; one line sums up the rest. */
#define LOSS_LINES 16

static void say(enum message_level level, const char *text, void *arg)
{
	static const int priorities[] = {
		[MESSAGE_WARNING] = LOG_WARNING,
		[MESSAGE_INFO] = LOG_INFO,
		[MESSAGE_DETAIL] = LOG_DEBUG,
	};
	const struct record_command *cmd = arg;

	if (level == MESSAGE_DETAIL ? cmd->verbose : level == MESSAGE_WARNING || !cmd->quiet)
		complain_at(priorities[level], "%s", text);
}

static int more_lost(const void *a, const void *b)
{
	const struct loss_entry *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Prints "12,345 of cycles on CPU 3 (1.2 %): why". */
static void print_loss(const struct session *s, const struct loss_entry *e, uint64_t all)
{
	bool known = e->event != LOSS_NO_EVENT;
	char cpu[32] = "", text[32], share[32];
	double percent = 100 * (double)e->count / (double)all;

	if (e->cpu >= 0)
		snprintf(cpu, sizeof(cpu), " on CPU %d", e->cpu);
	snprintf(share, sizeof(share), percent < 10 ? "%.2g" : "%.0f", percent);
	if (!session_event_samples(s, e->event)) {
		complain_at(LOG_WARNING, "lost %s record%s of %s%s: %s",
			    human_count(e->count, text), plural_s(e->count),
			    session_event_name(s, e->event), cpu, loss_cause_text(e->cause));
		return;
	}
	complain_at(LOG_WARNING, "lost %s%s%s%s (%s %%): %s", human_count(e->count, text),
		    known ? " of " : "", known ? session_event_name(s, e->event) : "", cpu, share,
		    loss_cause_text(e->cause));
}

/* Rings beside AUX areas are smaller by default than those of samples, for which -m is, too. */
static void advise_beside(const struct session *s)
{
	uint64_t want = 2 * session_beside_size(s);

	if (want < session_ring_size(s))
		want = session_ring_size(s);
	if (want < 1 << 20)
		want = 1 << 20;
	complain("larger rings beside the AUX areas lose fewer records: try -m %lluM%s",
		 (unsigned long long)want >> 20,
		 session_ring_wanted(s)
			 ? ", and raise kernel.perf_event_mlock_kb or 'ulimit -l' for it"
			 : "");
}

/* Prints advice for each cause of loss that occurred. */
static void print_advice(const struct session *s, const struct record_opts *opts,
			 const struct loss *loss)
{
	uint64_t now = session_ring_size(s), wanted = session_ring_wanted(s), ring = now;
	bool met[LOSS_CAUSES] = {false}, beside = false;

	for (size_t i = 0; i < loss->nr; i++) {
		bool samples = session_event_samples(s, loss->entries[i].event);

		met[loss->entries[i].cause] |= samples || loss->entries[i].cause != LOSS_RING;
		beside |= !samples && loss->entries[i].cause == LOSS_RING;
	}
	/* Below the default size, advise the default first. */
	if (ring < RECORD_RING_SIZE)
		ring = RECORD_RING_SIZE / 2;
	if ((met[LOSS_RING] || met[LOSS_STACK_RING]) && wanted)
		complain("rings have %llu KB instead of %llu KB, because ringtail may lock no more "
			 "memory: raise kernel.perf_event_mlock_kb or 'ulimit -l', or take fewer "
			 "samples (-F, -c, --filter)",
			 (unsigned long long)now / 1024, (unsigned long long)wanted / 1024);
	else if (met[LOSS_RING] || met[LOSS_STACK_RING])
		complain("larger rings lose less: try -m %lluM, or take fewer samples (-F, -c, "
			 "--filter)",
			 (unsigned long long)ring * 2 >> 20);
	if (beside)
		advise_beside(s);
	if (met[LOSS_PAUSED])
		complain("--overwrite pauses a ring while ringtail drains it: rotate less often, "
			 "or use -M SIZE instead, which pauses nothing");
	if (met[LOSS_POOL] || met[LOSS_STACK])
		complain("the output is too slow: try %sanother disk or a larger --buffer-memory, "
			 "or take fewer samples (-F, -c, --filter)",
			 opts->output.compression_level ? "" : "-z, ");
	if (met[LOSS_OUTPUT])
		complain("free disk space, record to another disk (-o), or bound the output "
			 "(--max-size, --switch-output with --switch-max-files)");
}

/* Prints losses by CPU and event, with causes, the largest first; @all is the number of samples. */
static void print_losses(const struct session *s, const struct record_opts *opts,
			 const struct loss *loss, uint64_t all)
{
	struct loss_entry *sorted = loss->nr ? calloc(loss->nr, sizeof(*sorted)) : NULL;

	if (!sorted)
		return;
	memcpy(sorted, loss->entries, loss->nr * sizeof(*sorted));
	qsort(sorted, loss->nr, sizeof(*sorted), more_lost);
	for (size_t i = 0; i < loss->nr && i < LOSS_LINES; i++)
		print_loss(s, &sorted[i], all);
	if (loss->nr > LOSS_LINES)
		complain("ringtail leaves out %zu more such line%s", loss->nr - LOSS_LINES,
			 plural_s(loss->nr - LOSS_LINES));
	print_advice(s, opts, loss);
	free(sorted);
}

/* Prints the number of overwritten samples. */
static void print_overwritten(const struct session *s, const struct overwrite_count *o)
{
	char text[32], size[16];

	for (size_t i = 0; i < o->nr; i++)
		complain("overwritten %s of %s, as --overwrite asks",
			 human_count(o->events[i].samples, text),
			 session_event_name(s, o->events[i].event));
	if (o->unknown && o->bytes)
		complain("overwritten %s of records, samples of %s%s among them, as --overwrite "
			 "asks",
			 human_size(o->bytes, size), session_event_name(s, o->first_unknown),
			 o->unknown > 1 ? " and others" : "");
}

/* Each sample that was taken, once. What has passed was not to be kept: no loss. */
static void print_memory(const struct session *s, const struct session_result *r, bool failed)
{
	char taken[32], written[32], passed[32], held[32];
	struct history_figures f;

	if (!session_memory(s, &f))
		return;
	complain("memory: %s sample%s taken: %s in %zu snapshot%s, %s evicted, %s left at the end",
		 human_count(f.taken, taken), plural_s(f.taken), human_count(f.written, written),
		 r->snapshots, plural_s(r->snapshots), human_count(f.evicted, passed),
		 human_count(f.held, held));
	if (!r->snapshots && !r->given_up && !failed)
		complain("ringtail took no snapshot and wrote only the header: SIGUSR2 and "
			 "'ringtail ctl snapshot' take one, --snapshot-on-exit takes one at the "
			 "end");
}

/* Appends the outputs that the counts are about: the last one, and @before complete ones. */
static void name_outputs(const struct session_result *r, size_t before, struct buf *out)
{
	buf_printf(out, "%s", strcmp(r->path, "-") ? r->path : "standard output");
	if (before)
		buf_printf(out, " and %zu before it", before);
	if (r->deleted)
		buf_printf(out, ", %zu of which %s deleted", r->deleted,
			   r->deleted == 1 ? "is" : "are");
}

static uint64_t taken_samples(const struct session *s, const struct session_result *r)
{
	struct history_figures f;

	return session_memory(s, &f) ? f.taken : r->samples;
}

/* Returns the number of written samples; one that is in several files counts once. */
static uint64_t written_samples(const struct session *s, const struct session_result *r)
{
	struct history_figures f;

	return session_memory(s, &f) ? f.written : r->samples;
}

static uint64_t lost_samples(const struct session_result *r)
{
	return r->loss->total - r->lost_records;
}

/* Returns the number of samples taken and lost. Samples of -M that were not written were taken. */
static uint64_t offered_samples(const struct session *s, const struct session_result *r)
{
	uint64_t offered = taken_samples(s, r) + lost_samples(r);
	struct history_figures f;

	for (size_t i = 0; session_memory(s, &f) && i < r->loss->nr; i++)
		if (r->loss->entries[i].cause == LOSS_OUTPUT)
			offered -= r->loss->entries[i].count;
	return offered;
}

/*
 * A child inherits events only at its fork. The kernel ends the events of a task that changes its
 * user by exec.
 */
static void explain_nothing(const struct record_command *cmd, const struct session_result *r,
			    uint64_t taken)
{
	const struct tasks *tasks = &cmd->opts.plan.target.tasks;
	const char *name = cmd->opts.plan.target.command ? cmd->opts.plan.target.command[0] : NULL;

	if (taken || cmd->quiet)
		return;
	if (name && workload_changes_user(name))
		complain("%s is a setuid program: the kernel lets only root record it; run "
			 "ringtail as root",
			 name);
	if (cmd->off_cpu && tasks->nr)
		complain(
			"no thread of the process was switched: each waited, or ran, all the time; "
			"record longer, or 'cat /proc/%d/stack' shows where it waits",
			tasks->ids[0]);
	for (size_t i = 0; i < tasks->nr; i++) {
		pid_t pid = task_process(tasks->ids[i]);

		if (pid < 0 || !task_has_children(tasks->ids[i]))
			continue;
		complain("-p does not record the children that process %d had before: -p \"$(pgrep "
			 "-d, -P %d)\" records them",
			 pid, pid);
		return;
	}
	if (!tasks->nr || cmd->off_cpu || r->trace_written)
		return;
	if (task_process(tasks->ids[0]) < 0)
		complain("process %d ended, and had no event until then", tasks->ids[0]);
	else
		complain("process %d had no event in that time; if it waits, --off-cpu records for "
			 "what",
			 task_process(tasks->ids[0]));
}

/* Truncated stacks are not lost samples, but they also determine the exit status. */
static void name_truncated(const struct session_result *r, struct buf *out)
{
	char text[32];

	if (r->truncated->total)
		buf_printf(out, ", %s without %s whole user stack%s",
			   human_count(r->truncated->total, text),
			   r->truncated->total == 1 ? "its" : "their",
			   plural_s(r->truncated->total));
}

/* Of a stop nobody knows what the hardware would have written, and a lost record may be of one. */
static bool lost_unknown(const struct session_result *r)
{
	const struct aux_sums *sums = &r->trace;

	return sums->truncated || sums->unreported ||
	       (sums->mode == AUX_FULL && (sums->lost_records || r->lost_records));
}

static void print_trace_size(const struct session_result *r)
{
	char written[16], lost[16];

	complain("trace: %s of %zu AUX area%s, %s%s lost", human_size(r->trace_written, written),
		 r->trace.areas, plural_s(r->trace.areas),
		 !lost_unknown(r) ? ""
		 : r->trace_lost  ? "at least "
				  : "an unknown amount",
		 lost_unknown(r) && !r->trace_lost ? "" : human_size(r->trace_lost, lost));
}

/* What the AUX areas had, and what of it is missing, by cause. */
static void print_trace(const struct record_command *cmd, const struct session_result *r)
{
	const struct aux_sums *sums = &r->trace;

	if (!sums->areas)
		return;
	/* Trace in samples counts as a part of them. */
	if (sums->mode != AUX_SAMPLE && (!cmd->quiet || r->trace_lost || lost_unknown(r)))
		print_trace_size(r);
	if (sums->unreported)
		complain("an AUX area was full, or records of its stops were lost, %llu time%s, "
			 "and ringtail started the trace again: what is missing there is not known",
			 (unsigned long long)sums->unreported, plural_s(sums->unreported));
	if (sums->truncated)
		complain("the kernel stopped the trace %llu time%s, because an AUX area was full, "
			 "and ringtail started it again %llu time%s: record a larger area with "
			 "-m ,SIZE",
			 (unsigned long long)sums->truncated, plural_s(sums->truncated),
			 (unsigned long long)sums->restarts, plural_s(sums->restarts));
	if (sums->partial)
		complain("%llu piece%s of the trace %s gaps that the hardware reports (PARTIAL)",
			 (unsigned long long)sums->partial, plural_s(sums->partial),
			 sums->partial == 1 ? "has" : "have");
	if (sums->collisions)
		complain("%llu piece%s of the trace collided with another one's (COLLISION)",
			 (unsigned long long)sums->collisions, plural_s(sums->collisions));
}

static void print_result(struct session *s, const struct record_command *cmd,
			 const struct session_result *r)
{
	uint64_t written = written_samples(s, r);
	char samples[32], lost[32], size[16];
	struct buf name = {0}, truncated = {0};

	name_truncated(r, &truncated);
	if (r->lost_records)
		buf_printf(&truncated, ", %s other record%s lost",
			   human_count(r->lost_records, lost), plural_s(r->lost_records));
	name_outputs(r, r->outputs ? r->outputs - 1 : 0, &name);
	print_losses(s, &cmd->opts, r->truncated, taken_samples(s, r));
	print_losses(s, &cmd->opts, r->loss, taken_samples(s, r) + lost_samples(r));
	if (!cmd->quiet)
		print_overwritten(s, r->overwritten);
	if (!cmd->quiet)
		print_memory(s, r, false);
	if (r->given_up)
		complain("ringtail could not write %zu snapshot%s, for the reasons above",
			 r->given_up, plural_s(r->given_up));
	if (r->gone)
		complain_at(
			LOG_ERR,
			"another program deleted %zu output%s before the end: %s samples are lost",
			r->gone, plural_s(r->gone), r->gone == 1 ? "its" : "their");
	print_trace(cmd, r);
	if (!cmd->quiet || r->loss->total || r->truncated->total)
		complain("%.*s: %s sample%s, %s lost%.*s, %s, %.2f s", (int)name.len,
			 (const char *)name.data, human_count(written, samples), plural_s(written),
			 human_count(lost_samples(r), lost), (int)truncated.len,
			 (const char *)truncated.data, human_size(r->bytes, size), r->seconds);
	explain_nothing(cmd, r, taken_samples(s, r) + lost_samples(r));
	buf_release(&truncated);
	buf_release(&name);
}

/* Of a recording that ended with an error: what there is of it. */
static void print_saved(const struct session *s, const struct record_command *cmd,
			const struct session_result *r)
{
	const struct record_opts *opts = &cmd->opts;
	uint64_t taken = taken_samples(s, r);
	char samples[32], lost[32];
	struct buf name = {0};

	print_trace(cmd, r);
	if (!taken && !r->loss->total)
		return;
	name_outputs(r, r->outputs, &name);
	print_losses(s, opts, r->loss, offered_samples(s, r));
	if (!cmd->quiet)
		print_memory(s, r, true);
	/* A pipe's reader may have read more, and a reader of a truncated file may find more. */
	complain("%.*s: %s%s sample%s readable, %s lost before the error, all later ones lost",
		 (int)name.len, (const char *)name.data,
		 r->at_least || !strcmp(opts->output.path, "-") ? "at least " : "",
		 human_count(r->samples, samples), plural_s(r->samples),
		 human_count(lost_samples(r), lost));
	buf_release(&name);
}

/* Prints choices that the recorder made for the user, or that differ from the options. */
static void say_choices(struct record_command *cmd)
{
	char size[16];

	if (cmd->quiet)
		return;
	if (cmd->ring_asked)
		complain("-m %.*s is rounded up to %s, a power of two of pages",
			 (int)strcspn(cmd->ring_asked, ","), cmd->ring_asked,
			 human_size(cmd->opts.plan.ring_size, size));
	if (cmd->area_asked)
		complain("-m ,%s is rounded up to %s, a power of two of pages", cmd->area_asked,
			 human_size(cmd->opts.plan.aux.size, size));
	if (cmd->whole_by_default)
		complain("recording the whole system; Ctrl-C ends it");
}

/* In old versions of perf, -g had the argument that --call-graph has now. */
static void say_call_graph(const struct record_opts *opts)
{
	static const char *const kinds[] = {"fp", "dwarf", "lbr"};
	const char *word = opts->plan.target.command ? opts->plan.target.command[0] : "";
	size_t len = strcspn(word, ",");

	for (size_t i = 0; opts->plan.sample.callgraph && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == len && !strncmp(word, kinds[i], len))
			complain("-g takes no argument: did you mean --call-graph %s?",
				 strcmp(kinds[i], "lbr") ? word : "dwarf");
}

/*
 * Reports a command that a signal ended, if neither we nor the terminal sent it: our exit status
 * does not show it.
 */
static void print_crash(const struct session_result *result)
{
	int signal = result->command_signal;
	const char *name = sigabbrev_np(signal);

	if (signal && signal != SIGTERM && signal != SIGINT)
		complain_at(LOG_WARNING, "SIG%s ended the command", name ? name : "?");
}

/*
 * As perf and time(1), the status of the command; of one that ringtail itself ended, or with
 * --no-propagate-status, that of the recording.
 */
static int status_of_command(const struct record_command *cmd, const struct session_result *r)
{
	if (cmd->keep_status || r->command_stopped || !r->command_status)
		return EXIT_FINE;
	if (!cmd->quiet && !r->command_signal)
		complain("the command ended with status %d, which is ringtail's too; the "
			 "recording is complete",
			 r->command_status);
	return r->command_status;
}

/* Returns the exit status. */
static int report_result(struct session *s, const struct record_command *cmd, bool failed)
{
	struct session_result result;

	session_result(s, &result);
	print_crash(&result);
	if (failed) {
		if (result.command_stopped)
			complain("ringtail sent SIGTERM to the command, because its recording "
				 "failed");
		if (result.started)
			print_saved(s, cmd, &result);
		return result.misused ? EXIT_USAGE : EXIT_ERROR;
	}
	print_result(s, cmd, &result);
	/* An earlier request for a snapshot got its error as an answer; only the last counts here.
	 */
	if (result.gone || result.last_given_up)
		return EXIT_ERROR;
	if (cmd->fail_on_loss && (result.loss->total || result.truncated->total ||
				  result.missed_cpus || result.trace_lost || lost_unknown(&result)))
		return EXIT_LOSS;
	return status_of_command(cmd, &result);
}

static void print_error(const struct record_command *cmd, const struct error *err)
{
	complain_at(LOG_ERR, "%s", err->text);
	if (err->code == -ENOENT)
		say_call_graph(&cmd->opts);
	if (err->code == -EMFILE && !strstr(err->text, "ulimit"))
		complain("raise the limit of open files: 'ulimit -n'");
}

static int run(struct record_command *cmd)
{
	const struct messages messages = {.say = say, .arg = cmd};
	struct record_process process;
	struct error err = ERROR_INIT;
	struct session *s;
	int rc, status;

	say_choices(cmd);
	if (cmd->dry_run) {
		if (record_dry_run(cmd, &messages, &err)) {
			print_error(cmd, &err);
			return EXIT_ERROR;
		}
		return input_end(NULL, NULL, 0);
	}
	if (session_new(&cmd->opts, &messages, &s, &err)) {
		print_error(cmd, &err);
		return EXIT_ERROR;
	}
	rc = record_process_enter(&process, cmd->opts.plan.target.command, cmd->exit_with_parent,
				  &err);
	if (!rc)
		rc = session_record(s, &process.host, &err);
	if (rc)
		print_error(cmd, &err);
	status = report_result(s, cmd, rc);
	session_free(s);
	record_process_leave(&process);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record_command cmd;
	int status;

	/*
	 * Writer threads rarely call malloc(). Without this, each one that does maps and unmaps an
	 * arena of 128 MB as recording begins, while all others wait.
	 */
	mallopt(M_ARENA_MAX, 1);
	record_options_parse(argc, argv, &cmd);
	status = run(&cmd);
	record_options_release(&cmd);
	return status;
}
