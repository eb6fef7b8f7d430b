// SPDX-License-Identifier: Apache-2.0
/* Main loop of a running recording: its event sources and their handlers. */
#include "record/session/session_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "record/open/revive.h"
#include "sys/io/timer.h"

/* --- RUNNING <-> ROTATING ------------------------------------------------------------------------
 */

/*
 * After a rotation: it included any flush under way, and it took the workers' notices. Checks the
 * state that they were about.
 */
static void check_state_again(struct session *s)
{
	s->flushing = false;
	if (s->plan->target == TARGET_TASKS && crew_view(&s->crew).hung_up)
		s->stop = true;
}

bool session_at_max_size(const struct session *s)
{
	return s->opts->output.max_size && output_metered(&s->output) >= s->opts->output.max_size;
}

/* Stops the recording at --max-size. */
static void check_size(struct session *s, bool full)
{
	if (!full || s->stop)
		return;
	messages_say(s->messages, MESSAGE_INFO, "the output has reached its size (--max-size)");
	s->stop = true;
}

static enum outcome rotate_output(void *session, struct error *err)
{
	struct session *s = session;
	enum session_state before = s->state;
	/* The snapshot filled it, unless the rotation is undone. */
	bool full = s->memory.flight && session_at_max_size(s);
	enum outcome outcome;

	s->state = SESSION_ROTATING;
	outcome = rotation_rotate(&s->rotation, &s->crew, &s->output, s->plan, s->opened, err);
	if (outcome == OUTCOME_BROKEN)
		return outcome;
	s->state = before;
	check_size(s, full && outcome != OUTCOME_UNDONE);
	if (s->turn >= 0)
		timer_set(s->turn, s->opts->output.rotation.seconds * 1000, true);
	check_state_again(s);
	return outcome;
}

/* Rotates without -M: a failure ends the recording. */
static int rotate_now(struct session *s, struct error *err)
{
	return outcome_error(rotate_output(s, err), err);
}

/* Rotates; with -M, by a snapshot. */
static int session_rotate(struct session *s, const char *reason, struct error *err)
{
	if (!s->memory.flight)
		return rotate_now(s, err);
	snapshot_service_ask_for(&s->memory, PD_SNAPSHOT_SWITCH, reason);
	return 0;
}

/*
 * Adds the path of the output that was written last. The reader may be in another directory, so it
 * is absolute if possible.
 */
static int add_file(const struct session *s, struct buf *text)
{
	bool rotated = s->opts->output.rotation.enabled && s->rotation.last;
	const char *path = rotated ? s->rotation.last : s->opts->output.path;
	char *whole = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	int rc = buf_printf(text, "file=%s\n", whole ? whole : path);

	free(whole);
	return rc;
}

/* --- commands ------------------------------------------------------------------------------------
 */

/* Returns -EINPROGRESS, which is no error: the answer follows the snapshot. */
static int snapshot_on_command(struct session *s, const struct snapshot_request *request,
			       struct error *err)
{
	if (!snapshot_service_there(&s->memory))
		return error_set(
			err, -ENOTSUP,
			"this recording keeps nothing in memory: it was started without -M or -S");
	if (s->stop)
		return error_set(err, -ESHUTDOWN, "the recording ends");
	return snapshot_service_ask(&s->memory, request, err);
}

/* An error of the rotation is sent to the client, and it ends the recording. */
static int rotate_on_command(struct session *s, const struct snapshot_request *request,
			     struct buf *text, struct error *err)
{
	int rc;

	if (!s->opts->output.rotation.enabled)
		return error_set(err, -ENOTSUP,
				 "this recording has only one output: it was started without "
				 "--switch-output");
	if (s->memory.flight)
		return snapshot_on_command(s, request, err);
	rc = rotate_now(s, &s->command_error);
	if (rc)
		*err = s->command_error;
	if (!rc && !s->rotation.last)
		return error_set(err, -ENOENT,
				 "another program deleted or moved %s before it was complete; "
				 "ringtail has begun a new one",
				 s->opts->output.path);
	return rc ? rc : add_file(s, text);
}

static int run_command(struct session *s, struct control_command *command, struct buf *text,
		       struct error *err)
{
	command->snapshot.ticket = command->ticket;
	command->snapshot.what.origin = PD_SNAPSHOT_CONTROL;
	if (command->verb == CONTROL_SNAPSHOT)
		return snapshot_on_command(s, &command->snapshot, err);
	if (command->verb == CONTROL_ROTATE)
		return rotate_on_command(s, &command->snapshot, text, err);
	return session_control_run(&s->control, command, text, err);
}

