// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-values.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/cmd-record-sample.h"
#include "cli/input/input.h"
#include "record/pipeline/compress.h"
#include "record/control/control_command.h"
#include "record/trigger/request.h"
#include "sys/io/aio.h"

#define FLUSH_MS_MAX 3600000u /* an hour */

#define usage(state, ...) usage_error(state, __VA_ARGS__)

void record_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain_at(LOG_ERR, fmt, ap);
	va_end(ap);
	exit(EXIT_ERROR);
}

uint64_t record_number(struct argp_state *state, const char *option, const char *arg, uint64_t min,
		       uint64_t max)
{
	uint64_t n = 0;

	if (parse_u64(arg, &n) || n < min || n > max)
		usage(state, "%s: '%s' is no number from %llu to %llu", option, arg,
		      (unsigned long long)min, (unsigned long long)max);
	return n;
}

/* "1%", "0.5" or "250%", above 0. */
static double percent(struct argp_state *state, const char *option, const char *arg)
{
	char *end;
	double value = strtod(arg, &end);

	if (end == arg || isspace((unsigned char)*arg) || strcmp(end + (*end == '%'), "") ||
	    !(value > 0 && value <= 1e6))
		usage(state, "%s: '%s' is no percentage of a CPU, such as 1%% or 0.5%%", option,
		      arg);
	return value / 100;
}

static void set_frequency(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	opts->plan.sample.frequency_max = !strcmp(arg, "max");
	if (opts->plan.sample.frequency_max)
		return;
	if (parse_u64(arg, &opts->plan.sample.frequency) || !opts->plan.sample.frequency ||
	    opts->plan.sample.frequency > UINT32_MAX)
		usage(state, "-F: '%s' is neither a number of Hz from 1 to %u, nor 'max'", arg,
		      UINT32_MAX);
}

static void set_count(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	opts->plan.sample.period = record_number(state, "-c", arg, 1, INT64_MAX);
}

static void set_cpus(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	struct error err = ERROR_INIT;

	cpus_release(&opts->plan.target.cpus);
	if (cpus_parse(arg, &opts->plan.target.cpus, &err))
		usage(state, "-C: %s", err.text);
}

static int add_process(struct record_opts *opts, pid_t pid, struct error *err)
{
	int rc = tasks_add_threads(&opts->plan.target.tasks, pid, err);

	return rc ? rc : tasks_add_thread(&opts->plan.target.processes, pid, err);
}

static int add_thread(struct record_opts *opts, pid_t tid, struct error *err)
{
	return tasks_add_thread(&opts->plan.target.tasks, tid, err);
}

/* Calls @add for each entry of a comma list. */
static void add_tasks(struct argp_state *state, struct record_opts *opts, const char *option,
		      const char *arg, int (*add)(struct record_opts *, pid_t, struct error *))
{
	char *copy = strdup(arg), *rest = copy, *one;
	struct error err = ERROR_INIT;

	while (copy && (one = strsep(&rest, ","))) {
		uint64_t id = record_number(state, option, one, 1, INT_MAX);

		if (add(opts, (pid_t)id, &err))
			record_fail("%s: %s", option, err.text);
	}
	free(copy);
}

/*
 * The largest ring in bytes. The kernel allocates the list of a ring's pages, behind some other
 * fields, as one block of up to 1024 pages (kernel/events/ring_buffer.c, rb_alloc()).
 */
static uint64_t ring_size_max(uint64_t page)
{
	return 1024 * page / sizeof(void *) / 2 * page;
}

/* Returns the bytes of "16" (pages) or "16M", rounded up to a power of two of pages. */
static uint64_t ring_size(struct argp_state *state, const char *arg, bool *ret_rounded)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = 0, power = page;
	bool pages = arg[0] && !arg[strspn(arg, "0123456789")];
	int rc = parse_size(arg, &size);

	if (rc == -ERANGE || (pages && __builtin_mul_overflow(size, page, &size)))
		size = UINT64_MAX;
	else if (rc)
		usage(state, "-m: '%s' is neither pages nor a size such as 16M", arg);
	if (!size)
		usage(state, "-m: a ring needs at least one page, %llu bytes",
		      (unsigned long long)page);
	if (size > ring_size_max(page))
		usage(state, "-m: the kernel cannot make a ring of %s%s: give at most %lluG", arg,
		      pages ? " pages" : "", (unsigned long long)ring_size_max(page) >> 30);
	while (power < size)
		power *= 2;
	*ret_rounded = power != size;
	return power;
}

