// SPDX-License-Identifier: Apache-2.0
/*
 * Judges the security modules of the kernel. Sources: security/security.c, hooks perf_event_open
 * and locked_down (6.1); security/apparmor/lsm.c, hook capable; security/yama/yama_lsm.c, which
 * looks at PTRACE_MODE_ATTACH alone, while perf_event_open asks for PTRACE_MODE_READ.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/doctor/doctor_priv.h"

static void check_lockdown(struct doctor *d)
{
	char text[64];
	bool locked;
	struct doctor_line *l;

	if (!doctor_read(d, "/sys/kernel/security/lockdown", text, sizeof(text)))
		return;
	locked = strstr(text, "[confidentiality]");
	l = doctor_add(d, "lockdown", locked ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "%s", text);
	if (!locked)
		return;
	PUT(l->cost, "no kernel samples, no tracepoints, no kprobes, not even for root");
	PUT(l->mend, "boot with lockdown=integrity");
}

/* "docker-default (enforce)"; "unconfined"; in the second file, with SELinux, its context. */
static void check_apparmor(struct doctor *d)
{
	char text[128];
	struct doctor_line *l;
	bool enforced;

	if (!doctor_read(d, "/proc/self/attr/apparmor/current", text, sizeof(text)) &&
	    (doctor_readable(d, "/sys/fs/selinux/enforce") ||
	     !doctor_read(d, "/proc/self/attr/current", text, sizeof(text))))
		return;
	enforced = strstr(text, " (enforce)") || strstr(text, " (kill)");
	l = doctor_add(d, "apparmor", enforced ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "profile of this process: %s", text);
	if (!enforced)
		return;
	text[strcspn(text, " ")] = '\0';
	PUT(l->cost, "the profile may refuse capabilities (perfmon, syslog), tracefs, and files of "
		     "other processes");
	PUT(l->mend,
	    "as root: aa-complain %s; with Docker: docker run --security-opt apparmor=unconfined "
	    "...",
	    text);
}

static void check_selinux(struct doctor *d)
{
	bool enforced = doctor_number(d, "/sys/fs/selinux/enforce", 0);
	bool refuses = enforced && d->facts->opened == -EACCES && d->paranoid <= 2;
	char context[96] = "unknown";
	struct doctor_line *l;

	if (!doctor_readable(d, "/sys/fs/selinux/enforce"))
		return;
	doctor_read(d, "/proc/self/attr/current", context, sizeof(context));
	l = doctor_add(d, "selinux", refuses ? DOCTOR_LIMITED : DOCTOR_FINE);
	PUT(l->found, "%s, context of this process: %s", enforced ? "enforcing" : "permissive",
	    context);
	if (!refuses)
		return;
	PUT(l->cost, "its policy may be what refuses perf_event_open");
	PUT(l->mend, "as root: ausearch -m avc -c ringtail | audit2allow -M ringtail && semodule "
		     "-i ringtail.pp; or for a moment: setenforce 0");
}

void doctor_check_lsm(struct doctor *d)
{
	char text[128];

	if (doctor_read(d, "/sys/kernel/security/lsm", text, sizeof(text)))
		PUT(doctor_add(d, "security modules", DOCTOR_FINE)->found,
		    "%.90s; of these, lockdown, selinux, apparmor and bpf can limit recording",
		    text);
	check_lockdown(d);
	check_apparmor(d);
	check_selinux(d);
}