/* Runs the commands that have come, and answers those that need not wait for a snapshot. */
static void take_commands(struct session *s)
{
	struct control_command command;

	session_control_read(&s->control);
	while (session_control_next(&s->control, &command)) {
		struct error err = ERROR_INIT;
		struct buf text = {0};
		int rc = run_command(s, &command, &text, &err);

		if (rc && rc != -EINPROGRESS && !err.code)
			error_sys(&err, rc, "cannot run the command");
		if (rc != -EINPROGRESS)
			session_control_answer(&s->control, command.ticket, &text, &err);
		buf_release(&text);
	}
}

/* --- requests ------------------------------------------------------------------------------------
 */

static int serve_requests(struct session *s, struct error *err)
{
	int rc;

	if (!snapshot_service_waits(&s->memory))
		return 0;
	/* on_stop() has emptied the descriptor of the end. */
	s->memory.snapshot.ends |= s->stop;
	rc = snapshot_service_serve(&s->memory, err);
	if (rc)
		return rc;
	/* Those that waited behind a command for a snapshot. */
	take_commands(s);
	check_size(s, session_at_max_size(s));
	check_state_again(s);
	s->stop |= s->control.stop;
	return 0;
}

static void answer_request(void *session, uint64_t ticket, struct buf *text,
			   const struct error *err)
{
	struct session *s = session;

	if (!err->code)
		add_file(s, text);
	session_control_answer(&s->control, ticket, text, err);
}

#define COMMANDS_AT_ONCE 64

static bool control_waits(const struct session *s)
{
	struct pollfd control = {.fd = session_control_fd(&s->control), .events = POLLIN};

	return poll(&control, 1, 0) > 0;
}

/* Ends the recording where --duration is over. */
static int on_limit(struct session *s)
{
	s->stop |= s->limit >= 0 && timer_rang(s->limit);
	return 0;
}

/* A large snapshot on a slow disk takes long; commands and --duration do not wait for its end. */
static void while_writing(void *session)
{
	struct session *s = session;

	crew_breathe(&s->crew);
	on_limit(s);
	s->memory.snapshot.ends |= s->stop;
	if (s->state != SESSION_RUNNING || session_control_fd(&s->control) < 0)
		return;
	/* Without -M a command to rotate would do so in the midst of the snapshot. */
	if (!s->memory.flight && s->opts->output.rotation.enabled)
		return;
	/* Each call accepts at most one client; a later call handles its commands. */
	for (int i = 0; i < COMMANDS_AT_ONCE && control_waits(s); i++)
		take_commands(s);
	s->stop |= s->control.stop;
	s->memory.snapshot.ends |= s->stop;
}

int session_open_memory(struct session *s, struct error *err)
{
	const struct snapshot_service_parts parts = {
		.opts = &s->opts->output,
		.messages = s->messages,
		.plan = s->plan,
		.opened = s->opened,
		.crew = &s->crew,
		.output = &s->output,
		.stop = s->host.stop,
		.rotate = rotate_output,
		.answer = answer_request,
		.meanwhile = while_writing,
		.arg = s,
	};

	return snapshot_service_open(&s->memory, &parts, err);
}

int session_revive(struct session *s, int cpu)
{
	int rc = revive_cpu(s->opened, s->plan, cpu, s->crew.renumber), watched;

	if (!rc) {
		session_budget_revived(&s->budget);
		revive_enable(s->opened, s->plan, cpu, s->control.running);
	}
	/* The caller tries again. */
	if (rc == -ENODEV)
		return rc;
	watched = session_triggers_revive(&s->triggers, cpu);
	if (watched)
		messages_say(
			s->messages, MESSAGE_WARNING,
			"CPU %d is online again, but ringtail cannot watch all triggers there: %s",
			cpu, strerror(-watched));
	return rc;
}

static void revive_due(struct session *s)
{
	int cpu;

	while (hotplug_due(&s->hotplug, &cpu))
		hotplug_revived(&s->hotplug, cpu, session_revive(s, cpu));
}

