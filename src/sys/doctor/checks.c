// SPDX-License-Identifier: Apache-2.0
/* Judges what was found. Source of the levels: Documentation/admin-guide/sysctl/kernel.rst (6.1).
 */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/doctor/doctor_priv.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define USUAL_RATE 100000 /* Hz; the kernel lowers it when interrupts take long */

static void check_open(struct doctor *d)
{
	int rc = d->facts->opened;
	struct doctor_line *l =
		doctor_add(d, "perf_event_open", rc ? DOCTOR_IMPOSSIBLE : DOCTOR_FINE);
	char seccomp[8] = "0";

	if (!rc) {
		PUT(l->found, "the kernel opens events for this user");
		return;
	}
	PUT(l->found, "refused: %s", strerror(-rc));
	PUT(l->cost, "nothing can be recorded");
	doctor_field(d, "/proc/self/status", "Seccomp:", seccomp, sizeof(seccomp));
	if (d->paranoid == LONG_MIN)
		PUT(l->mend, "boot a kernel with CONFIG_PERF_EVENTS");
	else if (d->paranoid > 2)
		PUT(l->mend, "sysctl kernel.perf_event_paranoid=2");
	else if (atoi(seccomp))
		PUT(l->mend, "allow perf_event_open in the seccomp profile; with Docker: "
			     "docker run --cap-add PERFMON --security-opt seccomp=unconfined ...");
	else if (rc == -EACCES && doctor_number(d, "/sys/fs/selinux/enforce", 0))
		PUT(l->mend, "see selinux, below");
	else
		PUT(l->mend, "run it as root: sudo %s doctor", d->facts->program);
}

static void check_paranoid(struct doctor *d)
{
	static const char *const costs[] = {
		"no tracepoints: their data may tell of other users",
		"only own processes, not whole CPUs (-a, -C)",
		"only user space of own processes: no kernel functions, no -a",
	};
	bool limited = d->paranoid >= 0 && !doctor_may(d, CAP_PERFMON);
	struct doctor_line *l;

	if (d->paranoid == LONG_MIN)
		return; /* check_open() says it */
	l = doctor_add(d, "perf_event_paranoid", limited ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "%ld%s", d->paranoid,
	    d->paranoid >= 0 && !limited ? ", which does not bind this user" : "");
	if (!limited)
		return;
	PUT(l->cost, "%s", costs[d->paranoid > 2 ? 2 : d->paranoid]);
	PUT(l->mend, "sysctl kernel.perf_event_paranoid=-1");
}

static void check_capabilities(struct doctor *d)
{
	static const struct {
		unsigned int number;
		const char *name;
	} wanted[] = {{CAP_PERFMON, "cap_perfmon"},   {CAP_SYS_PTRACE, "cap_sys_ptrace"},
		      {CAP_SYSLOG, "cap_syslog"},     {CAP_IPC_LOCK, "cap_ipc_lock"},
		      {CAP_SYS_NICE, "cap_sys_nice"}, {CAP_BPF, "cap_bpf"}};
	struct doctor_line *l;
	char missing[160] = "";
	bool bounded = false;
	size_t len = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (d->capabilities >> wanted[i].number & 1)
			continue;
		bounded |= !(d->bounding >> wanted[i].number & 1);
		len += (size_t)snprintf(missing + len, sizeof(missing) - len, "%s%s",
					len ? "," : "", wanted[i].name);
	}
	l = doctor_add(d, "capabilities", len ? DOCTOR_LIMITED : DOCTOR_FINE);
	if (!len) {
		PUT(l->found, "all that recording uses");
		return;
	}
	PUT(l->found, "missing: %s", missing);
	PUT(l->cost, "limits of other lines bind this user; a late reader cannot run first");
	/* The kernel does not run a program whose file grants more than the bounding set. */
	if (bounded)
		PUT(l->mend,
		    "start the container with these capabilities (docker: --cap-add), for its "
		    "bounding set lacks some of them");
	else
		PUT(l->mend, "sudo setcap %s+ep %.160s", missing, d->facts->program);
}

