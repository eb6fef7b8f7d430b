// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/plural.h"
#include "record/crew.h"
#include "record/output.h"
#include "record/rotation.h"
#include "record/session_control.h"
#include "record/synthesize.h"
#include "record/workload.h"

/* How long a command that we end may take to do so. */
#define COMMAND_WAIT_MS 1000

/* Of the recorder while it runs. */
#define NICE (-15)

struct session {
	enum session_state state;
	const struct record_opts *opts;
	const struct notes *notes;
	struct limits limits;
	struct plan *plan;
	struct opened *opened;
	struct output output;
	struct crew crew;
	struct rotation rotation;
	struct session_control control;
	struct workload workload;
	sigset_t mask_before;
	int signals, tick, delay, turn; /* descriptors; -1: none */
	struct timespec began, ended;
	bool stop, raised;
	struct error rotate_error; /* what a command to rotate has failed by */
	bool misused;		   /* what was asked for cannot be meant */
	bool flushing;		   /* the crew was asked to, and an answer is due */
	int nice_before;
	uint64_t saved, unsaved; /* samples of a session that failed: in the last output, or not */
};

/* What a session stops for, or rotates its output for (SIGUSR2), and what it takes as an error of
 * writing (SIGPIPE, SIGXFSZ). */
static sigset_t session_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP); /* of a terminal that closes; not of nohup, which ignores it */
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGPIPE);
	sigaddset(&mask, SIGXFSZ);
	return mask;
}

/* One who presses ^C twice wants the recording to end, not the file to be left as it is. */
static void forget_signals(void)
{
	sigset_t mask = session_signals();
	const struct timespec none = {0};

	while (sigtimedwait(&mask, NULL, &none) > 0)
		;
}

int session_new(const struct record_opts *opts, const struct notes *notes, struct session **ret,
		struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));
	sigset_t mask = session_signals();

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->opts = opts;
	s->notes = notes;
	s->signals = s->tick = s->delay = s->turn = s->crew.report = -1;
	pthread_sigmask(SIG_BLOCK, &mask, &s->mask_before);
	*ret = s;
	return 0;
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
	crew_release(&s->crew);
	output_release(&s->output);
	rotation_release(&s->rotation);
	opened_close(s->opened);
	plan_free(s->plan);
	close_fd(s->turn);
	close_fd(s->delay);
	close_fd(s->tick);
	close_fd(s->signals);
	if (s->raised)
		setpriority(PRIO_PROCESS, 0, s->nice_before);
	forget_signals();
	pthread_sigmask(SIG_SETMASK, &s->mask_before, NULL);
	free(s);
}

/* --- NEW -> PLANNED ------------------------------------------------------------------------------
 */

static int session_plan(struct session *s, struct error *err)
{
	int code;

	code = session_control_init(&s->control, s->opts, s->notes, err);
	if (!code && s->opts->command)
		code = workload_find(s->opts->command[0], err);
	if (code)
		return code;
	limits_read(&s->limits);
	code = plan_new(s->opts, &s->limits, s->notes, &s->plan, err);
	if (!code) {
		code = crew_plan(&s->crew, s->opts, s->plan, s->notes, err);
		s->misused = code == -EINVAL;
	}
	if (code || !s->opts->command)
		return code;
	code = workload_prepare(&s->workload, s->opts->command, &s->mask_before,
				!strcmp(s->opts->output, "-"), err);
	if (!code && plan_set_command(s->plan, s->workload.pid))
		code = error_set(err, -ENOMEM, "out of memory");
	return code;
}

/* --- PLANNED -> OPENED ---------------------------------------------------------------------------
 */

static void note_writing(const struct session *s, const struct writer *writer)
{
	const struct aio *aio = writer_aio(writer);
	int refused = aio ? aio_uring_refused(aio) : 0;

	if (aio)
		notes_say(
			s->notes, NOTE_DETAIL,
			"asynchronous output by %s%s%s%s: up to %u writes of %zu KB in flight for "
			"each file",
			aio_engine_name(aio), refused ? " (io_uring: " : "",
			refused ? strerror(-refused) : "", refused ? ")" : "", s->opts->aio,
			WRITER_BUFFER_SIZE / 1024);
}