int session_open_hotplug(struct session *s, struct error *err)
{
	s->hotplug = (struct hotplug){.messages = s->messages, .fd = -1};
	if (hotplug_init(&s->hotplug, &s->opts->plan.target, s->plan))
		return error_set(err, -ENOMEM, "out of memory");
	if (!plan_has_cpu_events(s->plan))
		return 0;
	s->crew.renumber = s->renumber = renumber_new();
	return s->renumber ? 0 : error_set(err, -ENOMEM, "out of memory");
}

int session_start_control(struct session *s, struct error *err)
{
	const struct session_parts parts = {
		.plan = s->plan,
		.opened = s->opened,
		.output = &s->output,
		.rotation = &s->rotation,
		.budget = &s->budget,
		.flight = s->memory.flight,
		.triggers = s->triggers.asks,
		.threads = s->crew.nr,
		.hotplug = &s->hotplug,
		.aux = &s->crew.aux,
		.clock = &s->memory.clock,
	};

	return session_control_start(&s->control, &parts, err);
}

/* --- RUNNING -> DRAINING -------------------------------------------------------------------------
 */

static void ask_for_flush(struct session *s)
{
	s->flushing = true;
	crew_ask(&s->crew, WORKER_FLUSH);
}

static int on_tick(struct session *s, struct error *err)
{
	revive_due(s);
	hotplug_poll(&s->hotplug);
	revive_due(s);
	/* If the disk is slower than the timer, do not add a second flush to the first. */
	if (!timer_rang(s->tick) || s->flushing)
		return 0;
	ask_for_flush(s);
	return 0;
}

int session_rotate_full(struct session *s, struct error *err)
{
	int rc;

	s->rotation.full = true;
	rc = session_rotate(s, "size", err);
	s->rotation.full = false;
	return rc;
}

static int on_full(struct session *s, struct error *err)
{
	int rc;

	if (session_at_max_size(s)) {
		check_size(s, true);
		return 0;
	}
	rc = session_rotate_full(s, err);
	/* After the flush the sideband is settled, and the next rotation need not repeat it. */
	if (!rc && !s->memory.flight)
		ask_for_flush(s);
	return rc;
}

static int on_turn(struct session *s, struct error *err)
{
	return timer_rang(s->turn) ? session_rotate(s, "time", err) : 0;
}

static int on_report(struct session *s, struct error *err)
{
	struct worker_view crew = crew_view(&s->crew);
	int rc;

	/* crew_dismiss() gives the error itself. */
	if (crew.code)
		return error_set(err, crew.code, "a thread that reads rings has failed");
	if (s->plan->target == TARGET_TASKS && crew.hung_up)
		s->stop = true;
	if (crew.full && !s->stop)
		return on_full(s, err);
	if (!s->flushing || !crew.flushed)
		return 0;
	s->flushing = false;
	rotation_look(&s->rotation, &s->output);
	rc = session_settle(s, err);
	return rc ? rc : output_checkpoint(&s->output, err);
}

static int on_budget(struct session *s)
{
	session_budget_look(&s->budget);
	return 0;
}

static int on_service(struct session *s)
{
	struct control_figures figures = {0};
	struct service_news news = {
		.bytes = s->rotation.bytes + output_metered(&s->output),
		.flight = s->memory.flight,
		.snapshots = s->memory.snapshot.taken,
		.given_up = s->memory.given_up,
	};

	session_control_figures(&s->control, &figures);
	news.lost = figures.lost;
	service_status_tell(&s->service, &news);
	return 0;
}

static int on_hotplug(struct session *s)
{
	revive_due(s);
	return 0;
}

/* When a step of -D FROM-TO,… is due, ms after the start. */
static unsigned int span_time(const struct session *s, size_t step)
{
	const struct enabled_span *span = &s->opts->plan.spans[step / 2];

	return step % 2 ? span->to_ms : span->from_ms;
}

int session_next_span(struct session *s, struct error *err)
{
	size_t step = s->span_step++;
	int rc = session_control_switch(&s->control, step % 2 == 0, err);

	if (rc || s->span_step == 2 * s->opts->plan.nr_spans)
		return rc;
	rc = timer_set(s->delay, span_time(s, s->span_step) - span_time(s, step), false);
	return rc ? error_sys(err, rc, "timerfd") : 0;
}

static int on_delay(struct session *s, struct error *err)
{
	int rc;

	if (!timer_rang(s->delay))
		return 0;
	if (s->opts->plan.nr_spans)
		return session_next_span(s, err);
	session_control_enabled(&s->control);
	aux_areas_switch(&s->crew.aux, -1, true);
	rc = opened_enable(s->opened, s->plan, err);
	s->crew.aux.resumed = clock_now(&s->memory.clock);
	return rc;
}

