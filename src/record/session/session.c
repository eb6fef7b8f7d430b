// SPDX-License-Identifier: Apache-2.0
#include "record/session/session_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/plural.h"
#include "record/session/announce.h"
#include "record/aux/info.h"
#include "record/initial/initial_state.h"
#include "record/initial/perfmaps.h"
#include "sys/io/timer.h"

/* Time for a command to end after the recorder has asked it to. */
#define COMMAND_WAIT_MS 1000

/* Time for the output to be written at the end, before a message says that it is slow. */
#define OUTPUT_WAIT_MS 2000

int session_new(const struct record_opts *opts, const struct messages *messages,
		struct session **ret, struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->opts = opts;
	s->messages = messages;
	s->hotplug = (struct hotplug)HOTPLUG_INIT;
	s->host = (struct session_host)SESSION_HOST_INIT;
	s->tick = s->delay = s->turn = s->limit = s->crew.report = -1;
	s->patience = (struct writer_patience){.wait = session_wait_for_pipe, .arg = s};
	rc = session_control_init(&s->control, opts, messages, err);
	if (rc)
		session_free(s);
	else
		*ret = s;
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	workload_release(&s->workload);
	session_control_release(&s->control);
	overwrite_count_release(&s->overwritten);
	crew_release(&s->crew);
	output_release(&s->output);
	snapshot_service_release(&s->memory);
	session_budget_release(&s->budget);
	service_status_release(&s->service);
	rotation_release(&s->rotation);
	loss_release(&s->truncated);
	buildid_reader_free(s->buildid_reader);
	opened_close(s->opened);
	hotplug_release(&s->hotplug);
	renumber_free(s->renumber);
	session_triggers_release(&s->triggers);
	plan_free(s->plan);
	close_fd(s->limit);
	close_fd(s->turn);
	close_fd(s->delay);
	close_fd(s->tick);
	free(s);
}

/* --- NEW -> PLANNED ------------------------------------------------------------------------------
 */

/* An overwrite ring is drained all at once, its newest record last. */
static int check_memory(struct session *s, struct error *err)
{
	for (size_t i = 0; s->opts->output.memory.bytes && i < s->plan->nr; i++) {
		if (!s->plan->events[i].overwrite)
			continue;
		s->misused = true;
		return error_set(err, -EINVAL,
				 "%s: -M keeps the newest samples in memory, the term 'overwrite' "
				 "keeps them in the ring: choose one",
				 s->plan->events[i].name);
	}
	return 0;
}

static int session_plan(struct session *s, struct error *err)
{
	const char *const *command = s->opts->plan.target.command;
	const struct workload_setting setting = {
		.mask = s->host.command_mask,
		.environment = s->host.command_environment,
		.to_stderr = !strcmp(s->opts->output.path, "-"),
	};
	int rc = command ? workload_find(command[0], err) : 0;

	service_status_open(&s->service, s->host.notify);
	if (rc)
		return rc;
	limits_read(&s->limits);
	rc = plan_new(&s->opts->plan, &s->limits, s->messages, &s->plan, err);
	if (!rc)
		rc = check_memory(s, err);
	if (!rc) {
		rc = crew_plan(&s->crew, &s->opts->readers, &s->opts->output, s->plan, s->messages,
			       err);
		s->misused = rc == -EINVAL;
		s->plan->descriptors_beside = crew_descriptors(&s->crew);
		s->plan->descriptors_spare = s->opts->output.symbols.names ? PERFMAPS_FILES : 0;
	}
	if (rc || !command)
		return rc;
	rc = workload_prepare(&s->workload, command, &setting, err);
	if (!rc && plan_set_command(s->plan, s->workload.pid))
		rc = error_set(err, -ENOMEM, "out of memory");
	return rc;
}

/* --- PLANNED -> OPENED ---------------------------------------------------------------------------
 */