/* A number without unit is pages, as in perf. "DATA,AUX": DATA may be empty. */
static void set_ring_size(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	const char *comma = strchr(arg, ','), *whole = arg;
	bool rounded;

	if (comma) {
		cmd->opts.plan.aux.size = ring_size(state, comma + 1, &rounded);
		cmd->area_asked = rounded ? comma + 1 : NULL;
	}
	if (comma == arg)
		return;
	if (comma)
		arg = strndupa(arg, (size_t)(comma - arg));
	cmd->opts.plan.ring_size = ring_size(state, arg, &rounded);
	cmd->ring_asked = rounded ? whole : NULL;
}

static void set_amount(struct argp_state *state, const char *option, const char *arg, uint64_t *ret)
{
	if (parse_size(arg, ret) || !*ret || *ret > (uint64_t)1 << 40)
		usage(state, "%s: '%s' is no size such as 64M or 1G", option, arg);
}

static void set_last(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	struct error err = ERROR_INIT;

	if (request_parse_last(arg, &opts->output.memory.bounds, &err))
		usage(state, "--last: %s", err.text);
}

/* "500ms", "2s", or a plain number of milliseconds. */
static void set_flush_interval(struct argp_state *state, struct record_command *cmd,
			       const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	uint64_t ms = 0, ns = 0;

	if (!parse_time(arg, &ns))
		ms = ns / 1000000;
	else if (parse_u64(arg, &ms) == -EINVAL)
		usage(state, "--flush-interval: '%s' is no time such as 500ms or 2s", arg);
	if (!ms || ms > FLUSH_MS_MAX)
		usage(state, "--flush-interval: '%s' is not within 1ms and 3600s", arg);
	opts->output.flush_ms = (unsigned int)ms;
}

/* "16", or "16,all". */
static void set_max_files(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	size_t len = strcspn(arg, ",");

	opts->output.rotation.max_all = !strcmp(arg + len, ",all");
	if (opts->output.rotation.max_all)
		arg = strndupa(arg, len);
	opts->output.rotation.max_files =
		record_number(state, "--switch-max-files", arg, 0, INT_MAX);
}

/* "FROM-TO" with @len characters. Returns whether it is a span. */
static bool parse_span(const char *arg, size_t len, struct enabled_span *ret)
{
	const char *dash = memchr(arg, '-', len);
	uint64_t from = 0, to = 0;

	if (!dash || parse_u64(strndupa(arg, (size_t)(dash - arg)), &from) ||
	    parse_u64(strndupa(dash + 1, len - (size_t)(dash + 1 - arg)), &to) || from >= to ||
	    to > UINT_MAX)
		return false;
	*ret = (struct enabled_span){(unsigned int)from, (unsigned int)to};
	return true;
}

/* "10-20,30-40" in ms, as perf: ascending and apart. */
static void set_spans(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct plan_opts *plan = &cmd->opts.plan;
	size_t len, max = strlen(arg) / 2 + 1;

	free(cmd->spans);
	cmd->spans = calloc(max, sizeof(*cmd->spans));
	if (!cmd->spans)
		record_fail("-D: out of memory");
	plan->spans = cmd->spans;
	plan->nr_spans = 0;
	for (const char *p = arg;; p += len + 1) {
		struct enabled_span *span = &cmd->spans[plan->nr_spans];

		len = strcspn(p, ",");
		if (!parse_span(p, len, span) ||
		    (plan->nr_spans && span[-1].to_ms >= span->from_ms))
			usage(state,
			      "-D: '%s' is no list of spans of milliseconds, each behind the one "
			      "before, such as 10-20,30-40",
			      arg);
		plan->nr_spans++;
		if (!p[len])
			return;
	}
}

static void set_delay(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	uint64_t ms = 0;

	opts->plan.start_disabled = !strcmp(arg, "-1");
	opts->plan.delay_ms = 0;
	opts->plan.nr_spans = 0;
	if (opts->plan.start_disabled)
		return;
	if (strchr(arg, '-')) {
		set_spans(state, cmd, arg);
		return;
	}
	if (parse_u64(arg, &ms) || ms > UINT_MAX)
		usage(state, "-D: '%s' is no number of milliseconds", arg);
	opts->plan.delay_ms = (unsigned int)ms;
}

static void set_compression(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	uint64_t level = COMPRESS_LEVEL_DEFAULT;

	if (arg)
		level = record_number(state, "-z", arg, 1, COMPRESS_LEVEL_MAX);
	opts->output.compression_level = (int)level;
}