static int on_control(struct session *s, struct error *err)
{
	take_commands(s);
	s->stop |= s->control.stop;
	if (s->command_error.code && err)
		*err = s->command_error;
	return s->command_error.code;
}

bool session_empty(int *fd)
{
	char bytes[128]; /* fits a struct signalfd_siginfo and an eventfd's counter */
	bool any = false;
	ssize_t n;

	if (*fd < 0)
		return false;
	while ((n = read(*fd, bytes, sizeof(bytes))) > 0)
		any = true;
	if (!n || (errno != EAGAIN && errno != EINTR))
		*fd = -1;
	return any;
}

/* Nobody is left to end the recording when the host has closed its end. */
static bool stop_asked(struct session *s)
{
	bool had = s->host.stop >= 0;

	return session_empty(&s->host.stop) || (had && s->host.stop < 0);
}

/*
 * The reader of a pipe may take nothing for a while; until the end is requested, the wait has no
 * limit.
 */
#define PATIENCE_MS 1000
/* timeout(1) sends a signal to the recorder and to its group: both are one. */
#define SAME_SIGNAL_MS 300

bool session_wait_for_pipe(void *session, uint64_t ms)
{
	struct session *s = session;
	struct pollfd stop = {.fd = s->host.stop, .events = POLLIN};
	bool end, asked;

	if (s->state < SESSION_RUNNING)
		return ms < PATIENCE_MS || poll(&stop, 1, 0) <= 0;
	while_writing(s);
	end = stop_asked(s);
	asked = session_empty(&s->host.request);
	if (end && s->slow_said)
		return false;
	s->stop |= end;
	if (asked && !s->stop && s->state == SESSION_RUNNING)
		snapshot_service_ask_for(&s->memory, PD_SNAPSHOT_SIGNAL, NULL);
	if (ms >= PATIENCE_MS && !s->slow_said && (s->stop || s->state != SESSION_RUNNING)) {
		s->slow_said = true;
		messages_say(s->messages, MESSAGE_WARNING,
			     "the output is slow: ringtail is still writing a snapshot; ^C ends "
			     "without the rest of it");
	}
	return true;
}

bool session_wait_for_names(void *session)
{
	struct session *s = session;
	uint64_t now = now_ms();
	bool asked = stop_asked(s);

	crew_breathe(&s->crew);
	on_limit(s);
	s->stop |= asked;
	if (!s->hurry_ms && (s->stop || s->ended))
		s->hurry_ms = now;
	else if (asked)
		s->hurry |= now >= s->hurry_ms + SAME_SIGNAL_MS;
	if (s->hurry || s->ended || !s->stop)
		return !s->hurry;
	return now < s->hurry_ms + PATIENCE_MS;
}

static int on_stop(struct session *s)
{
	s->stop |= stop_asked(s);
	return 0;
}

/* A request for a snapshot counts even if the end was requested with it. */
static int on_request(struct session *s, struct error *err)
{
	bool asked = session_empty(&s->host.request);

	if (asked && snapshot_service_there(&s->memory))
		snapshot_service_ask_for(&s->memory, PD_SNAPSHOT_SIGNAL, NULL);
	if (!asked || s->stop || snapshot_service_there(&s->memory))
		return 0;
	if (s->opts->output.rotation.enabled)
		return rotate_now(s, err);
	messages_say(s->messages, MESSAGE_WARNING,
		     "SIGUSR2 does nothing without --switch-output, -M or -S");
	return 0;
}

/* The command has ended. */
static int on_end(struct session *s)
{
	workload_ended(&s->workload);
	s->stop = true;
	return 0;
}

/* Queues the requests of triggers. */
static void queue_snapshots(struct session *s)
{
	const struct snapshot_request *request;

	while ((request = trigger_set_take(s->triggers.asks)))
		if (snapshot_service_ask(&s->memory, request, NULL) != -EINPROGRESS)
			trigger_set_refused(s->triggers.asks);
}

/* Several events that wait make one rotation. */
static int take_triggers(struct session *s, struct error *err)
{
	struct event_watch_news news;
	const char *event;

	session_triggers_take_rotations(&s->triggers, &news);
	queue_snapshots(s);
	if (!news.fired)
		return 0;
	event = news.known ? event_watch_event_name(s->triggers.rotations, news.hit.event) : NULL;
	if (event)
		messages_say(s->messages, MESSAGE_DETAIL, "%s on CPU %u: the output is rotated",
			     event, news.hit.cpu);
	return session_rotate(s, event, err);
}

