// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-export-file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/input/input.h"

static bool is_same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static bool is_in_recording(const char *recording, const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	if (stat(recording, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		return is_same_file(path, &st);
	snprintf(folder, sizeof(folder), "%s", path);
	return is_same_file(path, &st) || is_same_file(dirname(folder), &st);
}

bool export_file_is_recording(const char *recording, const char *path)
{
	bool is = is_in_recording(recording, path);

	if (is)
		complain("%s: the output is the recording itself", path);
	return is;
}

FILE *export_file_open(const char *recording, const char *path, int folder, const char *name)
{
	FILE *f;
	int fd;

	if (export_file_is_recording(recording, path))
		return NULL;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd < 0 && errno == ELOOP) {
		complain("%s is a symbolic link: name the file itself%s", path,
			 folder == AT_FDCWD ? ", or - for standard output" : "");
	} else if (!f) {
		complain("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return f;
}

void export_file_remove(int folder, const char *name)
{
	struct stat st;

	if (!fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
		unlinkat(folder, name, 0);
}