static void set_aio(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	opts->output.aio = arg ? (unsigned int)record_number(state, "--aio", arg, 1, AIO_DEPTH_MAX)
			       : RECORD_AIO;
}

static void set_affinity(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	static const struct {
		const char *name, *layout;
	} kinds[] = {{"sys", NULL}, {"node", "numa"}, {"cpu", "cpu"}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(arg, kinds[i].name)) {
			opts->readers.affinity = kinds[i].layout;
			return;
		}
	}
	usage(state, "--affinity: '%s' is neither sys, node nor cpu", arg);
}

static void set_mmap_flush(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	if (parse_size(arg, &opts->readers.mmap_flush))
		usage(state, "--mmap-flush: '%s' is no size such as 4096 or 64K", arg);
}

static void set_realtime(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	opts->readers.realtime = (int)record_number(state, "-r", arg, 1, 99);
}

static void set_control(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	struct error err = ERROR_INIT;
	struct control_spec spec;

	if (control_spec_parse(arg, &spec, &err))
		usage(state, "--control: %s", err.text);
	opts->control.spec = arg;
}

/* A size needs its unit, as in perf: 10M is a size, 10m a time. */
static bool size_with_unit(const char *arg, uint64_t *ret)
{
	size_t len = strlen(arg);

	return len > 1 && strchr("BKMG", arg[len - 1]) && !parse_size(arg, ret) && *ret;
}

static bool time_with_unit(const char *arg, uint64_t *ret_seconds)
{
	if (parse_time(arg, ret_seconds))
		return false;
	*ret_seconds /= 1000000000; /* from ns */
	return *ret_seconds;
}

static void set_switch_output(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	opts->output.rotation.enabled = true;
	opts->output.rotation.size = opts->output.rotation.seconds = 0;
	if (arg && strcmp(arg, "signal") && !size_with_unit(arg, &opts->output.rotation.size) &&
	    !time_with_unit(arg, &opts->output.rotation.seconds))
		usage(state,
		      "--switch-output: '%s' is neither signal, nor a size such as 100M (B, K, "
		      "M, G), nor a time such as 30s (s, m, h, d)",
		      arg);
}

static void set_max_size(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct record_opts *opts = &cmd->opts;
	if (!size_with_unit(arg, &opts->output.max_size))
		usage(state, "--max-size: '%s' is no size such as 500M (B, K, M, G)", arg);
}

static void set_symbols(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct symbols_opts *symbols = &cmd->opts.output.symbols;

	symbols->lines = !strcmp(arg, "lines");
	symbols->names = symbols->lines || !strcmp(arg, "names");
	if (!symbols->names && strcmp(arg, "none") != 0)
		usage(state, "--symbols: '%s' is none of names, lines and none", arg);
}

static void set_symbols_budget(struct argp_state *state, struct record_command *cmd,
			       const char *arg)
{
	if (!size_with_unit(arg, &cmd->opts.output.symbols.budget))
		usage(state, "--symbols-budget: '%s' is no size such as 64M (B, K, M, G)", arg);
}

static void set_vmlinux(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	if (access(arg, R_OK))
		usage(state, "--vmlinux: %s: %s", arg, strerror(errno));
	cmd->opts.output.symbols.vmlinux = arg;
}

static void add_processes(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	add_tasks(state, &cmd->opts, "-p", arg, add_process);
}

static void add_threads(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	add_tasks(state, &cmd->opts, "-t", arg, add_thread);
}

static void add_user(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	struct error err = ERROR_INIT;
	struct tasks processes = {0};
	uint64_t uid = 0;
	struct passwd *user = getpwnam(arg);

	if (user)
		uid = user->pw_uid;
	else if (parse_u64(arg, &uid) || uid > UINT32_MAX)
		record_fail("-u: there is no user '%s'", arg);
	if (tasks_add_user(&processes, (uid_t)uid))
		record_fail("-u: cannot list the processes");
	/* One that has ended meanwhile is none of the user's any more. */
	for (size_t i = 0; i < processes.nr; i++)
		if (add_process(&cmd->opts, processes.ids[i], &err) == -ENOMEM)
			record_fail("-u: %s", err.text);
	tasks_release(&processes);
	cmd->by_user = true;
	if (!cmd->opts.plan.target.tasks.nr)
		record_fail("-u: user '%s' has no process now", arg);
}