static void note_memory(const struct session *s)
{
	const struct lane *lane = output_lane(&s->output, 0);
	uint64_t want = s->opts->ring_size ? s->opts->ring_size : RECORD_RING_SIZE;
	uint64_t size = s->plan->ring_size;

	if (size < want)
		notes_say(
			s->notes, NOTE_INFO,
			"%zu ring%s of %llu KB instead of %llu KB: what may be locked (%s) allows "
			"no more",
			s->opened->nr_places, plural_s(s->opened->nr_places),
			(unsigned long long)size / 1024, (unsigned long long)want / 1024,
			s->limits.ipc_lock ? "1/64 of memory"
					   : "kernel.perf_event_mlock_kb, 'ulimit -l'");
	notes_say(s->notes, NOTE_DETAIL,
		  "%zu event%s, %zu descriptors; %zu ring%s of %llu KB for samples and %llu KB for "
		  "sideband, buffers of %zu KB",
		  s->plan->nr, plural_s(s->plan->nr), s->opened->nr_fds, s->opened->nr_places,
		  plural_s(s->opened->nr_places), (unsigned long long)size / 1024,
		  (unsigned long long)s->plan->sideband_size / 1024,
		  crew_buffer_bytes(&s->crew) / 1024);
	if (lane->compress)
		notes_say(s->notes, NOTE_DETAIL, "compression at level %d in %llu KB",
			  s->opts->compression_level,
			  (unsigned long long)compress_stats(lane->compress)->memory / 1024 *
				  s->crew.nr);
	note_writing(s, lane->writer);
	crew_say_plan(&s->crew, s->opened, s->notes);
}

static int session_open(struct session *s, struct error *err)
{
	int code = open_plan(s->plan, &s->limits, s->notes, &s->opened, err);

	if (!code)
		code = rotation_init(&s->rotation, s->opts, s->plan, s->notes, err);
	if (!code)
		code = output_create(&s->output, s->opts, s->plan, s->opened, s->crew.nr, -1, err);
	if (!code)
		code = crew_hire(&s->crew, s->plan, s->opened, &s->output, err);
	if (!code)
		note_memory(s);
	return code;
}

/* --- OPENED -> RUNNING ---------------------------------------------------------------------------
 */

/* Every @ms from now on, or once after @ms. Returns 0 or a negative errno. */
static int set_timer(int fd, uint64_t ms, bool again)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
	};

	if (again)
		when.it_interval = when.it_value;
	return timerfd_settime(fd, 0, &when, NULL) ? -errno : 0;
}

static int make_timer(uint64_t ms, bool again, int *ret, struct error *err)
{
	int code;

	*ret = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	code = *ret < 0 ? -errno : set_timer(*ret, ms, again);
	return code ? error_sys(err, code, "timerfd") : 0;
}

static int make_watches(struct session *s, struct error *err)
{
	sigset_t mask = session_signals();
	int code;

	sigdelset(&mask, SIGPIPE);
	sigdelset(&mask, SIGXFSZ);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return error_sys(err, -errno, "signalfd");
	code = make_timer(s->opts->flush_ms ? s->opts->flush_ms : RECORD_FLUSH_MS, true, &s->tick,
			  err);
	if (!code && s->opts->switch_seconds)
		code = make_timer(s->opts->switch_seconds * 1000, true, &s->turn, err);
	return code;
}

struct emit_to {
	struct sink *sink;
	struct error *err;
};

static int emit_record(const struct perf_event_header *hdr, void *arg)
{
	struct emit_to *to = arg;

	return sink_record(to->sink, hdr, to->err);
}

