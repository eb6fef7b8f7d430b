// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/procfs.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h: field 9 of stat */

/* The unread part of a line. */
struct procfs_cursor {
	const char *p, *end;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Takes a number of @base 10 or 16, without prefix or sign. False if there is none, or if it has
 * over 64 bits.
 */
static bool take_number(struct procfs_cursor *c, unsigned int base, uint64_t *ret)
{
	const char *start = c->p;
	uint64_t v = 0;

	for (; c->p < c->end; c->p++) {
		int d = hex_digit(*c->p);

		if (d < 0 || (unsigned int)d >= base)
			break;
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*ret = v;
	return c->p > start;
}

static bool take_char(struct procfs_cursor *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static void skip_blanks(struct procfs_cursor *c)
{
	while (c->p < c->end && *c->p == ' ')
		c->p++;
}

/* Takes a word and the blank behind it. */
static bool take_word(struct procfs_cursor *c, const char **ret, size_t *ret_len)
{
	const char *start = c->p;
	const char *blank = memchr(start, ' ', (size_t)(c->end - start));

	c->p = blank ? blank : c->end;
	*ret = start;
	*ret_len = (size_t)(c->p - start);
	skip_blanks(c);
	return *ret_len > 0;
}

bool text_next_line(struct text_lines *it, char **ret, size_t *ret_len)
{
	char *nl;

	if (it->next >= it->end)
		return false;
	nl = memchr(it->next, '\n', (size_t)(it->end - it->next));
	*ret = it->next;
	*ret_len = (size_t)((nl ? nl : it->end) - it->next);
	it->next = nl ? nl + 1 : it->end;
	return true;
}

static bool take_perms(struct procfs_cursor *c, uint32_t *ret_prot, uint32_t *ret_flags)
{
	const char *p = c->p;

	if (c->end - p < 4)
		return false;
	if ((p[0] != 'r' && p[0] != '-') || (p[1] != 'w' && p[1] != '-') ||
	    (p[2] != 'x' && p[2] != '-') || (p[3] != 's' && p[3] != 'p'))
		return false;
	*ret_prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	*ret_flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	c->p += 4;
	return true;
}

/* The kernel escapes only newlines here. Returns the new length. */
static size_t unescape_newlines(char *name, size_t len)
{
	char *in = name, *end = name + len, *out;

	in = memmem(name, len, "\\012", 4);
	if (!in)
		return len;
	for (out = in; in < end; out++) {
		if (end - in >= 4 && !memcmp(in, "\\012", 4)) {
			*out = '\n';
			in += 4;
		} else {
			*out = *in++;
		}
	}
	return (size_t)(out - name);
}

int proc_map_parse(char *line, size_t len, struct proc_map *ret)
{
	struct procfs_cursor c = {line, line + len};
	struct proc_map m = {0};
	uint64_t maj, min;

	if (!take_number(&c, 16, &m.start) || !take_char(&c, '-') || !take_number(&c, 16, &m.end) ||
	    !take_char(&c, ' ') || m.end < m.start)
		return -EBADMSG;
	if (!take_perms(&c, &m.prot, &m.flags) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, &m.pgoff) || !take_char(&c, ' '))
		return -EBADMSG;
	if (!take_number(&c, 16, &maj) || !take_char(&c, ':') || !take_number(&c, 16, &min) ||
	    !take_char(&c, ' ') || !take_number(&c, 10, &m.ino))
		return -EBADMSG;
	if (maj > UINT32_MAX || min > UINT32_MAX || (c.p < c.end && *c.p != ' '))
		return -EBADMSG;
	skip_blanks(&c);
	m.maj = (uint32_t)maj;
	m.min = (uint32_t)min;
	m.name = c.p;
	m.name_len = unescape_newlines(line + (c.p - line), (size_t)(c.end - c.p));
	*ret = m;
	return 0;
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret)
{
	const char *open = memchr(text, '(', len);
	const char *close = memrchr(text, ')', len);
	struct procfs_cursor c = {NULL, text + len};
	uint64_t ppid, flags = 0, threads = 0;
	const char *word;
	size_t word_len;

	if (!open || !close || close < open)
		return -EBADMSG;
	c.p = close + 1;
	skip_blanks(&c);
	if (!take_word(&c, &word, &word_len) || !take_number(&c, 10, &ppid) || ppid > INT32_MAX)
		return -EBADMSG;
	skip_blanks(&c);
	for (int field = 5; field <= 20; field++) {
		struct procfs_cursor w;

		if (!take_word(&c, &word, &word_len))
			return -EBADMSG;
		w = (struct procfs_cursor){word, word + word_len};
		if (field == 9 && !take_number(&w, 10, &flags))
			return -EBADMSG;
		if (field == 20 && (!take_number(&w, 10, &threads) || threads > UINT32_MAX))
			return -EBADMSG;
	}
	*ret = (struct proc_stat){.comm = open + 1,
				  .comm_len = (size_t)(close - open - 1),
				  .ppid = (pid_t)ppid,
				  .kthread = flags & PF_KTHREAD,
				  .nr_threads = (uint32_t)threads};
	return 0;
}

int proc_module_parse(const char *line, size_t len, struct proc_module *ret)
{
	struct procfs_cursor c = {line, line + len};
	struct proc_module m = {0};
	const char *word;
	size_t word_len;

	if (!take_word(&c, &m.name, &m.name_len) || !take_number(&c, 10, &m.size) ||
	    !take_char(&c, ' '))
		return -EBADMSG;
	for (int i = 0; i < 3; i++) { /* reference count, users, state */
		if (!take_word(&c, &word, &word_len))
			return -EBADMSG;
	}
	if (!take_char(&c, '0') || !take_char(&c, 'x') || !take_number(&c, 16, &m.addr))
		return -EBADMSG;
	*ret = m;
	return 0;
}

int proc_kallsym_parse(const char *line, size_t len, struct proc_kallsym *ret)
{
	struct procfs_cursor c = {line, line + len};
	struct proc_kallsym s = {0};
	const char *tab;

	if (!take_number(&c, 16, &s.addr) || !take_char(&c, ' ') || c.end - c.p < 3 ||
	    c.p[1] != ' ')
		return -EBADMSG;
	s.type = c.p[0];
	s.name = c.p + 2;
	tab = memchr(s.name, '\t', (size_t)(c.end - s.name));
	s.name_len = (size_t)((tab ? tab : c.end) - s.name);
	if (tab) {
		if (c.end - tab < 4 || tab[1] != '[' || c.end[-1] != ']')
			return -EBADMSG;
		s.module = tab + 2;
		s.module_len = (size_t)(c.end - 1 - s.module);
	}
	if (!s.name_len)
		return -EBADMSG;
	*ret = s;
	return 0;
}

int mount_find(const char *mounts, const char *type, const char *option, char *ret, size_t size)
{
	char line[3 * 4096]; /* source, directory and options, each up to a page */
	struct mntent entry;
	int rc = -ENOENT;
	FILE *f;

	f = setmntent(mounts, "re");
	if (!f)
		return -errno;
	while (rc == -ENOENT && getmntent_r(f, &entry, line, sizeof(line))) {
		if (strcmp(entry.mnt_type, type) || (option && !hasmntopt(&entry, option)))
			continue;
		rc = (size_t)snprintf(ret, size, "%s", entry.mnt_dir) < size ? 0 : -ENAMETOOLONG;
	}
	endmntent(f);
	return rc;
}
