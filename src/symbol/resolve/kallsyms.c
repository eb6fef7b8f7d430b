// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/kallsyms.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbol/elf/elf_image.h"

#define NOTES_MAX ((size_t)1 << 20)

/*
 * kallsyms has no sizes. No function of a kernel is longer than this. Without the bound the last
 * function before a gap would fill the gap (modules lie far away).
 */
#define FUNCTION_MAX (1u << 20)

/* The smallest page: the program loader aligns modules to it, and the kernel rounds to it. */
#define PAGE 4096

/* Reads up to the end, because /proc gives size 0. */
static int read_whole(const char *path, size_t max, bool is_text, struct buf *ret)
{
	struct buf b = {0};
	uint64_t size;
	ssize_t n;
	int rc, fd = elf_open_regular(path, &size);

	if (fd < 0)
		return fd;
	rc = size > max ? -EFBIG : 0;
	while (!rc) {
		rc = b.len > max ? -EFBIG : buf_reserve(&b, 1 << 17);
		if (rc)
			break;
		n = read(fd, b.data + b.len, b.cap - b.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		if (is_text && memchr(b.data + b.len, 0, (size_t)n))
			rc = -EBADMSG;
		b.len += (size_t)n;
	}
	close(fd);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

/* Makes the message for @rc, the result of reading; 0 stays 0. */
static int explain(int rc, const char *path, struct error *why)
{
	if (rc == -EFBIG)
		return error_set(why, rc, "%s has more than %zu MB: no kernel has as many symbols",
				 path, KALLSYMS_MAX >> 20);
	if (rc == -EBADMSG)
		return error_set(why, rc, "%s has NUL bytes and is no list of symbols", path);
	if (rc == -EINVAL)
		return error_set(why, rc, "%s is not a regular file", path);
	return rc ? error_sys(why, rc, "%s", path) : 0;
}

int kallsyms_read(const char *path, struct buf *ret, struct error *why)
{
	return explain(read_whole(path, KALLSYMS_MAX, true, ret), path, why);
}

int kallsyms_check(const char *path, struct error *why)
{
	char beginning[4096];
	uint64_t size;
	ssize_t n = 0;
	int rc = 0, fd = elf_open_regular(path, &size);

	if (fd < 0)
		return explain(fd, path, why);
	n = read(fd, beginning, sizeof(beginning));
	if (n > 0 && memchr(beginning, 0, (size_t)n))
		rc = -EBADMSG;
	else if (size > KALLSYMS_MAX)
		rc = -EFBIG;
	close(fd);
	return explain(rc, path, why);
}

/* Whether a line of @text has an address. */
static bool any_address(const struct buf *text)
{
	struct kallsyms_line line;
	size_t pos = 0;

	while (kallsyms_next(text, &pos, &line)) {
		if (line.addr)
			return true;
	}
	return false;
}

int kallsyms_read_beginning(const char *path, size_t max, struct buf *ret)
{
	struct buf b = {0};
	uint64_t size;
	int rc = -EAGAIN, fd = elf_open_regular(path, &size);

	if (fd < 0)
		return fd;
	while (rc == -EAGAIN) {
		ssize_t n;

		rc = b.len > max ? -EACCES : buf_reserve(&b, 4096);
		if (rc)
			break;
		n = read(fd, b.data + b.len, 4096);
		if (n <= 0) {
			rc = n < 0 ? -errno : -EACCES;
		} else {
			b.len += (size_t)n;
			rc = any_address(&b) ? 0 : -EAGAIN;
		}
	}
	close(fd);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

int kallsyms_read_notes(const char *path, struct buf *ret)
{
	return read_whole(path, NOTES_MAX, false, ret);
}

static const char *parse_hex(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t x = 0;

	for (; p < end && p - start < 16; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= '0' && c <= '9')
			x = x << 4 | (uint64_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			x = x << 4 | (uint64_t)((c | 0x20) - 'a' + 10);
		else
			break;
	}
	*ret = x;
	return p > start ? p : NULL;
}

static bool parse_line(const char *p, const char *end, struct kallsyms_line *ret)
{
	const char *tab;

	p = parse_hex(p, end, &ret->addr);
	if (!p || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	ret->type = p[1];
	ret->name = p + 3;
	ret->module = NULL;
	ret->module_len = 0;
	tab = memchr(ret->name, '\t', (size_t)(end - ret->name));
	ret->name_len = (size_t)((tab ? tab : end) - ret->name);
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		ret->module = tab + 2;
		ret->module_len = (size_t)(end - 1 - ret->module);
	}
	return ret->name_len > 0 && !memchr(ret->name, 0, ret->name_len);
}

bool kallsyms_next(const struct buf *text, size_t *pos, struct kallsyms_line *ret)
{
	const char *data = (const char *)text->data;

	while (*pos < text->len) {
		const char *start = data + *pos;
		const char *end = memchr(start, '\n', text->len - *pos);

		if (!end)
			end = data + text->len;
		*pos = (size_t)(end - data) + 1;
		if (parse_line(start, end, ret))
			return true;
	}
	return false;
}

bool kallsyms_is_code(const struct kallsyms_line *line)
{
	return line->type == 'T' || line->type == 't' || line->type == 'W' || line->type == 'w';
}

bool kallsyms_hidden(const struct buf *text)
{
	struct kallsyms_line line;
	size_t pos = 0;

	while (kallsyms_next(text, &pos, &line)) {
		if (line.addr && kallsyms_is_code(&line))
			return false;
	}
	return true;
}

int kallsyms_say_hidden(const char *path, struct error *why)
{
	return error_set(why, -EACCES,
			 "%s shows no addresses; run as root, or: sysctl kernel.kptr_restrict=0",
			 path);
}

bool kallsyms_address(const struct buf *text, const char *name, uint64_t *ret)
{
	struct kallsyms_line line;
	size_t pos = 0, len = strlen(name);

	while (kallsyms_next(text, &pos, &line)) {
		if (!line.module && line.name_len == len && !memcmp(line.name, name, len)) {
			*ret = line.addr;
			return true;
		}
	}
	return false;
}

/* "[bpf]" and "[__builtin__ftrace]" are no loaded modules. */
static bool is_kernel(const struct kallsyms_line *line)
{
	return !line->module || (line->module_len == 3 && !memcmp(line->module, "bpf", 3)) ||
	       (line->module_len > 11 && !memcmp(line->module, "__builtin__", 11));
}

static bool is_module(const struct kallsyms_line *line, const char *name)
{
	size_t i;

	if (!line->module || line->module_len != strlen(name))
		return false;
	for (i = 0; i < line->module_len; i++) {
		char a = line->module[i] == '-' ? '_' : line->module[i];
		char b = name[i] == '-' ? '_' : name[i];

		if (a != b)
			return false;
	}
	return true;
}

static bool belongs(const struct kallsyms_line *line, const char *module)
{
	return line->addr && kallsyms_is_code(line) &&
	       (module ? is_module(line, module) : is_kernel(line));
}

bool kallsyms_image(const struct buf *text, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t first = UINT64_MAX, last = 0;
	struct kallsyms_line line;
	bool alone = true;

	for (size_t pos = 0; kallsyms_next(text, &pos, &line);) {
		if (line.module || !line.addr || !kallsyms_is_code(&line))
			continue;
		first = line.addr < first ? line.addr : first;
		last = line.addr > last ? line.addr : last;
	}
	for (size_t pos = 0; alone && kallsyms_next(text, &pos, &line);)
		alone = !line.module || line.addr < first || line.addr > last;
	*ret_first = first;
	*ret_last = last;
	return alone && first < last;
}

static int add_line(struct symtab_builder *b, const struct kallsyms_line *line, uint64_t delta)
{
	struct symtab_entry e = {.start = line->addr + delta};
	int rc = symtab_name(b, line->name, line->name_len, &e.name);

	if (rc)
		return rc;
	e.limit = e.start + FUNCTION_MAX < e.start ? UINT64_MAX : e.start + FUNCTION_MAX;
	e.binding = line->type == 'T'		 ? SYMTAB_GLOBAL
		    : (line->type | 0x20) == 'w' ? SYMTAB_WEAK
						 : SYMTAB_LOCAL;
	return symtab_add(b, &e);
}

int kallsyms_table(const struct buf *text, const char *module, uint64_t delta,
		   const struct symtab_wanted *wanted, struct symtab **ret)
{
	/* among aliases perf uses the last, because only the last gets a length */
	struct symtab_builder b = {.last_wins = true, .wanted = wanted};
	uint64_t first = UINT64_MAX;
	struct kallsyms_line line;
	size_t pos = 0;
	int rc = 0;

	if (module) {
		while (kallsyms_next(text, &pos, &line)) {
			if (belongs(&line, module) && line.addr < first)
				first = line.addr;
		}
		delta = 0 - (first & ~(uint64_t)(PAGE - 1));
		pos = 0;
	}
	while (!rc && kallsyms_next(text, &pos, &line)) {
		if (belongs(&line, module))
			rc = add_line(&b, &line, delta);
	}
	if (!rc && !b.count)
		rc = -ENOENT;
	if (!rc)
		return symtab_build(&b, ret);
	symtab_builder_release(&b);
	return rc;
}