/* Without the reader, build-ids are those of the files as they are at the end. */
static void start_buildid_reader(struct session *s)
{
	if (!s->opts->plan.no_build_ids)
		buildid_reader_new(s->opts->output.symbols.names, s->opts->output.symbols.lines,
				   &s->buildid_reader);
	s->opened->buildid_reader = s->buildid_reader;
}

static int session_open(struct session *s, struct error *err)
{
	const struct announce parts = {s->opts, &s->limits, s->plan, &s->crew, &s->output};
	const struct trigger_place place = {s->plan, &s->limits, s->messages};
	const struct patience patience = {session_wait_for_names, s};

	/*
	 * Triggers open first, because the recording's rings are the ones that can be made smaller.
	 */
	int rc = session_triggers_open(&s->triggers, &s->opts->triggers, &place, err);

	if (!rc)
		rc = open_plan(s->plan, &s->limits, s->messages, &s->opened, err);
	if (!rc)
		start_buildid_reader(s);
	if (!rc)
		rc = session_open_hotplug(s, err);
	if (!rc)
		rc = rotation_init(&s->rotation, &s->opts->output, s->plan, s->messages, &patience,
				   err);
	if (!rc && strcmp(s->opts->output.path, "-"))
		rc = output_backup_stage(&s->earlier, s->opts->output.path, err);
	if (!rc)
		rc = output_create(&s->output, &s->opts->output, s->plan, s->opened, s->crew.nr,
				   &s->patience, err);
	if (!rc)
		rc = session_open_memory(s, err);
	if (!rc)
		rc = session_budget_open(&s->budget, s->opts, s->plan, s->opened, s->messages, err);
	s->crew.frequency = s->budget.frequency;
	s->crew.late = s->rotation.late;
	s->crew.service = s->service.there ? &s->service : NULL;
	if (!rc)
		rc = crew_hire(&s->crew, s->plan, s->opened, &s->output, err);
	if (!rc)
		announce_memory(&parts, s->messages);
	return rc;
}

/* --- OPENED -> RUNNING ---------------------------------------------------------------------------
 */

static int make_timer(uint64_t ms, bool again, int *ret, struct error *err)
{
	int rc;

	*ret = timer_open();
	rc = *ret < 0 ? *ret : timer_set(*ret, ms, again);
	return rc ? error_sys(err, rc, "timerfd") : 0;
}

static int make_watches(struct session *s, struct error *err)
{
	int rc = make_timer(s->opts->output.flush_ms ? s->opts->output.flush_ms : RECORD_FLUSH_MS,
			    true, &s->tick, err);
	if (!rc && s->opts->plan.duration_ms)
		rc = make_timer(s->opts->plan.duration_ms, false, &s->limit, err);
	if (!rc && s->opts->output.rotation.seconds)
		rc = make_timer(s->opts->output.rotation.seconds * 1000, true, &s->turn, err);
	return rc;
}

int session_settle(struct session *s, struct error *err)
{
	return s->memory.flight ? flight_trim(s->memory.flight, err)
				: rotation_settle(&s->rotation, err);
}

/* Where records for the initial state go. */
struct before {
	record_emit_fn *emit;
	void *arg;
	struct chain_maker *chains; /* NULL: stacks are not unwound while recording */
};

static int emit_before(const struct perf_event_header *hdr, void *arg)
{
	const struct before *b = arg;

	if (b->chains) {
		chain_maker_add(hdr, b->chains);
		chain_maker_settle(b->chains);
	}
	return b->emit(hdr, b->arg);
}

/* Writes records for the initial state: to the output, or to memory. */
static int write_before(struct session *s, struct error *err)
{
	const struct initial_state before = {s->plan, &s->limits, s->messages};
	struct sink_emit to = {s->output.lanes[0].chain, err};
	struct before b = {sink_emit, &to, s->crew.chains};
	int rc;

	output_listen(&s->output, s->rotation.sideband);
	rc = aux_info_emit(s->plan, s->opened, sink_emit, &to, err);
	if (rc)
		return rc;
	if (s->memory.flight)
		b = (struct before){flight_add_initial, s->memory.flight, s->crew.chains};
	rc = initial_state_emit(&before, emit_before, &b, err);
	return rc ? rc : session_settle(s, err);
}

