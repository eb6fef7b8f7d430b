// SPDX-License-Identifier: Apache-2.0
#include "report/script/dlfilter_find.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/script/dlfilter.h"

/* Of Debian's perf, and of one that was built with its defaults for /usr. */
static const char *const folders[] = {"/usr/lib/perf-core", "/usr/libexec/perf-core"};

#define NR_FOLDERS (1 + sizeof(folders) / sizeof(folders[0]))

/* Writes the path of folder @i of filters, the user's choice first. Returns false if there is none.
 */
static bool folder_at(size_t i, char ret[PATH_MAX])
{
	const char *base = i ? folders[i - 1] : getenv("PERF_EXEC_PATH");
	int n = base ? snprintf(ret, PATH_MAX, "%s/dlfilters", base) : -1;

	return n >= 0 && n < PATH_MAX;
}

const char *dlfilter_find(const char *path, char buf[PATH_MAX])
{
	char folder[PATH_MAX];
	int n;

	if (strchr(path, '/'))
		return path;
	n = snprintf(buf, PATH_MAX, "./%s", path);
	if (n < PATH_MAX && !access(buf, F_OK))
		return buf;
	for (size_t i = 0; i < NR_FOLDERS; i++) {
		if (!folder_at(i, folder))
			continue;
		n = snprintf(buf, PATH_MAX, "%s/%s", folder, path);
		if (n < PATH_MAX && !access(buf, F_OK))
			return buf;
	}
	return path;
}

void *dlfilter_open(const char *path)
{
#ifdef RINGTAIL_STATIC
	(void)path;
	return NULL;
#else
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
#endif
}

/* --- listing -------------------------------------------------------------------------------------
 */

static int is_library(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return len > 3 && !strcmp(e->d_name + len - 3, ".so");
}

/*
 * To list a filter is to run its code: not that of strangers. Nor that of a folder where they may
 * put another file in its place meanwhile.
 */
static bool is_trusted(const char *path, mode_t type)
{
	struct stat st;

	return !stat(path, &st) && (st.st_mode & S_IFMT) == type &&
	       (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH);
}

static void show(const char *path, const char *name, dlfilter_found_fn fn, void *arg)
{
	void *library = is_trusted(path, S_IFREG) ? dlfilter_open(path) : NULL, *at;
	const char *(*describe)(const char **more), *text, *more = NULL;

	at = library ? dlsym(library, "filter_description") : NULL;
	memcpy(&describe, &at, sizeof(at));
	text = describe ? describe(&more) : NULL;
	if (text)
		fn(name, text, more, arg);
	if (library)
		dlclose(library);
}

static int list_folder(const char *folder, dlfilter_found_fn fn, void *arg)
{
	struct dirent **names;
	char path[PATH_MAX];
	int n;

	if (!is_trusted(folder, S_IFDIR))
		return 0;
	n = scandir(folder, &names, is_library, alphasort);
	if (n < 0)
		return errno == ENOMEM ? -ENOMEM : 0;
	for (int i = 0; i < n; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);

		if (len < PATH_MAX)
			show(path, names[i]->d_name, fn, arg);
		free(names[i]);
	}
	free(names);
	return 0;
}

int dlfilter_list(dlfilter_found_fn fn, void *arg)
{
	char folder[PATH_MAX];
	int rc = list_folder(".", fn, arg);

	for (size_t i = 0; !rc && i < NR_FOLDERS; i++)
		if (folder_at(i, folder))
			rc = list_folder(folder, fn, arg);
	return rc;
}
