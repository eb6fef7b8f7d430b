// SPDX-License-Identifier: Apache-2.0
#include "sys/doctor/doctor.h"

#include <dirent.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/doctor/doctor_priv.h"

static FILE *open_file(const struct doctor *d, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", d->facts->root, path);
	return fopen(full, "re");
}

bool doctor_read(const struct doctor *d, const char *path, char *out, size_t size)
{
	FILE *f = open_file(d, path);
	bool ok = f && fgets(out, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		out[strcspn(out, "\n")] = '\0';
	return ok;
}

long doctor_number(const struct doctor *d, const char *path, long missing)
{
	char text[64], *end;
	long value;

	if (!doctor_read(d, path, text, sizeof(text)))
		return missing;
	value = strtol(text, &end, 10);
	return end == text ? missing : value;
}

bool doctor_field(const struct doctor *d, const char *path, const char *key, char *out, size_t size)
{
	FILE *f = open_file(d, path);
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		value += strspn(value, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

bool doctor_readable(const struct doctor *d, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", d->facts->root, path);
	return access(full, R_OK) == 0;
}

bool doctor_may(const struct doctor *d, unsigned int number)
{
	return d->capabilities >> number & 1 || d->capabilities >> CAP_SYS_ADMIN & 1;
}

struct doctor_line *doctor_add(struct doctor *d, const char *about, enum doctor_state state)
{
	struct doctor_report *r = d->report;
	struct doctor_line *l = &r->line[r->nr < DOCTOR_LINES ? r->nr++ : DOCTOR_LINES - 1];

	*l = (struct doctor_line){.about = about, .state = state};
	return l;
}

/* Whether sysfs has a PMU of the CPUs: "cpu", "cpu_core", "armv8_pmuv3_0", … */
static bool find_pmu(const struct doctor *d)
{
	static const char *const beginnings[] = {"cpu", "armv", "apple_", "riscv"};
	char path[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices", d->facts->root);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir)))
		for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
			found |= !strncmp(e->d_name, beginnings[i], strlen(beginnings[i]));
	if (dir)
		closedir(dir);
	return found;
}

void doctor_examine(const struct doctor_facts *facts, struct doctor_report *ret)
{
	struct doctor d = {.facts = facts, .report = ret};
	char text[64];

	*ret = (struct doctor_report){0};
	if (doctor_field(&d, "/proc/self/status", "CapEff:", text, sizeof(text)))
		d.capabilities = strtoull(text, NULL, 16);
	d.bounding = UINT64_MAX;
	if (doctor_field(&d, "/proc/self/status", "CapBnd:", text, sizeof(text)))
		d.bounding = strtoull(text, NULL, 16);
	d.paranoid = doctor_number(&d, "/proc/sys/kernel/perf_event_paranoid", LONG_MIN);
	d.has_pmu = find_pmu(&d);
	doctor_check(&d);
}

bool doctor_impossible(const struct doctor_report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->line[i].state == DOCTOR_IMPOSSIBLE)
			return true;
	return false;
}

const char *doctor_state_word(enum doctor_state state)
{
	static const char *const words[] = {"fine", "limited", "impossible"};

	return words[state];
}
