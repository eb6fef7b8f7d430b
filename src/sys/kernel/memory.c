// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/io/file.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the smallest limit of @group ("/" and names) and of the groups above it. In a container
 * /proc may name groups that are not mounted there: such a group sets no limit, but the mounted
 * root does.
 */
static uint64_t least_limit(const char *root, const char *mount, char *group, const char *file)
{
	uint64_t least = UINT64_MAX;
	char *slash;
	long long n;

	do {
		slash = strrchr(group, '/');
		if (slash && !slash[1])
			*slash = '\0';
		/* "max" is not a number. */
		if (!file_number(&n, "%s/sys/fs/cgroup%s%s/%s", root, mount, group, file) && n > 0)
			least = lesser(least, (uint64_t)n);
		slash = strrchr(group, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return least;
}

/* Whether "memory" is in the comma list @controllers. */
static bool has_memory(char *controllers)
{
	char *rest, *name = strtok_r(controllers, ",", &rest);

	while (name && strcmp(name, "memory"))
		name = strtok_r(NULL, ",", &rest);
	return name;
}

/* Parses a @line of /proc/self/cgroup: number:controllers:group. */
static uint64_t limit_of_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group;
	uint64_t unified;

	group = controllers ? strchr(++controllers, ':') : NULL;
	if (!group)
		return UINT64_MAX;
	*group++ = '\0';
	if (*controllers)
		return has_memory(controllers)
			       ? least_limit(root, "/memory", group, "memory.limit_in_bytes")
			       : UINT64_MAX;
	unified = least_limit(root, "", strdupa(group), "memory.max");
	return lesser(unified, least_limit(root, "/unified", group, "memory.max"));
}

uint64_t memory_cgroup_limit(const char *root)
{
	uint64_t least = UINT64_MAX;
	char *text, *line, *rest;

	if (file_text(&text, "%s/proc/self/cgroup", root))
		return least;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		least = lesser(least, limit_of_line(root, line));
	free(text);
	return least;
}

uint64_t memory_total(void)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return lesser(machine, memory_cgroup_limit(""));
}
