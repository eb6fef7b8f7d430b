/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by doctor.c, which reads files, and checks.c, which judges. */
#ifndef RINGTAIL_SYS_DOCTOR_DOCTOR_PRIV_H
#define RINGTAIL_SYS_DOCTOR_DOCTOR_PRIV_H

#include <stdint.h>

#include "sys/doctor/doctor.h"

struct doctor {
	const struct doctor_facts *facts;
	struct doctor_report *report;
	uint64_t capabilities; /* effective */
	uint64_t bounding;     /* capabilities that a program file may grant */
	long paranoid;	       /* LONG_MIN: the kernel has no perf events */
	bool has_pmu;	       /* counters of CPUs */
};

/* Reads the first line of a file below the root. Returns false if it cannot be read. */
bool doctor_read(const struct doctor *d, const char *path, char *out, size_t size);
/* The same for a number; @missing without one. */
long doctor_number(const struct doctor *d, const char *path, long missing);
/* Finds what follows @key in a file of lines, such as /proc/self/status; false: nothing. */
bool doctor_field(const struct doctor *d, const char *path, const char *key, char *out,
		  size_t size);
/* Returns whether a path below the root can be read by this process. */
bool doctor_readable(const struct doctor *d, const char *path);
/* Returns whether the process has capability @number, or CAP_SYS_ADMIN in its stead. */
bool doctor_may(const struct doctor *d, unsigned int number);
/* Adds a line and returns it, with found, cost and mend empty. */
struct doctor_line *doctor_add(struct doctor *d, const char *about, enum doctor_state state);

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* Adds all lines. */
void doctor_check(struct doctor *d);
/* Adds the lines of the security modules (LSM). */
void doctor_check_lsm(struct doctor *d);

#endif
