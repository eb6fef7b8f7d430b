// SPDX-License-Identifier: Apache-2.0
/*
 * perf-PID.map: the symbols of code that a JIT made, one line "START SIZE NAME" each (hex).
 *
 * Everybody may write to /tmp, so the file must belong to the user of the process, to root or to
 * the caller, and be a regular file. Memory for its symbols is bounded. A process in a container
 * writes the file in its own /tmp, with its own number in the name. Source:
 * tools/perf/Documentation/jit-interface.txt.
 */
#include "symbol/resolve/perfmap.h"
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/io/file.h"

#define LINE_MAX_MAP (64u << 10) /* longer lines are skipped */
#define START_FIELD  20		 /* in /proc/PID/stat, behind the name: ticks since the start */

/* Returns when the process that has number @pid now began; 0: none has, or it is not known. */
static time_t process_start(const struct sources *src, uint32_t pid)
{
	time_t machine = origin_machine_start(src->host.root);
	const char *field = NULL;
	char *text = NULL;
	long long ticks;

	if (!file_text(&text, "%s/proc/%u/stat", src->host.root, pid))
		field = strrchr(text, ')');
	for (int i = 0; field && i < START_FIELD; i++)
		field = strchr(field + 1, ' ');
	ticks = field && machine ? strtoll(field, NULL, 10) : 0;
	free(text);
	return field && machine ? machine + (time_t)(ticks / sysconf(_SC_CLK_TCK)) : 0;
}

/* Returns when the file was made; 0: its file system does not say. */
static time_t file_birth(int fd)
{
	struct statx sx;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &sx) && sx.stx_mask & STATX_BTIME
		       ? (time_t)sx.stx_btime.tv_sec
		       : 0;
}

/*
 * Returns why a file can not be from process @pid of a recording that is cut: its name has only the
 * number, which other processes had before, or have now. NULL: it can, or the user names the
 * folder.
 */
static const char *why_of_others(const struct sources *src, int fd, const struct stat *st,
				 uint32_t pid)
{
	const struct origin *o = &src->opts.origin;
	time_t start = origin_machine_start(src->host.root), process;

	if (o->kind != ORIGIN_HERE || src->opts.symfs || !pid)
		return NULL;
	if (st->st_mtime + ORIGIN_SLACK < start)
		return "it was written before this machine restarted";
	process = process_start(src, pid);
	if (process > o->written + 1 && st->st_mtime >= process)
		return "its process began after the recording";
	if (!process && file_birth(fd) > o->written + 1)
		return "it was made after the recording, whose process has ended";
	return NULL;
}