/* The events of a command are enabled by its exec, those of a delayed recording by the timer. */
static int start_events(struct session *s, struct error *err)
{
	if (s->opts->plan.start_disabled) {
		messages_say(s->messages, MESSAGE_INFO,
			     "events are disabled until the command 'enable'");
		return 0;
	}
	if (s->opts->plan.nr_spans && s->opts->plan.spans[0].from_ms)
		return make_timer(s->opts->plan.spans[0].from_ms, false, &s->delay, err);
	if (s->opts->plan.nr_spans) {
		s->delay = timer_open();
		return s->delay < 0 ? error_sys(err, s->delay, "timerfd")
				    : session_next_span(s, err);
	}
	if (s->opts->plan.delay_ms)
		return make_timer(s->opts->plan.delay_ms, false, &s->delay, err);
	session_control_enabled(&s->control);
	aux_areas_switch(&s->crew.aux, -1, true);
	return s->plan->target == TARGET_COMMAND ? 0 : opened_enable(s->opened, s->plan, err);
}

static int session_start(struct session *s, struct error *err)
{
	int rc;

	if (s->host.starting)
		s->host.starting(s->host.arg);
	rc = write_before(s, err);
	if (!rc)
		rc = lane_flush(&s->output.lanes[0], err);
	/* With -M the main thread writes the output, and it has other work. */
	if (!rc && !s->opts->output.memory.bytes)
		rc = output_persist(&s->output, err);
	if (!rc)
		rc = make_watches(s, err);
	rotation_watch(&s->rotation, &s->output);
	if (!rc && s->memory.traces)
		snapshot_make_room(&s->memory.snapshot);
	if (!rc)
		rc = crew_start(&s->crew, err);
	if (rc)
		return rc;
	s->began = now_ns(CLOCK_MONOTONIC);
	session_budget_start(&s->budget);
	rc = session_start_control(s, err);
	if (!rc)
		rc = start_events(s, err);
	if (!rc)
		rc = session_triggers_start(&s->triggers, err);
	if (!rc && s->workload.pid)
		rc = workload_start(&s->workload, s->opts->plan.target.command[0], err);
	if (rc)
		return rc;
	output_backup_accept(&s->earlier);
	s->started = true;
	service_status_ready(&s->service);
	return 0;
}

/* --- DRAINING -> FINALIZED -----------------------------------------------------------------------
 */

static int count_overwritten(struct session *s, struct error *err)
{
	int rc = overwrite_count_read(s->plan, s->opened, s->rotation.taken, &s->overwritten);

	s->overwritten.bytes = crew_overwritten(&s->crew);
	return rc ? error_set(err, rc, "out of memory") : 0;
}

/* Bytes that no reader of the output can see yet: in rings' queues, and in writers' buffers. */
static uint64_t not_written(const struct session *s)
{
	uint64_t given = output_metered(&s->output), flushed = 0;

	for (size_t i = 0; i < s->output.nr; i++)
		flushed += lane_view(&s->output.lanes[i]).bytes;
	return crew_backlog(&s->crew) + (given > flushed ? given - flushed : 0);
}

/*
 * A second request to end counts only after the message, because the user did not know before; then
 * the host may end the process.
 */
static void say_slow(struct session *s)
{
	char size[HUMAN_SIZE_SIZE];

	session_empty(&s->host.stop);
	messages_say(s->messages, MESSAGE_WARNING,
		     "the output is slow: %s are still to be written%s",
		     human_size(not_written(s), size),
		     s->host.slow_output ? "; ^C ends without them" : "");
	if (s->host.slow_output)
		s->host.slow_output(s->host.arg);
}

