// SPDX-License-Identifier: Apache-2.0
#include "cli/input/beside.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether @name is @base.NUMBER, as --switch-output calls its outputs. */
static bool is_later(const char *name, const char *base)
{
	size_t len = strlen(base);

	return !strncmp(name, base, len) && name[len] == '.' && name[len + 1] &&
	       !name[len + 1 + strspn(name + len + 1, "0123456789")];
}

size_t outputs_beside(const char *path, char **ret)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *directory = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("./");
	char last[NAME_MAX + 1] = "";
	DIR *dir = directory ? opendir(directory) : NULL;
	size_t nr = 0;

	*ret = NULL;
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		if (!is_later(e->d_name, base))
			continue;
		nr++;
		if (strcmp(e->d_name, last) > 0)
			snprintf(last, sizeof(last), "%s", e->d_name);
	}
	if (nr && asprintf(ret, "%s%s", slash ? directory : "", last) < 0)
		*ret = NULL;
	if (dir)
		closedir(dir);
	free(directory);
	return nr;
}
