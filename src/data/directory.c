// SPDX-License-Identifier: Apache-2.0
/* A directory as perf record --threads writes it: "data" with header, "data.N" with records only.
 */
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
#include "data/file.h"

struct numbers {
	uint64_t *n;
	size_t nr, cap;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The N of "data.N" in decimal as perf writes it: "data.old" and "data.01" are none. */
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
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (e = readdir(dir))) {
		uint64_t n;

		if (!segment_number(e->d_name, &n))
			continue;
		r = array_grow(&list->n, &list->cap, list->nr + 1, sizeof(*list->n));
		if (!r)
			list->n[list->nr++] = n;
	}
	closedir(dir);
	if (list->nr)
		qsort(list->n, list->nr, sizeof(*list->n), compare);
	return r;
}

static int add_segment(struct data_file *df, const char *path, uint64_t n, bool force,
		       struct error *err)
{
	char name[PATH_MAX];
	int fd, r;

	if (snprintf(name, sizeof(name), "%s/data.%" PRIu64, path, n) >= (int)sizeof(name))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	/* Scans open it again: a directory may hold more files than may be open at once. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, -errno, "%s", name);
	r = segment_add(df, name, fd, force, err);
	close(fd);
	return r;
}

/* A data.N that cannot be read is damage; one of another user is a refusal. */
int directory_segments(struct data_file *df, const char *path, bool force, struct error *err)
{
	struct numbers list = {0};
	struct error why = ERROR_INIT;
	uint64_t expect = 0;
	int r = list_numbers(path, &list);

	if (r) {
		error_sys(err, r, "%s", path);
		goto out;
	}
	for (size_t i = 0; i < list.nr; i++) {
		if (list.n[i] != expect)
			data_note(df, DATA_ODD, 0, 0,
				  "data.%" PRIu64 " is missing: the next file is data.%" PRIu64,
				  expect, list.n[i]);
		expect = list.n[i] + 1;
		r = add_segment(df, path, list.n[i], force, &why);
		if (r == -EPERM || r == -ENOMEM) {
			if (err)
				*err = why;
			goto out;
		}
		if (r)
			data_note(df, DATA_DAMAGED, 0, 0, "%.150s", why.text);
	}
	r = 0;
out:
	free(list.n);
	return r;
}