int source_open_jit(const struct sources *src, const char *path, uint32_t pid, struct error *why)
{
	int rc, fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uid_t owner = geteuid();
	char process[PATH_MAX];
	const char *other;
	struct stat st;

	if (fd < 0)
		return error_sys(why, -errno, "%s", path);
	if (source_path(process, "%s/proc/%u", src->host.root, pid) && !stat(process, &st))
		owner = st.st_uid;
	if (fstat(fd, &st))
		rc = error_sys(why, -errno, "%s", path);
	else if (!S_ISREG(st.st_mode))
		rc = error_set(why, -EINVAL, "%s is not a regular file", path);
	else if (st.st_uid && st.st_uid != owner && st.st_uid != geteuid())
		rc = error_set(why, -EPERM, "%s belongs to another user (uid %u) than the process",
			       path, (unsigned int)st.st_uid);
	else if ((other = why_of_others(src, fd, &st, pid)))
		rc = error_set(why, -ESTALE,
			       "%s may be of another process (%s): --symfs / takes it all the same",
			       path, other);
	else
		return fd;
	close(fd);
	return rc;
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

/* A map while it is read, and its symbols. */
struct map_reader {
	const char *path;
	struct symtab_builder b;
	char text[LINE_MAX_MAP + 1];
	size_t len;    /* bytes in @text, of an incomplete line */
	bool too_long; /* the current line, which is skipped */
	bool nul;      /* a NUL byte was read: the rest is no text */
};

/* Takes a line that ends with NUL. */
static int take_line(struct map_reader *m, char *line)
{
	struct symtab_entry e = {.binding = SYMTAB_GLOBAL};
	int rc;

	if (!take_hex(&line, &e.start) || !take_hex(&line, &e.size) || !e.size)
		return 0;
	rc = symtab_name(&m->b, line, strlen(line), &e.name);
	return rc ? rc : symtab_add(&m->b, &e);
}

/* Takes the whole lines in @text and moves the rest to its front. [@len, @end) is new. */
static int take_lines(struct map_reader *m, size_t end)
{
	char *line = m->text, *stop, *nul = memchr(m->text + m->len, 0, end - m->len);
	int rc = 0;

	if (nul) {
		m->nul = true;
		end = (size_t)(nul - m->text);
	}
	while (!rc && (stop = memchr(line, '\n', end - (size_t)(line - m->text)))) {
		*stop = 0;
		if (!m->too_long)
			rc = take_line(m, line);
		m->too_long = false;
		line = stop + 1;
	}
	m->len = end - (size_t)(line - m->text);
	memmove(m->text, line, m->len);
	if (m->len == LINE_MAX_MAP) {
		m->too_long = true;
		m->len = 0;
	}
	return rc;
}

/* Bytes that the symbols take with their names before the table is built. */
static uint64_t memory_of(const struct symtab_builder *b)
{
	return (uint64_t)b->count * PERFMAP_SYMBOL_BYTES + b->names.len;
}

static int read_map(int fd, struct map_reader *m, uint64_t max, struct error *why)
{
	ssize_t n = 1;
	int rc = 0;

	while (!rc && n && !m->nul) {
		n = read(fd, m->text + m->len, LINE_MAX_MAP - m->len);
		if (n < 0 && errno == EINTR)
			continue;
		rc = n < 0 ? -errno : take_lines(m, m->len + (size_t)n);
		if (!rc && memory_of(&m->b) > max)
			rc = -EFBIG;
	}
	/* The last line may lack its newline. */
	m->text[m->len] = 0;
	if (!rc && m->len && !m->too_long)
		rc = take_line(m, m->text);
	if (rc == -EFBIG)
		return error_set(why, rc, "%s is left out: symbols of JITs may take at most %u MB",
				 m->path, PERFMAPS_MAX >> 20);
	if (rc)
		return error_sys(why, rc, "%s", m->path);
	if (!m->b.count)
		return error_set(why, m->nul ? -EBADMSG : -ENOENT, "%s has %s", m->path,
				 m->nul ? "NUL bytes and is no list of symbols" : "no symbols");
	return 0;
}

/* Returns the number of @pid in its own pid namespace; @pid itself if it has none or has ended. */
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

/* Returns a descriptor, with @path, or -errno. *@inner is as for perfmap_open(). */
static int find_map(const struct sources *src, uint32_t pid, uint32_t *inner, char path[PATH_MAX],
		    struct error *why)
{
	const char *root = src->opts.symfs ? src->opts.symfs : src->host.root;
	int rc;

	if (!src->same_machine && !src->opts.symfs)
		return error_set(why, -ENOENT, "code of a JIT, and %s",
				 origin_why_not(&src->opts.origin));
	if (!source_path(path, "%s/tmp/perf-%u.map", root, pid))
		return -ENAMETOOLONG;
	rc = source_open_jit(src, path, pid, why);
	if (rc != -ENOENT || src->opts.symfs)
		return rc;
	if (!*inner)
		*inner = inner_pid(src, pid);
	if (!source_path(path, "%s/proc/%u/root/tmp/perf-%u.map", root, pid, *inner))
		return rc;
	/* report its error only if there is a file */
	return access(path, F_OK) ? rc : source_open_jit(src, path, pid, why);
}

int perfmap_open(uint32_t pid, uint32_t *inner)
{
	const struct sources here = {.host.root = "", .same_machine = true};
	char path[PATH_MAX];

	return find_map(&here, pid, inner, path, NULL);
}

int perfmap_read(int fd, const struct symtab_wanted *wanted, uint64_t *left, struct symtab **ret)
{
	struct map_reader *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return -ENOMEM;
	m->path = "perf-PID.map";
	m->b.last_wins = true;
	m->b.wanted = wanted;
	rc = read_map(fd, m, *left, NULL);
	if (!rc) {
		*left -= memory_of(&m->b);
		rc = symtab_build(&m->b, ret);
	}
	symtab_builder_release(&m->b);
	free(m);
	return rc;
}

int perfmap_load(const struct sources *src, uint32_t pid, uint64_t *left, struct symtab **ret,
		 struct error *why)
{
	struct map_reader *m = calloc(1, sizeof(*m));
	char path[PATH_MAX];
	uint32_t inner = 0;
	int rc, fd;

	if (!m)
		return -ENOMEM;
	m->path = path;
	m->b.last_wins = true;
	fd = find_map(src, pid, &inner, path, why);
	rc = fd < 0 ? fd : read_map(fd, m, *left, why);
	if (!rc) {
		*left -= memory_of(&m->b);
		rc = symtab_build(&m->b, ret);
	}
	if (fd >= 0)
		close(fd);
	symtab_builder_release(&m->b);
	free(m);
	return rc;
}
