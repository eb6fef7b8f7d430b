// SPDX-License-Identifier: Apache-2.0
/* Opens a directory of perf record --threads: "data" with a header, "data.N" with records only. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "data/open/open_priv.h"
#include "data/file/parts.h"

struct numbers {
	uint64_t *n;
	size_t nr, cap;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Parses the N of "data.N", in decimal as perf writes it; "data.old" and "data.01" do not match. */
static bool segment_number(const char *name, uint64_t *ret)
{
	const char *digits = name + 5;

	if (strncmp(name, "data.", 5) || digits[strspn(digits, "0123456789")])
		return false;
	if (digits[0] == '0' && digits[1])
		return false;
	return !parse_u64(digits, ret);
}

static int list_numbers(const char *path, struct numbers *list)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (e = readdir(dir))) {
		uint64_t n;

		if (!segment_number(e->d_name, &n))
			continue;
		rc = array_grow(&list->n, &list->cap, list->nr + 1, sizeof(*list->n));
		if (!rc)
			list->n[list->nr++] = n;
	}
	closedir(dir);
	if (list->nr)
		qsort(list->n, list->nr, sizeof(*list->n), compare);
	return rc;
}

static int add_segment(struct data_file *df, const char *path, uint64_t n, bool force,
		       struct error *err)
{
	char name[PATH_MAX];
	int fd, rc;

	if (snprintf(name, sizeof(name), "%s/data.%" PRIu64, path, n) >= (int)sizeof(name))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	/*
	 * Scans open the file again: a directory may hold more files than a process may have open.
	 */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, -errno, "%s", name);
	rc = segment_add(df, name, fd, force, err);
	close(fd);
	return rc;
}

/* Compares data.@n, the last segment, with the recorder's description of it. */
static void check_part(struct data_file *df, const struct parts *parts, uint64_t n)
{
	struct segment *s = &df->segments[df->nr_segments - 1];
	unsigned int segment = (unsigned int)df->nr_segments - 1;
	uint64_t expected;

	if (n >= parts->nr) {
		data_finding_add(df, DATA_ODD, segment, 0, "the recorder wrote no data.%" PRIu64,
				 n);
		return;
	}
	expected = parts->part[n].bytes;
	if (s->size < expected)
		data_finding_add(df, DATA_DAMAGED, segment, s->size,
				 "%" PRIu64 " bytes (%" PRIu64 " records) expected, found %" PRIu64,
				 expected, parts->part[n].records, s->size);
	else if (s->size > expected && parts->complete)
		data_finding_add(df, DATA_ODD, segment, expected,
				 "%" PRIu64 " bytes expected, found %" PRIu64, expected, s->size);
	if (!parts->complete)
		s->sure = expected;
}

/* Notes that the files from @from up to, but not including, @to are missing. */
static void note_missing(struct data_file *df, const struct parts *parts, uint64_t from,
			 uint64_t to)
{
	for (uint64_t n = from; n < to && n < parts->nr; n++)
		data_finding_add(df, DATA_DAMAGED, 0, 0,
				 "data.%" PRIu64 " is missing: %" PRIu64 " bytes (%" PRIu64
				 " records) expected",
				 n, parts->part[n].bytes, parts->part[n].records);
	if (!parts->nr && from < to && to != UINT64_MAX)
		data_finding_add(df, DATA_ODD, 0, 0,
				 "data.%" PRIu64 " is missing: the next file is data.%" PRIu64,
				 from, to);
}

/* A data.N that cannot be read is damage; one of another user is refused. */
static int add_segments(struct data_file *df, const char *path, bool force,
			const struct numbers *list, const struct parts *parts, struct error *err)
{
	struct error why = ERROR_INIT;
	uint64_t expect = 0;
	int rc;

	for (size_t i = 0; i < list->nr; i++) {
		note_missing(df, parts, expect, list->n[i]);
		expect = list->n[i] + 1;
		rc = add_segment(df, path, list->n[i], force, &why);
		if (rc == -EPERM || rc == -ENOMEM) {
			if (err)
				*err = why;
			return rc;
		}
		if (rc)
			data_finding_add(df, DATA_DAMAGED, 0, 0, "%.150s", why.text);
		else if (parts->nr)
			check_part(df, parts, list->n[i]);
	}
	note_missing(df, parts, expect, UINT64_MAX);
	return 0;
}

/* Reads the recorder's description of the parts; perf writes none. Returns 0 or -ENOMEM. */
static int read_parts(struct data_file *df, struct parts *ret)
{
	const uint8_t *p;
	size_t len;
	int rc;

	*ret = (struct parts){0};
	if (data_feature(df, HEADER_DIR_FORMAT, &p, &len))
		return 0;
	rc = parts_decode(p, len, df->swapped, ret);
	if (rc == -EBADMSG)
		data_finding_add(df, DATA_DAMAGED, 0, 0,
				 "the list of the directory's files is truncated");
	return rc == -ENOMEM ? rc : 0;
}

int directory_segments(struct data_file *df, const char *path, bool force, struct error *err)
{
	struct numbers list = {0};
	struct parts parts = {0};
	int rc = list_numbers(path, &list);

	if (!rc)
		rc = read_parts(df, &parts);
	if (rc)
		error_sys(err, rc, "%s", path);
	else
		rc = add_segments(df, path, force, &list, &parts, err);
	parts_release(&parts);
	free(list.n);
	return rc;
}