/* The processes whose tasks are recorded, each once. */
static int session_processes(const struct session *s, struct tasks *ret, struct error *err)
{
	for (size_t i = 0; i < s->plan->tasks.nr; i++) {
		pid_t pid = task_process(s->plan->tasks.ids[i]);
		bool known = pid < 0;

		for (size_t k = 0; !known && k < ret->nr; k++)
			known = ret->ids[k] == pid;
		if (known)
			continue;
		if (array_grow(&ret->ids, &ret->capacity, ret->nr + 1, sizeof(*ret->ids)))
			return error_set(err, -ENOMEM, "out of memory");
		ret->ids[ret->nr++] = pid;
	}
	return 0;
}

/* What was there before: the output's first records. */
static int write_before(struct session *s, struct error *err)
{
	struct emit_to to = {s->output.lanes[0].chain, err};
	struct tasks processes = {0};
	struct synth_stats stats = {0};
	int code = session_processes(s, &processes, err);
	struct synth_opts opts = {
		.id_size = pd_attr_id_trailer_size(&s->plan->events[0].attr),
		.all = s->plan->target == TARGET_CPUS,
		.pids = processes.ids,
		.nr_pids = processes.nr,
		.kernel = true,
		.data_maps = s->opts->sample_address,
		.build_ids = true,
		.namespaces = s->limits.perfmon,
		.cgroups = s->limits.perfmon,
	};

	output_listen(&s->output, s->rotation.sideband);
	if (!code)
		code = synthesize(&opts, emit_record, &to, &stats, err);
	if (!code)
		code = rotation_settle(&s->rotation, err);
	tasks_release(&processes);
	notes_say(s->notes, NOTE_DETAIL, "%llu task%s and %llu map%s were there before",
		  (unsigned long long)stats.tasks, plural_s(stats.tasks),
		  (unsigned long long)stats.maps, plural_s(stats.maps));
	if (stats.denied)
		notes_say(s->notes, NOTE_INFO,
			  "the maps of %llu process%s (%d%s) may not be read: what was mapped "
			  "before is not known",
			  (unsigned long long)stats.denied, plural_es(stats.denied),
			  stats.first_denied, stats.denied > 1 ? ", …" : "");
	return code;
}

/*
 * The load that is recorded competes for the CPUs with us, and wins by its number: where that is
 * allowed, we go first. The command was forked before and keeps its own priority.
 */
static void raise_priority(struct session *s)
{
	errno = 0;
	s->nice_before = getpriority(PRIO_PROCESS, 0);
	s->raised = !errno && s->nice_before > NICE && !setpriority(PRIO_PROCESS, 0, NICE);
}

/* --- RUNNING <-> ROTATING ------------------------------------------------------------------------
 */

static int session_rotate(struct session *s, struct error *err)
{
	enum rotation_stage stage;
	int code;

	s->state = SESSION_ROTATING;
	code = rotation_cut(&s->rotation, &s->crew, &s->output, s->plan, s->opened, &stage, err);
	if (code)
		return code;
	s->state = SESSION_RUNNING;
	/* A flush that was under way has been made by the cut. */
	s->flushing = false;
	if (s->turn >= 0)
		set_timer(s->turn, s->opts->switch_seconds * 1000, true);
	/* Notices that came meanwhile were taken for the cut's. */
	if (s->plan->target == TARGET_TASKS && crew_view(&s->crew).hung_up)
		s->stop = true;
	return 0;
}

static int on_command_to_rotate(void *arg, struct error *err)
{
	struct session *s = arg;
	int code = session_rotate(s, &s->rotate_error);

	if (code && err)
		*err = s->rotate_error;
	return code;
}

static int start_control(struct session *s, struct error *err)
{
	const struct session_parts parts = {
		.plan = s->plan,
		.opened = s->opened,
		.output = &s->output,
		.rotation = &s->rotation,
		.rotate = on_command_to_rotate,
		.rotate_arg = s,
		.threads = s->crew.nr,
	};

	return session_control_start(&s->control, &parts, err);
}