/* Waits until the writers are done; all rings are drained. An output that fills is rotated still.
 */
static int wait_for_output(struct session *s, struct error *err)
{
	uint64_t deadline = now_ms() + OUTPUT_WAIT_MS;
	bool slow = false, rotates;
	int rc = 0;

	while (!rc) {
		rotates = !session_at_max_size(s);
		if (!rotates)
			crew_hold(&s->crew, false);
		switch (crew_drain(&s->crew, slow ? -1 : (int64_t)ms_until(deadline), rotates)) {
		case CREW_ENDED: return 0;
		case CREW_FULL:
			if (!session_at_max_size(s))
				rc = session_rotate_full(s, err);
			break;
		case CREW_LATE:
			say_slow(s);
			slow = true;
			break;
		}
	}
	return rc;
}

static void say_throttled(const struct session *s)
{
	struct limits now;

	limits_read(&now);
	throttle_stats_say(s->opened->throttles, s->plan, now.max_sample_rate, s->messages);
}

static void say_build_ids(const struct session *s)
{
	struct buildid_reader_stats stats;

	if (!s->buildid_reader)
		return;
	buildid_reader_stats(s->buildid_reader, &stats);
	messages_say(
		s->messages, MESSAGE_DETAIL,
		"build-ids: %llu file%s read, %llu gone before, %llu time%s no room to ask for one",
		(unsigned long long)stats.read, plural_s(stats.read),
		(unsigned long long)stats.gone, (unsigned long long)stats.full,
		plural_s(stats.full));
}

/* Names which names the output lacks, by cause. */
static void say_missing_names(const struct session *s, const struct names_counts *c)
{
	struct buildid_reader_stats reader = {0};

	if (s->buildid_reader)
		buildid_reader_stats(s->buildid_reader, &reader);

	const struct {
		uint64_t nr;
		const char *what;
	} causes[] = {
		{c->no_memory, "table of names not written: out of memory"},
		{c->table.left_out, "functions without a name, beyond --symbols-budget"},
		{c->table.unlined, "places in code without source lines, beyond --symbols-budget"},
		{c->unreached, "places in code not looked up, because files could not be read in "
			       "time"},
		{c->missed, "addresses without a name, because too many were sampled"},
		{c->gone,
		 "places in code without a name, because ringtail did not find their files: "
		 "they were deleted, or are of another container"},
		{c->rewritten, "places in code without a name, whose files were written in place "
			       "during the recording"},
		{reader.no_symbols,
		 "files that may vanish not read early, because the symbols of others took all "
		 "the room"},
		{reader.no_copies,
		 "files that may vanish without source lines, because copies of others took all "
		 "the room"},
		{reader.no_perfmaps,
		 "perf-PID.map files of JITs not kept, because there were too many"},
	};

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].nr)
			messages_say(s->messages, MESSAGE_WARNING, "--symbols: %llu %s",
				     (unsigned long long)causes[i].nr, causes[i].what);
}

static void say_names(const struct session *s)
{
	const struct names_counts *c = &s->output.names;

	if (!s->opts->output.symbols.names)
		return;
	say_missing_names(s, c);
	messages_say(s->messages, MESSAGE_DETAIL,
		     "symbols: %llu function%s of %llu file%s kept; %llu doubtful; %llu of %llu "
		     "places in code have no name",
		     (unsigned long long)c->table.functions, plural_s(c->table.functions),
		     (unsigned long long)c->table.objects, plural_s(c->table.objects),
		     (unsigned long long)c->table.doubtful, (unsigned long long)c->unnamed,
		     (unsigned long long)c->places);
}

/* Ends the command. Returns whether it has ended. */
static bool stop_command(struct session *s)
{
	if (!s->workload.pid)
		return true;
	s->command_stopped |= !workload_ended(&s->workload);
	return workload_stop(&s->workload, COMMAND_WAIT_MS);
}

