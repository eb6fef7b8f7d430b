// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/plural.h"
#include "record/output.h"
#include "record/reader.h"
#include "record/synthesize.h"
#include "record/workload.h"

/* Bytes taken after which all rings are visited, so that readers can sort in little memory. */
#define ROUND_BYTES (8u << 20)

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
	struct chunk_pool *pool;
	struct reader *reader;
	struct workload workload;
	sigset_t mask_before;
	int signals, tick, delay; /* descriptors; -1: none */
	uint64_t since_round;	  /* bytes */
	struct timespec began, ended;
	bool stop, raised;
	int nice_before;
	uint64_t saved; /* samples in the output of a session that failed */
};

/* What a session stops for, and what it takes as an error of writing (SIGPIPE, SIGXFSZ). */
static sigset_t session_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
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
	s->signals = s->tick = s->delay = -1;
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
	reader_free(s->reader);
	output_release(&s->output);
	chunk_pool_free(s->pool);
	opened_close(s->opened);
	plan_free(s->plan);
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

	code = s->opts->command ? workload_find(s->opts->command[0], err) : 0;
	if (code)
		return code;
	limits_read(&s->limits);
	code = plan_new(s->opts, &s->limits, s->notes, &s->plan, err);
	if (code || !s->opts->command)
		return code;
	code = workload_prepare(&s->workload, s->opts->command, &s->mask_before, err);
	if (!code && plan_set_command(s->plan, s->workload.pid))
		code = error_set(err, -ENOMEM, "out of memory");
	return code;
}

/* --- PLANNED -> OPENED ---------------------------------------------------------------------------
 */

/* Chunks of 1 MB for half of what all rings hold: 4 to 64 of them. */
static int make_pool(struct session *s, struct error *err)
{
	size_t bytes = 1u << 20;
	size_t count = s->opened->nr_places * s->plan->ring_size / 2 / bytes;

	count = count < 4 ? 4 : count > 64 ? 64 : count;
	s->pool = chunk_pool_new(count, bytes);
	return s->pool ? 0 : error_set(err, -ENOMEM, "no memory for a pool of %zu MB", count);
}

static int make_reader(struct session *s, struct error *err)
{
	int code = reader_new(s->pool, s->output.chain, true, &s->reader, err);

	for (unsigned int i = 0; !code && i < s->opened->nr_rings; i++) {
		const struct open_ring *ring = &s->opened->rings[i];
		const struct reader_source source = {
			.memory = ring->memory,
			.page_size = s->limits.page_size,
			.data_size = ring->data_size,
			.ring = i,
			.cpu = ring->cpu,
			.fds = ring->fds,
			.nr_fds = ring->nr_fds,
		};

		if (ring->memory)
			code = reader_add(s->reader, &source, err);
	}
	return code;
}

static void note_memory(const struct session *s)
{
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
		  "sideband, a pool of %zu KB",
		  s->plan->nr, plural_s(s->plan->nr), s->opened->nr_fds, s->opened->nr_places,
		  plural_s(s->opened->nr_places), (unsigned long long)size / 1024,
		  (unsigned long long)s->plan->sideband_size / 1024,
		  chunk_pool_bytes(s->pool) / 1024);
}

static int session_open(struct session *s, struct error *err)
{
	int code = open_plan(s->plan, &s->limits, s->notes, &s->opened, err);

	if (!code)
		code = output_create(&s->output, s->opts, s->plan, s->opened, err);
	if (!code)
		code = make_pool(s, err);
	if (!code)
		code = make_reader(s, err);
	if (!code)
		note_memory(s);
	return code;
}

/* --- OPENED -> RUNNING ---------------------------------------------------------------------------
 */

/* A timer that is watched: every @ms, or once after @ms. */
static int make_timer(struct session *s, unsigned int ms, bool again, int *ret, struct error *err)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000},
	};

	if (again)
		when.it_interval = when.it_value;
	*ret = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*ret < 0 || timerfd_settime(*ret, 0, &when, NULL) < 0)
		return error_sys(err, -errno, "timerfd");
	return reader_watch(s->reader, *ret, err);
}