/* A command's events are enabled by its exec, a delayed recording's by the timer. */
static int start_events(struct session *s, struct error *err)
{
	if (s->opts->start_disabled) {
		notes_say(s->notes, NOTE_INFO, "events are disabled until the command 'enable'");
		return 0;
	}
	if (s->opts->delay_ms)
		return make_timer(s->opts->delay_ms, false, &s->delay, err);
	session_control_enabled(&s->control);
	return s->plan->target == TARGET_COMMAND ? 0 : opened_enable(s->opened, s->plan, err);
}

static int session_start(struct session *s, struct error *err)
{
	int code = make_watches(s, err);

	raise_priority(s);
	if (!code)
		code = write_before(s, err);
	if (!code)
		code = lane_flush(&s->output.lanes[0], err);
	rotation_watch(&s->rotation, &s->output);
	if (!code)
		code = crew_start(&s->crew, err);
	if (code)
		return code;
	clock_gettime(CLOCK_MONOTONIC, &s->began);
	code = start_control(s, err);
	if (!code)
		code = start_events(s, err);
	if (!code && s->workload.pid)
		code = workload_start(&s->workload, s->opts->command[0], err);
	return code;
}

/* --- RUNNING -> DRAINING -------------------------------------------------------------------------
 */

static int on_tick(struct session *s, struct error *err)
{
	uint64_t times;

	/* A disk that is slower than the timer gets no second flush on top of the first. */
	if (read(s->tick, &times, sizeof(times)) < 0 || s->flushing)
		return 0;
	s->flushing = true;
	crew_ask(&s->crew, WORKER_FLUSH);
	return 0;
}

static int on_full(struct session *s, struct error *err)
{
	if (!s->opts->max_size || output_metered(&s->output) < s->opts->max_size)
		return session_rotate(s, err);
	notes_say(s->notes, NOTE_INFO, "the output has reached its size (--max-size)");
	s->stop = true;
	return 0;
}

static int on_turn(struct session *s, struct error *err)
{
	uint64_t times;

	return read(s->turn, &times, sizeof(times)) < 0 ? 0 : session_rotate(s, err);
}

static int on_report(struct session *s, struct error *err)
{
	struct worker_view crew = crew_view(&s->crew);
	int code;

	/* Which error it was is told by crew_dismiss(). */
	if (crew.code)
		return error_set(err, crew.code, "a thread that reads rings has failed");
	if (s->plan->target == TARGET_TASKS && crew.hung_up)
		s->stop = true;
	if (crew.full && !s->stop)
		return on_full(s, err);
	if (!s->flushing || !crew.flushed)
		return 0;
	s->flushing = false;
	code = rotation_settle(&s->rotation, err);
	return code ? code : output_checkpoint(&s->output, err);
}

static int on_delay(struct session *s, struct error *err)
{
	uint64_t times;

	if (read(s->delay, &times, sizeof(times)) < 0)
		return 0;
	session_control_enabled(&s->control);
	return opened_enable(s->opened, s->plan, err);
}

static int on_control(struct session *s, struct error *err)
{
	session_control_dispatch(&s->control);
	s->stop |= s->control.stop;
	if (s->rotate_error.code && err)
		*err = s->rotate_error;
	return s->rotate_error.code;
}

static int on_signal(struct session *s, struct error *err)
{
	struct signalfd_siginfo info;
	bool rotate = false;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2)
			rotate = true;
		else
			s->stop = true;
	}
	if (!rotate || s->stop)
		return 0;
	if (s->opts->switch_output)
		return session_rotate(s, err);
	notes_say(s->notes, NOTE_WARNING, "SIGUSR2 does nothing without --switch-output");
	return 0;
}

/* The end of the command. */
static int on_end(struct session *s, struct error *err)
{
	workload_ended(&s->workload);
	s->stop = true;
	return 0;
}