/* The output that is the last one ends with the sums over the AUX areas. */
static int write_trace_sums(struct session *s, struct error *err)
{
	struct pd_snapshot_record record;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->crew.aux.nr; i++) {
		aux_sums_encode(&s->crew.aux.areas[i], &record);
		rc = sink_record(s->output.lanes[0].chain, &record.header, err);
	}
	return rc;
}

static int session_finish(struct session *s, struct error *err)
{
	struct compress_stats compression;
	struct chain_stats chains;
	int rc, dismissed;

	s->ended = now_ns(CLOCK_MONOTONIC);
	service_status_stopping(&s->service);
	aux_areas_switch(&s->crew.aux, -1, false);
	opened_disable(s->opened);
	rc = snapshot_service_hand_last(&s->memory, err);
	if (!rc)
		rc = wait_for_output(s, err);
	dismissed = crew_dismiss(&s->crew, rc ? NULL : err);
	rc = rc ? rc : dismissed;
	if (!rc)
		rc = snapshot_service_finish(&s->memory, &s->workload, err);
	if (!rc)
		rc = write_trace_sums(s, err);
	if (!rc)
		rc = rotation_end(&s->rotation, &s->output, s->plan, s->opened, err);
	if (!rc)
		rc = count_overwritten(s, err);
	crew_truncated_stacks(&s->crew, &s->truncated);
	crew_say_done(&s->crew, &s->output, s->messages);
	say_throttled(s);
	say_build_ids(s);
	say_names(s);
	trigger_set_say(s->triggers.asks, s->messages);
	hotplug_say(&s->hotplug);
	session_budget_end(&s->budget);
	if (output_compression(&s->output, &compression))
		compress_say(&compression, s->messages);
	if (crew_chains(&s->crew, &chains))
		chain_stats_say(&chains, s->messages);
	if (!stop_command(s))
		messages_say(s->messages, MESSAGE_WARNING,
			     "the command (pid %d) does not end at SIGTERM and is left "
			     "running",
			     s->workload.pid);
	return rc;
}

/* --- run all steps -------------------------------------------------------------------------------
 */

/* The step out of each state, and the state after it. */
static const struct {
	int (*make)(struct session *s, struct error *err);
	enum session_state to;
} steps[] = {
	[SESSION_NEW] = {session_plan, SESSION_PLANNED},
	[SESSION_PLANNED] = {session_open, SESSION_OPENED},
	[SESSION_OPENED] = {session_start, SESSION_RUNNING},
	[SESSION_RUNNING] = {session_loop, SESSION_DRAINING},
	[SESSION_DRAINING] = {session_finish, SESSION_FINALIZED},
};

static int session_step(struct session *s, struct error *err)
{
	int rc = steps[s->state].make(s, err);

	s->state = rc ? SESSION_FAILED : steps[s->state].to;
	return rc;
}

/* Removes the output of a session that did not start, and restores the earlier one. */
static void undo_start(struct session *s)
{
	if (s->output.lanes && s->output.lanes[0].chain)
		output_discard(&s->output, &s->opts->output);
	output_backup_restore(&s->earlier);
}

/* Bytes of trace that the last output should have. */
static uint64_t trace_before_end(const struct session *s, uint64_t drained)
{
	const struct snapshot *snapshot = &s->memory.snapshot;
	uint64_t all = drained + snapshot->trace_taken - snapshot->trace_given_up;

	return all > s->rotation.trace ? all - s->rotation.trace : 0;
}

/*
 * Saves what it can after an error. If a worker failed, its error replaces @err: it is the cause.
 */
