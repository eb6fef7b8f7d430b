// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/resolve/sources.h"

#define MAGIC	     0x4a695444u /* "JiTD" */
#define CPU_CLOCK    1u		 /* flag of the header */
#define HEADER_SIZE  40u
#define RECORD_SIZE  16u
#define LOAD_SIZE    (RECORD_SIZE + 40u) /* without name and code */
#define MOVE_SIZE    (RECORD_SIZE + 48u)
#define NAME_MAX_JIT 4096u
#define WINDOW	     ((size_t)256 << 10)
#define SYMBOLS_MAX  ((size_t)256 << 20) /* bytes of the symbols of one file */
#define SYMBOL_BYTES 96u		 /* of a symbol, without its name; an estimate */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct jitdump {
	int fd;
	bool swap;
	uint64_t at; /* in the file, of the first byte in @bytes */
	size_t len;
	uint8_t *bytes; /* WINDOW of them */
};

/* Returns bytes of the file at @at, at most @max; *@ret_len of them are there. */
static const uint8_t *peek(struct jitdump *j, uint64_t at, size_t max, size_t *ret_len)
{
	if (at < j->at || at + max > j->at + j->len) {
		j->at = at;
		j->len = 0;
		while (j->len < WINDOW) {
			ssize_t n = pread(j->fd, j->bytes + j->len, WINDOW - j->len,
					  (off_t)(at + j->len));

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			j->len += (size_t)n;
		}
	}
	*ret_len = j->at + j->len > at ? (size_t)(j->at + j->len - at) : 0;
	if (*ret_len > max)
		*ret_len = max;
	return j->bytes + (at - j->at);
}

static uint32_t u32(const struct jitdump *j, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return j->swap ? __builtin_bswap32(v) : v;
}

static uint64_t u64(const struct jitdump *j, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return j->swap ? __builtin_bswap64(v) : v;
}

/* Reads the header. Returns 0 with the place of the first record, or -EBADMSG. */
static int read_header(struct jitdump *j, struct jitdump_info *ret, uint64_t *ret_at)
{
	size_t len;
	const uint8_t *p = peek(j, 0, HEADER_SIZE, &len);
	uint32_t size;

	if (len < HEADER_SIZE)
		return -EBADMSG;
	j->swap = u32(j, p) == __builtin_bswap32(MAGIC);
	size = u32(j, p + 8);
	if (u32(j, p) != MAGIC || size < HEADER_SIZE)
		return -EBADMSG;
	ret->cpu_clock = u64(j, p + 32) & CPU_CLOCK;
	*ret_at = size;
	return 0;
}

/* Takes apart a CODE_LOAD of @size bytes at @at, of which @len are at @p. */
static bool take_load(const struct jitdump *j, uint64_t at, const uint8_t *p, size_t len,
		      uint32_t size, struct jitdump_code *ret)
{
	const uint8_t *end;

	if (len <= LOAD_SIZE)
		return false;
	end = memchr(p + LOAD_SIZE, 0, len - LOAD_SIZE);
	*ret = (struct jitdump_code){
		.time = u64(j, p + 8),
		.addr = u64(j, p + 32), /* code_addr: where it runs */
		.size = u64(j, p + 40),
		.index = u64(j, p + 48),
		.offset = end ? at + (uint64_t)(end - p) + 1 : 0,
		.name = (const char *)p + LOAD_SIZE,
		.name_len = end ? (size_t)(end - p) - LOAD_SIZE : 0,
	};
	return end && ret->size && ret->size <= size - (ret->offset - at);
}

static bool take_move(const struct jitdump *j, const uint8_t *p, size_t len,
		      struct jitdump_code *ret)
{
	if (len < MOVE_SIZE)
		return false;
	*ret = (struct jitdump_code){
		.time = u64(j, p + 8),
		.addr = u64(j, p + 40), /* new_code_addr */
		.size = u64(j, p + 48),
		.index = u64(j, p + 56),
		.moved = true,
	};
	return ret->size;
}