/* As perf, which writes all of these records by default. */
static void set_synth(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	static const struct {
		const char *name;
		unsigned int part;
	} parts[] = {{"no", 0},
		     {"task", INITIAL_TASKS},
		     {"mmap", INITIAL_TASKS | INITIAL_MAPS},
		     {"cgroup", INITIAL_CGROUPS},
		     {"all", INITIAL_ALL}};
	unsigned int wanted = 0;

	for (const char *p = arg;; p++) {
		size_t len = strcspn(p, ","), i = 0;

		while (i < 5 &&
		       (strlen(parts[i].name) != len || memcmp(parts[i].name, p, len) != 0))
			i++;
		if (i == 5)
			usage(state, "--synth: '%s' is no list of task, mmap, cgroup, all or no",
			      arg);
		wanted |= parts[i].part;
		p += len;
		if (!*p)
			break;
	}
	cmd->opts.plan.left_out = INITIAL_ALL & ~wanted;
}

static void set_duration(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	uint64_t ns;

	if (parse_time(arg, &ns) || ns < 1000000)
		usage(state, "--duration: '%s' is no time such as 500ms, 10s or 5m", arg);
	cmd->opts.plan.duration_ms = ns / 1000000;
}

/* A number that perf needs, and ringtail does not. */
static void check_number(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	record_number(state, "this option", arg, 0, UINT32_MAX);
}

static void set_buffer_memory(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	set_amount(state, "--buffer-memory", arg, &cmd->opts.readers.buffer_memory);
}

static void set_memory(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	set_amount(state, "-M", arg, &cmd->opts.output.memory.bytes);
}

static void set_max_cpu(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->opts.max_cpu = percent(state, "--max-cpu", arg);
}

static void set_output(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->opts.output.path = arg;
}

static void set_threads(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->opts.readers.threads = arg ? arg : "";
}

static void set_frame_pointers(struct argp_state *state, struct record_command *cmd,
			       const char *arg)
{
	if (cmd->opts.plan.sample.callgraph == CALLGRAPH_NONE)
		cmd->opts.plan.sample.callgraph = CALLGRAPH_FP;
}

/* The last of --propagate-status and --no-propagate-status counts. */
static void set_status(struct argp_state *state, struct record_command *cmd, const char *arg)
{
	cmd->keep_status = false;
}

/* What is done in any case. */
static void set_nothing(struct argp_state *state, struct record_command *cmd, const char *arg)
{
}

static const struct {
	int key;
	void (*set)(struct argp_state *state, struct record_command *cmd, const char *arg);
} values[] = {
	{'F', set_frequency},
	{'c', set_count},
	{'C', set_cpus},
	{'p', add_processes},
	{'u', add_user},
	{'b', record_set_branches},
	{'j', record_set_branches},
	{'I', record_set_intr_regs},
	{KEY_USER_REGS, record_set_user_regs},
	{KEY_SYNTH, set_synth},
	{KEY_DURATION, set_duration},
	{KEY_NUM_THREAD_SYNTHESIZE, check_number},
	{KEY_PROC_MAP_TIMEOUT, check_number},
	{KEY_OFF_CPU_THRESH, check_number},
	{KEY_SAMPLE_IDENTIFIER, set_nothing},
	{KEY_PROPAGATE_STATUS, set_status},
	{KEY_TIMESTAMP_BOUNDARY, set_nothing},
	{KEY_DEBUGINFOD, set_nothing},
	{KEY_VMLINUX, set_vmlinux},
	{'t', add_threads},
	{'D', set_delay},
	{KEY_CONTROL, set_control},
	{'g', set_frame_pointers},
	{KEY_CALL_GRAPH, record_set_call_graph},
	{'T', set_nothing},
	{'N', set_nothing},
	{KEY_NAMESPACES, set_nothing},
	{KEY_BUILDID_ALL, set_nothing},
	{KEY_TAIL_SYNTHESIZE, set_nothing},
	{'k', record_set_clock},
	{'o', set_output},
	{'m', set_ring_size},
	{'S', record_set_snapshot},
	{KEY_SNAPSHOT_SCOPE, record_set_snapshot_scope},
	{KEY_AUX_SAMPLE, record_set_aux_sample},
	{'r', set_realtime},
	{KEY_OFF_CPU, record_set_off_cpu},
	{KEY_AFFINITY, set_affinity},
	{KEY_MMAP_FLUSH, set_mmap_flush},
	{KEY_FLUSH_INTERVAL, set_flush_interval},
	{KEY_AIO, set_aio},
	{KEY_BUFFER_MEMORY, set_buffer_memory},
	{'z', set_compression},
	{KEY_THREADS, set_threads},
	{'M', set_memory},
	{KEY_LAST, set_last},
	{KEY_SWITCH_OUTPUT, set_switch_output},
	{KEY_SWITCH_MAX_FILES, set_max_files},
	{KEY_MAX_CPU, set_max_cpu},
	{KEY_MAX_SIZE, set_max_size},
	{KEY_SYMBOLS, set_symbols},
	{KEY_SYMBOLS_BUDGET, set_symbols_budget},
};