static void check_seccomp(struct doctor *d)
{
	char text[16] = "0";
	bool filtered;
	struct doctor_line *l;

	doctor_field(d, "/proc/self/status", "Seccomp:", text, sizeof(text));
	filtered = atoi(text) != 0;
	l = doctor_add(d, "seccomp", DOCTOR_FINE);
	PUT(l->found, "%s",
	    !filtered	       ? "no filter"
	    : d->facts->opened ? "a filter, which may refuse perf_event_open"
			       : "a filter, which lets perf_event_open through");
}

static void check_locked_memory(struct doctor *d)
{
	long kb = doctor_number(d, "/proc/sys/kernel/perf_event_mlock_kb", 516);
	bool limited = !(d->capabilities >> CAP_IPC_LOCK & 1) && d->paranoid > -1;
	char memlock[64] = "unknown";
	struct doctor_line *l;

	doctor_field(d, "/proc/self/limits", "Max locked memory", memlock, sizeof(memlock));
	memlock[strcspn(memlock, " ")] = '\0';
	limited &= strcmp(memlock, "unlimited") != 0;
	l = doctor_add(d, "locked memory", limited ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "perf_event_mlock_kb %ld for each CPU, RLIMIT_MEMLOCK %s bytes%s", kb,
	    memlock, limited ? "" : ", which do not bind this user");
	if (!limited)
		return;
	PUT(l->cost, "small rings, which lose more samples under load");
	PUT(l->mend, "sysctl kernel.perf_event_mlock_kb=8192; ulimit -l unlimited");
}