static void save_the_rest(struct session *s, int rc, struct error *err)
{
	struct aux_sums trace;
	int worker_code;

	aux_areas_switch(&s->crew.aux, -1, false);
	if (s->opened)
		opened_disable(s->opened);
	worker_code = crew_dismiss(&s->crew, err);
	if (!s->started) {
		undo_start(s);
		return;
	}
	if (s->memory.flight)
		flight_end(s->memory.flight);
	if (!s->output.lanes || !s->output.lanes[0].chain)
		return;
	lane_save(&s->output.lanes[0], worker_code ? worker_code : rc);
	output_checkpoint(&s->output, NULL);
	aux_sums_get(&s->crew.aux, &trace);
	s->output.trace_taken = trace_before_end(s, trace.drained);
	output_abandon(&s->output, s->plan, s->opened);
	s->saved = s->output.tally.samples;
	s->saved_trace = s->output.tally.trace;
	loss_merge(&s->rotation.loss, &s->output.loss);
	if (s->began && !s->ended)
		s->ended = now_ns(CLOCK_MONOTONIC);
}

int session_record(struct session *s, const struct session_host *host, struct error *err)
{
	int rc = 0;

	s->host = *host;
	while (!rc && s->state != SESSION_FINALIZED)
		rc = session_step(s, err);
	if (rc)
		save_the_rest(s, rc, err);
	if (rc && s->workload.go < 0)
		stop_command(s);
	return rc;
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

bool session_memory(const struct session *s, struct history_figures *ret)
{
	if (s->memory.flight)
		history_figures(flight_history(s->memory.flight), ret);
	return s->memory.flight;
}

static void result_of_trace(const struct session *s, struct session_result *ret)
{
	aux_sums_get(&s->crew.aux, &ret->trace);
	ret->trace_written = s->rotation.trace + s->saved_trace;
	ret->trace_lost = s->output.trace_lost + s->memory.snapshot.trace_given_up;
	for (size_t i = 0; i < s->rotation.loss.nr; i++)
		if (!session_event_samples(s, s->rotation.loss.entries[i].event))
			ret->lost_records += s->rotation.loss.entries[i].count;
}

void session_result(struct session *s, struct session_result *ret)
{
	/* After a failure this is the output of that moment, not the last complete one. */
	const char *path = s->state == SESSION_FAILED ? s->rotation.moved : s->rotation.last;

	*ret = (struct session_result){
		.samples = s->rotation.samples + s->saved,
		.at_least = s->output.at_least,
		.bytes = s->rotation.bytes,
		.outputs = s->rotation.outputs,
		.deleted = s->rotation.deleted,
		.gone = s->rotation.lost,
		.path = path ? path : s->opts->output.path,
		.started = s->started,
		.misused = s->misused,
		.seconds = s->ended ? (double)(s->ended - s->began) / 1e9 : 0,
		.loss = &s->rotation.loss,
		.overwritten = &s->overwritten,
		.truncated = &s->truncated,
		.missed_cpus = hotplug_missed(&s->hotplug),
		.snapshots = s->memory.snapshot.taken,
		.given_up = s->memory.given_up,
		.last_given_up = s->memory.last == OUTCOME_UNDONE,
		.command_status = workload_exit_status(&s->workload),
		.command_signal = workload_signal(&s->workload),
		.command_stopped = s->command_stopped,
	};
	result_of_trace(s, ret);
}

const char *session_event_name(const struct session *s, unsigned int index)
{
	if (!s->plan || index >= s->plan->nr)
		return "?";
	return s->plan->events[index].dummy ? "maps, names and forks" : s->plan->events[index].name;
}

bool session_event_samples(const struct session *s, unsigned int index)
{
	return !s->plan || index >= s->plan->nr || !s->plan->events[index].aux;
}

uint64_t session_beside_size(const struct session *s)
{
	return s->plan ? s->plan->beside_size : 0;
}

uint64_t session_ring_size(const struct session *s)
{
	return s->plan ? s->plan->ring_size : 0;
}

uint64_t session_ring_wanted(const struct session *s)
{
	uint64_t want = s->opts->plan.ring_size ? s->opts->plan.ring_size : RECORD_RING_SIZE;

	return s->plan && !s->limits.ipc_lock && s->plan->ring_size < want ? want : 0;
}