#define FLAG(member) offsetof(struct record_command, member)

static const struct {
	int key;
	size_t offset; /* of a bool that becomes true */
} flags[] = {
	{'a', FLAG(opts.plan.target.all_cpus)},
	{'i', FLAG(opts.plan.target.no_inherit)},
	{KEY_NO_CONTROL_SOCKET, FLAG(opts.control.no_socket)},
	{KEY_ALL_USER, FLAG(opts.plan.sample.all_user)},
	{KEY_ALL_KERNEL, FLAG(opts.plan.sample.all_kernel)},
	{KEY_USER_CALLCHAINS, FLAG(opts.plan.sample.user_callchains)},
	{KEY_KERNEL_CALLCHAINS, FLAG(opts.plan.sample.kernel_callchains)},
	{'d', FLAG(opts.plan.sample.add_address)},
	{'P', FLAG(opts.plan.sample.add_period)},
	{'W', FLAG(opts.plan.sample.add_weight)},
	{'s', FLAG(opts.plan.sample.thread_counts)},
	{'n', FLAG(opts.plan.sample.no_samples)},
	{KEY_PHYS_DATA, FLAG(opts.plan.sample.add_physical)},
	{KEY_DATA_PAGE, FLAG(opts.plan.sample.add_data_page)},
	{KEY_CODE_PAGE, FLAG(opts.plan.sample.add_code_page)},
	{KEY_DATA_MMAP, FLAG(opts.plan.sample.add_data_maps)},
	{KEY_SAMPLE_MEM_INFO, FLAG(opts.plan.sample.add_mem_info)},
	{KEY_TRANSACTION, FLAG(opts.plan.sample.add_transaction)},
	{KEY_ALL_CGROUPS, FLAG(opts.plan.sample.add_cgroup)},
	{KEY_SWITCH_EVENTS, FLAG(opts.plan.sample.add_switches)},
	{KEY_RUNNING_TIME, FLAG(opts.plan.sample.count_times)},
	{KEY_STRICT_FREQ, FLAG(opts.plan.sample.strict_frequency)},
	{KEY_PER_THREAD, FLAG(opts.plan.target.no_inherit)},
	{KEY_NO_BPF_EVENT, FLAG(opts.plan.no_bpf)},
	{KEY_GROUP, FLAG(one_group)},
	{KEY_DRY_RUN, FLAG(dry_run)},
	{KEY_EXCLUDE_PERF, FLAG(exclude_self)},
	{KEY_EXIT_WITH_PARENT, FLAG(exit_with_parent)},
	{'R', FLAG(opts.plan.sample.add_raw)},
	{KEY_SAMPLE_CPU, FLAG(opts.plan.sample.add_cpu)},
	{KEY_LATENCY, FLAG(opts.plan.sample.add_switches)},
	{'B', FLAG(opts.plan.no_build_ids)},
	{KEY_BUILDID_MMAP, FLAG(opts.plan.build_id_mmap)},
	{KEY_NO_BUFFERING, FLAG(opts.plan.unbuffered)},
	{KEY_OVERWRITE, FLAG(opts.plan.overwrite)},
	{KEY_SNAPSHOT_ON_EXIT, FLAG(opts.output.memory.on_exit)},
	{KEY_SNAPSHOT_ON_CRASH, FLAG(opts.output.memory.on_crash)},
	{KEY_SINCE_LAST, FLAG(opts.output.memory.bounds.since_last)},
	{KEY_KCORE, FLAG(opts.output.kcore)},
	{KEY_TIMESTAMP_FILENAME, FLAG(opts.output.timestamp_filename)},
	{KEY_FAIL_ON_LOSS, FLAG(fail_on_loss)},
	{KEY_NO_PROPAGATE_STATUS, FLAG(keep_status)},
	{'q', FLAG(quiet)},
	{'v', FLAG(verbose)},
};

bool record_value_take(struct argp_state *state, struct record_command *cmd, int key,
		       const char *arg)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].key == key) {
			*(bool *)((char *)cmd + flags[i].offset) = true;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].key == key) {
			values[i].set(state, cmd, arg);
			return true;
		}
	}
	return false;
}
