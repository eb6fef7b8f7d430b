// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sys/io/file.h"

/* Parses a CPU number at *@at, and moves *@at behind it. Returns it, -EINVAL or -ERANGE. */
static long cpu_number(const char **at)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	n = strtol(*at, &end, 10);
	if (errno || n >= CPUS_MAX)
		return -ERANGE;
	*at = end;
	return n;
}

/* Adds the part of a list at *@at ("5", "0-3") to @map. Returns 0, -EINVAL or -ERANGE. */
static int cpu_part(const char **at, hwloc_bitmap_t map)
{
	long first = cpu_number(at), last = first;

	if (first >= 0 && **at == '-') {
		(*at)++;
		last = cpu_number(at);
	}
	if (first < 0 || last < 0)
		return (int)(first < 0 ? first : last);
	if (last < first)
		return -EINVAL;
	hwloc_bitmap_set_range(map, (unsigned int)first, (int)last);
	return 0;
}

int cpus_from_bitmap(const struct hwloc_bitmap_s *map, struct cpus *ret)
{
	int weight = hwloc_bitmap_weight(map);
	struct cpus set = {calloc(weight > 0 ? (size_t)weight : 1, sizeof(*set.ids)), 0};
	unsigned int cpu;

	if (!set.ids)
		return -ENOMEM;
	hwloc_bitmap_foreach_begin(cpu, map) set.ids[set.nr++] = (int)cpu;
	hwloc_bitmap_foreach_end();
	*ret = set;
	return 0;
}

int cpus_parse(const char *list, struct cpus *ret, struct error *err)
{
	hwloc_bitmap_t map = hwloc_bitmap_alloc();
	const char *at = list, *part = list;
	int rc;

	if (!map)
		return error_set(err, -ENOMEM, "out of memory");
	for (;;) {
		part = at;
		rc = cpu_part(&at, map);
		if (!rc && *at != ',' && *at != '\0')
			rc = -EINVAL;
		if (rc || *at == '\0')
			break;
		at++;
	}
	if (!rc)
		rc = cpus_from_bitmap(map, ret);
	hwloc_bitmap_free(map);
	if (rc == -EINVAL)
		error_set(err, rc,
			  "CPU list '%s': '%.*s' is neither a CPU number nor a range such as 0-3",
			  list, (int)strcspn(part, ","), part);
	else if (rc == -ERANGE)
		error_set(err, rc, "CPU list '%s': '%.*s' is larger than any CPU number", list,
			  (int)strcspn(part, ","), part);
	else if (rc)
		error_set(err, rc, "out of memory");
	return rc;
}

int cpus_online(struct cpus *ret, struct error *err)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	char text[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return error_sys(err, -errno, "%s", path);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
	return cpus_parse(text, ret, err);
}

void cpus_intersect(struct cpus *set, const struct cpus *other)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->nr; i++)
		if (cpus_has(other, set->ids[i]))
			set->ids[kept++] = set->ids[i];
	set->nr = kept;
}

int cpus_copy(const struct cpus *from, struct cpus *ret)
{
	struct cpus set = {calloc(from->nr ? from->nr : 1, sizeof(*set.ids)), from->nr};

	if (!set.ids)
		return -ENOMEM;
	if (from->nr)
		memcpy(set.ids, from->ids, from->nr * sizeof(*set.ids));
	*ret = set;
	return 0;
}

static int cpu_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

bool cpus_has(const struct cpus *set, int cpu)
{
	return set->nr && bsearch(&cpu, set->ids, set->nr, sizeof(*set->ids), cpu_compare);
}

int cpus_to_bitmap(const struct cpus *set, struct hwloc_bitmap_s *map)
{
	int rc;

	hwloc_bitmap_zero(map);
	for (size_t i = 0; i < set->nr; i++) {
		rc = hwloc_bitmap_set(map, (unsigned int)set->ids[i]);
		if (rc)
			return -ENOMEM;
	}
	return 0;
}

void cpus_release(struct cpus *set)
{
	free(set->ids);
	*set = (struct cpus){NULL, 0};
}

cpu_set_t *cpus_to_set(const struct cpus *set, size_t *ret_size)
{
	size_t most = (size_t)set->ids[set->nr - 1] + 1, size = CPU_ALLOC_SIZE(most);
	cpu_set_t *ret = CPU_ALLOC(most);

	if (!ret)
		return NULL;
	CPU_ZERO_S(size, ret);
	for (size_t i = 0; i < set->nr; i++)
		CPU_SET_S((size_t)set->ids[i], size, ret);
	*ret_size = size;
	return ret;
}

unsigned int cpus_allowed(void)
{
	int n = 0;

	/*
	 * The kernel refuses a set that is too small for the CPUs it may have, and does not report
	 * that number, which may exceed cpu_set_t.
	 */
	for (size_t most = CPU_SETSIZE; !n && most <= CPUS_MAX; most *= 2) {
		size_t size = CPU_ALLOC_SIZE(most);
		cpu_set_t *cpus = CPU_ALLOC(most);

		if (!cpus)
			break;
		if (!sched_getaffinity(0, size, cpus))
			n = CPU_COUNT_S(size, cpus);
		CPU_FREE(cpus);
	}
	return n > 0 ? (unsigned int)n : 1;
}

/* Reads a quota, "MICROSECONDS PERIOD" or "max PERIOD", as CPUs; 0: none. */
static unsigned int read_quota(const char *root, const char *group, size_t len)
{
	unsigned long quota, period;
	unsigned int n = 0;
	char *text = NULL;

	if (file_text(&text, "%s/sys/fs/cgroup%.*s/cpu.max", root, (int)len, group))
		return 0;
	if (sscanf(text, "%lu %lu", &quota, &period) == 2 && period && quota / period < CPUS_MAX)
		n = (unsigned int)((quota + period - 1) / period);
	free(text);
	return n;
}

unsigned int cpus_usable(const char *root)
{
	unsigned int n = cpus_allowed();
	char *groups = NULL, *group;
	size_t len;

	if (file_text(&groups, "%s/proc/self/cgroup", root))
		return n;
	group = strstr(groups, "0::/"); /* of version 2 */
	len = group ? strcspn(group + 3, "\n") : 0;
	while (len) {
		unsigned int quota = read_quota(root, group + 3, len);

		if (quota && quota < n)
			n = quota;
		while (len && group[3 + --len] != '/')
			;
	}
	free(groups);
	return n;
}

int cpus_run_on(const struct cpus *set)
{
	size_t size;
	cpu_set_t *cpus = cpus_to_set(set, &size);
	int rc;

	if (!cpus)
		return -ENOMEM;
	rc = sched_setaffinity(0, size, cpus) ? -errno : 0;
	CPU_FREE(cpus);
	return rc;
}
