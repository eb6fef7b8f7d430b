// SPDX-License-Identifier: Apache-2.0
/*
 * perf-PID.map: what a JIT says about the code it made, a line "START SIZE NAME" each (hex).
 *
 * /tmp is everybody's, so the file must belong to the user of the process, to root, or to us, and
 * be a regular file. A process in a container writes it in its own /tmp under its own number.
 * Source: tools/perf/Documentation/jit-interface.txt.
 */
#include "symbol/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_FILE_MAX ((size_t)1 << 30)

static int read_all(int fd, struct buf *b)
{
	ssize_t n;

	for (;;) {
		if (b->len > MAP_FILE_MAX)
			return -EFBIG;
		if (buf_reserve(b, 1 << 16))
			return -ENOMEM;
		n = read(fd, b->data + b->len, b->cap - b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		b->len += (size_t)n;
	}
}

/* @owner: the process's user, or our own where it is gone. */
static int read_map(const char *path, uid_t owner, struct buf *ret, struct error *why)
{
	int r, fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return error_sys(why, -errno, "%s", path);
	if (fstat(fd, &st))
		r = error_sys(why, -errno, "%s", path);
	else if (!S_ISREG(st.st_mode))
		r = error_set(why, -EINVAL, "%s is not a regular file", path);
	else if (st.st_uid && st.st_uid != owner && st.st_uid != geteuid())
		r = error_set(why, -EPERM, "%s belongs to another user (uid %u) than the process",
			      path, (unsigned int)st.st_uid);
	else
		r = read_all(fd, ret);
	close(fd);
	if (r)
		buf_release(ret);
	return r;
}

static bool take_hex(char **p, uint64_t *ret)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **p) || !**p)
		return false;
	errno = 0;
	*ret = strtoull(*p, &end, 16);
	if (errno || end == *p || *end != ' ')
		return false;
	*p = end + 1;
	return true;
}

static int parse(struct buf *text, struct symtab_builder *b)
{
	char *p = (char *)text->data, *end;
	struct symtab_entry e = {.binding = SYMTAB_GLOBAL};
	int r = 0;

	for (; !r && *p; p = end) {
		end = strchrnul(p, '\n');
		if (*end)
			*end++ = 0;
		if (!take_hex(&p, &e.start) || !take_hex(&p, &e.size) || !e.size)
			continue;
		r = symtab_name(b, p, strlen(p), &e.name);
		if (!r)
			r = symtab_add(b, &e);
	}
	return r;
}

/* The number of @pid in its own pid namespace; @pid itself if it has none or is gone. */
static uint32_t inner_pid(const struct sources *src, uint32_t pid)
{
	char path[PATH_MAX], line[256];
	const char *last;
	uint32_t inner = pid;
	FILE *f;

	if (!source_path(path, "%s/proc/%u/status", src->host.root, pid))
		return pid;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		if (last)
			inner = (uint32_t)strtoul(last, NULL, 10);
	}
	if (f)
		fclose(f);
	return inner;
}

static int find_map(const struct sources *src, uint32_t pid, struct buf *ret, struct error *why)
{
	const char *root = src->opts.symfs ? src->opts.symfs : src->host.root;
	uid_t owner = geteuid();
	char path[PATH_MAX];
	struct stat st;
	int r;

	if (!src->same_machine && !src->opts.symfs)
		return error_set(why, -ENOENT,
				 "code of a JIT, and the recording is not of this machine");
	if (source_path(path, "%s/proc/%u", src->host.root, pid) && !stat(path, &st))
		owner = st.st_uid;
	if (!source_path(path, "%s/tmp/perf-%u.map", root, pid))
		return -ENAMETOOLONG;
	r = read_map(path, owner, ret, why);
	if (r != -ENOENT || src->opts.symfs)
		return r;
	if (!source_path(path, "%s/proc/%u/root/tmp/perf-%u.map", root, pid, inner_pid(src, pid)))
		return r;
	/* its error is of interest only if there is a file */
	return access(path, F_OK) ? r : read_map(path, owner, ret, why);
}

int perfmap_load(const struct sources *src, uint32_t pid, struct symtab **ret, struct error *why)
{
	struct symtab_builder b = {.last_wins = true};
	struct buf text = {0};
	int r = find_map(src, pid, &text, why);

	if (r)
		return r;
	r = buf_zero(&text, 1);
	if (!r)
		r = parse(&text, &b);
	if (!r && !b.count)
		r = error_set(why, -ENOENT, "perf-%u.map has no symbols", pid);
	if (!r)
		r = symtab_build(&b, ret);
	symtab_builder_release(&b);
	buf_release(&text);
	return r;
}
