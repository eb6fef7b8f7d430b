// SPDX-License-Identifier: Apache-2.0
/* Opens a recording: finds its kind, checks its owner, and copies it if it cannot seek. */
#include "data/open/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/open/open_priv.h"
#include "sys/io/tmpfile.h"

#define SPOOL_CHUNK (256u << 10)
#define TRIES	    50 /* at a header and its sections, while a recorder writes them */

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Reads at least @least bytes, unless the input ends. Returns their number or a negative errno. */
static ssize_t read_chunk(int in, uint8_t *chunk, size_t least, const char *path, struct error *err)
{
	size_t done = 0;

	do {
		ssize_t n = read(in, chunk + done, SPOOL_CHUNK - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, -errno, "%s: read", path);
		if (!n)
			break;
		done += (size_t)n;
	} while (done < least);
	return (ssize_t)done;
}

/* Copies @in to a temporary file; its first @n bytes are in @chunk. Returns its fd or -errno. */
static int copy_to_file(int in, uint8_t *chunk, ssize_t n, const char *path, struct error *err)
{
	int rc = 0, fd = tmpfile_open(err);

	if (fd < 0)
		return fd;
	while (n > 0 && !rc) {
		rc = write_all(fd, chunk, (size_t)n);
		if (rc)
			error_sys(err, rc,
				  "copying %s to a temporary file (set TMPDIR to a larger disk)",
				  path);
		else
			n = read_chunk(in, chunk, 1, path, err);
	}
	if (!rc && n < 0)
		rc = (int)n;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/*
 * Copies an input that cannot seek to an unlinked file, if it begins like a recording; other input
 * may never end. Returns its fd or a negative errno.
 */
static int spool(int in, const char *path, struct error *err)
{
	uint8_t *chunk = malloc(SPOOL_CHUNK);
	ssize_t n;
	int rc = 0;

	if (!chunk)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	n = read_chunk(in, chunk, sizeof(uint64_t), path, err);
	if (n < 0)
		rc = (int)n;
	else if (n >= (ssize_t)sizeof(uint64_t))
		rc = header_check_magic(path, chunk, err);
	if (!rc)
		rc = copy_to_file(in, chunk, n, path, err);
	free(chunk);
	return rc;
}

/* Makes @fd the first segment, by a temporary file if it cannot seek. Takes over @fd. */
static int add_first(struct data_file *df, const char *path, int fd, bool force, struct error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = error_sys(err, -errno, "%s", path);
		goto out;
	}
	if (!S_ISREG(st.st_mode) || (lseek(fd, 0, SEEK_CUR) != 0)) {
		int copy = spool(fd, path, err);

		if (copy < 0) {
			rc = copy;
			goto out;
		}
		close(fd);
		fd = copy;
		force = true;
	}
	rc = segment_add(df, path, fd, force, err);
	if (rc)
		goto out;
	df->segments[0].fd = fd;
	return 0;
out:
	close(fd);
	return rc;
}

static int open_directory(struct data_file *df, const char *path, bool force, struct error *err)
{
	char name[PATH_MAX];
	int fd;

	if (snprintf(name, sizeof(name), "%s/data", path) >= (int)sizeof(name))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, -ENOENT,
				 "%s is a directory without a file \"data\" and so no recording",
				 path);
	if (fd < 0)
		return error_sys(err, -errno, "%s", name);
	df->kind = DATA_DIRECTORY;
	return add_first(df, name, fd, force, err);
}

static int open_path(struct data_file *df, const char *path, bool force, struct error *err)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return error_sys(err, -errno, "standard input");
		return add_first(df, "standard input", fd, true, err);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	if (fstat(fd, &st)) {
		int rc = error_sys(err, -errno, "%s", path);

		close(fd);
		return rc;
	}
	if (!S_ISDIR(st.st_mode))
		return add_first(df, path, fd, force, err);
	close(fd);
	return open_directory(df, path, force, err);
}

/* Sets *@ret_again, also on failure, if the file was flushed meanwhile. */
static int open_once(const char *path, bool force, struct data_file **ret, bool *ret_again,
		     struct error *err)
{
	struct data_file *df = calloc(1, sizeof(*df));
	int rc;

	if (!df)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	rc = data_findings_init(df);
	if (rc) {
		free(df);
		return error_sys(err, rc, "%s", path);
	}
	df->list = pd_evlist_new();
	if (!df->list) {
		rc = error_set(err, -ENOMEM, "%s: out of memory", path);
		goto out;
	}
	rc = open_path(df, path, force, err);
	if (rc)
		goto out;
	rc = header_read(df, err);
	if (rc)
		goto out;
	if (df->kind == DATA_DIRECTORY) {
		rc = directory_segments(df, path, force, err);
		if (rc)
			goto out;
	}
	*ret_again = header_changed(df);
	*ret = df;
	return 0;
out:
	*ret_again = df->nr_segments && header_changed(df);
	data_close(df);
	return rc;
}

/*
 * A flush writes a header without features first, then data where the table of features was. So if
 * the header has not changed, its sections have not either.
 */
int data_open(const char *path, bool force, struct data_file **ret, struct error *err)
{
	struct data_file *df = NULL;
	int rc;

	for (int tries = 1;; tries++) {
		bool again = false;

		rc = open_once(path, force, &df, &again, err);
		if (!again || tries == TRIES)
			break;
		if (!rc)
			data_close(df);
	}
	if (!rc)
		*ret = df;
	return rc;
}
