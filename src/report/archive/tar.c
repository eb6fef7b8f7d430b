// SPDX-License-Identifier: Apache-2.0
#include "report/archive/tar.h"

#include <assert.h>
#include <bzlib.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define TAR_BLOCK  512u
#define TAR_RECORD (20 * TAR_BLOCK) /* the size of an archive is a multiple of it */

/* Numbers are octal text. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char linkname[100], magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8];
	char prefix[155], pad[12];
};

static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

enum { TAR_FILE = '0', TAR_LINK = '2', TAR_EXTENDED = 'x' };

#define TAR_OUT_BYTES (64u << 10)

struct tar {
	FILE *out;
	bz_stream bz;
	uint64_t written; /* before compression */
	uint64_t left;	  /* of the file that was begun */
	char packed[TAR_OUT_BYTES];
};

int tar_new(FILE *out, struct tar **ret)
{
	struct tar *t = calloc(1, sizeof(*t));

	if (!t || BZ2_bzCompressInit(&t->bz, 9, 0, 0) != BZ_OK) {
		free(t);
		return -ENOMEM;
	}
	t->out = out;
	*ret = t;
	return 0;
}

static int write_packed(struct tar *t)
{
	size_t n = TAR_OUT_BYTES - t->bz.avail_out;

	errno = 0;
	if (fwrite(t->packed, 1, n, t->out) == n)
		return 0;
	return errno ? -errno : -EIO;
}

static int tar_write(struct tar *t, const void *p, size_t n)
{
	int rc = 0;

	t->bz.next_in = (char *)p;
	t->bz.avail_in = (unsigned int)n;
	t->written += n;
	while (!rc && t->bz.avail_in) {
		t->bz.next_out = t->packed;
		t->bz.avail_out = TAR_OUT_BYTES;
		BZ2_bzCompress(&t->bz, BZ_RUN);
		rc = write_packed(t);
	}
	return rc;
}

/* Fills up with zeros to a multiple of @unit. */
static int tar_pad(struct tar *t, size_t unit)
{
	static const char zeros[TAR_RECORD];
	size_t over = t->written % unit;

	return over ? tar_write(t, zeros, unit - over) : 0;
}

static void octal(char *field, size_t size, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(field, text, size);
}

static void copy_name(char *field, size_t size, const char *name)
{
	memcpy(field, name, strnlen(name, size));
}

static int put_header(struct tar *t, int type, const char *path, const char *target, uint64_t size)
{
	struct tar_header h = {.type = (char)type, .magic = "ustar", .version = {'0', '0'}};
	unsigned int sum = 0;

	copy_name(h.name, sizeof(h.name), path);
	copy_name(h.linkname, sizeof(h.linkname), target);
	octal(h.mode, sizeof(h.mode), type == TAR_LINK ? 0777 : 0644);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), size);
	octal(h.mtime, sizeof(h.mtime), 0);
	memset(h.checksum, ' ', sizeof(h.checksum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	octal(h.checksum, sizeof(h.checksum) - 1, sum);
	return tar_write(t, &h, sizeof(h));
}

/* A line "LENGTH KEYWORD=VALUE\n", whose length counts its own digits. */
static int add_keyword(struct buf *b, const char *keyword, const char *value)
{
	size_t rest = strlen(keyword) + strlen(value) + strlen(" =\n"), digits = 1, len;
	char number[32];

	for (len = rest + digits; (size_t)snprintf(number, sizeof(number), "%zu", len) > digits;)
		len = rest + ++digits;
	return buf_printf(b, "%zu %s=%s\n", len, keyword, value);
}

#define SIZE_MAX_OCTAL ((uint64_t)077777777777)

static int put_entry(struct tar *t, int type, const char *path, const char *target, uint64_t size)
{
	struct buf more = {0};
	char number[32];
	int rc = 0;

	assert(!t->left);
	if (strlen(path) > sizeof(((struct tar_header *)0)->name))
		rc = add_keyword(&more, "path", path);
	if (!rc && strlen(target) > sizeof(((struct tar_header *)0)->linkname))
		rc = add_keyword(&more, "linkpath", target);
	if (!rc && size > SIZE_MAX_OCTAL) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)size);
		rc = add_keyword(&more, "size", number);
	}
	if (!rc && more.len)
		rc = put_header(t, TAR_EXTENDED, "PaxHeader", "", more.len)
			     ?: tar_write(t, more.data, more.len)
			     ?: tar_pad(t, TAR_BLOCK);
	buf_release(&more);
	if (rc)
		return rc;
	return put_header(t, type, path, target, size > SIZE_MAX_OCTAL ? SIZE_MAX_OCTAL : size);
}

int tar_begin_file(struct tar *t, const char *path, uint64_t size)
{
	int rc = put_entry(t, TAR_FILE, path, "", size);

	t->left = size;
	return rc;
}

int tar_put(struct tar *t, const void *p, size_t n)
{
	int rc;

	assert(n <= t->left && n <= INT32_MAX);
	rc = tar_write(t, p, n);
	t->left -= n;
	return rc || t->left ? rc : tar_pad(t, TAR_BLOCK);
}

int tar_add_link(struct tar *t, const char *path, const char *target)
{
	return put_entry(t, TAR_LINK, path, target, 0);
}

int tar_end(struct tar *t)
{
	static const char end[2 * TAR_BLOCK];
	int rc = tar_write(t, end, sizeof(end)) ?: tar_pad(t, TAR_RECORD), code = BZ_FINISH_OK;

	while (!rc && code == BZ_FINISH_OK) {
		t->bz.next_out = t->packed;
		t->bz.avail_out = TAR_OUT_BYTES;
		code = BZ2_bzCompress(&t->bz, BZ_FINISH);
		rc = write_packed(t);
	}
	return rc;
}

void tar_free(struct tar *t)
{
	if (t)
		BZ2_bzCompressEnd(&t->bz);
	free(t);
}