/* A trigger that fired at the end, or that waits for after=, gets its snapshot, too. */
static int finish_triggers(struct session *s, struct error *err)
{
	session_triggers_finish(&s->triggers);
	queue_snapshots(s);
	return serve_requests(s, err);
}

/*
 * The sources of the loop, in the order in which one turn handles them. The end comes before a
 * request, so that a request that came before it is handled in the same turn.
 */
enum session_source {
	SOURCE_REPORT,
	SOURCE_TICK,
	SOURCE_DELAY,
	SOURCE_LIMIT,
	SOURCE_BUDGET,
	SOURCE_SERVICE,
	SOURCE_CONTROL,
	SOURCE_STOP,
	SOURCE_REQUEST,
	SOURCE_TURN,
	SOURCE_HOTPLUG,
	SOURCE_COMMAND,
	SOURCES
};

/* The descriptor of a source now; -1: none. */
static int source_fd(const struct session *s, enum session_source source)
{
	switch (source) {
	case SOURCE_REPORT: return s->crew.report;
	case SOURCE_TICK: return s->tick;
	case SOURCE_DELAY: return s->delay;
	case SOURCE_LIMIT: return s->limit;
	case SOURCE_BUDGET: return session_budget_fd(&s->budget);
	case SOURCE_SERVICE: return service_status_fd(&s->service);
	case SOURCE_CONTROL: return session_control_fd(&s->control);
	case SOURCE_STOP: return s->host.stop;
	case SOURCE_REQUEST: return s->host.request;
	case SOURCE_TURN: return s->turn;
	case SOURCE_HOTPLUG: return hotplug_fd(&s->hotplug);
	case SOURCE_COMMAND: return s->workload.pid ? s->workload.ended_fd : -1;
	case SOURCES: break;
	}
	return -1;
}

/* A source has something. Returns 0 or a negative errno with @err filled. */
static int source_handle(struct session *s, enum session_source source, struct error *err)
{
	switch (source) {
	case SOURCE_REPORT: return on_report(s, err);
	case SOURCE_TICK: return on_tick(s, err);
	case SOURCE_DELAY: return on_delay(s, err);
	case SOURCE_LIMIT: return on_limit(s);
	case SOURCE_BUDGET: return on_budget(s);
	case SOURCE_SERVICE: return on_service(s);
	case SOURCE_CONTROL: return on_control(s, err);
	case SOURCE_STOP: return on_stop(s);
	case SOURCE_REQUEST: return on_request(s, err);
	case SOURCE_TURN: return on_turn(s, err);
	case SOURCE_HOTPLUG: return on_hotplug(s);
	case SOURCE_COMMAND: return on_end(s);
	case SOURCES: break;
	}
	return 0;
}

/* Waits for the sources, the entries of @polled before those of the triggers. */
static int wait_for_sources(const struct session *s, struct pollfd *polled, struct error *err)
{
	for (enum session_source i = 0; i < SOURCES; i++)
		polled[i] = (struct pollfd){.fd = source_fd(s, i), .events = POLLIN};
	if (session_triggers_poll(&s->triggers, polled, SOURCES,
				  !snapshot_service_waits(&s->memory)) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : error_sys(err, -errno, "poll");
}

static int handle_sources(struct session *s, const struct pollfd *polled, struct error *err)
{
	int rc = take_triggers(s, err);

	for (enum session_source i = 0; !rc && i < SOURCES; i++)
		if (polled[i].revents)
			rc = source_handle(s, i, err);
	return rc ? rc : serve_requests(s, err);
}

int session_loop(struct session *s, struct error *err)
{
	size_t nr = SOURCES + session_triggers_descriptors(&s->triggers);
	struct pollfd *polled = calloc(nr, sizeof(*polled));
	int rc = 0;

	if (!polled)
		return error_set(err, -ENOMEM, "out of memory");
	session_triggers_watch(&s->triggers, polled + SOURCES);
	while (!rc && !s->stop) {
		rc = wait_for_sources(s, polled, err);
		if (!rc)
			rc = handle_sources(s, polled, err);
		else if (rc == -EINTR)
			rc = 0;
	}
	if (!rc)
		rc = finish_triggers(s, err);
	free(polled);
	return rc;
}