static int make_watches(struct session *s, struct error *err)
{
	sigset_t mask;
	int code;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return error_sys(err, -errno, "signalfd");
	code = reader_watch(s->reader, s->signals, err);
	if (!code && s->workload.pid)
		code = reader_watch(s->reader, s->workload.ended_fd, err);
	if (!code)
		code = make_timer(s, s->opts->flush_ms ? s->opts->flush_ms : RECORD_FLUSH_MS, true,
				  &s->tick, err);
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
	struct emit_to to = {s->output.chain, err};
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

	if (!code)
		code = synthesize(&opts, emit_record, &to, &stats, err);
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

static int session_start(struct session *s, struct error *err)
{
	int code = make_watches(s, err);

	raise_priority(s);
	if (!code)
		code = write_before(s, err);
	if (!code)
		code = sink_flush(s->output.chain, err);
	if (code)
		return code;
	clock_gettime(CLOCK_MONOTONIC, &s->began);
	/* A command's events are enabled by its exec, a delayed recording's by the timer. */
	if (s->opts->delay_ms)
		code = make_timer(s, s->opts->delay_ms, false, &s->delay, err);
	else if (s->plan->target != TARGET_COMMAND)
		code = opened_enable(s->opened, s->plan, err);
	if (!code && s->workload.pid)
		code = workload_start(&s->workload, s->opts->command[0], err);
	return code;
}

/* --- RUNNING -> DRAINING -------------------------------------------------------------------------
 */

static int take_all(struct session *s, uint64_t *ret_bytes, struct error *err)
{
	s->since_round = 0;
	return reader_pass_all(s->reader, ret_bytes, err);
}

static int on_rings(struct session *s, struct error *err)
{
	uint64_t bytes = 0;
	int code = reader_pass_ready(s->reader, &bytes, err);

	s->since_round += bytes;
	if (!code && s->since_round > ROUND_BYTES)
		code = take_all(s, NULL, err);
	if (s->plan->target == TARGET_TASKS && reader_hung_up(s->reader))
		s->stop = true;
	return code;
}

static int on_tick(struct session *s, struct error *err)
{
	uint64_t times;
	int code;

	if (read(s->tick, &times, sizeof(times)) < 0)
		return 0;
	code = take_all(s, NULL, err);
	return code ? code : sink_flush(s->output.chain, err);
}

static int on_delay(struct session *s, struct error *err)
{
	uint64_t times;

	if (read(s->delay, &times, sizeof(times)) < 0)
		return 0;
	return opened_enable(s->opened, s->plan, err);
}

static int on_event(struct session *s, int fd, struct error *err)
{
	if (fd == s->tick)
		return on_tick(s, err);
	if (fd == s->delay)
		return on_delay(s, err);
	if (fd == s->workload.ended_fd)
		workload_ended(&s->workload);
	s->stop = true; /* a signal, or the end of the command */
	return 0;
}

static int session_loop(struct session *s, struct error *err)
{
	int fds[8], n, code = 0;

	while (!code && !s->stop) {
		n = reader_wait(s->reader, fds, 8, err);
		if (n < 0)
			return n;
		code = on_rings(s, err);
		for (int i = 0; !code && i < n; i++)
			code = on_event(s, fds[i], err);
	}
	return code;
}

/* --- DRAINING -> FINALIZED -----------------------------------------------------------------------
 */

static int session_finish(struct session *s, struct error *err)
{
	uint64_t bytes = 0;
	int code;

	clock_gettime(CLOCK_MONOTONIC, &s->ended);
	opened_disable(s->opened);
	do {
		code = take_all(s, &bytes, err);
	} while (!code && bytes);
	if (!code)
		code = output_finish(&s->output, s->plan, s->opened, err);
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

int session_record(struct session *s, struct error *err)
{
	int code = 0;

	while (!code && s->state != SESSION_FINALIZED)
		code = session_step(s, err);
	if (code && s->output.chain)
		s->saved = output_save(&s->output, code);
	if (code && s->began.tv_sec && !s->ended.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &s->ended);
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
	const struct tally *t = s->output.chain ? output_tally(&s->output) : NULL;
	uint64_t samples = s->state == SESSION_FAILED ? s->saved : t ? t->samples : 0;

	*ret = (struct session_result){
		.samples = samples,
		.unsaved = t ? t->samples - samples : 0,
		.bytes = s->output.writer ? writer_size(s->output.writer) : 0,
		.seconds = (double)(s->ended.tv_sec - s->began.tv_sec) +
			   (double)(s->ended.tv_nsec - s->began.tv_nsec) / 1e9,
		.loss = &s->output.loss,
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