static int read_records(struct jitdump *j, uint64_t at, uint64_t file_size, jitdump_fn fn,
			void *arg)
{
	uint32_t nr = 0;
	int rc = 0;

	while (!rc && nr < JITDUMP_CODES_MAX && at < file_size && file_size - at >= RECORD_SIZE) {
		struct jitdump_code code;
		size_t len;
		const uint8_t *p = peek(j, at, LOAD_SIZE + NAME_MAX_JIT, &len);
		uint32_t id, size;
		bool known = false;

		if (len < RECORD_SIZE)
			break;
		id = u32(j, p);
		size = u32(j, p + 4);
		if (size < RECORD_SIZE || size > file_size - at || id == CODE_CLOSE)
			break;
		if (len > size)
			len = size;
		if (id == CODE_LOAD)
			known = take_load(j, at, p, len, size, &code);
		else if (id == CODE_MOVE)
			known = take_move(j, p, len, &code);
		if (known && code.addr + code.size > code.addr) {
			nr++;
			rc = fn(arg, &code);
		}
		at += size;
	}
	return rc;
}

int jitdump_read(int fd, struct jitdump_info *ret, jitdump_fn fn, void *arg, struct error *why)
{
	struct jitdump j = {.fd = fd, .bytes = malloc(WINDOW)};
	off_t size = lseek(fd, 0, SEEK_END);
	uint64_t at = 0;
	int rc;

	if (!j.bytes)
		return -ENOMEM;
	rc = read_header(&j, ret, &at);
	if (rc)
		error_set(why, rc, "it is not a jitdump");
	else
		rc = read_records(&j, at, size > 0 ? (uint64_t)size : 0, fn, arg);
	free(j.bytes);
	return rc;
}

static int add_symbol(void *arg, const struct jitdump_code *code)
{
	struct symtab_builder *b = arg;
	struct symtab_entry e = {
		.start = code->offset, .size = code->size, .binding = SYMTAB_GLOBAL};
	int rc;

	if (code->moved)
		return 0;
	if (b->count * SYMBOL_BYTES + b->names.len > SYMBOLS_MAX)
		return -EFBIG;
	rc = symtab_name(b, code->name, code->name_len, &e.name);
	return rc ? rc : symtab_add(b, &e);
}

int jitdump_open(const struct sources *src, const char *path, const uint32_t *pids, size_t nr_pids,
		 struct error *why)
{
	const char *root = src->opts.symfs ? src->opts.symfs : src->host.root;
	char full[PATH_MAX];
	int fd = -ENOENT;

	if (!src->same_machine && !src->opts.symfs)
		return error_set(why, -ENOENT, "code of a JIT, and %s",
				 origin_why_not(&src->opts.origin));
	if (!source_path(full, "%s%s", root, path))
		return -ENAMETOOLONG;
	fd = source_open_jit(src, full, nr_pids ? pids[0] : 0, why);
	/* In a container the same path is another file. */
	for (size_t i = 0; i < nr_pids && pids[i] && fd == -ENOENT && !src->opts.symfs; i++)
		if (source_path(full, "%s/proc/%u/root%s", root, pids[i], path) &&
		    !access(full, F_OK))
			fd = source_open_jit(src, full, pids[i], why);
	return fd;
}

int jitdump_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		 struct error *why)
{
	struct symtab_builder b = {.last_wins = true};
	struct jitdump_info info;
	int rc, fd = jitdump_open(src, dso->name, dso->pids, DSO_PIDS, why);

	if (fd < 0)
		return fd;
	rc = jitdump_read(fd, &info, add_symbol, &b, why);
	close(fd);
	if (!rc && !b.count)
		rc = error_set(why, -ENOENT, "it has no code");
	if (rc == -EFBIG)
		error_set(why, rc, "its symbols need more than %zu MB", SYMBOLS_MAX >> 20);
	if (!rc)
		return symtab_build(&b, ret);
	symtab_builder_release(&b);
	return rc;
}
