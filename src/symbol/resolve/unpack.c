// SPDX-License-Identifier: Apache-2.0
/* Reads whole files into memory and unpacks them: modules are stored as .ko.xz, .ko.gz, .ko.zst. */
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Limits: bytes of an unpacked file, and memory of a decoder. */
#define UNPACKED_MAX ((size_t)1 << 30)
#define DECODER_MAX  ((uint64_t)256 << 20)

#define STEP ((size_t)1 << 18)

static int room(struct buf *b)
{
	if (b->len > UNPACKED_MAX)
		return -EFBIG;
	return b->cap - b->len >= STEP ? 0 : buf_reserve(b, STEP);
}

int source_unxz(const void *data, size_t len, struct buf *ret)
{
	lzma_stream s = LZMA_STREAM_INIT;
	struct buf b = {0};
	lzma_ret l;
	int rc = 0;

	if (lzma_stream_decoder(&s, DECODER_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	s.next_in = data;
	s.avail_in = len;
	do {
		rc = room(&b);
		if (rc)
			break;
		s.next_out = b.data + b.len;
		s.avail_out = b.cap - b.len;
		l = lzma_code(&s, LZMA_FINISH);
		b.len = b.cap - s.avail_out;
		if (l != LZMA_OK && l != LZMA_STREAM_END)
			rc = l == LZMA_MEM_ERROR || l == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -EBADMSG;
	} while (!rc && l != LZMA_STREAM_END);
	lzma_end(&s);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

static int ungzip(const void *data, size_t len, struct buf *ret)
{
	z_stream s = {0};
	struct buf b = {0};
	int z = Z_OK, rc = 0;

	if (len > UINT32_MAX)
		return -EFBIG;
	if (inflateInit2(&s, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	s.next_in = (Bytef *)(uintptr_t)data;
	s.avail_in = (uInt)len;
	while (!rc && z != Z_STREAM_END) {
		rc = room(&b);
		if (rc)
			break;
		s.next_out = b.data + b.len;
		s.avail_out = (uInt)STEP;
		z = inflate(&s, Z_NO_FLUSH);
		b.len += STEP - s.avail_out;
		if (z != Z_OK && z != Z_STREAM_END)
			rc = -EBADMSG;
	}
	inflateEnd(&s);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

static int unzstd(const void *data, size_t len, struct buf *ret)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	ZSTD_inBuffer in = {data, len, 0};
	struct buf b = {0};
	size_t z = 1;
	int rc = ctx ? 0 : -ENOMEM;

	while (!rc && (z || in.pos < in.size)) {
		ZSTD_outBuffer out = {0};
		size_t before = in.pos;

		rc = room(&b);
		if (rc)
			break;
		out.dst = b.data + b.len;
		out.size = b.cap - b.len;
		z = ZSTD_decompressStream(ctx, &out, &in);
		b.len += out.pos;
		if (ZSTD_isError(z) || (!out.pos && in.pos == before))
			rc = -EBADMSG;
	}
	ZSTD_freeDCtx(ctx);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

static int read_plain(const char *path, struct buf *ret)
{
	uint64_t size;
	int fd = elf_open_regular(path, &size), rc = 0;
	struct buf b = {0};
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	if (size > UNPACKED_MAX)
		rc = -EFBIG;
	else
		rc = buf_reserve(&b, (size_t)size + 1);
	while (!rc && n && b.len < size) {
		n = read(fd, b.data + b.len, (size_t)size - b.len);
		if (n < 0 && errno != EINTR)
			rc = -errno;
		else if (n > 0)
			b.len += (size_t)n;
	}
	close(fd);
	if (rc)
		buf_release(&b);
	else
		*ret = b;
	return rc;
}

int source_read(const char *path, struct buf *ret, struct error *why)
{
	static const struct {
		const char *end;
		int (*unpack)(const void *data, size_t len, struct buf *ret);
	} formats[] = {{".xz", source_unxz}, {".gz", ungzip}, {".zst", unzstd}};
	struct buf packed = {0};
	size_t i, len = strlen(path);
	int rc = read_plain(path, &packed);

	if (rc)
		return error_sys(why, rc, "%s", path);
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		size_t n = strlen(formats[i].end);

		if (len < n || strcmp(path + len - n, formats[i].end))
			continue;
		rc = formats[i].unpack(packed.data, packed.len, ret);
		buf_release(&packed);
		return rc ? error_sys(why, rc, "%s: cannot unpack", path) : 0;
	}
	*ret = packed;
	return 0;
}
