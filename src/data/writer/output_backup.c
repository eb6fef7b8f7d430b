// SPDX-License-Identifier: Apache-2.0
#include "data/writer/output_backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/file/tail_cover.h"
#include "perfdata/abi.h"
#include "sys/io/file.h"

/* Whether directory @path holds a recording. */
static bool is_recording(const char *path)
{
	uint64_t magic = 0;
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = dir < 0 ? -1 : openat(dir, "data", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		  (magic == PD_MAGIC || magic == __builtin_bswap64(PD_MAGIC));

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return is;
}

/* "data" and "data.N" */
static bool is_part(const char *name)
{
	if (strncmp(name, "data", 4))
		return false;
	return !name[4] || (name[4] == '.' && name[5] && !name[5 + strspn(name + 5, "0123456789")]);
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* What "record --kcore" copies into the directory. */
#define KCORE_DIR "kcore_dir"
static const char *const kcore_files[] = {"kallsyms", "kcore", "modules"};

static bool is_kcore_file(const char *name)
{
	for (size_t i = 0; i < sizeof(kcore_files) / sizeof(kcore_files[0]); i++)
		if (!strcmp(name, kcore_files[i]))
			return true;
	return false;
}

/* Whether @name in directory @dir is a kcore_dir with nothing but its files. */
static bool is_kcore_dir(int dir, const char *name)
{
	struct dirent *e;
	bool is = true;
	DIR *d;
	int fd;

	if (strcmp(name, KCORE_DIR))
		return false;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (is && (e = readdir(d)))
		is = is_dot(e->d_name) || is_kcore_file(e->d_name);
	closedir(d);
	return is;
}

static void delete_kcore_dir(int dir)
{
	int fd = openat(dir, KCORE_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < sizeof(kcore_files) / sizeof(kcore_files[0]); i++)
		unlinkat(fd, kcore_files[i], 0);
	if (fd >= 0)
		close(fd);
	unlinkat(dir, KCORE_DIR, AT_REMOVEDIR);
}

/* Whether @name in directory @dir belongs to no recording. */
static bool is_foreign(int dir, const char *name)
{
	return !is_dot(name) && !is_part(name) && !is_kcore_dir(dir, name);
}

/* Whether anything in @dir belongs to no recording. */
static bool has_foreign(DIR *dir)
{
	struct dirent *e;
	bool found = false;

	while (!found && (e = readdir(dir)))
		found = is_foreign(dirfd(dir), e->d_name);
	return found;
}

/* How far a recorder got that was killed before it wrote a record. */
enum beginning {
	BEGUN_EMPTY,	/* no bytes, or up to a cover's size only zeros: the machine died, too */
	BEGUN_COVERED,	/* a data.N as it is until its first flush */
	BEGUN_HEADLESS, /* what could be foreign: a "data" without its header, or a kcore_dir */
	NOT_BEGUN,
};

static bool is_zero(const uint8_t *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

/* Accepts the cover of this ringtail and of older ones. */
static bool is_cover(const uint8_t *p, off_t len)
{
	struct tail_cover cover = COVER_INIT;

	if (len != (off_t)sizeof(cover) && len != (off_t)COVER_LEN_OLD)
		return false;
	cover.hdr.size = (uint16_t)len;
	return !memcmp(p, &cover, (size_t)len);
}

static enum beginning beginning_of(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint8_t bytes[sizeof(struct pd_header)];
	enum beginning is = NOT_BEGUN;
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto out;
	len = read(fd, bytes, sizeof(bytes));
	if (len < 0)
		goto out;
	if (st.st_size <= (off_t)sizeof(struct tail_cover) && is_zero(bytes, (size_t)len))
		is = BEGUN_EMPTY;
	else if (name[4] && len == st.st_size && is_cover(bytes, len))
		is = BEGUN_COVERED;
	else if (!name[4] && len == sizeof(bytes) && is_zero(bytes, sizeof(bytes)))
		is = BEGUN_HEADLESS;
out:
	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Whether @path holds nothing, or only parts without a record: its recorder was killed before it
 * wrote any. What could be foreign is ours if a part beside it has our cover.
 */
static bool is_begun(const char *path)
{
	DIR *dir = opendir(path);
	size_t nr[NOT_BEGUN + 1] = {0};
	struct dirent *e;

	if (!dir)
		return false;
	while ((e = readdir(dir))) {
		if (is_part(e->d_name))
			nr[beginning_of(dirfd(dir), e->d_name)]++;
		else if (!is_dot(e->d_name))
			nr[is_kcore_dir(dirfd(dir), e->d_name) ? BEGUN_HEADLESS : NOT_BEGUN]++;
	}
	closedir(dir);
	return !nr[NOT_BEGUN] && (!nr[BEGUN_HEADLESS] || nr[BEGUN_COVERED]);
}

/* Deletes the recording in directory @path. Returns -ENOTEMPTY if it holds anything else. */
static int delete_directory(const char *path)
{
	struct dirent *e;
	bool foreign;
	DIR *dir;

	/* rmdir() needs no descriptor; the process may have none left. */
	if (!rmdir(path))
		return 0;
	dir = opendir(path);
	if (!dir)
		return -errno;
	foreign = has_foreign(dir);
	rewinddir(dir);
	while (!foreign && (e = readdir(dir))) {
		if (is_part(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
		else if (!is_dot(e->d_name))
			delete_kcore_dir(dirfd(dir));
	}
	closedir(dir);
	return foreign ? -ENOTEMPTY : rmdir(path) ? -errno : 0;
}

/* Refuses to move or delete anything but the user's own files and recordings. */
static int check_ours(const char *path, const struct stat *st, struct error *err)
{
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return error_set(err, -EEXIST,
				 "%s: exists and is not a regular file; choose another name (-o)",
				 path);
	if (S_ISDIR(st->st_mode) && !is_recording(path) && !is_begun(path))
		return error_set(err, -EEXIST,
				 "%s: is a directory and not a recording; choose another name (-o)",
				 path);
	if (st->st_uid != geteuid())
		return error_set(err, -EPERM,
				 "%s: belongs to another user; choose another name (-o)", path);
	return 0;
}

/* Deletes @old where rename() could not replace it: a directory on either side. */
static int clear_old(const char *old, bool for_directory, struct error *err)
{
	struct stat st;
	int rc;

	if (lstat(old, &st))
		return errno == ENOENT ? 0 : error_sys(err, -errno, "%s", old);
	if (!S_ISDIR(st.st_mode) && !for_directory)
		return 0;
	rc = check_ours(old, &st, err);
	if (rc)
		return rc;
	rc = S_ISDIR(st.st_mode) ? delete_directory(old) : unlink(old) ? -errno : 0;
	if (rc == -ENOTEMPTY)
		return error_set(err, rc,
				 "%s: holds other files beside a recording, so ringtail does not "
				 "delete it; move it away",
				 old);
	return rc ? error_sys(err, rc, "%s: cannot delete it", old) : 0;
}

int output_backup_keep(const char *path, struct error *err)
{
	struct stat st;
	char *old;
	int rc;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : error_sys(err, -errno, "%s", path);
	rc = check_ours(path, &st, err);
	if (rc)
		return rc;
	if (asprintf(&old, "%s.old", path) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	rc = clear_old(old, S_ISDIR(st.st_mode), err);
	if (!rc && rename(path, old))
		rc = error_sys(err, -errno, "%s: cannot rename it to %s", path, old);
	free(old);
	return rc;
}

/* Whether clear_old() could delete @old; deletes nothing. */
static int check_old(const char *old, const struct stat *st, bool for_directory, struct error *err)
{
	bool foreign;
	DIR *dir;
	int rc;

	if (!S_ISDIR(st->st_mode) && !for_directory)
		return 0;
	rc = check_ours(old, st, err);
	dir = rc || !S_ISDIR(st->st_mode) ? NULL : opendir(old);
	foreign = dir && has_foreign(dir);
	if (dir)
		closedir(dir);
	return foreign ? error_set(err, -ENOTEMPTY,
				   "%s: holds other files beside a recording, so ringtail does not "
				   "delete it; move it away",
				   old)
		       : rc;
}

/* Renames PATH.old to a name that does not exist. */
static int put_aside(struct output_backup *e, bool for_directory, struct error *err)
{
	struct stat st;
	int rc;

	if (lstat(e->old, &st))
		return errno == ENOENT ? 0 : error_sys(err, -errno, "%s", e->old);
	rc = check_old(e->old, &st, for_directory, err);
	if (rc)
		return rc;
	if (asprintf(&e->aside, "%s.%d", e->old, getpid()) < 0) {
		e->aside = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	rc = file_rename_new(e->old, e->aside);
	if (!rc)
		return 0;
	error_sys(err, rc, "%s: cannot rename it to %s", e->old, e->aside);
	free(e->aside);
	e->aside = NULL;
	return rc;
}

static void earlier_release(struct output_backup *e)
{
	free(e->path);
	free(e->old);
	free(e->aside);
	*e = (struct output_backup){0};
}

int output_backup_stage(struct output_backup *e, const char *path, struct error *err)
{
	size_t len = strlen(path);
	struct stat st;
	int rc;

	*e = (struct output_backup){0};
	while (len > 1 && path[len - 1] == '/')
		len--;
	e->path = strndup(path, len);
	if (!e->path || asprintf(&e->old, "%s.old", e->path) < 0) {
		e->old = NULL;
		earlier_release(e);
		return error_set(err, -ENOMEM, "out of memory");
	}
	if (lstat(e->path, &st))
		rc = errno == ENOENT ? 0 : error_sys(err, -errno, "%s", e->path);
	else if (!(rc = check_ours(e->path, &st, err)) &&
		 !(rc = put_aside(e, S_ISDIR(st.st_mode), err))) {
		rc = file_rename_new(e->path, e->old);
		e->moved = !rc;
		if (rc)
			error_sys(err, rc, "%s: cannot rename it to %s", e->path, e->old);
	}
	if (rc)
		output_backup_restore(e);
	return rc;
}

void output_backup_accept(struct output_backup *e)
{
	if (e->aside && unlink(e->aside) && errno == EISDIR)
		delete_directory(e->aside);
	earlier_release(e);
}

void output_backup_restore(struct output_backup *e)
{
	bool back = !e->moved || !file_rename_new(e->old, e->path);

	if (back && e->aside)
		file_rename_new(e->aside, e->old);
	earlier_release(e);
}

int output_backup_replace_directory(const char *path, struct error *err)
{
	int rc = output_backup_keep(path, err);

	if (!rc && mkdir(path, 0700))
		rc = error_sys(err, -errno, "%s: cannot create it", path);
	return rc;
}

void output_backup_undo_directory(const char *path)
{
	delete_directory(path);
}