static void check_kernel_symbols(struct doctor *d)
{
	long level = doctor_number(d, "/proc/sys/kernel/kptr_restrict", 0);
	bool visible = level == 0 ? d->paranoid <= 1 || d->capabilities >> CAP_SYSLOG & 1
				  : level == 1 && d->capabilities >> CAP_SYSLOG & 1;
	struct doctor_line *l =
		doctor_add(d, "kptr_restrict", visible ? DOCTOR_FINE : DOCTOR_LIMITED);

	PUT(l->found, "%ld: addresses of the kernel are %s", level,
	    visible ? "visible" : "hidden from this user");
	if (visible)
		return;
	PUT(l->cost, "functions of the kernel have no names");
	PUT(l->mend, "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

static void check_counters(struct doctor *d)
{
	struct doctor_line *l =
		doctor_add(d, "counters", d->has_pmu ? DOCTOR_FINE : DOCTOR_LIMITED);
	long watchdog = doctor_number(d, "/proc/sys/kernel/nmi_watchdog", 0);

	PUT(l->found, "%s", d->has_pmu ? "the CPUs have a PMU" : "no PMU of the CPUs in sysfs");
	if (!d->has_pmu) {
		PUT(l->cost, "no cycles, instructions or cache misses; samples come from a timer");
		PUT(l->mend, "ringtail record -e cpu-clock; or give the virtual machine a PMU "
			     "(QEMU: -cpu host,pmu=on)");
		return;
	}
	l = doctor_add(d, "nmi_watchdog", watchdog ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "%ld", watchdog);
	if (!watchdog)
		return;
	PUT(l->cost, "it keeps one counter of each CPU");
	PUT(l->mend, "sysctl kernel.nmi_watchdog=0");
}

static void check_rate(struct doctor *d)
{
	long rate = doctor_number(d, "/proc/sys/kernel/perf_event_max_sample_rate", USUAL_RATE);
	bool low = rate < USUAL_RATE;
	struct doctor_line *l =
		doctor_add(d, "max_sample_rate", low ? DOCTOR_LIMITED : DOCTOR_FINE);

	PUT(l->found, "%ld Hz", rate);
	if (!low)
		return;
	PUT(l->cost, "record -F takes no more; the kernel lowers it when sampling takes long");
	PUT(l->mend, "sysctl kernel.perf_event_max_sample_rate=%d", USUAL_RATE);
}

static void check_tracefs(struct doctor *d)
{
	bool mounted = doctor_readable(d, "/sys/kernel/tracing/events/sched/sched_switch/id") ||
		       doctor_readable(d, "/sys/kernel/debug/tracing/events/sched/sched_switch/id");
	struct doctor_line *l = doctor_add(d, "tracefs", mounted ? DOCTOR_FINE : DOCTOR_LIMITED);

	PUT(l->found, "%s", mounted ? "tracepoints are readable" : "not mounted or not readable");
	if (mounted)
		return;
	PUT(l->cost, "no tracepoints, no probes by name");
	PUT(l->mend, "as root: mount -t tracefs nodev /sys/kernel/tracing; for a group: mount -o "
		     "remount,mode=755,gid=GID /sys/kernel/tracing");
}

static void check_io_uring(struct doctor *d)
{
	long disabled = doctor_number(d, "/proc/sys/kernel/io_uring_disabled", 0);
	bool limited = disabled == 2 || (disabled == 1 && !doctor_may(d, CAP_SYS_ADMIN));
	struct doctor_line *l = doctor_add(d, "io_uring", limited ? DOCTOR_LIMITED : DOCTOR_FINE);

	PUT(l->found, "io_uring_disabled %ld", disabled);
	if (!limited)
		return;
	PUT(l->cost, "record --aio uses the threads of POSIX AIO");
	PUT(l->mend, "sysctl kernel.io_uring_disabled=0");
}

static void check_bpf(struct doctor *d)
{
	bool may = doctor_may(d, CAP_BPF);
	struct doctor_line *l = doctor_add(d, "bpf", may ? DOCTOR_FINE : DOCTOR_LIMITED);

	PUT(l->found, "this user may%s ask about BPF programs", may ? "" : " not");
	if (may)
		return;
	PUT(l->cost, "BPF programs loaded before the recording have no names");
	PUT(l->mend, "see capabilities, above: cap_bpf and cap_perfmon");
}

static void check_files(struct doctor *d)
{
	unsigned long least = 64 + 8ul * d->facts->cpus, soft;
	char text[96] = "";
	struct doctor_line *l;

	if (!doctor_field(d, "/proc/self/limits", "Max open files", text, sizeof(text)))
		return;
	soft = strncmp(text, "unlimited", 9) ? strtoul(text, NULL, 10) : ULONG_MAX;
	l = doctor_add(d, "open files", soft < least ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "RLIMIT_NOFILE %.*s", (int)strcspn(text, " "), text);
	if (soft >= least)
		return;
	PUT(l->cost, "each event takes a file for each CPU or thread: few events fit");
	PUT(l->mend, "ulimit -n 65536");
}

static void check_symbols(struct doctor *d)
{
	const char *urls = d->facts->debuginfod_urls;
	bool local = doctor_readable(d, "/usr/lib/debug/.build-id");
	struct doctor_line *l = doctor_add(d, "debug info",
					   local || (urls && *urls) ? DOCTOR_FINE : DOCTOR_LIMITED);

	PUT(l->found, "%s; DEBUGINFOD_URLS is %s",
	    local ? "/usr/lib/debug has files" : "/usr/lib/debug has none",
	    urls && *urls ? "set" : "not set");
	if (l->state != DOCTOR_FINE)
		PUT(l->cost, "functions that stripped programs do not export have no names, and "
			     "no source lines");
	if (l->state != DOCTOR_FINE)
		PUT(l->mend, "install packages with -dbg or -dbgsym, or set DEBUGINFOD_URLS to "
			     "your distribution's server");
	l = doctor_add(d, "jit", DOCTOR_FINE);
	PUT(l->found, "ringtail reads /tmp/perf-PID.map and jitdumps; runtimes write them when "
		      "asked: python3 -X perf, node --perf-basic-prof");
}

void doctor_check(struct doctor *d)
{
	check_open(d);
	check_paranoid(d);
	check_capabilities(d);
	doctor_check_lsm(d);
	check_seccomp(d);
	check_locked_memory(d);
	check_kernel_symbols(d);
	check_counters(d);
	check_rate(d);
	check_tracefs(d);
	check_io_uring(d);
	check_bpf(d);
	check_files(d);
	check_symbols(d);
}