static int session_loop(struct session *s, struct error *err)
{
	const struct {
		int fd;
		int (*then)(struct session *s, struct error *err);
	} watches[] = {
		{s->crew.report, on_report},
		{s->tick, on_tick},
		{s->delay, on_delay},
		{session_control_fd(&s->control), on_control},
		{s->signals, on_signal},
		{s->turn, on_turn},
		{s->workload.pid ? s->workload.ended_fd : -1, on_end},
	};
	enum { WATCHES = sizeof(watches) / sizeof(watches[0]) };
	struct pollfd polled[WATCHES];
	int code = 0;

	for (size_t i = 0; i < WATCHES; i++)
		polled[i] = (struct pollfd){.fd = watches[i].fd, .events = POLLIN};
	while (!code && !s->stop) {
		if (poll(polled, WATCHES, -1) < 0 && errno != EINTR)
			return error_sys(err, -errno, "poll");
		for (size_t i = 0; !code && i < WATCHES; i++)
			if (polled[i].revents)
				code = watches[i].then(s, err);
	}
	return code;
}

/* --- DRAINING -> FINALIZED -----------------------------------------------------------------------
 */

static int session_finish(struct session *s, struct error *err)
{
	struct compress_stats compression;
	int code;

	clock_gettime(CLOCK_MONOTONIC, &s->ended);
	opened_disable(s->opened);
	code = crew_dismiss(&s->crew, err);
	if (!code)
		code = rotation_end(&s->rotation, &s->output, s->plan, s->opened, err);
	crew_say_done(&s->crew, &s->output, s->notes);
	if (output_compression(&s->output, &compression))
		compress_say(&compression, s->notes);
	if (s->workload.pid && !workload_stop(&s->workload, COMMAND_WAIT_MS))
		notes_say(s->notes, NOTE_WARNING,
			  "the command (pid %d) does not end at SIGTERM and is left "
			  "running",
			  s->workload.pid);
	return code;
}

/* --- all of it -----------------------------------------------------------------------------------
 */

/* The step that leaves each state, and the state that it leads to. */
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
	int code = steps[s->state].make(s, err);

	s->state = code ? SESSION_FAILED : steps[s->state].to;
	return code;
}

/* After an error: whatever the disk still takes. What made a worker fail is the better reason. */
static void save_the_rest(struct session *s, int code, struct error *err)
{
	int worker_code;

	if (s->opened)
		opened_disable(s->opened);
	worker_code = crew_dismiss(&s->crew, err);
	if (!s->output.lanes || !s->output.lanes[0].chain)
		return;
	lane_save(&s->output.lanes[0], worker_code ? worker_code : code);
	output_checkpoint(&s->output, NULL);
	for (size_t i = 0; i < s->output.nr; i++) {
		const struct lane *lane = &s->output.lanes[i];
		uint64_t flushed = lane_view(lane).samples;

		s->saved += flushed;
		s->unsaved += tally_get(lane->chain)->samples - flushed;
	}
	if (s->began.tv_sec && !s->ended.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &s->ended);
}

int session_record(struct session *s, struct error *err)
{
	int code = 0;

	while (!code && s->state != SESSION_FINALIZED)
		code = session_step(s, err);
	if (code)
		save_the_rest(s, code, err);
	if (code && s->workload.pid && s->workload.go < 0)
		workload_stop(&s->workload, COMMAND_WAIT_MS);
	return code;
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

void session_result(struct session *s, struct session_result *ret)
{
	*ret = (struct session_result){
		.samples = s->rotation.samples + s->saved,
		.unsaved = s->unsaved,
		.bytes = s->rotation.bytes,
		.outputs = s->rotation.outputs,
		.path = s->rotation.last ? s->rotation.last : s->opts->output,
		.misused = s->misused,
		.seconds = (double)(s->ended.tv_sec - s->began.tv_sec) +
			   (double)(s->ended.tv_nsec - s->began.tv_nsec) / 1e9,
		.loss = &s->rotation.loss,
		.command_status = workload_exit_status(&s->workload),
	};
}

const char *session_event_name(const struct session *s, unsigned int index)
{
	if (!s->plan || index >= s->plan->nr)
		return "?";
	return s->plan->events[index].dummy ? "maps, names and forks" : s->plan->events[index].name;
}

uint64_t session_ring_size(const struct session *s)
{
	return s->plan ? s->plan->ring_size : 0;
}
